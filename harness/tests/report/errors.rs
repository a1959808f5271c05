//! What cannot be shown: a sentence that says what to do, and nothing is overwritten.

use std::fs;
use std::path::Path;

use equiform::campaign::Settings;
use equiform::campaign::builds::Builds;
use equiform::campaign::manifest::CampaignManifest;
use equiform::deploy::Mode;
use equiform::engines::{EngineId, EngineName, Version};
use equiform::judge::oracles::{ORACLES, Oracle};

use super::campaign::{equiform, faulty_engine};

/// What the command says when it cannot do its work.
fn refusal(arguments: &[&str]) -> String {
    let output = equiform(arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

/// A campaign of which nothing was run.
fn unrun(folder: &Path) {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let settings = Settings { sources: 2, variants: 1, ..Settings::default() };
    let engine = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5)).into();
    let builds = Builds {
        equiform: "0.1.0".to_owned(),
        engine: [("executable".to_owned(), "ab".to_owned())].into(),
        provider_version: None,
        provider: "cd".to_owned(),
    };
    let manifest = CampaignManifest::new(engine, builds, Mode::default(), &oracles, None, settings);
    drop(manifest.lock(folder).unwrap());
}

/// One that came to a limit, as one that was interrupted.
pub fn unfinished_campaign() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, out) = (faulty_engine(folder.path()), folder.path().join("out"));
    let (engine, place) = (engine.to_str().unwrap(), out.to_str().unwrap());
    let limits = ["--max-findings=1", "--no-again", "--jobs=1", "--seed=3", "--sources=6", "--variants=2"];
    let output = equiform(&[&["run", "--engine", engine, "--out", place][..], &limits].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("  report        ") && said.contains("out/report.html"), "{said}");
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    let overview = page.split("id=\"overview\">").nth(1).unwrap().split("</script>").next().unwrap();
    let overview: serde_json::Value = serde_json::from_str(overview).unwrap();
    let rows = overview["rows"].as_array().unwrap().len() as u64;
    assert_eq!(overview["not_run"], 12 - rows, "{said}");
    assert!(rows > 0 && rows < 12, "{said}");
}

pub fn no_campaign() {
    let folder = tempfile::tempdir().unwrap();
    let said = refusal(&["report", folder.path().to_str().unwrap()]);
    assert!(said.contains("has no campaign.json") && said.contains("--out"), "{said}");
    assert!(refusal(&["report", "/nowhere"]).contains("/nowhere cannot be read"));
    fs::write(folder.path().join("campaign.json"), r#"{"version":9}"#).unwrap();
    assert!(refusal(&["report", folder.path().to_str().unwrap()]).contains("use the equiform that wrote it"));
    fs::write(folder.path().join("campaign.json"), r#"{"version":1,"eng"#).unwrap();
    assert!(refusal(&["report", folder.path().to_str().unwrap()]).contains("this is not a campaign's file"));
    assert!(!folder.path().join("report.html").exists());
}

pub fn damaged_campaign() {
    let folder = tempfile::tempdir().unwrap();
    unrun(folder.path());
    let (path, page) = (folder.path().to_str().unwrap(), folder.path().join("report.html"));
    // A campaign of which nothing was run, or in which nothing failed, has a report too.
    assert!(equiform(&["report", path]).status.success());
    let before = fs::read(&page).unwrap();
    assert!(String::from_utf8_lossy(&before).contains("\"not_run\":2"));
    fs::create_dir(folder.path().join("case-0001")).unwrap();
    fs::write(folder.path().join("case-0001/case.json"), r#"{"version":5,"se"#).unwrap();
    let said = refusal(&["report", path]);
    assert!(said.contains("is not a case") && said.contains("`equiform run --resume"), "{said}");
    assert_eq!(fs::read(&page).unwrap(), before);
}

pub fn foreign_files() {
    let folder = tempfile::tempdir().unwrap();
    unrun(folder.path());
    let thesis = folder.path().join("thesis.txt");
    fs::write(&thesis, "mine").unwrap();
    let path = folder.path().to_str().unwrap();
    let said = refusal(&["report", path, "--out", thesis.to_str().unwrap()]);
    assert!(said.contains("no report of equiform: name another file"), "{said}");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "mine");
    let said = refusal(&["report", path, "--out", "/nowhere/report.html"]);
    assert!(said.contains("cannot write the report /nowhere/report.html"), "{said}");
}

pub fn damaged_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let ledger = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ledgers/tampered.jsonl");
    let output = equiform(&["ledger", "report", ledger.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("line") && said.contains("equiform ledger verify"), "{said}");
    assert!(refusal(&["ledger", "report", "/nowhere"]).contains("there is no such file"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}
