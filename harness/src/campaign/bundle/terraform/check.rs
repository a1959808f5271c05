//! How a script tells whether a bug shows: a few lines of shell, made from the finding.
//!
//! The lines find the last command's exit code in `$code`, what it printed in `$out`, the states before and after it in
//! `$before` and `$state`, and the operations in `$events`, a line for each begin and each end. They call `shows` or
//! `does_not`.

use super::super::Form;
use super::steps::Step;
use crate::engines::terraform::builtin;
use crate::evidence::Moment;
use crate::judge::finding::detail::CommandEnd;
use crate::judge::finding::{Detail, Finding, FindingKind, OracleId, Subject};
use crate::util::shell::quoted;

/// How it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// By these lines.
    Shell {
        /// The lines.
        lines: String,
        /// Whether they look at `$events`.
        events: bool,
    },
    /// By equiform itself, which deploys the case and judges it: a shell cannot tell.
    Equiform,
}

/// What tells whether a finding shows in a step.
pub fn of(finding: &Finding, step: &Step, form: &Form) -> Check {
    let lines = |lines: String| Check::Shell { lines, events: false };
    // A command that ends otherwise than it did shows something else.
    let ended_so = if step.tells_by_exit_code() {
        "[ \"$code\" -eq 0 ] || [ \"$code\" -eq 2 ] || does_not \"the last command failed, with exit code $code\"\n"
    } else if step.succeeded {
        "[ \"$code\" -eq 0 ] || does_not \"the last command failed, with exit code $code\"\n"
    } else {
        "[ \"$code\" -ne 0 ] || does_not \"the last command succeeded\"\n"
    };
    let ended_and = |rest: String| lines(format!("{ended_so}{rest}"));
    let with_events = |rest: String| Check::Shell { lines: format!("{ended_so}{rest}"), events: true };
    let by_shell =
        |text: Option<String>, check: &dyn Fn(String) -> Check| text.map_or(Check::Equiform, check);
    match finding.oracle() {
        OracleId::Health => by_shell(health(finding, form), &lines),
        OracleId::Steps => by_shell(steps(finding), &with_events),
        OracleId::Order => by_shell(order(finding), &with_events),
        OracleId::Progress => by_shell(progress(finding), &ended_and),
        // Other commands count otherwise.
        OracleId::Plan
            if matches!(finding.kind, FindingKind::PlanDiffersFromDone | FindingKind::Miscount)
                && step.applies() =>
        {
            ended_and(format!("{WORDS}{COUNTS}"))
        }
        OracleId::Idle if step.applies() => ended_and(format!("{WORDS}{NOT_IDLE}")),
        OracleId::Cross if step.tells_by_exit_code() => lines(CHANGES_PLANNED.to_owned()),
        OracleId::State => by_shell(state(finding.kind), &ended_and),
        OracleId::Destroy if finding.kind == FindingKind::StateLeft => ended_and(STATE_LEFT.to_owned()),
        _ => Check::Equiform,
    }
}

/// Whether the command ended as it must not.
fn health(finding: &Finding, form: &Form) -> Option<String> {
    let failed = "[ \"$code\" -ne 0 ] || does_not \"the last command succeeded\"\n";
    let said = |words: &str, what: &str| {
        let (words, what) = (quoted(words), quoted(what));
        format!("{WORDS}words | grep -qF -- {words} || does_not \"it does not say so\"\nshows {what}\n")
    };
    Some(match finding.kind {
        FindingKind::ReportsCycle => format!("{failed}{}", said("Error: Cycle:", "a cycle is reported")),
        FindingKind::Crash | FindingKind::Panic => format!(
            "[ \"$code\" -gt 127 ] && shows \"the engine was ended by a signal\"\n{}",
            said("panic:", "the engine crashes")
        ),
        FindingKind::InvalidAccepted | FindingKind::FailureSwallowed | FindingKind::BreachAccepted => {
            "[ \"$code\" -eq 0 ] || does_not \"the last command failed\"\nshows \"the last command succeeded\"\n"
                .to_owned()
        }
        FindingKind::LockLeft => {
            "[ -e \"$work/run/.terraform.tfstate.lock.info\" ] || does_not \"there is no lock\"\n\
             shows \"the state is still locked\"\n"
                .to_owned()
        }
        FindingKind::ReportsOwnBug => said("This is a bug in", "the engine says that it has a bug"),
        FindingKind::ReportsInconsistency | FindingKind::BlamesProvider => {
            said("Provider produced in", "the engine blames the provider")
        }
        FindingKind::Failure | FindingKind::ReportsError => {
            let Some(error) = finding.error() else { return exit_code(finding) };
            let words = stable_words(&error.text);
            let words = if let Form::Builtin = form { builtin::renamed(&words) } else { words };
            let failed = if finding.kind == FindingKind::Failure { failed } else { "" };
            format!("{failed}{}", said(&words, "the command reports an error"))
        }
        _ => return None,
    })
}

