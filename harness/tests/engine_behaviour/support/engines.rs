//! Which engines are tested, and where they are.

use equiform::engines::locate::LocateError;
use equiform::engines::{Engine, EngineName, EngineSpec, Engines, VersionRequest, catalogue};

/// The engines that continuous integration tests: the oldest and the newest, and what lies at a border of the protocol.
const USUAL: &str = "terraform@1.6.6,terraform@1.11.4,terraform@1.15.5,tofu@1.12.6";

/// The engines to test: those that somebody asks for, or else these, or else the usual ones.
pub fn asked_for(instead: Option<&'static str>) -> Vec<EngineSpec> {
    let asked = std::env::var("EQUIFORM_TEST_ENGINES").unwrap_or_default();
    let list = match asked.as_str() {
        "" => instead.unwrap_or(USUAL),
        "all" => return every_one(),
        list => list,
    };
    let spec = |text: &str| {
        text.trim().parse().unwrap_or_else(|error| panic!("EQUIFORM_TEST_ENGINES cannot be used: {error}"))
    };
    list.split(',').map(spec).collect()
}

/// An engine as a module of tests is named.
pub fn test_name(spec: &EngineSpec) -> String {
    spec.to_string().replace(['@', '.'], "_")
}

/// The engine, or the sentence that tells how to install it.
pub fn locate(spec: &EngineSpec) -> Result<Engine, String> {
    let engines = Engines::from_env().map_err(|error| error.to_string())?;
    engines.locate(spec).map_err(|error: LocateError| error.to_string())
}

/// An engine that a behaviour needs beside the one under test.
pub fn companion(spec: &str) -> Engine {
    locate(&spec.parse().expect("the spec is well-formed")).unwrap_or_else(|error| panic!("{error}"))
}

fn every_one() -> Vec<EngineSpec> {
    let rows = EngineName::ALL.into_iter().flat_map(catalogue::entries);
    rows.map(|row| EngineSpec { name: row.name, version: VersionRequest::Exact(row.version) }).collect()
}
