//! Which of a variant's findings is the cause, and which stand there because of it.

use super::oracles::Finding;

/// The oracles by how near to a cause they look: first what the engine said of itself and what it did, then what that
/// left behind, then what it does when it comes back to it.
const NEAREST_FIRST: &[&str] = &[
    "health",
    "steps",
    "order",
    "requests",
    "attributes",
    "conservation",
    "plan",
    "graph",
    "destroy",
    "repeat",
    "state",
    "idle",
    "cross",
];

/// The findings of a variant around the one that nothing else explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause<'a> {
    /// That one: of the first stage with a new finding, the one nearest to the cause. Where all is known, of the first
    /// stage with any.
    pub finding: &'a Finding,
    /// What known bugs did in earlier stages.
    pub before: Vec<&'a Finding>,
    /// What else was found in that stage, and in later ones.
    pub follows: Vec<&'a Finding>,
}

impl<'a> Cause<'a> {
    /// The cause among findings in the order of their stages; none if there are none.
    pub fn among(findings: &'a [Finding]) -> Option<Self> {
        let is_new = |finding: &Finding| finding.known.is_none();
        let only_known = !findings.iter().any(is_new);
        let counts = |finding: &Finding| only_known || is_new(finding);
        let stage = &findings.iter().find(|finding| counts(finding))?.stage;
        let in_it = findings.iter().enumerate().filter(|(_, it)| it.stage == *stage && counts(it));
        let (place, finding) = in_it.min_by_key(|(place, finding)| (distance(finding), *place))?;
        let begin = findings.iter().position(|finding| finding.stage == *stage)?;
        Some(Self {
            finding,
            before: findings[..begin].iter().collect(),
            follows: (begin..findings.len())
                .filter(|other| *other != place)
                .map(|it| &findings[it])
                .collect(),
        })
    }
}

fn distance(finding: &Finding) -> usize {
    NEAREST_FIRST.iter().position(|oracle| *oracle == finding.oracle).unwrap_or(NEAREST_FIRST.len())
}

/// Findings of one kind in one stage, which can be told in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded<'a> {
    /// The first of them.
    pub first: &'a Finding,
    /// How many there are.
    pub count: usize,
}

/// Findings with those of the same stage, oracle, kind and known bug folded into one, in the order of the first.
pub fn folded<'a>(findings: &[&'a Finding]) -> Vec<Folded<'a>> {
    let mut all: Vec<Folded<'a>> = Vec::new();
    for finding in findings {
        let same =
            |it: &&mut Folded<'_>| it.first.place() == finding.place() && it.first.known == finding.known;
        match all.iter_mut().find(same) {
            Some(folded) => folded.count += 1,
            None => all.push(Folded { first: finding, count: 1 }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::oracles::ORACLES;

    fn finding(stage: &str, oracle: &str, known: Option<&str>) -> Finding {
        Finding {
            oracle: oracle.to_owned(),
            kind: "x".to_owned(),
            stage: stage.to_owned(),
            text: format!("{oracle} in {stage}"),
            known: known.map(str::to_owned),
        }
    }

    #[test]
    fn every_oracle_has_its_distance_to_a_cause() {
        let mut named: Vec<&str> = NEAREST_FIRST.to_vec();
        let mut there: Vec<&str> = ORACLES.iter().map(|oracle| oracle.name).collect();
        named.sort_unstable();
        there.sort_unstable();
        assert_eq!(named, there);
    }

    #[test]
    fn the_cause_is_of_the_first_stage_and_nearest_to_what_the_engine_did() {
        let findings = [
            finding("batch-2", "state", None),
            finding("batch-2", "steps", None),
            finding("idle", "idle", None),
            finding("idle", "health", None),
        ];
        let cause = Cause::among(&findings).unwrap();
        assert_eq!(cause.finding, &findings[1]);
        assert_eq!(cause.follows, [&findings[0], &findings[2], &findings[3]]);
        assert!(cause.before.is_empty());
        assert_eq!(Cause::among(&[]), None);
    }

    #[test]
    fn what_is_known_is_no_cause_of_what_is_new() {
        let findings = [
            finding("batch-1", "health", Some("old-bug")),
            finding("batch-2", "health", Some("old-bug")),
            finding("batch-2", "order", None),
        ];
        let cause = Cause::among(&findings).unwrap();
        assert_eq!((cause.finding, cause.before), (&findings[2], vec![&findings[0]]));
        assert_eq!(cause.follows, [&findings[1]]);
        assert_eq!(Cause::among(&findings[..2]).unwrap().finding, &findings[0]);
    }

    #[test]
    fn findings_of_one_kind_in_one_stage_are_one_line() {
        let findings =
            [finding("idle", "idle", None), finding("cross", "cross", None), finding("idle", "idle", None)];
        let counts: Vec<(&str, usize)> = folded(&findings.iter().collect::<Vec<_>>())
            .iter()
            .map(|folded| (folded.first.stage.as_str(), folded.count))
            .collect();
        assert_eq!(counts, [("idle", 2), ("cross", 1)]);
    }
}
