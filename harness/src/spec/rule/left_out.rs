//! The rules that a campaign does not judge by.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Rule;

/// The rules that a campaign does not judge by.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeftOut(BTreeSet<Rule>);

impl LeftOut {
    /// None: all rules are judged by.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether no rule is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a rule is left out.
    pub fn has(&self, rule: Rule) -> bool {
        self.0.contains(&rule)
    }

    /// Leaves out those that another leaves out, too.
    pub fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// The rules, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Rule> {
        self.0.iter().copied()
    }
}

/// What an option takes: numbers or names of rules, `contested` for all contested ones, or `none`.
impl FromStr for LeftOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rules = BTreeSet::new();
        for word in text.split(',').map(str::trim) {
            let named = |rule: &Rule| rule.name() == word || rule.number().to_string() == word;
            match word {
                "none" if text.trim() == "none" => {}
                "contested" => {
                    rules.extend(Rule::ALL.into_iter().filter(|rule| !rule.contested().is_empty()))
                }
                _ => match Rule::ALL.into_iter().find(named) {
                    Some(rule) if rule.orders() => {
                        rules.insert(rule);
                    }
                    Some(rule) => {
                        return Err(format!(
                            "rule {} ({}) orders nothing and cannot be left out; those from 1 to 8 can",
                            rule.number(),
                            rule.name()
                        ));
                    }
                    None => {
                        return Err(format!(
                            "`{word}` is not a rule: give numbers or names, `contested` or `none`; \
                             `equiform model` lists the rules"
                        ));
                    }
                },
            }
        }
        Ok(Self(rules))
    }
}

impl Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.iter().map(Rule::name).collect();
        f.write_str(&names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_left_out_by_number_by_name_or_all_that_are_contested() {
        let names = |text: &str| text.parse::<LeftOut>().map(|left_out| left_out.to_string());
        assert_eq!(names("contested").unwrap(), "removed-dependency-first");
        assert_eq!(names("6, 1").unwrap(), "dependency-made-first,removed-dependency-first");
        assert_eq!(names("dependents-change-over").unwrap(), "dependents-change-over");
        assert_eq!(names("none").unwrap(), "none");
        assert!(names("none").unwrap().parse::<LeftOut>().unwrap().is_empty());
        assert!(names("12").unwrap_err().contains("cannot be left out"));
        assert!(names("13th").unwrap_err().contains("`equiform model` lists"));
        assert!(names("").is_err());
    }
}
