//! Names and texts as real programs have them, for campaigns with `--values realistic`.
//!
//! Values of one resource come from one family: texts that a careless engine confuses, such as `1e3` and `1000`, or a
//! line with and without its end. So a change from one to the other is a change that must be made.

use std::collections::BTreeSet;

use rand::seq::{IndexedRandom as _, index};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::algebra::signature::Signature;
use crate::case::spelling::{Spelling, TEXTS};
use crate::case::streams::Choice;

/// The share of attributes whose values have texts of a family.
const SPELLED: f64 = 0.5;

/// The share of those whose texts are long.
const LONG: f64 = 0.01;

/// The share of cases whose blocks have names of their own, and of blocks in these cases.
const NAMED_CASES: f64 = 0.5;
const NAMED: f64 = 0.6;

/// The length of the longest texts, in bytes: one more than counts in 16 bits.
const LONGEST: usize = 1 << 16;

/// The length of the longest names.
const LONGEST_NAME: usize = 200;

/// Texts that are easily confused, at least three in each family. None is the name of a value.
pub const FAMILIES: &[&[&str]] = &[
    // An empty text is not an absent one, and space is not nothing.
    &["", " ", "\n"],
    &["\t", "\u{a0}", "\u{200b}"],
    &["prod", " prod", "prod "],
    &["prod", "Prod", "PROD"],
    // Ends of lines.
    &["line", "line\n", "\nline"],
    &["one\ntwo", "one\r\ntwo", "one\rtwo"],
    &["one\ntwo\n", "one\n\ntwo\n", "one\ntwo\n\n"],
    &["x\ty", "x y", "x    y"],
    // Texts that look like numbers, booleans or null.
    &["1e3", "1000", "1000.0"],
    &["01", "1", "1.0"],
    &["0", "-0", "00"],
    &["9007199254740993", "9007199254740992", "9.007199254740993e15"],
    &["0x10", "16", "0o20"],
    &["true", "True", "1"],
    &["false", "FALSE", "no"],
    &["null", "NULL", "nil"],
    &["NaN", "Infinity", "-Infinity"],
    // Templates.
    &["${name}", "$${name}", "$name"],
    &["%{ if true }x%{ endif }", "%%{ if true }x%%{ endif }", "x"],
    &["${", "$${", "$$${"],
    &["%{", "%%{", "%"],
    &["${x} $${y} %{z}", "$${x} $${y} %%{z}", "${x} ${y} %{z}"],
    &["${mock_node.r0.id}", "mock_node.r0.id", "$${mock_node.r0.id}"],
    // Quotes and backslashes.
    &["\"", "\\\"", "'"],
    &["\\", "\\\\", "/"],
    &["\\n", "\n", "\\\\n"],
    &["C:\\temp\\new", "C:/temp/new", "C:\temp\new"],
    &["\\u0041", "A", "\\x41"],
    // Other languages.
    &["{\"x\":1}", "{\"x\": 1}", "{\"x\":1.0}"],
    &["[]", "{}", "[ ]"],
    &["[\"x\",\"y\"]", "[\"y\",\"x\"]", "[\"x\", \"y\"]"],
    &["<<EOT\nx\nEOT\n", "<<-EOT\n  x\n  EOT\n", "x\n"],
    &["EOT", "EOT\n", "<<EOT"],
    &["<p title=\"#\">&amp;</p>", "<p title='#'>&</p>", "\\u003cp\\u003e\\u0026\\u003c/p\\u003e"],
    &["# x", "// x", "/* x */"],
    &["$(id)", "`id`", "$PATH"],
    &["../../etc/passwd", "/etc/passwd", "~"],
    &["x,y", "x;y", "x, y"],
    &["2026-11-18T00:00:00Z", "2026-11-18T00:00:00+00:00", "2026-11-18"],
    &["(sensitive value)", "(known after apply)", "<computed>"],
    // Letters. The decomposed ones are those that engines compose.
    &["caf\u{e9}", "cafe", "CAF\u{c9}"],
    &["cafe\u{301}", "cafe", "cafe\u{300}"],
    &["\u{1112}\u{1161}\u{11ab}", "\u{1112}\u{1161}", "\u{d55c}\u{ae00}"],
    &["\u{212b}", "A", "\u{e5}"],
    &["\u{fb01}le", "file", "\u{ff46}ile"],
    &["stra\u{df}e", "strasse", "STRASSE"],
    &["\u{130}stanbul", "istanbul", "Istanbul"],
    &["\u{5d0}\u{5d1}", "\u{202e}xy", "xy"],
    &["\u{1f44d}", "\u{1f44d}\u{1f3fd}", "\u{1f44e}"],
    &["\u{10ffff}", "\u{fffd}", "\u{ffff}"],
    &["\u{feff}x", "x", "x\u{feff}"],
    // What a terminal, a log or JSON treats in its own way.
    &["\u{2028}", "\u{2029}", "\\u2028"],
    &["\u{1}", "\u{7f}", "\u{85}"],
    &["\u{1b}[31mred\u{1b}[0m", "red", "\\u001b[31mred"],
    &["\u{0}", "x\u{0}y", "xy"],
    &["\r\n", "\r", "\\r\\n"],
];

