//! What the engine reports about reading objects is what it reads.

use std::collections::BTreeMap;

use crate::evidence::{Moment, ReportedRead};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::Trial;
use crate::spec::NodeKey;

/// Compares messages with the reads in the ledger.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let has_model = trial.model.is_some();
    let mut unreported: BTreeMap<ReportedRead, isize> = BTreeMap::new();
    for read in &trial.requests.read {
        let address: Box<str> = trial.address(&NodeKey::from(&*read.key)).unwrap_or_default().into();
        let reported = |moment, id: Option<&Box<str>>| ReportedRead {
            address: address.clone(),
            moment,
            id: id.cloned(),
        };
        *unreported.entry(reported(Moment::Begin, read.id.as_ref())).or_default() += 1;
        if !read.failed {
            let id = read.id.as_ref().filter(|_| read.exists);
            *unreported.entry(reported(Moment::End, id)).or_default() += 1;
        }
    }
    for read in trial.evidence.output.reads() {
        let address = if has_model { read.address.clone() } else { "".into() };
        *unreported.entry(ReportedRead { address, ..read.clone() }).or_default() -= 1;
    }
    let different = unreported.into_iter().filter(|(_, count)| *count != 0);
    let finding = |(ReportedRead { address, moment, id }, count): (ReportedRead, isize)| {
        let kind = if count < 0 { FindingKind::UnreadReported } else { FindingKind::ReadUnreported };
        let detail = Detail::Read { moment, id: id.map(Into::into) };
        trial.finding(kind).about([Subject::address(&address)]).with(detail)
    };
    different.map(finding).collect()
}
