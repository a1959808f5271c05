//! What ends a campaign before its last variant although nothing is wrong: the time that it was given is up, or enough
//! was found.

use std::time::Instant;

/// How far a campaign goes; by default, to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// From when on no other variant is begun.
    pub until: Option<Instant>,
    /// No other variant is begun once this many of the run have a new finding.
    pub findings: Option<usize>,
}

/// The limit that a campaign came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// The time is up.
    Time,
    /// Enough was found.
    Findings,
}

impl Limits {
    /// The limit that is reached once this many variants have a new finding, if any is.
    pub fn reached(&self, failed: usize) -> Option<Reached> {
        if self.findings.is_some_and(|most| failed >= most) {
            return Some(Reached::Findings);
        }
        self.until.is_some_and(|until| Instant::now() >= until).then_some(Reached::Time)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_is_reached_by_time_or_by_findings_and_none_is_without_limits() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        assert_eq!(Limits::default().reached(usize::MAX), None);
        assert_eq!(Limits { until: Some(now), findings: None }.reached(0), Some(Reached::Time));
        let both = Limits { until: Some(later), findings: Some(2) };
        assert_eq!((both.reached(1), both.reached(2)), (None, Some(Reached::Findings)));
    }
}
