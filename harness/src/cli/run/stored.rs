//! Options of `equiform run` from a settings file, or from the campaign that is resumed.

use std::path::{Path, PathBuf};

use super::RunArgs;
use crate::campaign::claim::Claim;
use crate::cli::CannotRun;
use crate::cli::here::here;
use crate::cli::layered::{Given, Layered};
use crate::cli::report_args::command_line;
use crate::judge::oracles::ORACLES;

/// The options with what a settings file or a stored campaign adds.
pub fn complete(args: RunArgs) -> Result<RunArgs, CannotRun> {
    match (&args.settings, &args.resume) {
        (Some(path), _) => {
            let layered = Layered::own::<RunArgs>("run")?;
            layered.with(&layered.read(path)?)
        }
        (None, Some(folder)) => {
            let claim = Claim::read(folder)?.ok_or_else(|| {
                format!("{} holds no campaign to resume: it has no campaign.json", folder.display())
            })?;
            let (layered, stored) = (Layered::own::<RunArgs>("run")?, stored_options(&claim, folder));
            // A part or a source that the command line names is another campaign, even if none is stored.
            let mut fixed =
                stored.iter().map(|(option, _)| option.as_str()).chain(["shard", "source", "shape", "cold"]);
            match fixed.find(|option| layered.says(option)) {
                Some(option) => Err(format!(
                    "--resume takes what is stored in {}: leave out --{option}",
                    folder.display()
                )
                .into()),
                None => layered.with(&stored),
            }
        }
        (None, None) => Ok(args),
    }
}

/// Which options were given, on the command line or in a settings file.
pub fn given(args: &RunArgs) -> Result<impl Fn(&str) -> bool + use<>, CannotRun> {
    let layered = Layered::own::<RunArgs>("run")?;
    let from_file = args.settings.as_ref().map_or(Ok(Vec::new()), |path| layered.read(path))?;
    Ok(move |option: &str| layered.says(option) || from_file.iter().any(|(name, _)| name == option))
}

/// A stored campaign as options.
fn stored_options(claim: &Claim, folder: &Path) -> Vec<Given> {
    let options = claim.options().into_iter().chain([("out", folder.display().to_string())]);
    options.map(|(option, value)| (option.to_owned(), value)).collect()
}

/// The command that runs a campaign once more, into a folder beside its own.
pub fn repeat(claim: &Claim, case: Option<usize>, folder: &Path) -> Result<String, CannotRun> {
    let again = PathBuf::from(format!("{}-again", here(folder).display()));
    let layered = Layered::of::<RunArgs>("run", Vec::new())?;
    let all_oracles = claim.oracles().len() == ORACLES.len();
    let options = stored_options(claim, &again).into_iter().filter(|(option, value)| {
        let is_nothing = option == "leave-out-rules" && claim.settings().left_out.is_empty();
        option == "engine"
            || !(is_nothing || layered.is_default(option, value) || option == "oracles" && all_oracles)
    });
    let typed = options.flat_map(|(option, value)| match value.as_str() {
        "true" => vec![format!("--{option}")],
        _ => vec![format!("--{option}"), value],
    });
    let case = case.map(|case| ["--case".to_owned(), case.to_string()]).into_iter().flatten();
    Ok(command_line(["run".to_owned()].into_iter().chain(typed).chain(case)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Settings;
    use crate::campaign::settings::{Algebra, Sources};
    use crate::campaign::shard::Shard;
    use crate::deploy::Mode;
    use crate::deploy::hold::Hold;
    use crate::engines::driver::ProviderMode;
    use crate::engines::driver::Syntax;
    use crate::engines::{EngineId, EngineName, RecordedEngine, Version};
    use crate::judge::oracles::ORACLES;

    #[test]
    fn the_example_of_a_settings_file_is_read() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/campaigns/example.toml");
        let layered = Layered::of::<RunArgs>("run", vec!["--seed=8".into()]).unwrap();
        let args: RunArgs = layered.with(&layered.read(&example).unwrap()).unwrap();
        let settings = args.cases.settings();
        assert_eq!((settings.seed, settings.sources, settings.resources), (8, 25, 3..=12));
        assert_eq!(args.oracles, ["steps", "order", "state", "health"]);
        assert_eq!(args.out, Path::new(".equiform/example"));
    }

    #[test]
    fn a_stored_campaign_gives_the_options_that_it_was_started_with() {
        let graph = serde_json::from_str(r#"{"nodes":["a"],"edges":[]}"#).unwrap();
        let settings = Settings {
            seed: u64::MAX,
            sources: 3,
            variants: 4,
            batches: 5,
            resources: 6..=7,
            edges: 8..=8,
            create_before_destroy: 0.1,
            algebra: Algebra::Bare,
            workflows: "plain=2,drift=1".parse().unwrap(),
            left_out: "6,1".parse().unwrap(),
            from: Sources::Given(graph),
        };
        let shard: Option<Shard> = Some("2/3".parse().unwrap());
        let oracles: Vec<_> = ORACLES.iter().take(2).collect();
        let mode =
            Mode { provider: ProviderMode::Init, syntax: Syntax::Json, hold: Hold::QuietFor(9), warm: false };
        let id = EngineId::new(EngineName::Tofu, Version::new(1, 12, 6));
        let engine = RecordedEngine { id, path: Some("/a/fork".into()) };
        let claim = Claim::new(engine, mode, &oracles, shard, settings.clone());
        let options = stored_options(&claim, Path::new("some/folder"));
        let layered = Layered::of::<RunArgs>("run", Vec::new()).unwrap();
        let args: RunArgs = layered.with(&options).unwrap();
        assert_eq!(args.cases.settings(), settings);
        assert_eq!((args.oracles.as_slice(), args.shard), (claim.oracles(), shard));
        assert_eq!(args.engine.how.mode(), mode);
        assert_eq!(args.out, Path::new("some/folder"));
    }
}
