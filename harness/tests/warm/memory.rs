//! What workers take over many commands. `make test-warm` has 5,000 of them.

use std::time::Duration;

use equiform::deploy::hold::Hold;
use equiform::deploy::process::Ended;
use equiform::deploy::worker::request;
use equiform::spec::{Action, Encoding, Options};
use equiform_proto::control::Run;
use equiform_proto::faults::Faults;

use super::support::{engine, number, runner};

/// What a worker may take: more than it takes when it is replaced, by what one command adds.
const MEMORY: u64 = 1 << 30;
const FILES: u64 = 4000;

/// A program with this many resources, each with a reference to the one before it.
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
    let workers = runner.workers.as_ref().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    let place = |name: &str| work.join(name);
    let command = runner.engine.command(&Action::Apply(Options::default()), &Encoding::PLAIN);
    let arguments = command.arguments;
    let (mut memory, mut files) = (0, 0);
    for command in 0..commands {
        std::fs::write(place("main.tf"), program(6, command)).unwrap();
        let request = request(&arguments, work, &place("out"), &place("err")).unwrap();
        let mut worker = workers.take().unwrap();
        let run = Run {
            ledger: place("ledger.jsonl"),
            label: Some(command.to_string()),
            working_directory: work.to_owned(),
            hold: Hold::Off,
            faults: Faults::default(),
            locked: None,
            engine: None,
        };
        let (outcome, _) = worker.serve(run, &request, Duration::from_secs(60)).unwrap();
        let said = || std::fs::read_to_string(place("out")).unwrap();
        assert_eq!(outcome.end, Ended::Exit(0), "{}", said());
        memory = memory.max(worker.memory().unwrap());
        files = files.max(worker.files().unwrap());
        if (command + 1) % 500 == 0 || command + 1 == commands {
            let started = workers.counts().started;
            println!(
                "{spec}: after {} commands in {started} processes at most {} MiB and {files} files in one of them",
                command + 1,
                memory >> 20
            );
        }
        workers.give_back(worker).unwrap();
    }
    assert!(memory < MEMORY && files < FILES, "{} MiB, {files} files", memory >> 20);
}

#[test]
fn a_warm_terraform_stays_within_its_bound_of_memory() {
    memory_stays_bounded("terraform@1.15.5");
}

#[test]
fn a_warm_opentofu_stays_within_its_bound_of_memory() {
    memory_stays_bounded("tofu@1.12.6");
}