/// The first words of an engine's error, up to what is often an id or a path.
fn stable_words(error: &str) -> String {
    let (label, rest) = error.split_once("Error: ").map_or(("", error), |(_, rest)| ("Error: ", rest));
    let end = |character: char| matches!(character, ':' | ';' | '"') || character.is_ascii_digit();
    format!("{label}{}", rest.split(end).next().unwrap_or_default().trim_end())
}

/// Whether the command ends with the same exit code, where it says nothing of an error.
fn exit_code(finding: &Finding) -> Option<String> {
    let Detail::Command { end: CommandEnd::Exit { code }, .. } = &finding.detail else { return None };
    Some(format!(
        "[ \"$code\" -eq {code} ] || does_not \"the exit code is $code\"\n\
         shows \"the last command ended with exit code {code}\"\n"
    ))
}

/// Whether an operation is missing, extra, repeated or without effect.
fn steps(finding: &Finding) -> Option<String> {
    let operation = finding.subjects.iter().find_map(Subject::resource_operation)?;
    let (begin, end) = (quoted(&format!("begin {operation}")), quoted(&format!("end {operation}")));
    let counts =
        format!("began=$(grep -cxF -- {begin} \"$events\")\nended=$(grep -cxF -- {end} \"$events\")\n");
    let (is_it, what) = match finding.kind {
        FindingKind::OperationMissing => {
            ("[ \"$began\" -eq 0 ]", format!("{operation} is due, and is not done"))
        }
        FindingKind::OperationExtra => {
            ("[ \"$began\" -gt 0 ]", format!("{operation} is not due, and is done"))
        }
        FindingKind::OperationRepeated => {
            ("[ \"$began\" -gt 1 ]", format!("{operation} is done more than once"))
        }
        _ => {
            ("[ \"$began\" -gt 0 ] && [ \"$ended\" -eq 0 ]", format!("{operation} begins, and has no effect"))
        }
    };
    let told = "\"of this operation $began began and $ended ended\"";
    Some(format!("{counts}if {is_it}; then shows {}; fi\ndoes_not {told}\n", quoted(&what)))
}

/// Whether a finding is about the messages of a command, which it then has to write as such.
pub fn is_about_messages(finding: &Finding) -> bool {
    finding.oracle() == OracleId::Progress
}

/// Whether a message about an operation is missing, or is there and must not be; none if it takes an id to tell.
fn progress(finding: &Finding) -> Option<String> {
    let Detail::Message { moment, id: None } = &finding.detail else { return None };
    let moment = match moment {
        Moment::Begin => "start",
        Moment::End => "complete",
        Moment::Failure => "errored",
    };
    let (action, address) = finding.subjects.iter().find_map(|subject| match subject {
        Subject::OperationAt { address, operation } => Some((operation, address)),
        _ => None,
    })?;
    let [of, does, is] = [
        format!("\"addr\":\"{address}\""),
        format!("\"action\":\"{action}\""),
        format!("\"type\":\"apply_{moment}\""),
    ]
    .map(|part| quoted(&part));
    let told_and = format!("told=$(grep -F -- {of} \"$out\" | grep -F -- {does} | grep -cF -- {is})\n");
    let (is_it, what) = match finding.kind {
        FindingKind::UndoneOperationReported => ("-gt", "there is a message, and it is not so"),
        _ => ("-eq", "there is no message"),
    };
    let what = quoted(&format!("{action} {address}: {what} of type apply_{moment}"));
    Some(format!(
        "{told_and}[ \"$told\" {is_it} 0 ] && shows {what}\ndoes_not \"there are $told such messages\"\n"
    ))
}

