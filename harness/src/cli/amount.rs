//! A number, or a range of numbers, on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// A number, or a range with both its ends: `5`, `3..8` or `3-8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// The least.
    pub least: u32,
    /// The most.
    pub most: u32,
}

impl Amount {
    /// From the least to the most.
    pub fn range(self) -> RangeInclusive<u32> {
        self.least..=self.most
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.parse().map_err(|_| format!("`{text}` is not a number; give one, or a range such as 3..8"))
        };
        let (least, most) = match text.split_once("..").or_else(|| text.split_once('-')) {
            Some((least, most)) => (number(least)?, number(most)?),
            None => (number(text)?, number(text)?),
        };
        if least <= most { Ok(Self { least, most }) } else { Err(format!("{least} is more than {most}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_written_with_dots_or_a_dash_and_holds_both_ends() {
        for text in ["3..8", "3-8"] {
            assert_eq!(text.parse::<Amount>().unwrap().range(), 3..=8);
        }
        assert_eq!("5".parse::<Amount>().unwrap().range(), 5..=5);
    }

    #[test]
    fn what_is_no_range_gives_a_sentence() {
        let error = |text: &str| text.parse::<Amount>().unwrap_err();
        assert_eq!(error("8..3"), "8 is more than 3");
        assert_eq!(error("3.."), "`` is not a number; give one, or a range such as 3..8");
    }
}
