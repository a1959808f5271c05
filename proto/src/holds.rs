//! How the provider holds operations between their begin and their end, so that those that an engine allows to overlap
//! do overlap.
//!
//! A hold is a JSON document with a version wherever programs exchange it. People write it in short, as `quiet:5ms`, on
//! the command line, in `EQUIFORM_HOLD` and in the provider block.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The version of the document that this crate reads and writes.
pub const HOLD_VERSION: u32 = 1;

/// The longest time for which an operation can be held: an hour.
const LONGEST: u32 = 3_600_000;

/// How operations are held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Document", try_from = "Document")]
pub enum Hold {
    /// Not at all.
    #[default]
    Off,
    /// For a fixed time.
    For {
        /// In milliseconds.
        milliseconds: u32,
    },
    /// Until the engine sends nothing more. Then some of the operations go on, chosen by the seed, and the others are
    /// held until the engine is quiet again.
    UntilQuiet {
        /// The engine is quiet after so many milliseconds without a request; none if it is quiet when it sleeps.
        after: Option<u32>,
        /// Decides which operations go on first.
        seed: u64,
    },
}

impl Hold {
    /// Until the engine sleeps.
    pub const QUIET: Self = Self::UntilQuiet { after: None, seed: 0 };

    /// The same with another seed, where there is one.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        match self {
            Self::UntilQuiet { after, .. } => Self::UntilQuiet { after, seed },
            Self::Off | Self::For { .. } => self,
        }
    }

    /// The time that it names.
    pub fn time(self) -> Option<Duration> {
        let milliseconds = match self {
            Self::For { milliseconds } => Some(milliseconds),
            Self::UntilQuiet { after, .. } => after,
            Self::Off => None,
        };
        milliseconds.map(|time| Duration::from_millis(u64::from(time)))
    }
}

/// As people write it.
impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::For { milliseconds } => write!(f, "{milliseconds}ms"),
            Self::UntilQuiet { after, seed } => {
                f.write_str("quiet")?;
                if let Some(after) = after {
                    write!(f, ":{after}ms")?;
                }
                if *seed != 0 {
                    write!(f, ":{seed}")?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Hold {
    type Err = InvalidHold;

    fn from_str(text: &str) -> Result<Self, InvalidHold> {
        let refused = || InvalidHold::Text(text.to_owned());
        let mut parts = text.split(':').peekable();
        let hold = match parts.next() {
            Some("off") => Self::Off,
            Some("quiet") => {
                let after = parts.next_if(|part| part.ends_with('s'));
                let after = after.map(|after| milliseconds(after).ok_or_else(refused)).transpose()?;
                let seed = parts.next().map_or(Ok(0), str::parse).map_err(|_| refused())?;
                Self::UntilQuiet { after, seed }
            }
            Some(time) => Self::For { milliseconds: milliseconds(time).ok_or_else(refused)? },
            None => return Err(refused()),
        };
        if parts.next().is_some() { Err(refused()) } else { Ok(hold) }
    }
}

/// A time in `ms` or `s`.
fn milliseconds(text: &str) -> Option<u32> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let number: u32 = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())??;
    number.checked_mul(unit).filter(|time| *time <= LONGEST)
}

/// A hold as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    hold: Kind,
    /// How long the operation is held, or the engine has to be quiet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Off,
    For,
    UntilQuiet,
}

impl From<Hold> for Document {
    fn from(hold: Hold) -> Self {
        let (hold, milliseconds, seed) = match hold {
            Hold::Off => (Kind::Off, None, None),
            Hold::For { milliseconds } => (Kind::For, Some(milliseconds), None),
            Hold::UntilQuiet { after, seed } => (Kind::UntilQuiet, after, Some(seed)),
        };
        Self { version: HOLD_VERSION, hold, milliseconds, seed }
    }
}

impl TryFrom<Document> for Hold {
    type Error = InvalidHold;

