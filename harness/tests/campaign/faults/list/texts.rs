//! Faults that show only with texts and names as real programs have them. Plain values hide them.

use super::super::cases::{changes, texts as with};
use super::At::Command;
use super::{Fault, With};

/// What these faults need.
const TEXT: Option<With> = Some(With::Change("text", changes::label));

/// The faults.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "the line end after a text is cut",
        seen_by: "attributes",
        case: with::line_end,
        at: Command("*"),
        script: r#"sed -i 's/\\n"$/"/' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "an empty text is taken for none",
        seen_by: "attributes",
        case: with::empty,
        at: Command("*"),
        script: r#"sed -i '/^  label = ""$/d' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "an escaped template in a text is unescaped twice",
        seen_by: "attributes",
        case: with::template,
        at: Command("*"),
        script: r#"sed -i 's/\$\$\${/$${/' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "a long text is cut at 32 KB",
        seen_by: "attributes",
        case: with::long,
        at: Command("*"),
        script: r#"awk '/^  label = / && length > 32780 { $0 = substr($0, 1, 32779) "\"" } 1' main.tf >cut
                   mv cut main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "a text is read as a number",
        seen_by: "attributes",
        case: with::number,
        at: Command("*"),
        script: r#"sed -i 's/"1e3"/"1000"/' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "capital letters in a text are taken for small ones",
        seen_by: "attributes",
        case: with::case_of_letters,
        at: Command("*"),
        script: r#"if [ -e last ]; then old=$(grep '^  label' last); new=$(grep '^  label' main.tf)
                   if [ "$(echo "$old" | tr A-Z a-z)" = "$(echo "$new" | tr A-Z a-z)" ]; then
                   sed -i "s/^  label.*/$old/" main.tf; fi; fi; cp main.tf last; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "line ends in a text are converted",
        seen_by: "attributes",
        case: with::carriage_return,
        at: Command("*"),
        script: r#"sed -i 's/\\r\\n/\\n/g' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "letters in a text are replaced by similar ones",
        seen_by: "attributes",
        case: with::ligature,
        at: Command("*"),
        script: r#"sed -i 's/ﬁ/fi/' main.tf; real "$@""#,
        only_with: TEXT,
    },
    Fault {
        name: "a hyphen in a name is taken for an underscore",
        seen_by: "state",
        case: with::hyphen,
        at: Command("*"),
        script: r#"sed -i 's/web-1/web_1/g' main.tf; real "$@""#,
        only_with: TEXT,
    },
];
