//! Which of a variant's findings is nearest to the cause, and which stand there because of it.
//!
//! One mistake of an engine is seen by many oracles: an apply that reports a cycle also lacks all of its operations and
//! ends in another graph, and what follows differs because of that. Whoever explains, reduces or counts bugs needs one
//! finding that stands for all of them.

use super::finding::{Finding, OracleId};

/// The finding that is nearest to the cause; none if there are none.
///
/// Findings are taken in the order in which a verdict has them, stage by stage. What a known bug explains is left aside
/// as long as there is something else. Of the rest, the first stage counts, and in it the finding of the oracle that is
/// nearest to what the engine did: how its command ended, then which operations there were, in which order, by which
/// requests, what they left, and last what the engine says of it. Evidence that broke off is no finding about the
/// engine, and stands for others only if there are none.
pub fn cause(findings: &[Finding]) -> Option<&Finding> {
    let is_new = |finding: &&Finding| finding.known.is_none() && !finding.is_broken_evidence();
    let of_engine = |finding: &&Finding| !finding.is_broken_evidence();
    nearest(findings.iter().filter(is_new))
        .or_else(|| nearest(findings.iter().filter(of_engine)))
        .or_else(|| findings.first())
}

fn nearest<'a>(findings: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    let mut findings = findings.peekable();
    let stage = findings.peek()?.stage.clone();
    // Of several that are as near, the first one.
    findings.filter(|finding| finding.stage == stage).min_by_key(|finding| distance(finding))
}

/// How many steps a finding is from what the engine did wrong.
fn distance(finding: &Finding) -> usize {
    match finding.oracle() {
        OracleId::Health if finding.kind.is_an_end() => 0,
        OracleId::Steps => 1,
        OracleId::Order => 2,
        // What the engine leaves or prints on the side often follows from what it did.
        OracleId::Health => 3,
        OracleId::Requests => 4,
        OracleId::Attributes => 5,
        OracleId::Graph => 6,
        OracleId::Plan | OracleId::Progress => 7,
        OracleId::State => 8,
        OracleId::Conservation => 9,
        OracleId::Idle | OracleId::Cross | OracleId::Repeat | OracleId::Destroy | OracleId::Queries => 10,
        OracleId::Evidence | OracleId::Variants => 11,
    }
}

/// The findings of a variant around the one that nothing else explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause<'a> {
    /// That one: see [`cause`].
    pub finding: &'a Finding,
    /// What known bugs did in earlier stages.
    pub before: Vec<&'a Finding>,
    /// What else was found in that stage, and in later ones.
    pub follows: Vec<&'a Finding>,
}

impl<'a> Cause<'a> {
    /// The cause among findings in the order of their stages; none if there are none.
    pub fn among(findings: &'a [Finding]) -> Option<Self> {
        let finding = cause(findings)?;
        let begin = findings.iter().position(|other| other.stage == finding.stage)?;
        Some(Self {
            finding,
            before: findings[..begin].iter().collect(),
            follows: findings[begin..].iter().filter(|other| !std::ptr::eq(*other, finding)).collect(),
        })
    }
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
    use super::super::finding::FindingKind as Kind;
    use super::*;

    fn of(findings: &[(&str, Kind)]) -> String {
        let findings: Vec<Finding> =
            findings.iter().map(|(stage, kind)| Finding::new(*kind, stage)).collect();
        let Finding { stage, kind, .. } = cause(&findings).unwrap();
        format!("{stage} {kind}")
    }

    #[test]
    fn how_a_command_ended_comes_before_what_it_did_not_do() {
        let found = [("b", Kind::GraphDiffers), ("b", Kind::OperationMissing), ("b", Kind::ReportsCycle)];
        assert_eq!(of(&found), "b reports-cycle");
        assert_eq!(of(&found[..2]), "b operation-missing");
    }

    #[test]
    fn what_was_done_comes_before_what_was_said_of_it() {
        let found =
            [Kind::GhostObject, Kind::LockLeft, Kind::Miscount, Kind::OrderViolated, Kind::UnwantedRead];
        assert_eq!(of(&found.map(|kind| ("b", kind))), "b order-violated");
        assert_eq!(of(&[("b", Kind::IdlePlansChange), ("b", Kind::GhostObject)]), "b ghost-object");
    }

    #[test]
    fn an_earlier_stage_comes_before_a_later_one() {
        assert_eq!(of(&[("a", Kind::GhostObject), ("b", Kind::Crash)]), "a ghost-object");
    }

    #[test]
    fn what_is_known_and_evidence_that_broke_off_stand_back() {
        let mut findings =
            vec![Finding::new(Kind::OperationMissing, "a"), Finding::new(Kind::GhostObject, "b")];
        findings.push(Finding::broken_evidence("a".into(), String::new()));
        findings[0].known = Some("known".to_owned());
        assert_eq!(cause(&findings), Some(&findings[1]));
        findings.remove(1);
        assert_eq!(cause(&findings), Some(&findings[0]));
        assert_eq!(cause(&findings[1..]), Some(&findings[1]));
        assert_eq!(cause(&[]), None);
    }

    fn in_stage(stage: &str, kind: Kind, known: Option<&str>) -> Finding {
        Finding { known: known.map(str::to_owned), ..Finding::new(kind, stage) }
    }

    #[test]
    fn the_cause_is_of_the_first_stage_and_nearest_to_what_the_engine_did() {
        let findings = [
            in_stage("batch-2", Kind::GhostObject, None),
            in_stage("batch-2", Kind::OperationExtra, None),
            in_stage("idle", Kind::IdlePlansChange, None),
            in_stage("idle", Kind::Crash, None),
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
            in_stage("batch-1", Kind::Failure, Some("old-bug")),
            in_stage("batch-2", Kind::Failure, Some("old-bug")),
            in_stage("batch-2", Kind::OrderViolated, None),
        ];
        let cause = Cause::among(&findings).unwrap();
        assert_eq!((cause.finding, cause.before), (&findings[2], vec![&findings[0]]));
        assert_eq!(cause.follows, [&findings[1]]);
        assert_eq!(Cause::among(&findings[..2]).unwrap().finding, &findings[0]);
    }

    #[test]
    fn findings_of_one_kind_in_one_stage_are_one_line() {
        let findings = [
            in_stage("idle", Kind::IdlePlansChange, None),
            in_stage("cross", Kind::CrossPlansChange, None),
            in_stage("idle", Kind::IdlePlansChange, None),
        ];
        let counts: Vec<(&str, usize)> = folded(&findings.iter().collect::<Vec<_>>())
            .iter()
            .map(|folded| (folded.first.stage.as_str(), folded.count))
            .collect();
        assert_eq!(counts, [("idle", 2), ("cross", 1)]);
    }
}
