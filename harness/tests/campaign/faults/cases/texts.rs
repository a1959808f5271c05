//! Programs with texts and names as real programs have them: b depends on a, and gets another label.

use equiform::case::Case;

use super::changes::label;

/// The labels of b, before and after.
fn labels(before: &str, after: &str) -> Case {
    let mut case = label();
    for (value, text) in [("a", before), ("b", after)] {
        case.spelling.spell("b", "label", value, text.to_owned());
    }
    case
}

pub fn line_end() -> Case {
    labels("line", "line\n")
}

pub fn empty() -> Case {
    labels("x", "")
}

pub fn template() -> Case {
    labels("${name}", "$${name}")
}

pub fn long() -> Case {
    let long = "0123456789abcdef".repeat(4096);
    labels(&long, &format!("{long}!"))
}

pub fn number() -> Case {
    labels("1000", "1e3")
}

pub fn case_of_letters() -> Case {
    labels("prod", "Prod")
}

pub fn carriage_return() -> Case {
    labels("one\ntwo", "one\r\ntwo")
}

pub fn ligature() -> Case {
    labels("\u{fb01}le", "file")
}

/// The block of b has a name with a hyphen.
pub fn hyphen() -> Case {
    let mut case = label();
    case.spelling.call("b", "web-1".to_owned());
    case
}
