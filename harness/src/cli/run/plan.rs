//! What `equiform run` is to run: as the options say, or as the manifest of a stored campaign has it.

use std::path::{Path, PathBuf};

use super::RunArgs;
use crate::campaign::Settings;
use crate::campaign::manifest::CampaignManifest;
use crate::campaign::shard::Shard;
use crate::cli::CannotRun;
use crate::cli::layered::Layered;
use crate::cli::no_effect::refuse;
use crate::cli::oracles::chosen;
use crate::deploy::Mode;
use crate::engines::EngineChoice;
use crate::judge::oracles::Oracle;

/// All that the verdicts of a campaign depend on, before its engine is found.
pub struct RunPlan {
    /// The engine.
    pub engine: EngineChoice,
    /// How it is run.
    pub mode: Mode,
    /// Who judges.
    pub oracles: Vec<&'static Oracle>,
    /// The shard; none for the whole campaign.
    pub shard: Option<Shard>,
    /// What is generated.
    pub settings: Settings,
    /// The campaign's folder.
    pub out: PathBuf,
}

/// The options that a stored campaign has decided already.
const STORED: &[&str] = &[
    "algebra",
    "batches",
    "cold",
    "cold-every",
    "create-before-destroy",
    "edges",
    "engine",
    "hold",
    "large-every",
    "leave-out-rules",
    "oracles",
    "out",
    "provider-mode",
    "resources",
    "seed",
    "shape",
    "shard",
    "source",
    "sources",
    "syntax",
    "values",
    "variants",
    "workflows",
];

impl RunPlan {
    /// The plan of a command line, with a settings file already taken in.
    pub fn of(args: &RunArgs) -> Result<Self, CannotRun> {
        match &args.resume {
            Some(folder) => Self::stored(folder),
            None => Self::given(args),
        }
    }

    fn given(args: &RunArgs) -> Result<Self, CannotRun> {
        let given = super::files::given(args)?;
        args.cases.refuse_idle(&given)?;
        args.engine.how.refuse_idle(&given)?;
        let is_cold = !args.engine.how.mode().warm;
        refuse(is_cold && given("cold-every"), "--cold-every", "with --cold, which runs all of them so")?;
        Ok(Self {
            engine: args.engine.choice(None),
            mode: args.engine.how.mode(),
            oracles: chosen(&args.oracles)?,
            shard: args.shard,
            settings: args.settings(),
            out: args.out.clone(),
        })
    }

    fn stored(folder: &Path) -> Result<Self, CannotRun> {
        let manifest = CampaignManifest::read(folder)?.ok_or_else(|| {
            format!("{} holds no campaign to resume: it has no campaign.json", folder.display())
        })?;
        let line = Layered::own::<RunArgs>("run")?;
        if let Some(option) = STORED.iter().find(|option| line.says(option)) {
            let folder = folder.display();
            return Err(format!("--resume takes what is stored in {folder}: leave out --{option}").into());
        }
        Ok(Self {
            engine: EngineChoice::again(manifest.engine()),
            mode: manifest.mode(),
            oracles: chosen(manifest.oracles())?,
            shard: manifest.shard(),
            settings: manifest.settings().clone(),
            out: folder.to_owned(),
        })
    }
}

impl RunArgs {
    /// What is generated, and how often it is run.
    pub fn settings(&self) -> Settings {
        let settings = self.cases.settings();
        Settings { cold_every: self.cold_every.unwrap_or(settings.usual_cold_every()), ..settings }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn every_option_that_a_stored_campaign_decides_is_an_option() {
        let line = Layered::of::<RunArgs>("run", Vec::<OsString>::new()).unwrap();
        for option in STORED {
            assert!(line.has(option), "there is no --{option}");
        }
    }
}
