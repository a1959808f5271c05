//! The report of a real campaign, on a real engine in which a fault is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use equiform::engines::Engines;
use serde_json::Value as Json;
use tempfile::TempDir;

use super::browser::Browser;

/// A campaign and what it said in its end.
pub struct Campaign {
    folder: TempDir,
    pub said: Json,
}

/// `equiform` with these arguments.
pub fn equiform(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).args(arguments).output().unwrap()
}

/// An engine that overlooks `depends_on`, so that operations come in a wrong order.
pub fn faulty_engine(folder: &Path) -> PathBuf {
    let engines = Engines::from_env().unwrap();
    let real =
        engines.find(&"terraform@1.15.5".parse().unwrap()).unwrap_or_else(|error| panic!("{error}")).path;
    let path = folder.join("fork");
    let script = format!(
        "#!/bin/sh\n[ -f main.tf ] && sed -i /depends_on/d main.tf\nexec '{}' \"$@\"\n",
        real.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

impl Campaign {
    fn run() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (engine, out) = (faulty_engine(folder.path()), folder.path().join("out"));
        let output = equiform(&[
            "run",
            "--engine",
            engine.to_str().unwrap(),
            "--seed=3",
            "--sources=4",
            "--variants=2",
            "--batches=3",
            "--no-again",
            "--format=json",
            "--out",
            out.to_str().unwrap(),
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("report.html"), "it says where the report is: {stderr}");
        Self { folder, said: serde_json::from_slice(&output.stdout).unwrap() }
    }

    /// The campaign that all tests look at.
    pub fn get() -> &'static Self {
        static CAMPAIGN: OnceLock<Campaign> = OnceLock::new();
        CAMPAIGN.get_or_init(Self::run)
    }

    /// Its folder.
    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Its report.
    pub fn report(&self) -> PathBuf {
        self.out().join("report.html")
    }

    fn failed(&self) -> f64 {
        self.said["counts"]["failed"].as_f64().unwrap()
    }
}

/// How many rows of the list of variants are chosen.
fn chosen(browser: &mut Browser) -> f64 {
    browser.number("Number(document.querySelector('#variants table').getAttribute('aria-rowcount')) - 1")
}

pub fn is_shown() {
    let campaign = Campaign::get();
    let mode = fs::metadata(campaign.report()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "evidence is its owner's alone");
    let mut browser = Browser::start();
    browser.open(&campaign.report(), "");
    let title = browser.text("document.querySelector('#verdicts h2').textContent");
    assert_eq!(title, format!("8 variants: {} failed", campaign.failed()));
    assert_eq!(chosen(&mut browser), 8.0);
    browser.ask("document.querySelector('#variants button[data-result=f]').click()");
    assert_eq!(chosen(&mut browser), campaign.failed());
    browser.ask("document.querySelector('#variants button[data-result=f]').click()");
    browser.ask("document.getElementById('search').focus()");
    browser.insert("variant-0001");
    assert_eq!(chosen(&mut browser), 4.0);
    browser.insert(" nowhere");
    assert_eq!(chosen(&mut browser), 0.0);
    browser.ask(
        "(search => { search.value = ''; search.dispatchEvent(new Event('input')); })\
         (document.getElementById('search'))",
    );
    // From the search field the tab key leads to the list, the arrow keys to a row, and Enter into its case.
    browser.ask("document.getElementById('search').focus()");
    for _ in 0..20 {
        browser.press("Tab");
        if browser.ask("document.activeElement.classList.contains('virtual')") == true {
            break;
        }
    }
    let outline = browser.text("getComputedStyle(document.activeElement).outlineStyle");
    assert_ne!(outline, "none", "what has the focus is seen to have it");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.wait("/^#case-\\d{4}\\/variant-\\d{4}$/.test(location.hash)");
    browser.wait("document.querySelectorAll('[role=tab]').length > 3");
    browser.ask("history.back()");
    browser.wait("document.getElementById('variants') !== null");
    assert_eq!(chosen(&mut browser), 8.0);
    let groups = campaign.said["signatures"].as_array().unwrap().len();
    assert_eq!(browser.number("document.querySelectorAll('.group.t-f').length"), groups as f64);
    browser.is_content(&campaign.report());
    // The folder alone is enough, and no engine.
    let again = campaign.folder.path().join("again.html");
    let output = equiform(&["report", campaign.out().to_str().unwrap(), "--out", again.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    browser.open(&again, "");
    assert_eq!(browser.text("document.querySelector('#verdicts h2').textContent"), title);
    let rate = browser.text("document.getElementById('time').textContent");
    assert!(rate.contains("variants a minute") && rate.contains("judging"), "{rate}");
}

/// The places of the variants with an order that was not kept.
fn with_wrong_order(campaign: &Campaign) -> String {
    let cases = campaign.said["cases"].as_array().unwrap();
    let has = |variant: &&Json| {
        let findings = variant["result"]["findings"].as_array().unwrap();
        findings.iter().any(|finding| finding["oracle"] == "order")
    };
    let found = cases.iter().find_map(|case| {
        let variant = case["variants"].as_array().unwrap().iter().find(has)?;
        let number = |value: &Json| value.as_u64().unwrap();
        Some(format!("case-{:04}/variant-{:04}", number(&case["case"]), number(&variant["variant"])))
    });
    found.expect("the fault shows in the order of operations")
}

pub fn shows_cases() {
    let campaign = Campaign::get();
    let place = with_wrong_order(campaign);
    let mut browser = Browser::start();
    browser.open(&campaign.report(), &format!("#{place}"));
    let folder = campaign.out().join(&place);
    let stages: Json = serde_json::from_slice(&fs::read(folder.join("stages.json")).unwrap()).unwrap();
    let stages = stages.as_array().unwrap().len() as f64;
    assert_eq!(browser.number("document.querySelectorAll('[role=tab]').length"), stages);
    assert_eq!(browser.number("document.querySelectorAll('[role=tab] svg[role=img]').length"), 2.0 * stages);
    // A node stands in the same place in every picture.
    let moved = "(() => { const places = new Map(), moved = new Set(); \
        for (const node of document.querySelectorAll('[role=tab] .node')) { \
        const rect = [...node.querySelectorAll('rect:not(.off)')].pop(), name = node.dataset.name; \
        const place = rect.getAttribute('x') + '/' + rect.getAttribute('y'); \
        if (places.has(name) && places.get(name) !== place) moved.add(name); places.set(name, place); } \
        return places.size > 1 && moved.size === 0; })()";
    assert_eq!(browser.ask(moved), true);
    // As many bars as operations in the ledger, and an arrow where the order was not kept.
    let ledger = fs::read_to_string(folder.join("ledger.jsonl")).unwrap();
    let is_begin = |line: &&str| line.contains("\"phase\":\"begin\"");
    let bars = browser
        .number("document.querySelectorAll('section[aria-labelledby=lanes-title] [role=button]').length");
    assert_eq!(bars, ledger.lines().filter(is_begin).count() as f64);
    assert!(
        browser.number("document.querySelectorAll('section[aria-labelledby=lanes-title] path.wrong').length")
            > 0.0
    );
    let words = browser.text("document.querySelector('path.wrong title').textContent");
    assert!(words.contains("had not ended when"), "{words}");
    // A bar leads to the lines behind it, by keyboard too.
    browser.ask("document.querySelector('#stage [role=button]').focus()");
    browser.press("Enter");
    browser.wait("/\\/\\d+$/.test(location.hash)");
    let seq = browser.text("location.hash.split('/').pop()");
    browser.wait("document.querySelector('details.line.at[open] pre') !== null");
    let line = browser.text("document.querySelector('details.line.at pre').textContent");
    assert!(line.contains(&format!("\"seq\": {seq}")), "{line}");
    assert!(browser.text("document.getElementById('chosen').textContent").contains(&format!("seq {seq}")));
    // The second batch differs from the first in its text.
    browser.ask(&format!("location.hash = '{place}/batch-2'"));
    browser.wait("document.getElementById('stage').getAttribute('aria-label') === 'batch-2'");
    assert!(browser.number("document.querySelectorAll('.lines .plus, .lines .minus').length") > 0.0);
    browser.ask("document.querySelector('[role=tab][aria-selected=true]').focus()");
    browser.press("ArrowRight");
    browser.wait("!location.hash.endsWith('/batch-2')");
    browser.ask("[...document.querySelectorAll('button')].find(it => it.textContent === 'by time').click()");
    assert_eq!(
        browser
            .number("document.querySelectorAll('section[aria-labelledby=lanes-title] [role=button]').length"),
        bars
    );
    browser.is_content(&campaign.report());
}

pub fn shows_reduced_cases() {
    let campaign = Campaign::get();
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("out");
    let copied =
        |from: &Path, to: &Path| Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success();
    assert!(copied(&campaign.out(), &copy));
    fs::create_dir_all(copy.join("reduced")).unwrap();
    let (place, reduced) = (with_wrong_order(campaign), copy.join("reduced/first"));
    assert!(copied(copy.join(&place).parent().unwrap(), &reduced));
    fs::create_dir(reduced.join("bundle")).unwrap();
    let signature = &campaign.said["signatures"][0]["signature"];
    let told = serde_json::json!({
        "version": 2, "from": place, "attempts": 12, "seconds": 3.5, "flaky_rate": 0.5,
        "symptom": { "signature": signature, "engine": campaign.said["engine"] },
        "before": { "resources": 9, "edges": 8, "batches": 3, "commands": 7 },
        "after": { "resources": 2, "edges": 1, "batches": 1, "commands": 1 },
    });
    fs::write(reduced.join("reduction.json"), told.to_string()).unwrap();
    let output = equiform(&["report", copy.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut browser = Browser::start();
    browser.open(&copy.join("report.html"), "");
    let link = "document.querySelector('.group a[href=\"#reduced/first\"]')";
    let words = browser.text(&format!("{link}.parentElement.textContent"));
    for part in
        ["resources 9 → 2", "commands 7 → 1", "12 attempts", "in 50 % of runs", "reduced/first/bundle"]
    {
        assert!(words.contains(part), "{words}");
    }
    browser.ask(&format!("{link}.click()"));
    browser.wait("document.querySelectorAll('[role=tab]').length > 3");
    assert!(browser.text("document.title").starts_with("Reduced case first"));
    browser.is_content(&copy.join("report.html"));
}

pub fn fits_on_a_phone() {
    let campaign = Campaign::get();
    let place = with_wrong_order(campaign);
    let mut browser = Browser::start();
    browser.size(390, 844);
    for fragment in ["".to_owned(), format!("#{place}"), format!("#{place}/destroy")] {
        browser.open(&campaign.report(), &fragment);
        assert!(browser.number("document.documentElement.scrollWidth") <= 390.0, "{fragment} is too wide");
        let unnamed = "[...document.querySelectorAll('button, a, input, select, svg[role], [role=button]')] \
            .filter(it => !(it.getAttribute('aria-label') || it.getAttribute('aria-labelledby') \
            || it.textContent.trim())).length";
        assert_eq!(browser.number(unnamed), 0.0, "{fragment} has something without a name");
        let silent = "[...document.querySelectorAll('svg[role=img]')] \
            .filter(it => !it.querySelector('title').textContent || !it.querySelector('desc').textContent).length";
        assert_eq!(browser.number(silent), 0.0, "{fragment} has a picture without words");
        assert_eq!(browser.number("document.querySelectorAll('h1').length"), 1.0);
        for landmark in ["header", "nav[aria-label]", "main", "footer"] {
            assert!(browser.number(&format!("document.querySelectorAll('{landmark}').length")) >= 1.0);
        }
        let headless = "[...document.querySelectorAll('table')] \
            .filter(it => !it.querySelector('th[scope=col]')).length";
        assert_eq!(browser.number(headless), 0.0);
    }
    let paper = |browser: &mut Browser| browser.text("getComputedStyle(document.body).backgroundColor");
    let light = paper(&mut browser);
    let dark = serde_json::json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.call("Emulation.setEmulatedMedia", dark);
    assert_ne!(paper(&mut browser), light);
    browser.is_content(&campaign.report());
}
