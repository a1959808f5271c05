//! Numbers and ranges on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// A number, or an inclusive range: `5`, `3..8` or `3-8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount {
    /// The lower end.
    pub least: u32,
    /// The upper end.
    pub most: u32,
}

impl Amount {
    /// All numbers in the range.
    pub fn range(self) -> RangeInclusive<u32> {
        self.least..=self.most
    }
}

/// A whole number of at least 1.
pub fn at_least_one<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    let number = text.parse().ok().filter(|number| *number >= N::from(1));
    number.ok_or_else(|| format!("`{text}` is not a whole number of at least 1"))
}

/// A number of at least 1, or a range that begins there.
pub fn not_none(text: &str) -> Result<Amount, String> {
    let amount: Amount = text.parse()?;
    if amount.least >= 1 {
        Ok(amount)
    } else {
        Err("it must be at least 1, or there is nothing to test".to_owned())
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
    fn none_is_refused_where_something_is_needed() {
        assert_eq!(at_least_one("1"), Ok(1_usize));
        for text in ["0", "-1", "1.5", "many", ""] {
            let sentence = format!("`{text}` is not a whole number of at least 1");
            assert_eq!(at_least_one::<u64>(text), Err(sentence));
        }
        assert_eq!(not_none("1..2"), "1..2".parse());
        for text in ["0", "0..2", "0-2"] {
            assert_eq!(not_none(text).unwrap_err(), "it must be at least 1, or there is nothing to test");
        }
    }

    #[test]
    fn what_is_no_range_gives_a_sentence() {
        let error = |text: &str| text.parse::<Amount>().unwrap_err();
        assert_eq!(error("8..3"), "8 is more than 3");
        assert_eq!(error("3.."), "`` is not a number; give one, or a range such as 3..8");
    }
}