/// Whether the first of two operations had not ended when the second began.
fn order(finding: &Finding) -> Option<String> {
    let mut operations = finding.subjects.iter().filter_map(Subject::resource_operation);
    let (first, second) = (operations.next()?, operations.next()?);
    let what = format!("{first} had not ended when {second} began");
    Some(format!(
        "if awk -v begins={} -v ends={} -v second={} '\n    \
         $0 == begins {{ began = 1 }}\n    \
         $0 == ends {{ ended = NR }}\n    \
         $0 == second && !then {{ then = NR }}\n    \
         END {{ exit !(began && then && (!ended || ended > then)) }}\n  \
         ' \"$events\"; then shows {}; fi\ndoes_not \"they keep their order\"\n",
        quoted(&format!("begin {first}")),
        quoted(&format!("end {first}")),
        quoted(&format!("begin {second}")),
        quoted(&what)
    ))
}

/// What the engine printed, without its layout: versions break lines at other places, and some draw a line beside them.
const WORDS: &str = r#"words() { sed -e 's/│/ /g' "$out" | tr -s '[:space:]' ' '; }
"#;

/// Whether the engine did other than its plan announced, by its own counts.
const COUNTS: &str = r#"counts() {
  words | sed -n "s/.*$1\([^.]*\)\..*/\1/p" | tr ',' '\n' |
    sed -n -e 's/^ *\([0-9]*\) .*add.*/add \1/p' -e 's/^ *\([0-9]*\) .*chang.*/change \1/p' \
      -e 's/^ *\([0-9]*\) .*destroy.*/destroy \1/p' | sort | tr '\n' ' '
}
planned=$(counts 'Plan: ')
did=$(counts '[A-Z][a-z]* complete! Resources: ')
[ -n "$planned" ] && [ -n "$did" ] || does_not "it does not say what it planned and did"
[ "$planned" = "$did" ] || shows "planned to ${planned% }, and did ${did% }"
does_not "it did what it planned"
"#;

/// Whether the same program once more changes something.
const NOT_IDLE: &str = r#"words | grep -q '[A-Z][a-z]* complete! Resources: 0 added, 0 changed, 0 destroyed' ||
  shows "the same program once more changes something"
does_not "nothing is changed"
"#;

/// Whether a plan has changes, by its exit code.
const CHANGES_PLANNED: &str = r#"[ "$code" -eq 2 ] && shows "a program of the same meaning has changes to plan"
does_not "no change is planned"
"#;

const STATE_LEFT: &str = r#"grep -q '"instances"' "$state" && shows "the state is not empty"
does_not "the state is empty"
"#;

/// A state a part a line: some engines write all of it into one.
const PARTS: &str = r#"parts() { tr ',{}' '\n\n\n' <"$1" | sed -e 's/^ *//' -e 's/": */": /'; }
"#;

