//! A folder with a program, in which one engine works.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use equiform::algebra::graph::NamedGraph;
use equiform::engines::Engine;
use tempfile::TempDir;

use super::ledger::{Ledger, Operations};
use super::output::Output;
use super::process::Running;
use super::provider;

/// What every program begins with.
pub const REQUIRED_PROVIDERS: &str = r#"
    terraform {
      required_providers {
        mock = {
          source = "equiform.test/equiform/mock"
        }
      }
    }
"#;

/// A folder with a program; removed in the end, with all that is in it.
pub struct Workspace {
    folder: TempDir,
    engine: Engine,
    variables: Vec<(&'static str, OsString)>,
}

impl Workspace {
    /// A folder without a program.
    pub fn empty(engine: &Engine) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir(folder.path().join("program")).expect("a fresh folder is writable");
        fs::create_dir(folder.path().join("tmp")).expect("a fresh folder is writable");
        let config = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            provider::mirror()
        );
        let workspace = Self { folder, engine: engine.clone(), variables: Vec::new() };
        fs::write(workspace.cli_config(), config).expect("a fresh folder is writable");
        workspace
    }

    /// A folder with a program that `init` has seen.
    pub fn with(engine: &Engine, program: &str) -> Self {
        let workspace = Self::empty(engine);
        workspace.write(program);
        workspace.init();
        workspace
    }

    /// Writes the program, with the header that names the provider.
    pub fn write(&self, program: &str) {
        self.write_file("main.tf", &format!("{REQUIRED_PROVIDERS}{program}"));
    }

    /// Writes a file as it is.
    pub fn write_file(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the program's folder"))
            .expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }

    /// The path of a file beside the program.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("program").join(name)
    }

    /// The default ledger.
    pub fn ledger_path(&self) -> PathBuf {
        self.path("equiform.ledger.jsonl")
    }

    /// The engine's configuration, which says where providers come from.
    pub fn cli_config(&self) -> PathBuf {
        self.folder.path().join("cli.tfrc")
    }

    /// The folder for what processes need only while they run.
    pub fn tmp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// The engine's command, with an environment in which nothing of the user's own settings is left.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.engine.path);
        command.args(arguments).current_dir(self.folder.path().join("program"));
        self.set_environment(&mut command);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["TF_", "TOFU_", "EQUIFORM_"].iter().any(|start| text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        command
            .env("TF_CLI_CONFIG_FILE", self.cli_config())
            .env("CHECKPOINT_DISABLE", "1")
            .env("NO_COLOR", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .env("TMPDIR", self.tmp())
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
    }

    /// Sets a variable for every command from now on.
    pub fn set(&mut self, name: &'static str, value: impl Into<OsString>) {
        self.variables.push((name, value.into()));
    }

    /// Runs the engine to its end, whatever that is. Nothing may be left behind outside the program's folder.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.finish(self.command(arguments))
    }

    /// Runs a command of this workspace to its end.
    #[track_caller]
    pub fn finish(&self, mut command: Command) -> Output {
        let output = Running::start(&mut command).wait();
        self.nothing_is_left();
        output
    }

    /// Demands that processes took their sockets and folders with them.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        let left: Vec<_> = fs::read_dir(self.tmp()).expect("the folder is ours").flatten().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// `init`, which finds the provider in the mirror.
    #[track_caller]
    pub fn init(&self) {
        // A mirror knows the provider for this platform only, and engines say so.
        let owed = "Warning: Incomplete lock file information for providers";
        self.run(&["init", "-input=false"]).ended_with(0).clean_but_for(&[owed]);
    }

    /// `apply`, which must succeed; what it did according to the ledger.
    #[track_caller]
    pub fn apply(&self) -> Operations {
        self.apply_with(&[])
    }

    /// `apply` with more arguments.
    #[track_caller]
    pub fn apply_with(&self, arguments: &[&str]) -> Operations {
        self.watch(|| {
            self.try_apply(arguments).succeeded();
        })
    }

    /// `apply` that may fail.
    #[track_caller]
    pub fn try_apply(&self, arguments: &[&str]) -> Output {
        self.run(&[&["apply", "-input=false", "-auto-approve"], arguments].concat())
    }

    /// `destroy`, which must succeed and leave nothing in the world.
    #[track_caller]
    pub fn destroy(&self) -> Operations {
        let done = self.watch(|| {
            self.run(&["destroy", "-input=false", "-auto-approve"]).succeeded();
        });
        assert_eq!(self.graph(), NamedGraph::default());
        done
    }

    /// What was done to the default ledger's world meanwhile.
    #[track_caller]
    pub fn watch(&self, act: impl FnOnce()) -> Operations {
        let before = self.ledger().last_seq();
        act();
        self.ledger().operations_since(before)
    }

    /// Demands that the engine sees nothing to do, and that it changes nothing in finding out.
    #[track_caller]
    pub fn plan_is_empty(&self) {
        let before = self.ledger().last_seq();
        self.run(&["plan", "-input=false", "-detailed-exitcode"]).succeeded();
        assert_eq!(before, self.ledger().last_seq(), "a plan changed the world");
    }

    /// The default ledger, checked.
    #[track_caller]
    pub fn ledger(&self) -> Ledger {
        Ledger::read(&self.ledger_path())
    }

    /// The graph in the default ledger, checked.
    #[track_caller]
    pub fn graph(&self) -> NamedGraph {
        self.ledger().graph()
    }

    /// The addresses in the engine's state.
    #[track_caller]
    pub fn state_list(&self) -> Vec<String> {
        let output = self.run(&["state", "list"]);
        output.succeeded().stdout.lines().map(str::to_owned).collect()
    }

    /// A command of the provider's own binary in this workspace.
    pub fn provider_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(provider::binary());
        command.args(arguments).current_dir(self.folder.path().join("program"));
        self.set_environment(&mut command);
        command
    }

    /// Changes the world behind the engine's back.
    #[track_caller]
    pub fn drift(&self, arguments: &[&str]) {
        let ledger = self.ledger_path();
        let ledger = ledger.to_str().expect("temporary folders have plain names");
        self.finish(self.provider_command(&[&["drift"], arguments, &["--ledger", ledger]].concat()))
            .succeeded();
    }
}