/// Words of which names are made.
const WORDS: &[&str] = &[
    "network", "subnet", "gateway", "database", "replica", "queue", "bucket", "role", "policy", "cluster",
    "Web", "web", "WEB", "primary", "blue", "green", "eu", "prod",
];

/// Names that mean something elsewhere: in the language, or in what engines print.
pub const TAKEN: &[&str] = &[
    "count",
    "each",
    "for",
    "if",
    "in",
    "null",
    "true",
    "false",
    "module",
    "data",
    "resource",
    "self",
    "var",
    "local",
    "path",
    "terraform",
    "lifecycle",
    "provider",
    "output",
    "id",
    "key",
    "label",
    "none",
    "default",
    "destroy",
    "deposed",
    "tainted",
    "error",
    "Error",
    "warning",
    "fatal",
    "crash",
    "cycle",
    "goroutine",
    "_",
];

/// Names in letters of other scripts, composed.
pub const SCRIPTS: &[&str] = &[
    "r\u{e9}seau",
    "gr\u{f6}\u{df}e",
    "\u{441}\u{435}\u{442}\u{44c}",
    "\u{7f51}\u{7edc}",
    "\u{30b5}\u{30fc}\u{30d0}",
    "\u{3b4}\u{3af}\u{3ba}\u{3c4}\u{3c5}\u{3bf}",
    "\u{5e9}\u{5e8}\u{5ea}",
    "\u{d55c}\u{ae00}",
];

/// Draws texts for the values of these resources, and names unless they have names of their own already.
pub fn draw<'a>(case: u64, nodes: impl Iterator<Item = &'a str>, keep_names: bool) -> Spelling {
    let mut rng = ChaCha8Rng::seed_from_u64(Choice::Spelling.seed(case, 0));
    let mut spelling = Spelling::default();
    let is_named = rng.random_bool(NAMED_CASES) && !keep_names;
    let mut taken = BTreeSet::new();
    for node in nodes {
        for attribute in TEXTS {
            if rng.random_bool(SPELLED) {
                spell(&mut spelling, node, &Signature::attributed().attributes()[attribute.at()], &mut rng);
            }
        }
        if is_named && rng.random_bool(NAMED) {
            let name = name(&mut rng);
            let mut unique = name.clone();
            for number in 2.. {
                if taken.insert(unique.clone()) {
                    break;
                }
                unique = format!("{name}-{number}");
            }
            spelling.call(node, unique);
        }
    }
    spelling
}

