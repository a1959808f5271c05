//! Ledgers that cannot be used: the engine's user is told what is wrong and what to do, and nothing is damaged.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::disk::Disk;
use crate::support::ledger::Ledger;
use crate::support::limits::{limit_file_size, obey_permissions};
use crate::support::output::Output;
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_missing_folder_is_told,
        a_folder_in_the_ledgers_place_is_told,
        a_file_of_another_format_is_told_and_left_alone,
        a_ledger_of_another_version_is_told_and_left_alone,
        a_folder_that_may_not_be_written_is_told,
        a_ledger_that_may_not_be_written_is_told,
        a_ledger_that_may_not_grow_is_told_and_the_next_apply_completes,
    ]
};

/// What needs a small disk of its own.
pub const ON_A_DISK: &[Behaviour] = &[Behaviour {
    name: "a_full_disk_is_told_and_the_next_apply_completes",
    needs: everywhere,
    possible: Disk::is_possible,
    run: a_full_disk_is_told_and_the_next_apply_completes,
}];

/// A program with nodes `r0`, `r1`, ..., each but the first referring to the one before, and its ledger.
fn chain(ledger: &str, nodes: usize) -> String {
    let node = |n: usize| {
        let refs = if n == 0 { "null".to_owned() } else { format!("[mock_node.r{}.id]", n - 1) };
        format!("resource \"mock_node\" \"r{n}\" {{\n  key = \"r{n}\"\n  refs = {refs}\n}}\n")
    };
    format!("provider \"mock\" {{\n  ledger = {ledger:?}\n}}\n{}", (0..nodes).map(node).collect::<String>())
}

/// The graph of that program.
fn chain_graph(nodes: usize) -> equiform::algebra::graph::NamedGraph {
    let name = |n: usize| format!("r{n}");
    let mut expected = graph(&[], &[]);
    expected.nodes = (0..nodes).map(name).collect();
    expected.edges = (1..nodes).map(|n| (name(n - 1), name(n))).collect();
    expected
}

/// Plans with a ledger that cannot be used.
fn refused(workspace: &Workspace) -> Output {
    let output = workspace.run(&["plan", "-input=false"]);
    output.ended_with(1).clean().says("The ledger cannot be used").says("ledger =");
    output
}

fn a_missing_folder_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("nowhere/ledger.jsonl", 1));
    refused(&workspace)
        .says("nowhere/ledger.jsonl does not exist.")
        .says("Make the folder first, or name another");
    // The advice is good.
    fs::create_dir(workspace.path("nowhere")).unwrap();
    workspace.try_apply(&[]).succeeded();
    assert_eq!(Ledger::read(&workspace.path("nowhere/ledger.jsonl")).graph(), chain_graph(1));
}

fn a_folder_in_the_ledgers_place_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("folder", 1));
    fs::create_dir(workspace.path("folder")).unwrap();
    refused(&workspace).says("folder is not a regular file.").says("Give the name of a file");
    assert_eq!(fs::read_dir(workspace.path("folder")).unwrap().count(), 0);
}

fn a_file_of_another_format_is_told_and_left_alone(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("foreign", 1));
    let contents: [&[u8]; 4] =
        [b"dear diary,\n", b"{\"version\": 4}\n", b"\x7fELF\0\xff without a line break", b"\n"];
    for content in contents {
        fs::write(workspace.path("foreign"), content).unwrap();
        refused(&workspace)
            .says("this is not an equiform ledger: its first line is not a ledger's header.")
            .says("Nothing was written to it. Name another file");
        assert_eq!(fs::read(workspace.path("foreign")).unwrap(), content);
    }
}

fn a_ledger_of_another_version_is_told_and_left_alone(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("newer", 1));
    let content = "{\"equiform_ledger\":3,\"id\":\"ledger-x\",\"created\":\"2030-01-01T00:00:00Z\"}\n";
    fs::write(workspace.path("newer"), content).unwrap();
    refused(&workspace).says("the ledger has format version 3").says("Nothing was written to it.");
    assert_eq!(fs::read_to_string(workspace.path("newer")).unwrap(), content);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Applies as someone whom permissions stop, root or not.
fn apply_obeying_permissions(workspace: &Workspace) -> Output {
    let mut command = workspace.command(["apply", "-input=false", "-auto-approve"]);
    obey_permissions(&mut command);
    workspace.finish(command)
}

