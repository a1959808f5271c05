//! What these tests share.

use std::sync::Arc;
use std::time::Duration;

use equiform::deploy::Runner;
use equiform::deploy::access::Provider;
use equiform::deploy::scratch::Scratch;
use equiform::engines::{self, Engine, EngineName, Engines};

/// The engines in the cache that `EQUIFORM_TEST_ENGINES` names, or "all" of them; else the oldest and the newest of
/// each name.
pub fn installed() -> Vec<Engine> {
    let engines = Engines::from_env().expect("there is a folder for engines");
    let asked = std::env::var("EQUIFORM_TEST_ENGINES").unwrap_or_default();
    let of = |name| {
        let mut found: Vec<Engine> = engines.installed(name).collect();
        match asked.as_str() {
            "" if found.len() > 2 => drop(found.drain(1..found.len() - 1)),
            "" | "all" => {}
            list => found.retain(|engine| list.split(',').any(|asked| asked == engine.to_string())),
        }
        found
    };
    let found: Vec<Engine> = EngineName::ALL.into_iter().flat_map(of).collect();
    assert!(!found.is_empty(), "no such engines are installed: `make test` installs some");
    found
}

/// An engine in the cache.
pub fn engine(spec: &str) -> Engine {
    let spec = spec.parse().expect("the spec is well-formed");
    let engines = Engines::from_env().expect("there is a folder for engines");
    engines.find(&spec).unwrap_or_else(|error| panic!("{error}"))
}

/// A runner of an engine, which is kept warm if it can be, with a provider to attach to.
pub fn runner(engine: &Engine) -> (Runner, Provider) {
    let provider = Provider::up().unwrap_or_else(|error| panic!("{error}"));
    let binary = equiform::deploy::provider::locate().expect("the provider is built");
    let usual = Runner::new(engines::open(engine), provider.access(), binary, provider.log());
    let scratch = Scratch::in_memory().map(Arc::new);
    let runner = Runner { timeout: Duration::from_secs(120), scratch, ..usual };
    (runner.kept_warm(), provider)
}

/// A number from the environment, for runs that are longer than those in continuous integration.
pub fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable)
        .map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}
