//! Faults put into a real engine by a script around it, and the oracles that see them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::campaign::judge;
use equiform::campaign::verdict::Result as TrialResult;
use equiform::case::edges::EdgeChoice;
use equiform::case::{CASE_VERSION, Case};
use equiform::deploy::access::Way;
use equiform::oracle::{ORACLES, Oracle};

use super::support::{engine, provider, runner};

/// A fault: its name, the oracles that must see it, and shell text that stands in for the engine's command in one stage.
/// `real` is the engine; `"$@"` are its arguments.
struct Fault {
    name: &'static str,
    seen_by: &'static [&'static str],
    stage: &'static str,
    script: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "a resource is dropped from the program",
        seen_by: &["graph", "steps", "idle"],
        stage: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/d' main.tf; real "$@""#,
    },
    Fault {
        name: "an edge is dropped from the program",
        seen_by: &["graph", "state", "idle"],
        stage: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/{/refs/d}' main.tf; real "$@""#,
    },
    Fault {
        name: "an entry is removed from the state",
        seen_by: &["state", "idle"],
        stage: "batch-2",
        script: r#"real "$@"; real state rm mock_node.c >/dev/null"#,
    },
    Fault {
        name: "a dependency is renamed in the state",
        seen_by: &["state"],
        stage: "batch-2",
        script: r#"real "$@"; sed -i 's/"mock_node.a"/"mock_node.z"/' terraform.tfstate"#,
    },
    Fault { name: "an apply is skipped", seen_by: &["graph", "steps"], stage: "batch-2", script: "exit 0" },
    Fault {
        name: "-target is slipped in",
        seen_by: &["graph", "steps"],
        stage: "batch-2",
        script: r#"real "$@" -target=mock_node.b"#,
    },
    Fault {
        name: "a replacement nobody asked for",
        seen_by: &["steps"],
        stage: "batch-2",
        script: r#"real "$@" -replace=mock_node.b"#,
    },
    Fault {
        name: "creation against the order",
        seen_by: &["order"],
        stage: "batch-1",
        script: r#"cp main.tf whole; sed -i '/"mock_node" "a"/,/^}/d; /depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@""#,
    },
    Fault {
        name: "the plan announces something else",
        seen_by: &["plan"],
        stage: "batch-2",
        script: r#"real "$@" | sed '/planned_change/s/"action":"create"/"action":"delete"/'"#,
    },
    Fault {
        name: "the idle apply replaces",
        seen_by: &["idle"],
        stage: "idle",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault {
        name: "the other variant's plan replaces",
        seen_by: &["cross"],
        stage: "cross",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault { name: "destroy does nothing", seen_by: &["destroy"], stage: "destroy", script: "exit 0" },
    Fault {
        name: "a panic is printed",
        seen_by: &["health"],
        stage: "batch-2",
        script: r#"real "$@"; echo 'panic: runtime error' >&2"#,
    },
    Fault {
        name: "the lock is left",
        seen_by: &["health"],
        stage: "batch-2",
        script: r#"real "$@"; touch .terraform.tfstate.lock.info"#,
    },
    Fault {
        name: "the exit code is wrong",
        seen_by: &["health"],
        stage: "batch-2",
        script: r#"real "$@"; exit 1"#,
    },
    Fault { name: "the engine hangs", seen_by: &["health"], stage: "batch-2", script: "sleep 1000" },
];

/// Three resources in a chain, in two batches; the edges are of order alone if `by_order`.
fn case(by_order: bool) -> Case {
    let source = r#"{"nodes":["a","b","c"],"edges":[["a","b"],["b","c"]]}"#;
    let depends_on = if by_order { 1.0 } else { 0.0 };
    let variants = [
        "(con b c (add c (cut (con a b (add b (add a empty))))))",
        "(con a b (con b c (cut (add c (add b (add a empty))))))",
    ];
    Case {
        version: CASE_VERSION,
        seed: 0,
        engine: None,
        source: serde_json::from_str(source).unwrap(),
        edges: EdgeChoice { seed: 0, pinned: 0.0, depends_on, create_before_destroy: 0.0 },
        variants: variants.map(str::to_owned).to_vec(),
    }
}

fn wrapper(folder: &Path, real: &Path, stage: &str, script: &str) -> PathBuf {
    let path = folder.join("engine");
    let text = format!(
        "#!/bin/sh\nreal() {{ '{}' \"$@\"; }}\nif [ \"$EQUIFORM_RUN\" = {stage} ]; then\n{script}\nelse\nreal \"$@\"\nfi\n",
        real.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn every_fault_is_caught_by_the_oracles_made_for_it() {
    let (real, server) = (engine("terraform@1.15.5"), provider(Way::Reattach));
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let judge = |stage: &str, script: &str, by_order: bool, patience: u64| -> TrialResult {
        let folder = tempfile::tempdir().unwrap();
        let engine = wrapper(folder.path(), &real, stage, script);
        let runner = runner(&engine, &server, Duration::from_secs(patience));
        let (case, place) = (case(by_order), folder.path().join("variant"));
        runner.deploy(&case, 0, &place).unwrap();
        judge::variant(&case, 0, &place, &oracles)
    };
    for by_order in [false, true] {
        let sound = judge("none", ":", by_order, 120);
        assert_eq!(sound, TrialResult::Pass, "the script itself is no fault");
    }
    let mut table = vec![format!("{:42}", "fault")];
    table[0].extend(ORACLES.iter().map(|oracle| format!("{:>9}", oracle.name)));
    let (mut missed, mut alone) = (Vec::new(), BTreeSet::<&str>::new());
    for fault in FAULTS {
        let patience = if fault.script.starts_with("sleep") { 10 } else { 120 };
        let result = judge(fault.stage, fault.script, fault.seen_by == ["order"], patience);
        let findings = match &result {
            TrialResult::Fail { findings } => findings.as_slice(),
            _ => &[],
        };
        let seen: BTreeSet<&str> = findings.iter().map(|finding| finding.oracle.as_str()).collect();
        let mark = |oracle: &Oracle| format!("{:>9}", if seen.contains(oracle.name) { "x" } else { "." });
        table.push(format!("{:42}{}", fault.name, ORACLES.iter().map(mark).collect::<String>()));
        if seen.len() == 1 {
            alone.extend(fault.seen_by.iter().copied());
        }
        if !fault.seen_by.iter().all(|oracle| seen.contains(oracle)) {
            missed.push(format!("{}: {:?} expected, {result:?}", fault.name, fault.seen_by));
        }
    }
    println!("{}", table.join("\n"));
    assert!(missed.is_empty(), "{missed:#?}\n{}", table.join("\n"));
    let never_alone: Vec<_> =
        ORACLES.iter().map(|oracle| oracle.name).filter(|name| !alone.contains(name)).collect();
    assert_eq!(never_alone, ["graph"], "the published oracle is the only one that others make up for");
}