fn a_folder_that_may_not_be_written_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("shut/ledger.jsonl", 2));
    let (folder, ledger) = (workspace.path("shut"), workspace.path("shut/ledger.jsonl"));
    fs::create_dir(&folder).unwrap();
    set_mode(&folder, 0o555);
    let apply = apply_obeying_permissions(&workspace);
    apply
        .ended_with(1)
        .clean()
        .says("shut/ledger.jsonl cannot be opened for writing")
        .says("Make the file and its folder writable, or name another file");
    set_mode(&folder, 0o755);
    apply_obeying_permissions(&workspace).succeeded();
    assert_eq!(Ledger::read(&ledger).graph(), chain_graph(2));

    // A ledger that is there is only ever appended to, which needs nothing of its folder.
    set_mode(&folder, 0o555);
    workspace.write(&chain("shut/ledger.jsonl", 3));
    apply_obeying_permissions(&workspace).succeeded();
    assert_eq!(Ledger::read(&ledger).graph(), chain_graph(3));
    set_mode(&folder, 0o755);
}

fn a_ledger_that_may_not_be_written_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("ledger.jsonl", 1));
    workspace.try_apply(&[]).succeeded();
    let ledger = workspace.path("ledger.jsonl");
    let before = fs::read(&ledger).unwrap();
    set_mode(&ledger, 0o444);
    workspace.write(&chain("ledger.jsonl", 2));
    let apply = apply_obeying_permissions(&workspace);
    apply.ended_with(1).clean().says("ledger.jsonl cannot be opened for writing").says("Make the file");
    assert_eq!(fs::read(&ledger).unwrap(), before);
    set_mode(&ledger, 0o644);
    apply_obeying_permissions(&workspace).succeeded();
    assert_eq!(Ledger::read(&ledger).graph(), chain_graph(2));
}

/// Demands that an apply failed for want of room, that the ledger is whole, and that something fitted.
#[track_caller]
fn ran_out_of_room(apply: &Output, ledger: &Path) {
    apply
        .ended_with(1)
        .clean()
        .says("The ledger cannot be used")
        .says("there is no room to append to")
        .says("Free some room and run the command again. What the ledger held is intact");
    assert!(!Ledger::read_with_open(ledger).graph().nodes.is_empty());
}

fn a_ledger_that_may_not_grow_is_told_and_the_next_apply_completes(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("ledger.jsonl", 8));
    let ledger = workspace.path("ledger.jsonl");
    workspace.try_apply(&[]).succeeded();
    // The limit is for the engine's state too: a long remark makes the ledger the one that meets it.
    let remark = "x".repeat(64 << 10);
    workspace.finish(workspace.provider_command(&["mark", &remark, "--ledger", "ledger.jsonl"])).succeeded();
    workspace.write(&chain("ledger.jsonl", 16));
    let length = fs::metadata(&ledger).unwrap().len();
    // Some lines fit, and the next one does not as a whole.
    let mut command = workspace.command(["apply", "-input=false", "-auto-approve"]);
    limit_file_size(&mut command, length + 3_333);
    ran_out_of_room(&workspace.finish(command), &ledger);

    workspace.try_apply(&[]).succeeded();
    assert_eq!(Ledger::read_with_open(&ledger).graph(), chain_graph(16));
    workspace.plan_is_empty();
}

fn a_full_disk_is_told_and_the_next_apply_completes(engine: &Engine) {
    let workspace = Workspace::with(engine, &chain("disk/ledger.jsonl", 80));
    let ledger = workspace.path("disk/ledger.jsonl");
    fs::create_dir(workspace.path("disk")).unwrap();
    let disk = Disk::mount(&workspace.path("disk"), "64k");

    // Not even the header fits.
    let ballast = workspace.path("disk/ballast");
    fs::write(&ballast, vec![0; 64 << 10]).unwrap();
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.ended_with(1)
        .clean()
        .says("there is no room to append to")
        .says("Free some room and run the command again.");
    assert!(!ledger.exists());
    assert_eq!(fs::read_dir(workspace.path("disk")).unwrap().count(), 1, "nothing but the ballast is there");

    // A part of the program fits.
    fs::remove_file(&ballast).unwrap();
    ran_out_of_room(&workspace.try_apply(&[]), &ledger);

    // With more room the same command completes.
    disk.resize("1m");
    workspace.try_apply(&[]).succeeded();
    assert_eq!(Ledger::read_with_open(&ledger).graph(), chain_graph(80));
    workspace.run(&["plan", "-input=false", "-detailed-exitcode"]).succeeded();
}
