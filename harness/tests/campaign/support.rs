//! What the tests of campaigns share.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::deploy::Runner;
use equiform::deploy::access::Provider;
use equiform::engines::driver::ProviderMode;
use equiform::engines::{self, Engine, EngineChoice, EngineId, EngineSpec, Engines, Family};

/// The executable of an engine.
pub fn engine(spec: &str) -> PathBuf {
    let spec = spec.parse().expect("the spec is well-formed");
    let engines = Engines::from_env().expect("there is a folder for engines");
    engines.find(&spec).unwrap_or_else(|error| panic!("{error}")).path
}

/// The identity of an engine.
pub fn id(spec: &str) -> EngineId {
    spec.parse::<EngineSpec>().unwrap().id().expect("it has a version")
}

/// A provider for one test.
pub fn provider(mode: ProviderMode) -> Provider {
    Provider::start(mode, Family::Terraform).unwrap_or_else(|error| panic!("{error}"))
}

/// The engine that an executable is.
pub fn located(engine: &Path) -> Engine {
    let engines = Engines::from_env().expect("there is a folder for engines");
    let choice = EngineChoice::At { path: engine.to_owned(), named: None };
    engines.find(&choice).unwrap_or_else(|error| panic!("{error}"))
}

/// A runner of an executable.
pub fn runner(engine: &Path, provider: &Provider, timeout: Duration) -> Runner {
    let binary = equiform::deploy::provider::locate().expect("the provider is built");
    let usual = Runner::new(engines::open(&located(engine)), provider.access(), binary, provider.log());
    Runner { timeout, ..usual }
}

/// The processes that were started with this folder for their temporary files, but not this one.
pub fn processes_of(temporary: &Path) -> Vec<u32> {
    let variable = [b"TMPDIR=", temporary.as_os_str().as_bytes()].concat();
    let ids =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    ids.filter(|id| *id != std::process::id())
        .filter(|id| {
            // A process that ends meanwhile, or is somebody else's, has nothing to show.
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|set| set == variable)
        })
        .collect()
}
