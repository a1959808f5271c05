//! The report of a ledger.

use std::path::Path;

use super::browser::Browser;
use super::campaign::equiform;
use super::hostile::ledger;

pub fn shows_its_world() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("good.html");
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ledgers/good.jsonl");
    let output = equiform(&["ledger", "report", good.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut browser = Browser::start();
    browser.open(&page, "");
    let last = browser.number("Number(document.getElementById('point').max)");
    // At each point, as many objects as `ledger world` tells.
    for point in [0.0, 2.0, (last / 2.0).floor(), last] {
        browser.ask(&format!("location.hash = '{point}'"));
        browser.wait(&format!(
            "document.querySelector('output').textContent === 'seq ' + ({point}).toLocaleString('en-GB')"
        ));
        let at = format!("{point}");
        let output = equiform(&["ledger", "world", good.to_str().unwrap(), "--at", &at, "--format", "json"]);
        let world: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let objects = world["objects"].as_array().unwrap();
        let rows = "Number(document.querySelector('#world table').getAttribute('aria-rowcount')) - 1";
        assert_eq!(browser.number(rows), objects.len() as f64, "at {point}");
        let keys: std::collections::BTreeSet<&str> =
            objects.iter().filter_map(|it| it["key"].as_str()).collect();
        assert_eq!(browser.number("document.querySelectorAll('#world .node').length"), keys.len() as f64);
    }
    // The slider by keyboard.
    browser.ask("document.getElementById('point').focus()");
    browser.press("Home");
    browser.wait("document.querySelector('output').textContent === 'seq 0'");
    browser.press("ArrowRight");
    browser.wait("document.querySelector('output').textContent === 'seq 1'");
    // What happened to one resource.
    browser.ask(
        "(it => { it.value = 1; it.dispatchEvent(new Event('change')); })\
         (document.querySelector('#resource select'))",
    );
    browser.wait("document.querySelectorAll('#resource tbody tr').length > 0");
    // A filter of entries.
    browser.ask("document.getElementById('search').focus()");
    browser.insert("delete commit");
    let rows = "Number(document.querySelector('#entries table').getAttribute('aria-rowcount')) - 1";
    let shown = equiform(&["ledger", "show", good.to_str().unwrap(), "--op", "delete", "--phase", "commit"]);
    assert_eq!(browser.number(rows), String::from_utf8(shown.stdout).unwrap().lines().count() as f64);
    for width in [390, 1280] {
        browser.size(width, 844);
        assert!(browser.number("document.documentElement.scrollWidth") <= f64::from(width));
    }
    browser.is_content(&page);
}

pub fn is_scrolled_through() {
    let folder = tempfile::tempdir().unwrap();
    let (file, page) = (folder.path().join("ledger.jsonl"), folder.path().join("ledger.html"));
    let names: Vec<String> = (0..5000).map(|number| format!("r{number}")).collect();
    ledger(&file, &names.iter().map(|name| (name.as_str(), "x".to_owned())).collect::<Vec<_>>());
    let output = equiform(&["ledger", "report", file.to_str().unwrap(), "--out", page.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut browser = Browser::start();
    browser.open(&page, "");
    // However far it is scrolled, the page holds the rows in sight alone, and they are the right ones.
    for place in [0, 2500, 9999] {
        browser.ask(&format!("document.querySelector('#entries .virtual').scrollTop = {place} * 34"));
        browser.wait(&format!(
            "[...document.querySelectorAll('#entries tbody th a')] \
             .some(it => it.textContent === ({place} + 1).toLocaleString('en-GB'))"
        ));
        assert!(browser.number("document.querySelectorAll('#entries tbody tr').length") < 80.0);
    }
    browser.ask("document.querySelector('#entries .virtual').focus()");
    browser.press("End");
    browser.press("Enter");
    browser.wait("location.hash === '#10000'");
    assert!(browser.text("document.getElementById('world').textContent").contains("too many to be drawn"));
    browser.is_content(&page);
}