fn spell(
    spelling: &mut Spelling,
    node: &str,
    attribute: &crate::algebra::signature::Attribute,
    rng: &mut ChaCha8Rng,
) {
    let family: Vec<String> = if rng.random_bool(LONG) {
        let longest = "0123456789abcdef".repeat(LONGEST / 16);
        vec![longest[..LONGEST / 2].to_owned(), format!("{longest}!"), longest]
    } else {
        let family = FAMILIES.choose(rng).expect("there are families");
        family.iter().map(|&text| text.to_owned()).collect()
    };
    let values = &attribute.values()[1..];
    for (value, text) in values.iter().zip(index::sample(rng, family.len(), values.len())) {
        spelling.spell(node, attribute.name(), value, family[text].clone());
    }
}

fn name(rng: &mut ChaCha8Rng) -> String {
    let word = |rng: &mut ChaCha8Rng| *WORDS.choose(rng).expect("there are words");
    match rng.random_range(0..6) {
        0 => word(rng).to_owned(),
        1 => format!("{}-{}-{}", word(rng), word(rng), rng.random_range(0..100)),
        2 => format!("{}{}_", ["_", "__", "x_"].choose(rng).expect("there are beginnings"), word(rng)),
        3 => TAKEN.choose(rng).expect("there are such words").to_string(),
        4 => SCRIPTS.choose(rng).expect("there are scripts").to_string(),
        _ => {
            let (length, mut name) = (rng.random_range(60..=LONGEST_NAME), word(rng).to_owned());
            while name.len() < length {
                name = format!("{name}{}{}", ["-", "_"].choose(rng).expect("there are signs"), word(rng));
            }
            // Room for a number, if the name is taken.
            name.truncate(length - 4);
            name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::encoding::is_name;
    use crate::spec::text::composed;

    #[test]
    fn the_texts_of_a_family_differ_and_none_is_the_name_of_a_value() {
        for family in FAMILIES {
            let held: BTreeSet<_> = family.iter().map(|text| composed(text)).collect();
            assert!(held.len() == family.len() && family.len() >= 3, "{family:?}");
            assert!(!family.iter().any(|text| ["none", "a", "b", "c"].contains(text)), "{family:?}");
        }
        assert!(FAMILIES.concat().iter().any(|text| composed(text) != **text));
    }

    #[test]
    fn what_is_drawn_can_be_written_and_everything_is_drawn_sometimes() {
        let nodes: Vec<String> = (0..12).map(|number| format!("r{number}")).collect();
        let (mut texts, mut names) = (BTreeSet::new(), BTreeSet::new());
        for case in 0..1500 {
            let spelling = draw(case, nodes.iter().map(String::as_str), false);
            spelling.check(nodes.iter().map(String::as_str)).unwrap();
            assert_eq!(spelling, draw(case, nodes.iter().map(String::as_str), false));
            for spelled in spelling.all() {
                let written = spelling.written(&spelled).unwrap().to_owned();
                let is_text = matches!(spelled, crate::case::spelling::Spelled::Text { .. });
                if is_text {
                    texts.insert(written)
                } else {
                    names.insert(written)
                };
            }
        }
        assert!(FAMILIES.iter().flat_map(|family| *family).all(|text| texts.contains(*text)));
        assert_eq!(texts.iter().map(String::len).max(), Some(LONGEST + 1));
        assert!(names.iter().all(|name| is_name(name) && name.len() <= LONGEST_NAME), "{names:?}");
        for kind in [TAKEN, SCRIPTS, WORDS] {
            assert!(kind.iter().all(|name| names.contains(*name)), "{kind:?}");
        }
        assert!(names.iter().any(|name| name.len() > 150));
    }

    #[test]
    fn resources_that_have_names_keep_them() {
        for case in 0..20 {
            let spelling = draw(case, ["web", "net"].into_iter(), true);
            let is_text = |it: &crate::case::spelling::Spelled| {
                matches!(it, crate::case::spelling::Spelled::Text { .. })
            };
            assert!(spelling.all().iter().all(is_text));
        }
    }
}
