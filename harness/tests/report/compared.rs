//! The report of a comparison.

use super::browser::Browser;
use super::campaign::{equiform, faulty_engine};

pub fn is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (fork, out) = (faulty_engine(folder.path()), folder.path().join("out"));
    let out = out.to_str().unwrap();
    let arguments =
        ["--seed=3", "--sources=2", "--variants=1", "--batches=2", "--workflows=plain", "--out", out];
    let engines =
        ["--engine", "terraform@1.11.4", "--engine", "terraform@1.15.5", "--engine", fork.to_str().unwrap()];
    let output = equiform(&[&["compare"][..], &engines, &arguments].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("report.html"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let report = folder.path().join("out/report.html");
    let mut browser = Browser::start();
    let look = |browser: &mut Browser| {
        browser.open(&report, "");
        assert_eq!(browser.number("document.querySelectorAll('#verdicts tbody tr').length"), 3.0);
        browser.ask(
            "[...document.querySelectorAll('#matrix button')].find(it => it.textContent === 'all 2').click()",
        );
        assert_eq!(browser.number("document.querySelectorAll('#matrix tbody tr:not(.space)').length"), 2.0);
        // Each cell is told in words, and leads to the case in the report of its engine.
        let words = browser.text("document.querySelector('#matrix td a').getAttribute('aria-label')");
        assert!(words.starts_with("terraform@1.11.4: "), "{words}");
        browser.ask("document.querySelector('#matrix tbody a').click()");
        browser.wait("document.getElementById('difference') !== null");
        assert!(browser.number("document.documentElement.scrollWidth") <= 1280.0);
        browser.text("document.getElementById('verdicts-title').textContent")
    };
    let title = look(&mut browser);
    assert!(title.starts_with("2 variants compared"), "{title}");
    browser.is_content(&report);
    let link = browser.text("document.querySelector('#matrix td a').getAttribute('href')");
    let (page, place) = link.split_once('#').unwrap();
    assert!(
        folder.path().join("out").join(page).exists() && place.starts_with("case-0000/variant-0000"),
        "{link}"
    );
    // From the folders alone.
    let output = equiform(&["report", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(look(&mut browser), title);
}
