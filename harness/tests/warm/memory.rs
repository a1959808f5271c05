//! A worker's memory over many commands. `make test-warm` has 5,000 of them.

use std::time::Duration;

use equiform::deploy::worker::request;
use equiform::spec::{Action, Options};

use super::support::{engine, number, runner};

/// What a worker may take. One that takes more is replaced before its next variant.
const BOUND: u64 = 768 << 20;

/// A program of so many resources, each with a reference to the one before it.
fn program(resources: usize, label: usize) -> String {
    let head = "terraform {\n  required_providers {\n    mock = { source = \"equiform.test/equiform/mock\" }\n  }\n}\n";
    let block = |number: usize| {
        let refs = if number == 0 { String::new() } else { format!("mock_node.r{}.id", number - 1) };
        let body = format!("  key = \"r{number}\"\n  label = \"{label}\"\n  refs = [{refs}]\n");
        format!("resource \"mock_node\" \"r{number}\" {{\n{body}}}\n")
    };
    head.to_owned() + &(0..resources).map(block).collect::<String>()
}

fn memory_stays_bounded(spec: &str) {
    let commands = number("EQUIFORM_WARM_COMMANDS", 60);
    let (runner, _provider) = runner(&engine(spec));
    let mut worker = runner.workers.as_ref().unwrap().take().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    let place = |name: &str| work.join(name);
    let arguments = runner.engine.arguments(&Action::Apply(Options::default()));
    let mut most = 0;
    for command in 0..commands {
        std::fs::write(place("main.tf"), program(6, command)).unwrap();
        std::fs::write(place(".equiform-variables"), format!("EQUIFORM_RUN={command}\n")).unwrap();
        let request = request(&arguments, work, &place("out"), &place("err")).unwrap();
        let outcome = worker.run(&request, Duration::from_secs(60)).unwrap();
        let said = || std::fs::read_to_string(place("out")).unwrap();
        assert_eq!(outcome.end, equiform::deploy::process::Ended::Exit(0), "{}", said());
        most = most.max(worker.memory().unwrap());
        if (command + 1) % 500 == 0 || command + 1 == commands {
            let files = std::fs::read_dir(format!("/proc/{}/fd", worker.pid())).unwrap().count();
            let now = worker.memory().unwrap() >> 20;
            println!(
                "{spec}: after {} commands {now} MiB, at most {} MiB, {files} files",
                command + 1,
                most >> 20
            );
            assert!(files < 2000, "connections of earlier commands are closed: {files}");
        }
    }
    assert!(most < BOUND, "{} MiB", most >> 20);
}

#[test]
fn a_warm_terraform_stays_within_its_bound_of_memory() {
    memory_stays_bounded("terraform@1.15.5");
}

#[test]
fn a_warm_opentofu_stays_within_its_bound_of_memory() {
    memory_stays_bounded("tofu@1.12.6");
}
