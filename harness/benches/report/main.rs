//! How much reports weigh, how long a browser takes to open them, and how evenly they scroll: `make bench-report`.
//!
//! The campaign has 1,000 cases of 10 variants each, of which one in fifty did not pass; the ledger has 100,000
//! entries. Both are synthetic, and drawn by a real browser.

#[expect(dead_code, reason = "the tests do more with it")]
#[path = "../../tests/report/browser.rs"]
mod browser;
#[path = "../judging/synthetic.rs"]
mod synthetic;

use std::path::Path;
use std::time::{Duration, Instant};

use browser::Browser;
use equiform::audit::{AddressBook, Walk};
use equiform::campaign::builds::Builds;
use equiform::campaign::manifest::CampaignManifest;
use equiform::campaign::timing::Timing;
use equiform::campaign::{Settings, case_folder, folder, stored};
use equiform::case::CASE_FILE;
use equiform::deploy::Mode;
use equiform::engines::{EngineId, EngineName, Version};
use equiform::evidence::LEDGER;
use equiform::html::campaign::CampaignSource;
use equiform::html::{campaign, ledger};
use equiform::judge::finding::{Detail, Finding, FindingKind};
use equiform::judge::known::KnownFindings;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::{VariantResult, VariantVerdict};
use synthetic::{ENTRIES_PER_RESOURCE, Tree};

const CASES: usize = 1000;
const VARIANTS: u64 = 10;
const RESOURCES: usize = 12;
const ENTRIES: usize = 100_000;

/// How often a page is opened; the median counts.
const TIMES: usize = 3;

fn main() {
    if browser::chromium().is_none() {
        eprintln!("there is no Chromium to open reports with: `make system-packages` installs it");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!(
        "| report | weight | written in | opened in | of it processor time | processor time a frame | frames |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let page = folder.path().join("campaign.html");
    let (bytes, took) = write_campaign(&folder.path().join("campaign"), &page);
    let name = format!("campaign of {CASES} cases, {} variants", CASES as u64 * VARIANTS);
    row(&name, bytes, took, &page, SCROLL_VARIANTS);
    let page = folder.path().join("ledger.html");
    let (bytes, took) = write_ledger(&folder.path().join("ledger"), &page);
    row(&format!("ledger of {ENTRIES} entries, its list"), bytes, took, &page, SCROLL_ENTRIES);
    row("the same, its slider", bytes, took, &page, MOVE_SLIDER);
}

/// In how many frames something is done: lists are scrolled by 9,000 pixels a second.
const FRAME_COUNT: u32 = 240;

/// Does something in each of these frames, and gives how long these took.
const FRAMES: &str = "(act => new Promise(done => { const times = []; let last = performance.now(), frame = 0; \
    const step = now => { times.push(now - last); last = now; act(frame); \
    if (++frame < 240) requestAnimationFrame(step); else done(times.slice(2)); }; requestAnimationFrame(step); }))";
const SCROLL_VARIANTS: &str =
    "frame => { document.querySelector('#variants .virtual').scrollTop = frame * 150; }";
const SCROLL_ENTRIES: &str =
    "frame => { document.querySelector('#entries .virtual').scrollTop = frame * 150; }";
const MOVE_SLIDER: &str = "frame => { const it = document.getElementById('point'); it.value = frame * 400; \
    it.dispatchEvent(new Event('input')); }";

/// Opens a page and does something with it. Processor time is that of the page: a machine that is busy with other
/// things does not change it much, while the frames of such a machine say little.
fn row(name: &str, bytes: u64, took: Duration, page: &Path, act: &str) {
    let mut opened: Vec<(Duration, Duration)> = Vec::new();
    for _ in 0..TIMES {
        let mut browser = Browser::start();
        let before = browser.busy();
        let clock = browser.open(page, "");
        opened.push((clock, browser.busy() - before));
    }
    opened.sort();
    let (clock, busy) = opened[TIMES / 2];
    let mut browser = Browser::start();
    browser.open(page, "");
    let before = browser.busy();
    let times = browser.ask(&format!("{FRAMES}({act})"));
    let taken = (browser.busy() - before) / FRAME_COUNT;
    let mut times: Vec<f64> = times.as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        "| {name} | {:.1} MB | {:.1} s | {:.2} s | {:.2} s | {:.1} ms | median {:.0} ms, 95 % {:.0} ms |",
        bytes as f64 / 1e6,
        took.as_secs_f64(),
        clock.as_secs_f64(),
        busy.as_secs_f64(),
        taken.as_secs_f64() * 1000.0,
        at(0.5),
        at(0.95),
    );
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

/// Writes the folder of a campaign, and its page; gives what the page weighs, and how long reading and writing took.
fn write_campaign(out: &Path, page: &Path) -> (u64, Duration) {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let settings = Settings { sources: CASES, variants: VARIANTS, ..Settings::default() };
    let engine = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5)).into();
    let builds = Builds {
        equiform: "0.1.0".to_owned(),
        engine: [("executable".to_owned(), "ab".to_owned())].into(),
        provider_version: None,
        provider: "cd".to_owned(),
    };
    let manifest = CampaignManifest::new(engine, builds, Mode::default(), &oracles, None, settings);
    drop(manifest.lock(out).expect("the folder is new"));
    for number in 0..CASES {
        let folder = case_folder(out, number);
        let tree = Tree { resources: RESOURCES };
        tree.write(&folder);
        let mut case = tree.case();
        case.variants = vec![case.variants[0].clone(); VARIANTS as usize];
        std::fs::write(folder.join(CASE_FILE), serde_json::to_string(&case).unwrap()).unwrap();
        let mut first = judge::verdict(&case, 0, &judge::variant_folder(&folder, 0), &oracles);
        assert_eq!(first.result, VariantResult::Pass);
        if number % 5 == 0 {
            let words = format!("create r{} did not wait for what it depends on", number % RESOURCES);
            let finding = Finding::new(FindingKind::ALL[number % 7], "batch-1").with(Detail::Quote { words });
            first.result = VariantResult::of(vec![finding]);
        }
        stored::write(&folder, &first).unwrap();
        for variant in 1..VARIANTS as usize {
            let passed = VariantVerdict {
                exercised: first.exercised.clone(),
                ..VariantVerdict::new(variant, VariantResult::Pass)
            };
            stored::write(&folder, &passed).unwrap();
        }
    }
    let began = Instant::now();
    let known = KnownFindings::shipped();
    let (_, report) =
        folder::read(out, &known, folder::Expected::Stored, || ()).expect("the campaign can be read");
    let timing = Timing::read(out);
    let source =
        CampaignSource { report: &report, folder: out, oracles: &oracles, known: &known, timing: &timing };
    let bytes = campaign::write(&source, page, true).expect("the page can be written");
    (bytes, began.elapsed())
}

fn write_ledger(out: &Path, page: &Path) -> (u64, Duration) {
    Tree { resources: ENTRIES.div_ceil(ENTRIES_PER_RESOURCE) }.write(out);
    let path = out.join("variant-0000").join(LEDGER);
    let began = Instant::now();
    let mut walk = Walk::open(&path, |file| Box::new(file)).expect("the ledger can be read");
    let bytes = ledger::write(&mut walk, &path, &AddressBook::default(), page, true)
        .expect("the page can be written");
    (bytes, began.elapsed())
}
