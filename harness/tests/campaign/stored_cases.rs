//! Cases that an earlier version generated, stored and judged: the same seed still gives the same programs, and the
//! same programs the same verdicts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform::campaign::settings::{Algebra, Values};
use equiform::campaign::{Settings, case_number};
use equiform::case::workflow::Shares;
use equiform::case::{CASE_FILE, Case};
use equiform::deploy::Start;
use equiform::engines::driver::ProviderMode;
use equiform::judge::known::KnownFindings;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant::{mark_known, variant_folder, verdict};
use equiform::judge::verdict::VariantResult;

use super::support::{engine, id, provider, runner};

/// Each stored case with the variant that met a known bug, and the bug's name. All other variants passed.
const STORED: &[(&str, usize, &str)] = &[
    ("case-0003", 7, "cycle-dependency-removed"),
    ("case-0011", 6, "cycle-dependent-removed"),
    ("case-0029", 8, "cycle-dependency-removed"),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/cases/stored").join(name)
}

fn stored(name: &str) -> Case {
    Case::read(&folder(name).join(CASE_FILE)).unwrap()
}

#[test]
fn the_same_seed_gives_the_programs_that_it_gave_before() {
    for (name, ..) in STORED {
        let number = case_number(&folder(name)).unwrap();
        // What the defaults were when they were stored.
        let bare = Settings {
            algebra: Algebra::Bare,
            workflows: Shares::plain(),
            create_before_destroy: 0.2,
            values: Values::Plain,
            large_every: 0,
            ..Settings::default()
        };
        assert_eq!(stored(name).generated(), bare.case(number), "{name}");
    }
}

#[test]
fn the_variants_that_met_a_known_bug_still_do_and_their_neighbours_still_pass() {
    let (path, provider) = (engine("terraform@1.15.5"), provider(ProviderMode::Reattach));
    let runner = runner(&path, &provider, Duration::from_secs(120));
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    for (name, variant, bug) in STORED {
        let case = stored(name).on(runner.engine.engine().recorded());
        for (variant, bug) in [(*variant, Some(*bug)), (variant - 1, None)] {
            let folder = tempfile::tempdir().unwrap();
            let place = variant_folder(folder.path(), variant);
            runner.deploy(&case, variant, &place, Start::Cold).unwrap();
            let mut judged = verdict(&case, variant, &place, &oracles);
            mark_known(&KnownFindings::shipped(), &id("terraform@1.15.5"), &case, &mut judged);
            match bug {
                None => assert_eq!(judged.result, VariantResult::Pass, "{name} variant {variant}"),
                Some(bug) => {
                    assert!(
                        matches!(judged.result, VariantResult::Known { .. }),
                        "{name}: {:#?}",
                        judged.result
                    );
                    let findings = judged.result.findings();
                    assert!(
                        findings.iter().all(|finding| finding.known.as_deref() == Some(bug)),
                        "{findings:#?}"
                    );
                    assert_eq!(
                        judged.not_reached, 0,
                        "a failure that leaves everything in order ends nothing"
                    );
                }
            }
        }
    }
}
