//! What goes wrong between an engine and its provider: a list of rules, each for one method.
//!
//! A rule is written `VERB:METHOD[:ARGUMENT[:ARGUMENT]]`, and `@TEXT` after it limits it to requests that contain the
//! text, such as a resource's key.
//!
//! | rule | what the engine does wrong |
//! |---|---|
//! | `twice:METHOD` | it sends the request twice, and goes by the second answer |
//! | `times:METHOD:COUNT` | it sends the request so many times, one after the other |
//! | `burst:METHOD:COUNT` | it sends the request so many times at once |
//! | `forget:METHOD:FIELD` | it leaves a field out of the request |
//! | `copy:METHOD:FROM:TO` | it sends one field of the request as another one too |
//! | `change:METHOD:TEXT:OTHER` | it sends another text of the same length |
//! | `ignore:METHOD:FIELD` | it overlooks a field of the answer |
//! | `misread:METHOD:TEXT:OTHER` | it reads another text of the same length in the answer |
//! | `assume:METHOD:FROM:TO` | it does not ask, and takes a field of the request as that of the answer |
//! | `hurry:METHOD:FROM:TO` | the same, and it sends the request without waiting for the answer |
//! | `late:METHOD:FROM=TO,FROM=TO` | it takes some fields of the request as those of the answer, and asks much later |

use std::str::FromStr;
use std::time::Duration;

use crate::Failure;
use crate::message::{renumbered, without};

/// All rules.
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// Whether one of them is about a method.
    pub fn concern(&self, method: &str) -> bool {
        self.0.iter().any(|rule| rule.method == method)
    }

    /// Those for a request.
    pub fn chosen(&self, method: &str, message: &[u8]) -> Vec<&Rule> {
        let contains = |text: &String| contains(message, text.as_bytes());
        self.0
            .iter()
            .filter(|rule| rule.method == method && rule.only.as_ref().is_none_or(contains))
            .collect()
    }
}

/// One of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    method: String,
    /// The text that a request must contain.
    only: Option<String>,
    verb: Verb,
}

#[derive(Debug, PartialEq, Eq)]
enum Verb {
    Times(usize),
    Burst(usize),
    Late(Vec<(u64, u64)>),
    Forget(u64),
    Copy { from: u64, to: u64 },
    Change { text: String, other: String },
    Ignore(u64),
    Misread { text: String, other: String },
    Assume { from: u64, to: u64 },
    Hurry { from: u64, to: u64 },
}

impl FromStr for Rule {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let (rule, only) = match text.split_once('@') {
            Some((rule, only)) => (rule, Some(only.to_owned())),
            None => (text, None),
        };
        let parts: Vec<&str> = rule.split(':').collect();
        let texts = |text: &str, other: &str| {
            let (text, other) = (text.to_owned(), other.to_owned());
            // The values in a message have their lengths in front of them.
            (text.len() == other.len())
                .then_some((text, other))
                .ok_or_else(|| Failure::other("texts of different lengths"))
        };
        let (method, verb) = match parts[..] {
            ["twice", method] => (method, Verb::Times(2)),
            ["times", method, count] => (method, Verb::Times(count.parse().map_err(Failure::other)?)),
            ["burst", method, count] => (method, Verb::Burst(count.parse().map_err(Failure::other)?)),
            ["late", method, pairs] => {
                let pair = |pair: &str| {
                    let (from, to) = pair.split_once('=').ok_or_else(|| Failure::other("FROM=TO"))?;
                    Ok::<_, Failure>((number(from)?, number(to)?))
                };
                (method, Verb::Late(pairs.split(',').map(pair).collect::<Result<_, _>>()?))
            }
            ["forget", method, field] => (method, Verb::Forget(number(field)?)),
            ["copy", method, from, to] => (method, Verb::Copy { from: number(from)?, to: number(to)? }),
            ["change", method, text, other] => {
                let (text, other) = texts(text, other)?;
                (method, Verb::Change { text, other })
            }
            ["ignore", method, field] => (method, Verb::Ignore(number(field)?)),
            ["misread", method, text, other] => {
                let (text, other) = texts(text, other)?;
                (method, Verb::Misread { text, other })
            }
            ["assume", method, from, to] => (method, Verb::Assume { from: number(from)?, to: number(to)? }),
            ["hurry", method, from, to] => (method, Verb::Hurry { from: number(from)?, to: number(to)? }),
            _ => return Err(Failure::other(format!("{text:?} is no rule"))),
        };
        Ok(Self { method: method.to_owned(), only, verb })
    }
}

