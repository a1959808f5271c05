//! What a worker and whoever runs it agree on. A worker is a process that holds an engine and runs one command of it
//! after another, so that the engine is loaded once and stays warm.
//!
//! It greets with a line as soon as it is ready. Then it takes a [`Request`] as a line of JSON on its standard input,
//! runs it, and gives an [`Answer`] as a line on its standard output. It ends with its input. The environment is
//! the one that it was started with, for all commands; working directory and output are each command's own.
//!
//! There are two: `equiform-terraform-worker` calls Terraform's shared library, and [`go_main`] is compiled into
//! engines that are built from source.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cache::TERRAFORM_LIBRARY;
use super::driver::WorkerProgram;
use super::locate::{Engine, EngineOrigin, beside_this_program};

/// The first line of a worker that speaks this version.
pub const GREETING: &str = "equiform worker 1";

/// The program that keeps Terraform's shared library warm. It lies beside this one.
pub const LIBRARY_WORKER: &str = "equiform-terraform-worker";

/// What the worker of an engine that was built from source has behind the engine's name. One that speaks another
/// version has another name, and is built anew.
pub const SUFFIX: &str = "-worker-1";

/// The variable that makes such a build a worker: the greeting stands in it.
pub const VARIABLE: &str = "EQUIFORM_WORKER";

/// The file that is added to the package of an engine's `main` function, with the names that OpenTofu has.
const GO_MAIN: &str = include_str!("worker.go");

/// What a worker refers to in the package of an engine's `main` function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoNames {
    /// The variable with the commands, which are made once in a process.
    pub commands: &'static str,
    /// The function that runs a command.
    pub main: &'static str,
}

/// The file that makes a worker of an engine that is built from source.
pub fn go_main(names: GoNames) -> String {
    let GoNames { commands, main } = names;
    GO_MAIN
        .replace("\tcommands = nil\n", &format!("\t{commands} = nil\n"))
        .replace("realMain()", &format!("{main}()"))
}

/// A command to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its arguments, without the program's name.
    pub arguments: Vec<String>,
    /// Its working directory.
    pub folder: PathBuf,
    /// The file that its standard output goes to, which is there.
    pub stdout: PathBuf,
    /// The same for its standard error.
    pub stderr: PathBuf,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its exit code; none if it could not be run.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Why it could not be run.
    #[serde(default)]
    pub error: Option<String>,
}

/// What keeps an engine warm; none if nothing does.
///
/// A worker lies beside the engine's executable, with its name and [`SUFFIX`]. Or the engine is one of those that we
/// installed as a shared library. Whatever else is an executable is run as one: it may be a script that does more than
/// to pass its arguments on.
pub fn program(engine: &Engine) -> Option<WorkerProgram> {
    let real = engine.path.canonicalize().ok()?;
    if let Some(path) = built_beside(&real) {
        let environment = vec![(VARIABLE.into(), GREETING.into())];
        return Some(WorkerProgram { path, arguments: Vec::new(), environment });
    }
    let library = real.with_file_name(TERRAFORM_LIBRARY);
    let path = beside_this_program(LIBRARY_WORKER);
    (engine.origin == EngineOrigin::Installed && library.is_file() && path.is_file()).then(|| WorkerProgram {
        path,
        arguments: vec![library.into()],
        environment: Vec::new(),
    })
}

/// The worker that was built with the executable of an engine, if there is one. One that is older than the executable
/// was built with another.
pub fn built_beside(executable: &Path) -> Option<PathBuf> {
    let worker = place_beside(executable);
    let built = |path: &Path| path.metadata().ok().filter(|file| file.is_file())?.modified().ok();
    (built(&worker)? >= built(executable)?).then_some(worker)
}

/// Where the worker lies that is built with the executable of an engine.
pub fn place_beside(executable: &Path) -> PathBuf {
    let mut name = executable.file_name().unwrap_or_default().to_owned();
    name.push(SUFFIX);
    executable.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::super::{EngineId, EngineName, Version};
    use super::*;

    #[test]
    fn only_an_engine_with_a_worker_beside_it_or_a_library_of_ours_is_kept_warm() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("terraform");
        let engine = |origin| Engine {
            id: EngineId::new(EngineName::Terraform, Version::new(1, 15, 5)),
            path: path.clone(),
            origin,
        };
        std::fs::write(&path, "").unwrap();
        assert_eq!(program(&engine(EngineOrigin::Given)), None);
        std::fs::write(folder.path().join(TERRAFORM_LIBRARY), "").unwrap();
        assert_eq!(program(&engine(EngineOrigin::Given)), None, "it may be a script around a library");
        let worker = place_beside(&path);
        std::fs::write(&worker, "").unwrap();
        assert_eq!(program(&engine(EngineOrigin::Given)).unwrap().path, worker.canonicalize().unwrap());
        assert!(GO_MAIN.contains(&format!("{GREETING:?}")) && GO_MAIN.contains(&format!("{VARIABLE:?}")));
    }
}