/// Whether the state is as it must not be.
fn state(kind: FindingKind) -> Option<String> {
    let lines = match kind {
        FindingKind::OldObjectLeft => {
            r#"parts "$state" | grep -q '^"deposed": ' && shows "an old object is left, as a deposed one in the state"
does_not "no deposed object is in the state"
"#
        }
        FindingKind::SettingRewritten => {
            r#"settings() { parts "$1" | grep -c '^"create_before_destroy": true'; }
[ "$(settings "$before")" -eq "$(settings "$state")" ] ||
  shows "create_before_destroy is in the state $(settings "$before") times before, and $(settings "$state") after"
does_not "create_before_destroy is in the state as it was"
"#
        }
        FindingKind::SerialNotRaised => {
            r#"serial() { parts "$1" | sed -n 's/^"serial": \([0-9]*\).*/\1/p'; }
[ "$(serial "$before")" = "$(serial "$state")" ] && shows "the state has the same serial as before"
does_not "the state has another serial"
"#
        }
        FindingKind::StateChanged => {
            r#"but_serial() { parts "$1" | grep -v '^"serial": '; }
[ "$(but_serial "$before")" = "$(but_serial "$state")" ] || shows "the state is another one than before"
does_not "the state is as it was"
"#
        }
        _ => return None,
    };
    Some(format!("{PARTS}{lines}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::super::steps::StepCommand;
    use super::*;
    use crate::evidence::EngineError;
    use crate::spec::OperationKind;

    fn finding(kind: FindingKind) -> Finding {
        Finding::new(kind, "batch-2")
    }

    fn ended(kind: FindingKind, end: CommandEnd, errors: &[&str]) -> Finding {
        let error = |text: &&str| EngineError { summary: Some(String::new()), ..EngineError::unknown(text) };
        let errors = errors.iter().map(error).collect();
        finding(kind).with(Detail::Command { command: "apply".to_owned(), end, errors })
    }

    fn operation(key: &str, operation: OperationKind) -> Subject {
        Subject::Operation { key: key.to_owned(), operation, role: None, object: None }
    }

    fn step(command: &[&str], succeeded: bool) -> Step {
        Step {
            stage: "batch-2".to_owned(),
            program: None,
            command: StepCommand::Engine(command.iter().map(|&it| it.to_owned()).collect()),
            succeeded,
            faults: Default::default(),
            hold: String::new(),
        }
    }

    /// Whether the lines say that a finding shows, where these are the exit code, what was printed, the states before
    /// and after, and the events.
    fn shows(check: &Check, code: i32, files: [&str; 4]) -> bool {
        let Check::Shell { lines, .. } = check else { panic!("a shell can tell") };
        let folder = tempfile::tempdir().unwrap();
        let names = ["out", "before", "state", "events"];
        let mut script = format!("set -u\nwork={}\ncode={code}\n", folder.path().display());
        for (name, text) in names.iter().zip(files) {
            std::fs::write(folder.path().join(name), text).unwrap();
            script += &format!("{name}={}\n", Path::new(folder.path()).join(name).display());
        }
        script += &format!("shows() {{ exit 0; }}\ndoes_not() {{ exit 1; }}\n{lines}exit 2\n");
        match Command::new("sh").arg("-c").arg(&script).status().unwrap().code() {
            Some(0) => true,
            Some(1) => false,
            other => panic!("{other:?}: {script}"),
        }
    }

    #[test]
    fn the_end_of_a_command_is_told_from_other_ends() {
        let apply = step(&["apply"], false);
        let form = Form::Mock { why: String::new() };
        let exit = |code| CommandEnd::Exit { code };
        let of = |kind, end, errors: &[&str]| super::of(&ended(kind, end, errors), &apply, &form);
        let said = |text: &'static str| [text, "", "", ""];
        let cycle = of(FindingKind::ReportsCycle, exit(1), &["Error: Cycle: a, b"]);
        assert!(shows(&cycle, 1, said("\nError: Cycle: b, a\n")));
        assert!(shows(&cycle, 1, said("╷\n│ Error: Cycle:\n│   b\n│   a\n")), "from Terraform 1.16 on");
        assert!(!shows(&cycle, 1, said("Error: other")) && !shows(&cycle, 0, said("")));
        let fails = of(FindingKind::Failure, exit(1), &["Error: Bad thing: node-1", "Error: x"]);
        assert!(shows(&fails, 1, said("Error: Bad thing: node-2")));
        assert!(shows(&fails, 1, said("│ Error: Bad\n│ thing:\n│ node-2")));
        assert!(!shows(&fails, 1, said("Error: Good thing")) && !shows(&fails, 0, said("Error: Bad thing")));
        let silent = of(FindingKind::Failure, exit(3), &[]);
        assert!(shows(&silent, 3, said("")) && !shows(&silent, 0, said("")));
        let crash = of(FindingKind::Crash, CommandEnd::Signal, &[]);
        assert!(
            shows(&crash, 2, said("panic: x")) && shows(&crash, 139, said("")) && !shows(&crash, 1, said(""))
        );
        let accepts = of(FindingKind::InvalidAccepted, CommandEnd::Success { refusal: None }, &[]);
        assert!(shows(&accepts, 0, said("")) && !shows(&accepts, 1, said("")));
    }

    #[test]
    fn operations_and_their_order_are_told_from_the_events() {
        let form = Form::Mock { why: String::new() };
        let of = |kind, subjects: Vec<Subject>| {
            super::of(&finding(kind).about(subjects), &step(&["apply"], true), &form)
        };
        let events = |text: &'static str| ["", "", "", text];
        let once = events("begin delete a\nend delete a\n");
        let (none, twice) =
            (events(""), events("begin delete a\nend delete a\nbegin delete a\nend delete a\n"));
        let half = events("begin delete a\nbegin delete ab\nend delete ab\n");
        for (kind, that) in [
            (FindingKind::OperationMissing, none),
            (FindingKind::OperationExtra, once),
            (FindingKind::OperationRepeated, twice),
            (FindingKind::OperationWithoutEffect, half),
        ] {
            let check = of(kind, vec![operation("a", OperationKind::Delete)]);
            assert!(shows(&check, 0, that), "{kind}");
            assert!(!shows(&check, 1, that), "{kind}: the command failed");
            let other = if kind == FindingKind::OperationExtra { none } else { once };
            assert!(!shows(&check, 0, other), "{kind}");
        }
        let both = vec![operation("b", OperationKind::Update), operation("a", OperationKind::Delete)];
        let order = of(FindingKind::OrderViolated, both);
        assert!(shows(&order, 0, events("begin update b\nbegin delete a\nend update b\nend delete a\n")));
        assert!(shows(&order, 0, events("begin delete a\nbegin update b\nend update b\nend delete a\n")));
        assert!(!shows(&order, 0, events("begin update b\nend update b\nbegin delete a\nend delete a\n")));
        assert!(!shows(&order, 0, events("begin delete a\nend delete a\n")), "only one of the two is there");
    }

    #[test]
    fn counts_and_plans_are_told_from_what_is_printed() {
        let form = Form::Mock { why: String::new() };
        let said = |text: &'static str| [text, "", "", ""];
        let (plan, done) = ("Plan: 1 to add, 0 to change, 1 to destroy.\n", "Apply complete! Resources: ");
        let same: &str = &format!("{plan}x.a: Creating...\n{done}1 added, 0 changed, 1 destroyed.\n");
        let other: &str = &format!("{plan}{done}1 added, 0 changed, 0 destroyed.\n");
        let counts = super::of(&finding(FindingKind::Miscount), &step(&["apply"], true), &form);
        assert!(shows(&counts, 0, [other, "", "", ""]) && !shows(&counts, 0, [same, "", "", ""]));
        let idle = super::of(&finding(FindingKind::IdleChangesWorld), &step(&["apply"], true), &form);
        let quiet = said("No changes.\n\nApply complete! Resources: 0 added, 0 changed, 0 destroyed.\n");
        assert!(shows(&idle, 0, [same, "", "", ""]) && !shows(&idle, 0, quiet));
        let cross = finding(FindingKind::CrossPlansChange);
        let cross = super::of(&cross, &step(&["plan", "-detailed-exitcode"], true), &form);
        assert!(shows(&cross, 2, said("")) && !shows(&cross, 0, said("")));
        let destroy = super::of(&finding(FindingKind::Miscount), &step(&["destroy"], true), &form);
        assert_eq!(destroy, Check::Equiform);
    }

    #[test]
    fn states_are_told_apart_in_one_line_and_in_many() {
        let form = Form::Mock { why: String::new() };
        let many =
            |serial: u32, rest: &str| format!("{{\n  \"serial\": {serial},\n  \"x\": {{\n {rest} }}\n}}\n");
        let one = |serial: u32, rest: &str| {
            format!("{{\"serial\":{serial},\"x\":{{{}}}}}", rest.replace(": ", ":"))
        };
        let setting = "\"create_before_destroy\": true";
        for write in [&many as &dyn Fn(u32, &str) -> String, &one] {
            let told = |kind: FindingKind, before: &str, after: &str| {
                let check = super::of(&finding(kind), &step(&["apply"], true), &form);
                shows(&check, 0, ["", before, after, ""])
            };
            let (plain, later) = (&write(1, "\"y\": 1"), &write(2, "\"y\": 1"));
            let (with, deposed) = (&write(2, setting), &write(2, "\"deposed\": \"1a2b\""));
            assert!(
                told(FindingKind::SettingRewritten, plain, with)
                    && !told(FindingKind::SettingRewritten, plain, later)
            );
            assert!(
                told(FindingKind::OldObjectLeft, plain, deposed)
                    && !told(FindingKind::OldObjectLeft, plain, later)
            );
            assert!(
                told(FindingKind::SerialNotRaised, plain, plain)
                    && !told(FindingKind::SerialNotRaised, plain, later)
            );
            let changed = FindingKind::StateChanged;
            assert!(told(changed, plain, with) && !told(changed, plain, later));
        }
    }
}
