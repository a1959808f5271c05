//! Evidence that is not what its verdict was judged from.

use std::fs;

use super::{ENGINE, campaign, damaged, equiform, half, judged, passes, refused};

fn with_a_blank_line(bytes: Vec<u8>) -> Vec<u8> {
    [&bytes[..], b"\n"].concat()
}

#[test]
fn evidence_that_was_changed_since_it_was_judged_is_named_and_is_no_pass() {
    let files = ["ledger.jsonl", "stages.json", "batch-1/output.jsonl", "batch-2/state.json", "idle/main.tf"];
    for file in files {
        let (folder, path) = damaged(&format!("case-0000/variant-0001/{file}"), with_a_blank_line);
        let changed = fs::read(&path).unwrap();
        let out = folder.path().join("out");
        let told = [&format!("changed since it was judged: {file}"), "3 passed", "1 inconclusive"];
        refused(&campaign(ENGINE, &out).output().unwrap(), &told);
        refused(&equiform(&["run", "--resume"]).arg(&out).output().unwrap(), &told);
        refused(&judged(&out), &told);
        assert_eq!(fs::read(&path).unwrap(), changed, "it is left alone");
    }
}

#[test]
fn evidence_that_is_gone_is_named_and_blames_no_engine() {
    for file in ["batch-2/state.json", "batch-1/output.jsonl", "batch-1"] {
        let (folder, stages) = damaged("case-0000/variant-0001/stages.json", |bytes| bytes);
        let path = stages.with_file_name(file);
        let (out, name) = (folder.path().join("out"), if path.is_dir() { "batch-1/main.tf" } else { file });
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        let told = ["changed since it was judged: ", name, "3 passed", "1 inconclusive"];
        refused(&equiform(&["run", "--resume"]).arg(&out).output().unwrap(), &told);
        refused(&judged(&out), &told);
        let variant = out.join("case-0000/variant-0001");
        let explained = equiform(&["explain"]).arg(variant).output().unwrap();
        refused(&explained, &["says nothing about the engine any more"]);
    }
}

#[test]
fn a_case_that_is_damaged_or_not_the_one_that_the_settings_generate_is_no_pass() {
    let edited = |bytes: Vec<u8>| {
        let mut case: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        case["variants"].as_array_mut().unwrap().truncate(1);
        serde_json::to_vec_pretty(&case).unwrap()
    };
    let (folder, _) = damaged("case-0001/case.json", edited);
    let out = folder.path().join("out");
    let told =
        ["case-0001/case.json is not the case that the campaign's settings generate", "2 inconclusive"];
    refused(&campaign(ENGINE, &out).output().unwrap(), &told);
    refused(&judged(&out), &["changed since it was judged: case.json", "1 inconclusive"]);
    let (folder, _) = damaged("case-0001/case.json", half);
    let output = campaign(ENGINE, &folder.path().join("out")).output().unwrap();
    refused(&output, &["case-0001/case.json is not a case", "2 inconclusive"]);
}

#[test]
fn judging_again_tells_where_the_stored_verdict_says_something_else() {
    let claimed = |bytes: Vec<u8>| {
        let mut verdict: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        verdict["result"] = serde_json::json!({ "verdict": "fail", "findings": [
            { "oracle": "steps", "kind": "operation-extra", "stage": "batch-2", "detail": { "type": "none" },
              "subjects": [{ "type": "operation", "key": "a", "operation": "create" }] },
        ] });
        serde_json::to_vec(&verdict).unwrap()
    };
    let (folder, _) = damaged("case-0001/variant-0000/verdict.json", claimed);
    let output = judged(&folder.path().join("out"));
    let sentence = "case-0001/variant-0000: the stored verdict is steps: operation-extra in batch-2, and the evidence \
                    says pass";
    passes(&output, sentence);
}