    fn try_from(document: Document) -> Result<Self, InvalidHold> {
        let Document { version, hold, milliseconds, seed } = document;
        if version != HOLD_VERSION {
            return Err(InvalidHold::Version(version));
        }
        if milliseconds.is_some_and(|time| time > LONGEST) {
            return Err(InvalidHold::Document);
        }
        match (hold, milliseconds, seed) {
            (Kind::Off, None, None) => Ok(Self::Off),
            (Kind::For, Some(milliseconds), None) => Ok(Self::For { milliseconds }),
            (Kind::UntilQuiet, after, seed) => Ok(Self::UntilQuiet { after, seed: seed.unwrap_or(0) }),
            _ => Err(InvalidHold::Document),
        }
    }
}

/// What does not say how operations are held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHold {
    /// A text that is none of those that people write.
    #[error(
        "{0:?} is not a way to hold operations. These are: off, a time such as 5ms, quiet, quiet:5ms, quiet:SEED, \
         quiet:5ms:SEED"
    )]
    Text(String),
    /// A document of another version.
    #[error("the hold has version {0}, and this program reads version {HOLD_VERSION}")]
    Version(u32),
    /// A document whose fields do not fit together.
    #[error(
        "a hold that is `for` a time has `milliseconds`, at most {LONGEST}; one that is `until_quiet` may have \
         `milliseconds` and a `seed`; one that is `off` has neither"
    )]
    Document,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read_back_and_anything_else_is_refused() {
        assert_eq!("off".parse(), Ok(Hold::Off));
        assert_eq!("2s".parse(), Ok(Hold::For { milliseconds: 2000 }));
        assert_eq!("quiet".parse(), Ok(Hold::QUIET));
        assert_eq!("quiet:9".parse(), Ok(Hold::UntilQuiet { after: None, seed: 9 }));
        assert_eq!("quiet:7ms:9".parse(), Ok(Hold::UntilQuiet { after: Some(7), seed: 9 }));
        for text in ["off", "5ms", "quiet", "quiet:5ms", "quiet:7", "quiet:5ms:7"] {
            assert_eq!(text.parse::<Hold>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "on",
            "5",
            "ms",
            "-1ms",
            "+1ms",
            "2h",
            "quiet:",
            "quiet:1ms:x",
            "quiet:1ms:1:1",
            "9999999s",
            "off:1",
        ] {
            assert_eq!(text.parse::<Hold>(), Err(InvalidHold::Text(text.to_owned())));
        }
    }

    #[test]
    fn a_document_says_no_more_than_its_kind_allows() {
        let read = |text: &str| serde_json::from_str::<Hold>(text);
        for hold in [Hold::Off, Hold::For { milliseconds: 5 }, Hold::QUIET, Hold::QUIET.with_seed(7)] {
            assert_eq!(read(&serde_json::to_string(&hold).unwrap()).unwrap(), hold);
        }
        let quiet = serde_json::to_string(&Hold::QUIET.with_seed(7)).unwrap();
        assert_eq!(quiet, r#"{"version":1,"hold":"until_quiet","seed":7}"#);
        for text in [
            r#"{"version":2,"hold":"off"}"#,
            r#"{"version":1,"hold":"off","seed":1}"#,
            r#"{"version":1,"hold":"for"}"#,
            r#"{"version":1,"hold":"for","milliseconds":3600001}"#,
            r#"{"version":1,"hold":"for","milliseconds":5,"seed":1}"#,
            r#"{"version":1,"hold":"schedule"}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_hold_that_chooses_takes_a_seed() {
        assert_eq!(Hold::UntilQuiet { after: Some(5), seed: 0 }.with_seed(7).to_string(), "quiet:5ms:7");
        assert_eq!(Hold::Off.with_seed(7), Hold::Off);
        assert_eq!(Hold::For { milliseconds: 5 }.with_seed(7).to_string(), "5ms");
        assert_eq!(Hold::For { milliseconds: 5 }.time(), Some(Duration::from_millis(5)));
    }
}