impl Rule {
    /// Changes a request before it is sent.
    pub fn change_request(&self, message: &mut Vec<u8>) -> Result<(), Failure> {
        match &self.verb {
            Verb::Forget(field) => *message = without(message, *field)?,
            Verb::Copy { from, to } => {
                let copy = renumbered(message, *from, *to)?;
                *message = [without(message, *to)?, copy].concat();
            }
            Verb::Change { text, other } => replace(message, text.as_bytes(), other.as_bytes()),
            _ => {}
        }
        Ok(())
    }

    /// How often a request is sent before the time that counts.
    pub fn extra_requests(&self) -> usize {
        match self.verb {
            Verb::Times(count) => count.saturating_sub(1),
            _ => 0,
        }
    }

    /// How often it is sent at the same time as the time that counts.
    pub fn at_once(&self) -> usize {
        match self.verb {
            Verb::Burst(count) => count.saturating_sub(1),
            _ => 0,
        }
    }

    /// How long the request waits that is sent although the answer is made up.
    pub fn delay(&self) -> Duration {
        match self.verb {
            Verb::Late(_) => Duration::from_millis(300),
            _ => Duration::ZERO,
        }
    }

    /// The answer that the engine makes up.
    pub fn own_answer(&self, request: &[u8]) -> Option<Result<Vec<u8>, Failure>> {
        match &self.verb {
            Verb::Assume { from, to } | Verb::Hurry { from, to } => Some(renumbered(request, *from, *to)),
            Verb::Late(pairs) => {
                let fields = pairs.iter().map(|(from, to)| renumbered(request, *from, *to));
                Some(fields.collect::<Result<Vec<_>, _>>().map(|fields| fields.concat()))
            }
            _ => None,
        }
    }

    /// Whether the request is sent although the answer is made up.
    pub fn asks_in_the_background(&self) -> bool {
        matches!(self.verb, Verb::Hurry { .. } | Verb::Late(_))
    }

    /// Changes an answer before the engine reads it.
    pub fn change_answer(&self, message: &mut Vec<u8>) -> Result<(), Failure> {
        match &self.verb {
            Verb::Ignore(field) => *message = without(message, *field)?,
            Verb::Misread { text, other } => replace(message, text.as_bytes(), other.as_bytes()),
            _ => {}
        }
        Ok(())
    }
}

/// The number of a field.
fn number(text: &str) -> Result<u64, Failure> {
    text.parse().map_err(Failure::other)
}

fn contains(message: &[u8], text: &[u8]) -> bool {
    message.windows(text.len()).any(|window| window == text)
}

/// Replaces a text wherever it occurs by another of the same length.
fn replace(message: &mut [u8], text: &[u8], other: &[u8]) {
    let places: Vec<usize> = message
        .windows(text.len())
        .enumerate()
        .filter(|(_, window)| *window == text)
        .map(|(at, _)| at)
        .collect();
    for at in places {
        message[at..at + other.len()].copy_from_slice(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_says_for_which_method_and_for_which_requests() {
        let rules =
            Rules(vec!["twice:ReadResource@node-a".parse().unwrap(), "forget:Plan:5".parse().unwrap()]);
        assert!(rules.concern("ReadResource") && !rules.concern("ApplyResourceChange"));
        assert_eq!(rules.chosen("ReadResource", b"key node-a here").len(), 1);
        assert_eq!(rules.chosen("ReadResource", b"key node-b here").len(), 0);
        assert_eq!(rules.chosen("Plan", b"anything").len(), 1);
    }

    #[test]
    fn what_is_no_rule_is_an_error() {
        for text in ["", "twice", "later:ReadResource", "forget:Plan:x", "change:Plan:ab:abc"] {
            assert!(text.parse::<Rule>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn texts_are_replaced_wherever_they_occur() {
        let mut message = b"one two one".to_vec();
        replace(&mut message, b"one", b"six");
        assert_eq!(message, b"six two six");
    }
}
