//! The command that runs a campaign once more.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::RunArgs;
use crate::campaign::manifest::CampaignManifest;
use crate::campaign::settings::{Algebra, Sources, Values};
use crate::cli::CannotRun;
use crate::cli::here::here;
use crate::cli::layered::Layered;
use crate::cli::report_args::command_line;
use crate::engines::EngineChoice;
use crate::judge::oracles::ORACLES;

/// The command that runs a campaign once more, into a folder beside its own. What is the default is left out.
pub fn repeat(manifest: &CampaignManifest, case: Option<usize>, folder: &Path) -> Result<String, CannotRun> {
    let again = PathBuf::from(format!("{}-again", here(folder).display()));
    let layered = Layered::of::<RunArgs>("run", Vec::new())?;
    let settings = manifest.settings();
    let all_oracles = manifest.oracles().len() == ORACLES.len();
    let options = options(manifest, &again).into_iter().filter(|(option, value)| match *option {
        "engine" => true,
        "leave-out-rules" => !settings.left_out.is_empty(),
        "oracles" => !all_oracles,
        "values" => settings.algebra == Algebra::Attributed && settings.values != Values::Realistic,
        "large-every" => settings.large_every != settings.usual_large_every(),
        "cold-every" => settings.cold_every != settings.usual_cold_every(),
        option => !layered.is_default(option, value),
    });
    let typed = options.flat_map(|(option, value)| match value.as_str() {
        "true" => vec![format!("--{option}")],
        _ => vec![format!("--{option}"), value],
    });
    let case = case.map(|case| ["--case".to_owned(), case.to_string()]).into_iter().flatten();
    Ok(command_line(["run".to_owned()].into_iter().chain(typed).chain(case)))
}

/// A campaign in a folder as options, by their long names.
fn options(manifest: &CampaignManifest, folder: &Path) -> Vec<(&'static str, String)> {
    let (settings, mode) = (manifest.settings(), manifest.mode());
    let range = |range: &RangeInclusive<u32>| format!("{}..{}", range.start(), range.end());
    let options = [
        ("engine", EngineChoice::again(manifest.engine()).to_string()),
        ("provider-mode", mode.provider.to_string()),
        ("syntax", mode.syntax.to_string()),
        ("hold", mode.hold.to_string()),
        ("oracles", manifest.oracles().join(",")),
        ("seed", settings.seed.to_string()),
        ("sources", settings.sources.to_string()),
        ("variants", settings.variants.to_string()),
        ("batches", settings.batches.to_string()),
        ("resources", range(&settings.resources)),
        ("edges", range(&settings.edges)),
        ("create-before-destroy", settings.create_before_destroy.to_string()),
        ("algebra", if settings.algebra == Algebra::Bare { "bare" } else { "attributed" }.to_owned()),
        ("values", if settings.values == Values::Plain { "plain" } else { "realistic" }.to_owned()),
        ("large-every", settings.large_every.to_string()),
        ("cold-every", settings.cold_every.to_string()),
        ("workflows", settings.workflows.to_string()),
        ("leave-out-rules", settings.left_out.to_string()),
        ("out", folder.display().to_string()),
    ];
    let from = match &settings.from {
        Sources::Random => ("shape", "random".to_owned()),
        Sources::Real => ("shape", "real".to_owned()),
        Sources::Given(graph) => ("source", serde_json::to_string(graph).expect("a graph is JSON")),
    };
    let cold = (!mode.warm).then(|| ("cold", "true".to_owned()));
    let shard = manifest.shard().map(|shard| ("shard", shard.to_string()));
    options.into_iter().chain([from]).chain(cold).chain(shard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Settings;
    use crate::campaign::builds::Builds;
    use crate::campaign::shard::Shard;
    use crate::deploy::Mode;
    use crate::deploy::hold::Hold;
    use crate::engines::driver::{ProviderMode, Syntax};
    use crate::engines::{EngineId, EngineName, RecordedEngine, Version};

    #[test]
    fn the_options_of_a_campaign_give_the_same_campaign() {
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
            values: Values::Plain,
            large_every: 0,
            cold_every: 7,
            workflows: "plain=2,drift=1".parse().unwrap(),
            left_out: "6,1".parse().unwrap(),
            from: Sources::Given(graph),
        };
        let shard: Option<Shard> = Some("2/3".parse().unwrap());
        let oracles: Vec<_> = ORACLES.iter().take(2).collect();
        let mode = Mode {
            provider: ProviderMode::Init,
            syntax: Syntax::Json,
            hold: Hold::UntilQuiet { after: Some(9), seed: 0 },
            warm: false,
        };
        let id = EngineId::new(EngineName::Tofu, Version::new(1, 12, 6));
        let engine = RecordedEngine { id, path: Some("/a/fork".into()) };
        let builds = Builds {
            equiform: "0.1.0".to_owned(),
            engine: [("executable".to_owned(), "ab".to_owned())].into(),
            provider_version: None,
            provider: "cd".to_owned(),
        };
        let manifest = CampaignManifest::new(engine, builds, mode, &oracles, shard, settings.clone());
        let options = options(&manifest, Path::new("some/folder")).into_iter();
        let given: Vec<(String, String)> = options.map(|(name, value)| (name.to_owned(), value)).collect();
        let layered = Layered::of::<RunArgs>("run", Vec::new()).unwrap();
        let args: RunArgs = layered.with(&given).unwrap();
        assert_eq!(args.settings(), settings);
        assert_eq!((args.oracles.as_slice(), args.shard), (manifest.oracles(), shard));
        assert_eq!(args.engine.how.mode(), mode);
        assert_eq!(args.engine.choice(None), EngineChoice::again(manifest.engine()));
        assert_eq!(args.out, Path::new("some/folder"));
    }
}
