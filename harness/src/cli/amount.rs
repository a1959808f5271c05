//! Numbers, ranges and durations on the command line.

use std::time::Duration;

pub use equiform_algebra::cli::amount::{Amount, at_least_one, not_none};

/// A duration that is not zero: `90s`, `2m`, `1h 30m`. A bare number is in seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    let sentence = || format!("`{text}` is not a duration; give one such as 90s, 2m or 1h");
    duration.filter(|duration| !duration.is_zero()).ok_or_else(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit_or_is_in_seconds() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1m30s"), duration("90s"));
        for text in ["0", "0s", "", "-1s", "soon"] {
            assert!(duration(text).unwrap_err().ends_with("give one such as 90s, 2m or 1h"), "{text}");
        }
    }
}
