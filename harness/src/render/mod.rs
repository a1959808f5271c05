//! From a deployment to the text that an engine reads, in the two syntaxes that Terraform and OpenTofu take.

mod hcl;
mod json;

use std::fmt::{self, Display, Write};

use serde::{Deserialize, Serialize};

use crate::model::Deployment;

/// The address of the mock provider.
const PROVIDER: &str = "equiform.test/equiform/mock";

/// How a program is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// As people write it.
    #[default]
    Hcl,
    /// As programs write it.
    Json,
}

impl Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hcl => "hcl",
            Self::Json => "json",
        })
    }
}

impl Syntax {
    /// The name of a program's file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Hcl => "main.tf",
            Self::Json => "main.tf.json",
        }
    }

    /// A program, its resources in the given order.
    pub fn render(self, deployment: &Deployment, order: &[String]) -> String {
        match self {
            Self::Hcl => hcl::render(deployment, order),
            Self::Json => json::render(deployment, order),
        }
    }
}

/// A key as a resource's name in the program: what a name cannot hold is written by its number.
pub fn label(key: &str) -> String {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain && !key.starts_with(|first: char| first.is_ascii_digit()) {
        return key.to_owned();
    }
    let mut label = String::new();
    for (i, character) in key.chars().enumerate() {
        match character {
            'a'..='z' | 'A'..='Z' => label.push(character),
            '0'..='9' if i > 0 => label.push(character),
            _ => {
                let _ = write!(label, "_{:x}_", u32::from(character));
            }
        }
    }
    label
}

/// A text in which nothing begins a template: the signs that would are doubled.
fn literal(text: &str) -> String {
    let mut literal = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        literal.push(character);
        if matches!(character, '$' | '%') && characters.peek() == Some(&'{') {
            literal.push(character);
        }
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ResourceDescription;

    fn everything() -> (Deployment, [String; 5]) {
        let deployment = serde_json::from_str(
            r#"{
                "net": {"dependencies": {}},
                "disk": {"dependencies": {}},
                "key": {"dependencies": {}},
                "host": {
                    "dependencies": {"net": "refs", "disk": "refs", "key": "pinned_refs", "rules": "depends_on"},
                    "create_before_destroy": true
                },
                "rules": {"dependencies": {"net": "depends_on"}}
            }"#,
        );
        (deployment.unwrap(), ["net", "disk", "key", "rules", "host"].map(str::to_owned))
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_hcl() {
        let (deployment, order) = everything();
        insta::assert_snapshot!(Syntax::Hcl.render(&deployment, &order));
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_json() {
        let (deployment, order) = everything();
        insta::assert_snapshot!(Syntax::Json.render(&deployment, &order));
    }

    #[test]
    fn odd_keys_are_quoted_and_have_names_that_engines_take() {
        let odd = "1 \"web\" ${a} %{b} $ c:\\d\n\u{1}ü";
        let deployment = Deployment { resources: [(odd.to_owned(), ResourceDescription::default())].into() };
        let [hcl, json] =
            [Syntax::Hcl, Syntax::Json].map(|syntax| syntax.render(&deployment, &[odd.to_owned()]));
        insta::assert_snapshot!(hcl + &json);
    }

    #[test]
    fn different_keys_have_different_names() {
        let keys = ["a_5f_", "a_", "a__", "a", "A", "1", "_31_", "", "_", "a-b", "a b", "ab"];
        let names: std::collections::BTreeSet<String> = keys.map(label).into();
        assert_eq!(names.len(), keys.len(), "{names:?}");
    }
}
