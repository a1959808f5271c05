//! Which cases of a campaign are run: all of them, a shard, so that several machines can share it, or a single one.

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
    /// All parts of which this is one.
    pub fn all(self) -> impl Iterator<Item = Self> {
        (1..=self.of).map(move |index| Self { index, of: self.of })
    }

    /// The numbers of its cases, in a campaign with this many cases.
    pub fn cases(self, sources: usize) -> impl Iterator<Item = usize> {
        Part::Shard(self).cases(sources)
    }
}

/// Which cases of a campaign are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Whole,
    /// Those of a shard.
    Shard(Shard),
    /// A single one, by its number.
    Case(usize),
}

impl Part {
    /// What is run of a campaign with this many cases, or of one of its shards: everything, or a single case.
    pub fn of(shard: Option<Shard>, case: Option<usize>, sources: usize) -> Result<Self, CaseNotFound> {
        let Some(case) = case else { return Ok(shard.map_or(Self::Whole, Self::Shard)) };
        if case >= sources {
            return Err(CaseNotFound::Beyond { case, last: sources - 1 });
        }
        let holds = |shard: &Shard| shard.cases(sources).any(|number| number == case);
        match shard.map(|asked| (asked, asked.all().find(holds))) {
            Some((asked, Some(found))) if asked != found => {
                Err(CaseNotFound::Elsewhere { case, asked, found })
            }
            _ => Ok(Self::Case(case)),
        }
    }

    /// The numbers of its cases, of a campaign with this many.
    pub fn cases(self, sources: usize) -> impl Iterator<Item = usize> {
        let (first, end, step) = match self {
            Self::Whole => (0, sources, 1),
            Self::Shard(Shard { index, of }) => (index - 1, sources, of),
            Self::Case(number) => (number, sources.min(number.saturating_add(1)), 1),
        };
        (first..end).step_by(step)
    }
}

/// A case that is not part of what is run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseNotFound {
    /// The campaign has fewer cases.
    #[error("there is no case {case}: the campaign has the cases 0 to {last}")]
    Beyond {
        /// The number that was asked for.
        case: usize,
        /// The largest there is.
        last: usize,
    },
    /// It is in another shard.
    #[error("case {case} is not in part {asked}, but in part {found}")]
    Elsewhere {
        /// The number that was asked for.
        case: usize,
        /// The shard that was asked for.
        asked: Shard,
        /// The shard that has the case.
        found: Shard,
    },
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
        assert_eq!(Part::Case(0).cases(5).collect::<Vec<_>>(), [0]);
        assert_eq!(Part::Case(4).cases(5).collect::<Vec<_>>(), [4]);
        assert_eq!(Part::Case(5).cases(5).count(), 0);
        let shard: Option<Shard> = Some("2/3".parse().unwrap());
        assert_eq!(Part::of(shard, Some(4), 9), Ok(Part::Case(4)));
        assert_eq!(Part::of(shard, None, 9).unwrap().cases(9).collect::<Vec<_>>(), [1, 4, 7]);
        let text = |part: Result<Part, CaseNotFound>| part.unwrap_err().to_string();
        assert_eq!(text(Part::of(shard, Some(5), 9)), "case 5 is not in part 2/3, but in part 3/3");
        assert_eq!(text(Part::of(None, Some(9), 9)), "there is no case 9: the campaign has the cases 0 to 8");
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["0/4", "5/4", "1", "a/b", "1/0", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/4".parse::<Shard>().unwrap().cases(10).collect::<Vec<_>>(), [1, 5, 9]);
    }
}
