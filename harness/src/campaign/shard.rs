//! A part of a campaign, so that several machines can share it.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The `index`-th of `of` parts, counted from 1. Every part has the cases that the whole campaign has under the same
/// numbers, so joining parts is putting their folders side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: usize,
    of: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// One case alone, by its number: of so many parts that every one has a single case.
    pub fn only(case: usize) -> Self {
        Self { index: case.saturating_add(1), of: usize::MAX }
    }

    /// One case of this part, of a campaign with so many.
    pub fn only_case(self, case: usize, sources: usize) -> Result<Self, String> {
        if case >= sources {
            return Err(format!("there is no case {case}: the campaign has the cases 0 to {}", sources - 1));
        }
        match self.all().find(|part| part.cases(sources).any(|number| number == case)) {
            Some(part) if part != self => {
                Err(format!("case {case} is not in part {self}, but in part {part}"))
            }
            _ => Ok(Self::only(case)),
        }
    }

    /// All parts of which this is one.
    pub fn all(self) -> impl Iterator<Item = Self> {
        (1..=self.of).map(move |index| Self { index, of: self.of })
    }

    /// The numbers of its cases, of a campaign with so many.
    pub fn cases(self, sources: usize) -> impl Iterator<Item = usize> {
        (self.index - 1..sources).step_by(self.of)
    }
}

impl Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err(format!("`{text}` is no part; write 1/4 for the first of four")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_hold_every_case_once(sources in 0usize..60, of in 1usize..9) {
            let any: Shard = format!("1/{of}").parse().unwrap();
            let mut numbers: Vec<usize> = any.all().flat_map(|shard| shard.cases(sources)).collect();
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..sources));
        }
    }

    #[test]
    fn one_case_is_a_part_too() {
        assert_eq!(Shard::only(0).cases(5).collect::<Vec<_>>(), [0]);
        assert_eq!(Shard::only(4).cases(5).collect::<Vec<_>>(), [4]);
        assert_eq!(Shard::only(5).cases(5).count(), 0);
        let part: Shard = "2/3".parse().unwrap();
        assert_eq!(part.only_case(4, 9), Ok(Shard::only(4)));
        assert_eq!(part.only_case(5, 9), Err("case 5 is not in part 2/3, but in part 3/3".to_owned()));
        let beyond = Err("there is no case 9: the campaign has the cases 0 to 8".to_owned());
        assert_eq!(Shard::WHOLE.only_case(9, 9), beyond);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["0/4", "5/4", "1", "a/b", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/4".parse::<Shard>().unwrap().cases(10).collect::<Vec<_>>(), [1, 5, 9]);
    }
}
