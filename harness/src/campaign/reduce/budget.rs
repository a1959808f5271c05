//! How far a reduction goes.

use std::str::FromStr;
use std::time::{Duration, Instant};

/// A number of attempts, or a time. What runs when it is used up comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// So many programs are deployed.
    Attempts(usize),
    /// Nothing is begun after this time.
    Time(Duration),
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(attempts) = text.parse() {
            return match attempts {
                0 => Err("0 attempts are too few; give at least 1".to_owned()),
                _ => Ok(Self::Attempts(attempts)),
            };
        }
        match humantime::parse_duration(text) {
            Ok(time) if !time.is_zero() => Ok(Self::Time(time)),
            _ => Err("give a number of attempts such as 150, or a time such as 90s or 5m".to_owned()),
        }
    }
}

impl Budget {
    /// Whether it is used up.
    pub fn is_used_up(self, attempts: usize, began: Instant) -> bool {
        match self {
            Self::Attempts(most) => attempts >= most,
            Self::Time(time) => began.elapsed() >= time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_of_attempts_or_a_time() {
        assert_eq!("150".parse(), Ok(Budget::Attempts(150)));
        assert_eq!("2m".parse(), Ok(Budget::Time(Duration::from_secs(120))));
        for text in ["0", "", "many", "0s"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }
}
