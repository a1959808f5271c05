//! Options of `equiform run` from a settings file.

use super::RunArgs;
use crate::cli::CannotRun;
use crate::cli::layered::Layered;

/// The options with what a settings file adds.
pub fn complete(args: RunArgs) -> Result<RunArgs, CannotRun> {
    let Some(path) = &args.settings else { return Ok(args) };
    let layered = Layered::own::<RunArgs>("run")?;
    layered.with(&layered.read(path)?)
}

/// Which options were given, on the command line or in a settings file.
pub fn given(args: &RunArgs) -> Result<impl Fn(&str) -> bool + use<>, CannotRun> {
    let layered = Layered::own::<RunArgs>("run")?;
    let from_file = args.settings.as_ref().map_or(Ok(Vec::new()), |path| layered.read(path))?;
    Ok(move |option: &str| layered.says(option) || from_file.iter().any(|(name, _)| name == option))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
}
