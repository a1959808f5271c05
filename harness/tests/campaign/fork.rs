//! An engine of one's own: a script around a real one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::support::engine;

/// A folder with an engine in it: a script around a real one, where `real` is the real one, `once NAME` is
/// true the first time only, and `at PATTERN STAGE` asks which variant's stage this is.
pub struct Fork {
    root: TempDir,
}

impl Fork {
    /// With this script.
    pub fn new(script: &str) -> Self {
        let fork = Self { root: tempfile::tempdir().unwrap() };
        fork.rebuild(script);
        fork
    }

    /// Puts another engine at the same path.
    pub fn rebuild(&self, script: &str) {
        let text = format!(
            r#"#!/bin/sh
real() {{ '{real}' "$@"; }}
once() {{ [ ! -e '{root}'/once-"$1" ] && : > '{root}'/once-"$1"; }}
at() {{ case "$EQUIFORM_LEDGER" in $1) [ "$EQUIFORM_RUN" = "$2" ];; *) false;; esac; }}
{script}
"#,
            real = engine("terraform@1.15.5").display(),
            root = self.root.path().display(),
        );
        // Not written in place: a process that is just being started may hold it open.
        let new = self.path("new");
        fs::write(&new, text).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, self.path("engine")).unwrap();
    }

    /// A place in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A campaign of one case with three variants in two batches, one after the other, unless options say otherwise.
    pub fn campaign(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        let usual = ["--sources=1", "--variants=3", "--batches=2", "--resources=3", "--edges=2"];
        let is_given = |option: &str| {
            let name = option.split('=').next().unwrap_or_default();
            more.iter().any(|given| given.starts_with(name))
        };
        command.arg("run").args(usual.iter().filter(|option| !is_given(option)));
        // What is found is reduced elsewhere.
        command.args(["--jobs=1", "--format=json", "--workflows=plain", "--no-reduce", "--engine"]);
        command.arg(self.path("engine"));
        command.arg("--out").arg(self.path(out)).args(more);
        command
    }

    /// The same, run to its end.
    pub fn run(&self, out: &str, more: &[&str]) -> Output {
        self.campaign(out, more).output().unwrap()
    }

    /// The summary of a campaign that is whole already.
    pub fn summary(&self, out: &str, code: i32) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        let output = command.args(["run", "--resume"]).arg(self.path(out)).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Goes on with a campaign.
    pub fn resume(&self, out: &str) -> Output {
        self.run_resumed(out, &[])
    }

    /// Goes on with a campaign, with these options.
    pub fn run_resumed(&self, out: &str, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        command.args(["run", "--jobs=1", "--format=json", "--no-reduce", "--resume"]).arg(self.path(out));
        command.args(more).output().unwrap()
    }

    /// The folder of a variant.
    pub fn variant(&self, out: &str, number: usize) -> PathBuf {
        self.path(out).join(format!("case-0000/variant-{number:04}"))
    }
}

/// What a command said on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report of a command, which must end with this exit code.
#[track_caller]
pub fn report(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}
