//! A command of an engine: its executable, how it reaches its provider, and which variables of ours it does not get.

use std::ffi::OsString;
use std::path::Path;

use equiform_proto::control::Endpoint;

use super::process::Command;
use super::stop::Stop;
use crate::engines::driver::{Access, Driver};

/// A command of an engine in a working directory, which reaches its provider by this access, at an endpoint if that is
/// up. It gets the variables of this process but for those that are
/// removed.
pub fn engine_command(
    engine: &dyn Driver,
    (access, endpoint): (&Access, Option<&Endpoint>),
    folder: &Path,
    stop: &Stop,
    is_removed: impl Fn(&str) -> bool,
) -> Command {
    let mut command = Command::new(&engine.engine().path, folder);
    command.removed = own_variables(is_removed);
    command.environment = engine.environment(access, endpoint);
    command.stop = stop.clone();
    command
}

/// The names of those variables of this process for which this holds.
pub fn own_variables(holds: impl Fn(&str) -> bool) -> Vec<OsString> {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| holds(&name.to_string_lossy())).collect()
}
