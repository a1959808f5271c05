//! Reports as people see them: in a real browser, Chromium. Where there is none, its tests are shown as ignored, but in
//! CI, where they fail.

#[expect(dead_code, reason = "what it measures is for the bench")]
mod browser;
mod campaign;
mod compared;
mod errors;
mod hostile;
mod ledger;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// The tests that need a browser.
const IN_BROWSER: &[(&str, fn())] = &[
    ("a_campaign_is_shown_filtered_and_walked_through_by_keyboard", campaign::is_shown),
    ("a_case_shows_graphs_timelines_programs_and_ledger_lines", campaign::shows_cases),
    ("a_report_fits_on_a_phone_and_has_names_for_screen_readers", campaign::fits_on_a_phone),
    ("a_reduced_case_stands_with_its_signature", campaign::shows_reduced_cases),
    ("a_comparison_shows_which_engines_did_the_same", compared::is_shown),
    ("hostile_names_and_texts_are_texts", hostile::names_are_texts),
    ("a_ledger_line_of_a_megabyte_is_cut_short", hostile::long_lines_are_cut_short),
    ("a_ledger_shows_its_world_at_any_point", ledger::shows_its_world),
    ("a_ledger_of_many_entries_is_scrolled_through", ledger::is_scrolled_through),
];

/// The tests that need none.
const ALONE: &[(&str, fn())] = &[
    ("a_campaign_that_ends_early_leaves_a_report_that_says_so", errors::unfinished_campaign),
    ("what_is_no_campaign_gives_a_sentence", errors::no_campaign),
    ("a_campaign_that_is_damaged_gives_a_sentence_and_keeps_its_report", errors::damaged_campaign),
    ("nothing_but_a_report_is_overwritten", errors::foreign_files),
    ("a_damaged_ledger_gives_no_report", errors::damaged_ledger),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let test = |(name, run): &(&'static str, fn())| {
        let run = *run;
        Trial::test(*name, move || {
            run();
            Ok::<(), Failed>(())
        })
    };
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    let missing = browser::chromium().is_none();
    if missing && !in_ci {
        eprintln!(
            "there is no Chromium here, so the tests of reports in a browser are ignored: `make system-packages`"
        );
    }
    let in_browser = IN_BROWSER.iter().map(|entry| match missing {
        true if in_ci => {
            Trial::test(entry.0, || Err(Failed::from("there is no Chromium, and CI must have one")))
        }
        _ => test(entry).with_ignored_flag(missing),
    });
    libtest_mimic::run(&arguments, in_browser.chain(ALONE.iter().map(test)).collect()).exit_code()
}
