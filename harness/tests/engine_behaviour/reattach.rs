//! One provider process for several engines.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::behaviour::{Behaviour, behaviours, everywhere, newest};
use crate::support::process::{Running, TIMEOUT, wait_until};
use crate::support::{Engine, Workspace, engines, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [an_engine_that_attaches_builds_the_same_graph],
    newest => [two_engines_attach_to_one_provider_and_keep_their_worlds_apart]
};

const DIAMOND: &str = r#"
    resource "mock_node" "a" {
      key = "a"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
    resource "mock_node" "c" {
      key         = "c"
      pinned_refs = [mock_node.a.id]
    }
    resource "mock_node" "d" {
      key  = "d"
      refs = [mock_node.b.id, mock_node.c.id]
    }
"#;

/// A provider that waits for engines. It is interrupted in the end, and takes everything of its own with it.
struct Server {
    child: Child,
    /// What engines need in TF_REATTACH_PROVIDERS.
    address: String,
}

impl Server {
    fn start(workspace: &Workspace) -> Self {
        let mut command = workspace.provider_command(&["reattach"]);
        // Not where the engines' own left-overs are looked for while it runs.
        fs::create_dir(workspace.path("server-tmp")).unwrap();
        command.env("TMPDIR", workspace.path("server-tmp"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.strip_prefix("export TF_REATTACH_PROVIDERS='").and_then(|rest| rest.strip_suffix("'\n"));
        let address = address.unwrap_or_else(|| panic!("not a line for a shell: {line:?}")).to_owned();
        Self { child, address }
    }

    fn attach(&self, command: &mut Command) {
        command.env("TF_REATTACH_PROVIDERS", &self.address);
    }

    fn stop(mut self, workspace: &Workspace) {
        let pid = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: it touches no memory, and the child has not been waited for.
        assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
        let ended = wait_until(TIMEOUT, || self.child.try_wait().unwrap());
        assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
        let left: Vec<_> = fs::read_dir(workspace.path("server-tmp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nobody left to kill; after a failed test there is.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn expected() -> equiform::algebra::graph::NamedGraph {
    graph(&["a", "b", "c", "d"], &[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
}

fn an_engine_that_attaches_builds_the_same_graph(engine: &Engine) {
    let workspace = Workspace::empty(engine);
    workspace.write(DIAMOND);
    let server = Server::start(&workspace);
    // No mirror: what the engine needs is running already.
    fs::write(workspace.cli_config(), "").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = workspace.command(arguments);
        server.attach(&mut command);
        workspace.finish(command)
    };
    run(&["init", "-input=false"]).succeeded();
    run(&["apply", "-input=false", "-auto-approve"]).succeeded();
    assert_eq!(workspace.graph(), expected());
    run(&["plan", "-input=false", "-detailed-exitcode"]).succeeded();
    run(&["destroy", "-input=false", "-auto-approve"]).succeeded();
    assert_eq!(workspace.graph(), graph(&[], &[]));
    server.stop(&workspace);
}

fn two_engines_attach_to_one_provider_and_keep_their_worlds_apart(engine: &Engine) {
    let other = match engine.id.name {
        equiform::engines::EngineName::Terraform => "tofu@1.12.6",
        equiform::engines::EngineName::Tofu => "terraform@1.15.5",
    };
    let workspaces = [Workspace::empty(engine), Workspace::empty(&engines::companion(other))];
    let server = Server::start(&workspaces[0]);
    for arguments in [
        &["init", "-input=false"][..],
        &["apply", "-input=false", "-auto-approve"],
        &["plan", "-input=false", "-detailed-exitcode"],
    ] {
        let running = workspaces.each_ref().map(|workspace| {
            workspace.write(DIAMOND);
            let mut command = workspace.command(arguments);
            server.attach(&mut command);
            Running::start(&mut command)
        });
        for running in running {
            running.wait().succeeded();
        }
    }
    for workspace in &workspaces {
        let ledger = workspace.ledger();
        assert_eq!((ledger.graph(), ledger.changes().count()), (expected(), 8));
    }
    assert_ne!(workspaces[0].ledger().id("a"), workspaces[1].ledger().id("a"));
    server.stop(&workspaces[0]);
}
