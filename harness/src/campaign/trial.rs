//! Whether a finding shows on another engine: the variant is deployed there, and judged.

use std::path::PathBuf;
use std::sync::Arc;

use crate::case::Case;
use crate::deploy::access::Provider;
use crate::deploy::provider::ProviderError;
use crate::deploy::stop::Stop;
use crate::deploy::{DeployError, Runner, Start, provider};
use crate::engines::driver::Driver;
use crate::engines::{self, Engine};
use crate::judge::cause::cause;
use crate::judge::explain::Tried;
use crate::judge::finding::Finding;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant as judge;
use crate::judge::verdict::VariantResult;

/// A provider that engines reach while a variant is tried on them.
pub struct TrialHost {
    provider: Provider,
    binary: PathBuf,
    stop: Stop,
}

impl TrialHost {
    /// Starts the provider.
    pub fn start(stop: Stop) -> Result<Self, ProviderError> {
        Ok(Self { provider: Provider::up()?, binary: provider::locate()?, stop })
    }

    /// What runs an engine in fresh processes.
    pub fn runner(&self, engine: Arc<dyn Driver>) -> Runner {
        let (access, log) = (self.provider.access(), self.provider.log());
        Runner { stop: self.stop.clone(), ..Runner::new(engine, access, self.binary.clone(), log) }
    }

    /// Whether a finding shows on an engine: with the same oracle and kind, in the same stage. Only a stop is an error;
    /// what keeps it from being tried is told.
    pub fn try_on(
        &self,
        engine: &Engine,
        case: &Case,
        variant: usize,
        finding: &Finding,
    ) -> Result<Tried, DeployError> {
        let recorded = engine.recorded();
        let could_not = |text: String| Ok(Tried { engine: recorded.clone(), shows: None, text });
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return could_not(format!("there is no folder to work in: {error}")),
        };
        let case = Case { engine: Some(recorded.clone()), ..case.clone() };
        let runner = self.runner(engines::open(engine));
        match runner.deploy(&case, variant, folder.path(), Start::Cold) {
            Err(DeployError::Stopped) => return Err(DeployError::Stopped),
            Err(error) => return could_not(error.to_string()),
            Ok(_) => {}
        }
        let oracles: Vec<&Oracle> = ORACLES.iter().collect();
        let result = judge::variant(&case, variant, folder.path(), &oracles);
        if let VariantResult::Inconclusive { reason } = result {
            return could_not(reason);
        }
        let shows = result.findings().iter().any(|other| other.place() == finding.place());
        let text = match cause(result.findings()) {
            _ if shows => String::new(),
            None => "nothing is found".to_owned(),
            Some(other) => format!("{} in {} instead", other.signature(), other.stage),
        };
        Ok(Tried { engine: recorded, shows: Some(shows), text })
    }
}
