//! Names and texts that somebody would like to be taken for markup, or that are too long.

use std::fs;
use std::io::Write;
use std::path::Path;

use equiform_proto::ledger::{Entry, LineHash, Operation, Phase};
use serde_json::{Value as Json, json};

use super::browser::Browser;
use super::campaign::{Campaign, equiform};

/// Markup, a name that is read from right to left, and one that turns what follows around.
pub const NAMES: [&str; 3] = ["<script>alert(1)</script>", "שרת ראשי", "a\u{202e}gpj.exe"];

/// Writes a ledger in which an object is created for each name, with a label.
pub fn ledger(path: &Path, objects: &[(&str, String)]) {
    let mut file = fs::File::create(path).unwrap();
    let mut prev = LineHash([0; 32]);
    let mut line = |text: Vec<u8>| {
        file.write_all(&text).unwrap();
        file.write_all(b"\n").unwrap();
        prev = LineHash::of(&text);
        prev
    };
    let mut last =
        line(br#"{"equiform_ledger":2,"id":"ledger-hostile","created":"2026-01-01T00:00:00Z"}"#.to_vec());
    let mut seq = 0;
    for (name, label) in objects {
        let begin = seq + 1;
        for phase in [Phase::Begin, Phase::Commit] {
            seq += 1;
            let mut entry = Entry::new(seq, Operation::Create, phase, 1, last);
            entry.run = Some("</script><b>run</b>".to_owned());
            entry.begin = (phase == Phase::Commit).then_some(begin);
            entry.key = Some((*name).to_owned());
            entry.id = Some(format!("node-{begin}"));
            entry.after =
                json!({ "id": format!("node-{begin}"), "key": name, "label": label }).as_object().cloned();
            last = line(serde_json::to_vec(&entry).unwrap());
        }
    }
}

pub fn names_are_texts() {
    let folder = tempfile::tempdir().unwrap();
    let (file, page) = (folder.path().join("ledger.jsonl"), folder.path().join("ledger.html"));
    let label = "<img src=x onerror=alert(1)>".to_owned();
    ledger(&file, &NAMES.map(|name| (name, label.clone())));
    let output = equiform(&["ledger", "report", file.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut browser = Browser::start();
    browser.open(&page, "#6");
    let text = browser.text("document.getElementById('page').textContent");
    for name in NAMES.iter().chain([&label.as_str()]) {
        assert!(text.contains(name), "{name} is not shown");
    }
    assert_eq!(
        browser.number("document.querySelectorAll('#page script, #page img, #page b:not(.v-f)').length"),
        1.0
    );
    assert_eq!(browser.text("document.querySelector('#page b:not(.v-f)').textContent"), "equiform");
    let isolated =
        "[...document.querySelectorAll('#page bdi')].filter(it => it.textContent === 'שרת ראשי').length";
    assert!(browser.number(isolated) > 0.0, "what is read from right to left stands apart");
    browser.is_content(&page);
    // The same in what was found in a campaign.
    let campaign = Campaign::get();
    let copy = folder.path().join("campaign");
    let copied = std::process::Command::new("cp").arg("-r").arg(campaign.out()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let place = campaign.said["cases"][0]["case"].as_u64().unwrap();
    let variant = campaign.said["cases"][0]["variants"][0]["variant"].as_u64().unwrap();
    let verdict = copy.join(format!("case-{place:04}/variant-{variant:04}/verdict.json"));
    let mut stored: Json = serde_json::from_slice(&fs::read(&verdict).unwrap()).unwrap();
    let words = format!("{} </script>{}", NAMES[0], NAMES[1]);
    stored["result"]["findings"][0]["detail"] = serde_json::json!({ "type": "quote", "words": words });
    fs::write(&verdict, stored.to_string()).unwrap();
    let output = equiform(&["report", copy.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = copy.join("report.html");
    browser.open(&report, "");
    assert!(browser.text("document.getElementById('findings').textContent").contains(NAMES[0]));
    browser.ask(&format!("location.hash = 'case-{place:04}/variant-{variant:04}'"));
    browser.wait("document.querySelectorAll('[role=tab]').length > 0");
    assert!(browser.text("document.getElementById('main').textContent").contains(NAMES[1]));
    assert_eq!(browser.number("document.querySelectorAll('#page script').length"), 0.0);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

pub fn long_lines_are_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let (file, page) = (folder.path().join("ledger.jsonl"), folder.path().join("ledger.html"));
    ledger(&file, &[("long", "x".repeat(1 << 20)), ("n".repeat(5000).as_str(), "short".to_owned())]);
    let output = equiform(&["ledger", "report", file.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = fs::metadata(&page).unwrap().len();
    assert!(bytes < 300_000, "the page has {bytes} bytes");
    let mut browser = Browser::start();
    browser.open(&page, "#2");
    let line = browser.text("document.querySelector('details.line pre').textContent");
    assert!(line.contains("bytes more are in the ledger"), "{line}");
    assert!(browser.number("document.documentElement.scrollWidth") <= 1280.0);
    browser.is_content(&page);
}
