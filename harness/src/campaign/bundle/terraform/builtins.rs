//! Whether a bug shows without our provider: the variant is deployed with `terraform_data` in the place of `mock_node`,
//! and judged by what the engine itself says it did.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::Form;
use crate::case::Case;
use crate::deploy::hold::Hold;
use crate::deploy::provider_log::ProviderLog;
use crate::deploy::stop::Stop;
use crate::deploy::{DeployError, Runner, Start};
use crate::engines::driver::{Access, Driver};
use crate::engines::terraform::builtin::{Builtins, BuiltinsOnly};
use crate::engines::{self, Engine};
use crate::judge::finding::{Finding, FindingKind, OracleId, Subject};
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant::judge_each_of;
use crate::spec::ResourceOperation;

/// How often it has to show. When operations overlap differs from run to run, and built-in ones take no time.
const RUNS: usize = 3;

/// What an engine's output and state show without a ledger: all kinds of these oracles.
const BY_OUTPUT: &[OracleId] =
    &[OracleId::Health, OracleId::Steps, OracleId::Order, OracleId::Plan, OracleId::Idle, OracleId::Cross];

/// The kinds of `state` and `destroy` that are told from the state alone.
const BY_STATE: &[FindingKind] = &[
    FindingKind::OldObjectLeft,
    FindingKind::SettingRewritten,
    FindingKind::StateChanged,
    FindingKind::SerialNotRaised,
    FindingKind::StateLeft,
];

/// The form in which a finding shows on an engine, and why it is not the one without our provider. The case's first
/// variant is the one that counts, and its last stage the one with the finding; `others` were found beside it.
pub fn form(
    engine: &Engine,
    case: &Case,
    finding: &Finding,
    others: &[Finding],
    stop: &Stop,
) -> Result<Form, DeployError> {
    let with_provider = |why: String| Ok(Form::Mock { why });
    let stages = case.stages(0)?;
    let builtins = match Builtins::of(&stages) {
        Ok(builtins) => builtins,
        Err(why) => return with_provider(why.to_string()),
    };
    if !BY_OUTPUT.contains(&finding.oracle()) && !BY_STATE.contains(&finding.kind) {
        let oracle = finding.oracle();
        return with_provider(format!("what `{oracle}` looks at is in the provider's ledger alone"));
    }
    for _ in 0..RUNS {
        if let Some(instead) = differs(engine, case, finding, others, &builtins, stop)? {
            return with_provider(format!("with terraform_data it does not show: {instead}"));
        }
    }
    Ok(Form::Builtin)
}

/// What one deployment shows in the place of a finding; none if it shows it.
fn differs(
    engine: &Engine,
    case: &Case,
    finding: &Finding,
    others: &[Finding],
    builtins: &Builtins,
    stop: &Stop,
) -> Result<Option<String>, DeployError> {
    let driver = BuiltinsOnly::new(engines::open(engine), builtins.clone());
    let profile = driver.profile();
    let folder = tempfile::tempdir().map_err(|error| DeployError::writing(&std::env::temp_dir(), error))?;
    let provider_log = ProviderLog::unnamed().map_err(|error| DeployError::writing(folder.path(), error))?;
    // There is no provider to reach.
    let access = Access::Mirror { config: "/dev/null".into(), crash_log: PathBuf::new() };
    let usual = Runner::new(Arc::new(driver), access, PathBuf::new(), Arc::new(provider_log));
    let runner = Runner { hold: Hold::Off, stop: stop.clone(), ..usual };
    runner.deploy(case, 0, folder.path(), Start::Cold)?;
    // What these oracles say of the stages before shows whether the programs mean the same.
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let verdict = judge_each_of(profile, case, 0, folder.path(), &oracles, |_| ());
    let found = verdict.result.findings();
    let by_it = [OracleId::Health, OracleId::Steps, OracleId::Order, OracleId::Plan];
    let counts = |other: &&Finding| other.stage != finding.stage && by_it.contains(&other.oracle());
    let expected = |other: &Finding| others.iter().any(|it| it.place() == other.place());
    if let Some(other) = found.iter().filter(counts).find(|other| !expected(other)) {
        return Ok(Some(format!("{} in {}: {other}", other.signature(), other.stage)));
    }
    let is_it = |other: &&Finding| {
        // Objects and the places of messages differ from run to run.
        let same_operations = match finding.oracle() {
            OracleId::Steps | OracleId::Order => operations(other) == operations(finding),
            _ => true,
        };
        other.place() == finding.place() && same_operations
    };
    match found.iter().find(is_it) {
        Some(_) => Ok(None),
        None => Ok(Some("the stage is as it should be, or differs in another way".to_owned())),
    }
}

/// The operations that a finding is about.
fn operations(finding: &Finding) -> Vec<ResourceOperation> {
    finding.subjects.iter().filter_map(Subject::resource_operation).collect()
}
