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
use rayon::prelude::*;

use super::support::{engine, provider, runner};

/// The page that shows the matrix.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/oracles.md");

/// How long an engine may take that is not meant to hang.
const LONG: Duration = Duration::from_secs(120);

/// A fault: shell text that stands in for the engine's command in some stages of a case. `real` is the engine; `"$@"` are
/// its arguments.
struct Fault {
    name: &'static str,
    /// What is deployed.
    case: fn() -> Case,
    /// A shell pattern.
    stages: &'static str,
    script: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "a reference gives another resource's id",
        case: chain,
        stages: "*",
        script: r#"sed -i '/"mock_node" "c"/,/^}/s/refs = .*/refs = [mock_node.a.id]\n  depends_on = [mock_node.b]/' main.tf
                   real "$@""#,
    },
    Fault {
        name: "a resource is dropped from the program",
        case: chain,
        stages: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/d' main.tf; real "$@""#,
    },
    Fault {
        name: "an edge is dropped from the program",
        case: chain,
        stages: "batch-2",
        script: r#"sed -i '/"mock_node" "c"/,/^}/{/refs/d}' main.tf; real "$@""#,
    },
    Fault {
        name: "a state entry is removed",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; real state rm mock_node.c >/dev/null"#,
    },
    Fault {
        name: "a state entry is duplicated",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; cp terraform.tfstate copy
                   real state mv -state=copy -state-out=terraform.tfstate mock_node.c mock_node.d >/dev/null"#,
    },
    Fault {
        name: "a state entry is renamed",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; real state mv mock_node.c mock_node.d >/dev/null"#,
    },
    Fault {
        name: "a state entry has a stale attribute",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"label": null/"label": "old"/' terraform.tfstate"#,
    },
    Fault {
        name: "a dependency is renamed in the state",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; sed -i 's/"mock_node.a"/"mock_node.z"/' terraform.tfstate"#,
    },
    Fault { name: "an apply is skipped", case: chain, stages: "batch-2", script: "exit 0" },
    Fault {
        name: "an apply is run twice",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" && real "$@""#,
    },
    Fault {
        name: "a create is replayed",
        case: chain,
        stages: "batch-2",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a delete is replayed",
        case: removal,
        stages: "batch-2",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate
                   real "$@" -refresh=false >/dev/null"#,
    },
    Fault {
        name: "a stale plan is applied",
        case: chain,
        stages: "batch-1|batch-2",
        script: r#"case $EQUIFORM_RUN in
                   batch-1) real plan -input=false -out=stale >/dev/null; real "$@";;
                   batch-2) mv terraform.tfstate aside; real apply -input=false -json stale;;
                   esac"#,
    },
    Fault {
        name: "-target is slipped in",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" -target=mock_node.b"#,
    },
    Fault {
        name: "a replacement nobody asked for",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" -replace=mock_node.b"#,
    },
    Fault {
        name: "parallel where order is due",
        case: long_by_order,
        stages: "batch-1",
        script: r#"cp main.tf whole; sed -i '/depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@" >/dev/null"#,
    },
    Fault {
        name: "a dependent is created before its dependency",
        case: by_order,
        stages: "batch-1",
        script: r#"cp main.tf whole; sed -i '/"mock_node" "a"/,/^}/d; /depends_on/d' main.tf; real "$@"
                   cp whole main.tf; real "$@""#,
    },
    Fault {
        name: "the plan announces something else",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" | sed '/planned_change/s/"action":"create"/"action":"delete"/'"#,
    },
    Fault {
        name: "the summary miscounts",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@" | sed '/"operation":"apply"/s/"add":1/"add":2/'"#,
    },
    Fault {
        name: "the idle apply replaces",
        case: chain,
        stages: "idle",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault {
        name: "the other variant's plan replaces",
        case: chain,
        stages: "cross",
        script: r#"real "$@" -replace=mock_node.c"#,
    },
    Fault { name: "destroy does nothing", case: chain, stages: "destroy", script: "exit 0" },
    Fault {
        name: "destroy leaves a part",
        case: chain,
        stages: "destroy",
        script: r#"real "$@" -target=mock_node.c"#,
    },
    Fault {
        name: "destroy keeps the state",
        case: chain,
        stages: "destroy",
        script: r#"cp terraform.tfstate before; real "$@"; cp before terraform.tfstate"#,
    },
    Fault {
        name: "a panic is printed",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; echo 'panic: runtime error' >&2"#,
    },
    Fault {
        name: "an error is reported with exit code 0",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; echo '{"@level":"error","@message":"Error: out of luck","type":"diagnostic"}'"#,
    },
    Fault {
        name: "the lock is left",
        case: chain,
        stages: "batch-2",
        script: r#"real "$@"; touch .terraform.tfstate.lock.info"#,
    },
    Fault { name: "the exit code is wrong", case: chain, stages: "batch-2", script: r#"real "$@"; exit 1"# },
    // In the first stage: with the little patience that this fault is given, no real engine is waited for.
    Fault { name: "the engine hangs", case: chain, stages: "batch-1", script: "sleep 1000" },
];

fn case(nodes: &[&str], depends_on: f64, variants: [&str; 2]) -> Case {
    let edges: Vec<_> = nodes.windows(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect();
    let source = serde_json::json!({ "nodes": nodes, "edges": edges });
    Case {
        version: CASE_VERSION,
        seed: 0,
        engine: None,
        left_out: Default::default(),
        equiform: None,
        provider: None,
        source: serde_json::from_value(source).unwrap(),
        edges: EdgeChoice { seed: 0, pinned: 0.0, depends_on, create_before_destroy: 0.0 },
        variants: variants.map(str::to_owned).to_vec(),
    }
}

const CHAIN: [&str; 2] = [
    "(con b c (add c (cut (con a b (add b (add a empty))))))",
    "(con a b (con b c (cut (add c (add b (add a empty))))))",
];

/// Three resources in a chain, in two batches.
fn chain() -> Case {
    case(&["a", "b", "c"], 0.0, CHAIN)
}

/// The same, with edges of order alone.
fn by_order() -> Case {
    case(&["a", "b", "c"], 1.0, CHAIN)
}

/// The chain with a fourth resource that comes and goes, in three batches.
fn removal() -> Case {
    let variant = "(con b c (add c (cut (rem d (cut (add d (con a b (add b (add a empty)))))))))";
    case(&["a", "b", "c"], 0.0, [variant, CHAIN[1]])
}

/// Ten resources in a chain of order alone, in one batch: together they do not keep the order by chance.
fn long_by_order() -> Case {
    let nodes = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let added = nodes.iter().fold("empty".to_owned(), |inner, node| format!("(add {node} {inner})"));
    let whole = nodes.windows(2).fold(added, |inner, pair| format!("(con {} {} {inner})", pair[0], pair[1]));
    case(&nodes, 1.0, [&whole, &whole])
}

fn wrapper(folder: &Path, real: &Path, stages: &str, script: &str) -> PathBuf {
    let path = folder.join("engine");
    let text = format!(
        "#!/bin/sh\nreal() {{ '{}' \"$@\"; }}\ncase $EQUIFORM_RUN in\n{stages})\n{script}\n;;\n*) real \"$@\";;\nesac\n",
        real.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// What the oracles say of a case that was deployed with a fault.
fn judged(fault: &Fault, real: &Path, server: &equiform::deploy::access::Provider) -> TrialResult {
    let folder = tempfile::tempdir().unwrap();
    let engine = wrapper(folder.path(), real, fault.stages, fault.script);
    let patience = if fault.script.starts_with("sleep") { Duration::from_secs(1) } else { LONG };
    let runner = runner(&engine, server, patience);
    let (case, place) = ((fault.case)(), folder.path().join("variant"));
    runner.deploy(&case, 0, &place).unwrap();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    judge::variant(&case, 0, &place, &oracles)
}

/// The matrix as a table in Markdown, the oracle known from the literature first.
fn matrix(seen: &[BTreeSet<&str>]) -> String {
    let row = |title: &str, cells: Vec<String>| format!("| {title} | {} |\n", cells.join(" | "));
    let of_oracles = |cell: &dyn Fn(&str) -> String| ORACLES.iter().map(|oracle| cell(oracle.name)).collect();
    let mut table = row("fault", of_oracles(&|name| format!("`{name}`")));
    table += &format!("|---|{}\n", ":-:|".repeat(ORACLES.len()));
    for (fault, seen) in FAULTS.iter().zip(seen) {
        let mark = |name: &str| if seen.contains(name) { "x" } else { "" }.to_owned();
        table += &row(fault.name, of_oracles(&mark));
    }
    let count = |wanted: &dyn Fn(&BTreeSet<&str>, &str) -> bool| {
        of_oracles(&|name| seen.iter().filter(|seen| wanted(seen, name)).count().to_string())
    };
    table += &row(&format!("**of {} sees**", seen.len()), count(&|seen, name| seen.contains(name)));
    table += &row("**sees alone**", count(&|seen, name| seen.len() == 1 && seen.contains(name)));
    table
}

fn every_fault_is_seen(spec: &str) {
    let (real, server) = (engine(spec), provider(Way::Reattach));
    for case in [chain, by_order, removal, long_by_order] {
        let sound = Fault { name: "none", case, stages: "*", script: r#"real "$@""# };
        assert_eq!(judged(&sound, &real, &server), TrialResult::Pass, "the script itself is no fault");
    }
    let results: Vec<TrialResult> = FAULTS.par_iter().map(|fault| judged(fault, &real, &server)).collect();
    let seen: Vec<BTreeSet<&str>> = results
        .iter()
        .map(|result| match result {
            TrialResult::Fail { findings } | TrialResult::Known { findings } => {
                findings.iter().map(|finding| finding.oracle.as_str()).collect()
            }
            TrialResult::Pass | TrialResult::Inconclusive { .. } => BTreeSet::new(),
        })
        .collect();
    let matrix = matrix(&seen);
    println!("{spec}\n{matrix}");
    for ((fault, seen), result) in FAULTS.iter().zip(&seen).zip(&results) {
        assert!(!seen.is_empty(), "{} is not seen: {result:?}", fault.name);
    }
    for oracle in ORACLES {
        let alone = seen.iter().any(|seen| seen.len() == 1 && seen.contains(oracle.name));
        assert!(alone, "{} sees nothing that no other oracle sees", oracle.name);
    }
    let page = fs::read_to_string(PAGE).unwrap();
    assert!(page.contains(&matrix), "docs/oracles.md shows another matrix than the one measured:\n{matrix}");
}

#[test]
fn every_fault_in_terraform_is_seen_and_every_oracle_sees_one_that_no_other_does() {
    every_fault_is_seen("terraform@1.15.5");
}

#[test]
fn every_fault_in_opentofu_is_seen_and_every_oracle_sees_one_that_no_other_does() {
    every_fault_is_seen("tofu@1.12.6");
}
