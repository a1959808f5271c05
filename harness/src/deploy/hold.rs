//! How the provider holds operations between their begin and their end, so that what an engine allows to overlap does.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How operations are held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hold {
    /// Not at all.
    Off,
    /// Until the engine sends nothing more, for as long as the provider finds right.
    #[default]
    Quiet,
    /// Until the engine has sent nothing for so many milliseconds.
    QuietFor(u32),
    /// For so many milliseconds.
    For(u32),
}

impl Hold {
    /// What the provider is told by `EQUIFORM_HOLD`. The seed decides in which order operations go on.
    pub fn variable(self, seed: u32) -> String {
        match self {
            Self::Quiet | Self::QuietFor(_) => format!("{self}:{seed}"),
            Self::Off | Self::For(_) => self.to_string(),
        }
    }

    /// What campaigns did that say nothing of it.
    pub fn before_there_was_a_choice() -> Self {
        Self::Off
    }
}

impl Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Quiet => f.write_str("quiet"),
            Self::QuietFor(time) => write!(f, "quiet:{time}ms"),
            Self::For(time) => write!(f, "{time}ms"),
        }
    }
}

/// A text that does not say how operations are held.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("operations are held `quiet`, `quiet:5ms`, `5ms` or `off`")]
pub struct NoHold;

impl FromStr for Hold {
    type Err = NoHold;

    fn from_str(text: &str) -> Result<Self, NoHold> {
        // At most a minute: an operation that takes longer than an engine's command may is no test of it.
        let time = |text: &str| -> Result<u32, NoHold> {
            let number = text.strip_suffix("ms").ok_or(NoHold)?;
            number.parse().ok().filter(|time| *time <= 60_000).ok_or(NoHold)
        };
        match text {
            "off" => Ok(Self::Off),
            "quiet" => Ok(Self::Quiet),
            _ => match text.strip_prefix("quiet:") {
                Some(text) => time(text).map(Self::QuietFor),
                None => time(text).map(Self::For),
            },
        }
    }
}

impl Serialize for Hold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_anything_else_is_refused() {
        for hold in [Hold::Off, Hold::Quiet, Hold::QuietFor(5), Hold::For(60_000)] {
            assert_eq!(hold.to_string().parse(), Ok(hold));
        }
        for text in ["", "on", "5", "5s", "quiet:", "quiet:5", "60001ms", "quiet:5ms:1"] {
            assert_eq!(text.parse::<Hold>(), Err(NoHold), "{text:?}");
        }
    }

    #[test]
    fn only_where_the_order_is_open_does_the_provider_get_a_seed() {
        assert_eq!(Hold::QuietFor(5).variable(7), "quiet:5ms:7");
        assert_eq!(Hold::Quiet.variable(7), "quiet:7");
        assert_eq!(Hold::Off.variable(7), "off");
        assert_eq!(Hold::For(5).variable(7), "5ms");
    }
}
