//! Options of `equiform run` from a settings file, or from the campaign that is resumed.

use std::ops::RangeInclusive;
use std::path::Path;

use super::RunArgs;
use crate::campaign::claim::Claim;
use crate::campaign::settings::{Algebra, Sources};
use crate::cli::CannotRun;
use crate::cli::layered::{Given, Layered};

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

/// A stored campaign as options.
fn stored_options(claim: &Claim, folder: &Path) -> Vec<Given> {
    let settings = claim.settings();
    let range = |range: &RangeInclusive<u32>| format!("{}..{}", range.start(), range.end());
    let options = [
        ("engine", claim.engine().to_owned()),
        ("provider-mode", claim.mode().provider.to_string()),
        ("syntax", claim.mode().syntax.to_string()),
        ("hold", claim.mode().hold.to_string()),
        ("out", folder.display().to_string()),
        ("oracles", claim.oracles().join(",")),
        ("seed", settings.seed.to_string()),
        ("sources", settings.sources.to_string()),
        ("variants", settings.variants.to_string()),
        ("batches", settings.batches.to_string()),
        ("resources", range(&settings.resources)),
        ("edges", range(&settings.edges)),
        ("create-before-destroy", settings.create_before_destroy.to_string()),
        ("algebra", if settings.algebra == Algebra::Bare { "bare" } else { "attributed" }.to_owned()),
        ("workflows", settings.workflows.to_string()),
        ("leave-out-rules", settings.left_out.to_string()),
    ];
    let from = match &settings.from {
        Sources::Random => ("shape", "random".to_owned()),
        Sources::Real => ("shape", "real".to_owned()),
        Sources::Given(graph) => ("source", serde_json::to_string(graph).expect("a graph is JSON")),
    };
    let cold = (!claim.mode().warm).then(|| ("cold", "true".to_owned()));
    let shard = claim.shard().map(|shard| ("shard", shard.to_string()));
    options
        .into_iter()
        .chain([from])
        .chain(cold)
        .chain(shard)
        .map(|(option, value)| (option.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Settings;
    use crate::campaign::shard::Shard;
    use crate::deploy::Mode;
    use crate::deploy::hold::Hold;
    use crate::engines::driver::ProviderMode;
    use crate::engines::driver::Syntax;
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
        let claim = Claim::new("tofu@1.12.6 at /a/fork".to_owned(), mode, &oracles, shard, settings.clone());
        let options = stored_options(&claim, Path::new("some/folder"));
        let layered = Layered::of::<RunArgs>("run", Vec::new()).unwrap();
        let args: RunArgs = layered.with(&options).unwrap();
        assert_eq!(args.cases.settings(), settings);
        assert_eq!((args.oracles.as_slice(), args.shard), (claim.oracles(), shard));
        assert_eq!(args.engine.how.mode(), mode);
        assert_eq!(args.out, Path::new("some/folder"));
    }
}
