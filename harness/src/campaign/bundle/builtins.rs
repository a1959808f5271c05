//! Whether a bug shows without our provider: the variant is deployed with `terraform_data` in the place of `mock_node`,
//! and judged by what the engine itself says it did.

use std::path::PathBuf;
use std::sync::Arc;

use super::Form;
use crate::case::Case;
use crate::deploy::hold::Hold;
use crate::deploy::provider_log::ProviderLog;
use crate::deploy::stop::Stop;
use crate::deploy::{DeployError, Runner, Start};
use crate::engines::driver::{Access, Driver};
use crate::engines::terraform::builtin::{Builtins, BuiltinsOnly};
use crate::engines::{self, Engine};
use crate::judge::oracles::{Finding, ORACLES, Oracle};
use crate::judge::variant::judge_each_of;

/// How often it has to show. When operations overlap differs from run to run, and built-in ones take no time.
const RUNS: usize = 3;

/// What an engine's output and state show without a ledger: all kinds of these oracles.
const BY_OUTPUT: &[&str] = &["health", "steps", "order", "plan", "idle", "cross"];

/// The kinds of `state` and `destroy` that are told from the state alone.
const BY_STATE: &[&str] = &[
    "deposed object left",
    "setting rewritten",
    "changed where nothing was to be",
    "the same serial",
    "state left",
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
    let told_by_state = BY_STATE.contains(&finding.kind.as_str());
    if !BY_OUTPUT.contains(&finding.oracle.as_str()) && !told_by_state {
        return with_provider(format!(
            "what `{}` looks at is in the provider's ledger alone",
            finding.oracle
        ));
    }
    for _ in 0..RUNS {
        if let Some(instead) = differs(engine, case, finding, others, &builtins, stop)? {
            return with_provider(format!("with terraform_data it does not show: {instead}"));
        }
    }
    Ok(Form::Builtin(builtins))
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
    let counts = |other: &&Finding| {
        other.stage != finding.stage && ["health", "steps", "order", "plan"].contains(&other.oracle.as_str())
    };
    let expected = |other: &Finding| others.iter().any(|it| it.place() == other.place());
    if let Some(other) = found.iter().filter(counts).find(|other| !expected(other)) {
        return Ok(Some(format!("{}: {} in {}: {}", other.oracle, other.kind, other.stage, other.text)));
    }
    let is_it = |other: &&Finding| {
        let same_text = match finding.oracle.as_str() {
            "steps" => other.text == finding.text,
            "order" => without_places(&other.text) == without_places(&finding.text),
            _ => true,
        };
        other.place() == finding.place() && same_text
    };
    match found.iter().find(is_it) {
        Some(_) => Ok(None),
        None => Ok(Some("the stage is as it should be, or differs in another way".to_owned())),
    }
}

/// A text without what stands in parentheses: sequence numbers.
fn without_places(text: &str) -> String {
    let mut depth = 0usize;
    let outside = text.chars().filter(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    });
    outside.collect()
}
