//! What the tests of campaigns share.

use std::path::PathBuf;
use std::time::Duration;

use equiform::deploy::Runner;
use equiform::deploy::provider::{self, Server};
use equiform::deploy::stop::Stop;
use equiform::engine::Engines;

/// The executable of an engine.
pub fn engine(spec: &str) -> PathBuf {
    let spec = spec.parse().expect("the spec is well-formed");
    let engines = Engines::from_env().expect("there is a folder for engines");
    engines.locate(&spec).unwrap_or_else(|error| panic!("{error}")).path
}

/// A provider for one test.
pub fn server() -> Server {
    let path = provider::locate().unwrap_or_else(|error| panic!("{error}"));
    Server::start(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// A runner of an executable.
pub fn runner(engine: PathBuf, server: &Server, patience: Duration) -> Runner {
    Runner { engine, attachment: server.attachment().clone(), patience, stop: Stop::default() }
}
