//! How often each workflow is taken.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{WORKFLOWS, Workflow};
use crate::case::streams::Choice;

/// The weights of workflows: a variant takes one of them, by its seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shares(Vec<(&'static str, f64)>);

impl Shares {
    /// Every workflow as often as any other.
    pub fn all() -> Self {
        Self(WORKFLOWS.iter().map(|workflow| (workflow.name, 1.0)).collect())
    }

    /// The plain one alone.
    pub fn plain() -> Self {
        Self(vec![(WORKFLOWS[0].name, 1.0)])
    }

    /// The workflows that can be taken.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|(name, _)| *name)
    }

    /// The workflow of a variant. It depends on the case's seed and the variant's number alone.
    ///
    /// The first is drawn, and those of the other variants of the case are spread evenly after it: a few variants try
    /// as many ways as they can.
    pub fn workflow(&self, seed: u64, variant: usize) -> &'static Workflow {
        let number = Choice::Workflow.seed(seed, 0);
        let whole: f64 = self.0.iter().map(|(_, weight)| weight).sum();
        let drawn = (number >> 11) as f64 / (1u64 << 53) as f64;
        let mut place = (drawn + variant as f64 * GOLDEN_RATIO).fract() * whole;
        let found = self.0.iter().find(|(_, weight)| {
            place -= weight;
            place < 0.0
        });
        let (name, _) = found.or(self.0.last()).expect("there is one at least");
        Workflow::named(name).expect("names were looked up when they were read")
    }
}

/// Multiples of it, without their whole part, never come close to each other for long.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

impl Default for Shares {
    fn default() -> Self {
        Self::all()
    }
}

/// A list of workflows that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SharesError {
    /// There is none of that name.
    #[error("there is no workflow `{0}`; `equiform workflows` lists them")]
    Unknown(String),
    /// It is named twice.
    #[error("the workflow `{0}` is named twice; give it one share")]
    Twice(String),
    /// Its share is no number above 0.
    #[error("`{0}` is not a share; give a number above 0, as in `plain=2`")]
    NoShare(String),
    /// Shares in percent that are not a whole.
    #[error("the shares add up to {0} %; give percentages that add up to 100, or plain weights without `%`")]
    NotAWhole(String),
    /// Percentages and weights side by side.
    #[error("some shares are percentages and some are not; give all of one kind")]
    Mixed,
    /// None is named.
    #[error("no workflow is named; `all` takes every one, and `equiform workflows` lists them")]
    None,
}

impl FromStr for Shares {
    type Err = SharesError;

    fn from_str(text: &str) -> Result<Self, SharesError> {
        if text.trim() == "all" {
            return Ok(Self::all());
        }
        let (mut shares, mut percentages): (Vec<(&'static str, f64)>, usize) = (Vec::new(), 0);
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (name, share) = item.split_once('=').map_or((item, None), |(name, it)| (name, Some(it)));
            let workflow = Workflow::named(name).ok_or_else(|| SharesError::Unknown(name.to_owned()))?;
            if shares.iter().any(|(other, _)| *other == workflow.name) {
                return Err(SharesError::Twice(name.to_owned()));
            }
            let number = share.map_or("1", |share| share.trim_end_matches('%'));
            let weight: Option<f64> = number.parse().ok();
            let weight = weight.filter(|weight| weight.is_finite() && *weight > 0.0);
            let weight = weight.ok_or_else(|| SharesError::NoShare(item.to_owned()))?;
            percentages += usize::from(share.is_some_and(|share| share.ends_with('%')));
            shares.push((workflow.name, weight));
        }
        let whole: f64 = shares.iter().map(|(_, weight)| weight).sum();
        match percentages {
            _ if shares.is_empty() => Err(SharesError::None),
            0 => Ok(Self(shares)),
            some if some < shares.len() => Err(SharesError::Mixed),
            _ if (whole - 100.0).abs() > 1e-6 => Err(SharesError::NotAWhole(whole.to_string())),
            _ => Ok(Self(shares)),
        }
    }
}

impl TryFrom<String> for Shares {
    type Error = SharesError;

    fn try_from(text: String) -> Result<Self, SharesError> {
        text.parse()
    }
}

impl From<Shares> for String {
    fn from(shares: Shares) -> Self {
        shares.to_string()
    }
}

impl Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::all() {
            return f.write_str("all");
        }
        for (place, (name, weight)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{name}={weight}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_written() {
        for text in ["all", "plain=1", "plain=2,targets=0.5", "plain=30,drift=70"] {
            assert_eq!(text.parse::<Shares>().unwrap().to_string(), text);
        }
        assert_eq!("plain".parse::<Shares>(), Ok(Shares::plain()));
        assert_eq!("plain=25%, drift=75%".parse::<Shares>().unwrap().to_string(), "plain=25,drift=75");
    }

    #[test]
    fn shares_that_make_no_sense_get_a_sentence() {
        let error = |text: &str| text.parse::<Shares>().unwrap_err().to_string();
        assert!(error("plane").contains("no workflow `plane`"));
        assert!(error("plain,plain=2").contains("twice"));
        assert!(error("plain=0").contains("not a share") && error("plain=x").contains("not a share"));
        assert!(error("plain=60%,drift=60%").contains("add up to 120 %"));
        assert!(error("plain=60%,drift=2").contains("one kind"));
        assert!(error("").contains("no workflow is named"));
    }

    #[test]
    fn the_variants_of_a_case_take_different_workflows() {
        for seed in 0..200 {
            let taken = (0..WORKFLOWS.len()).map(|variant| Shares::all().workflow(seed, variant).name);
            let different = taken.collect::<std::collections::BTreeSet<_>>().len();
            assert!(different * 5 >= WORKFLOWS.len() * 3, "{different} of {}", WORKFLOWS.len());
            let few = (0..10).map(|variant| Shares::all().workflow(seed, variant).name);
            assert!(few.collect::<std::collections::BTreeSet<_>>().len() >= 9);
        }
    }

    #[test]
    fn workflows_are_taken_as_often_as_their_shares_say() {
        let shares: Shares = "plain=3,drift=1".parse().unwrap();
        let drifts = (0..4000).filter(|variant| shares.workflow(7, *variant).name == "drift").count();
        assert!((900..1100).contains(&drifts), "{drifts}");
        assert_eq!(shares.workflow(7, 3).name, shares.workflow(7, 3).name);
    }
}
