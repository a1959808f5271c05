//! Messages as engines print them, sound and unsound.

use super::vocabulary::REFUSALS;
use super::*;
use crate::evidence::{AlarmMeaning, Refusal};

#[test]
fn messages_of_interest_are_told_from_all_the_others() {
    let lines = [
        r#"{"@level":"info","type":"planned_change","change":{"resource":{"addr":"node.a"},"action":"create"}}"#,
        r#"{"@level":"info","type":"resource_drift","change":{"resource":{"addr":"node.b"},"action":"update"}}"#,
        r#"{"type":"change_summary","changes":{"add":1,"change":0,"remove":0,"import":0,"operation":"plan"}}"#,
        r#"{"@level":"error","@message":"Error: Cycle: a, b","type":"diagnostic","diagnostic":{}}"#,
        "panic: runtime error",
        "\u{0}not JSON",
    ];
    let output = parse(&lines.join("\n"), "");
    let planned: Vec<_> = output.planned().map(|change| (&*change.address, &*change.action)).collect();
    assert_eq!(planned, [("node.a", "create")]);
    assert_eq!(output.summaries().map(|summary| summary.created).collect::<Vec<_>>(), [1]);
    let errors: Vec<_> = output.errors.iter().map(|error| (&*error.text, error.summary.as_deref())).collect();
    assert_eq!(errors, [("Error: Cycle: a, b", Some("Cycle"))]);
    assert!(output.reports_a_cycle && output.errors[0].cycle.is_none(), "these are no resources");
    assert_eq!(output.alarms.iter().map(|alarm| alarm.meaning).collect::<Vec<_>>(), [AlarmMeaning::Panic]);
}

#[test]
fn what_an_error_or_a_warning_says_does_not_depend_on_its_layout() {
    let line = |level: &str, text: &str| {
        serde_json::json!({ "@level": level, "@message": text, "type": "diagnostic" }).to_string()
    };
    let read = |level: &str, text: &str| parse(&line(level, text), "");
    let layouts: [fn(&str) -> String; 3] = [
        str::to_owned,
        |text| text.replace(' ', "\n  "),
        |text| format!("\n{}\n", text.replace(": ", ":\n\n\t")),
    ];
    for layout in layouts {
        for (words, refusal) in REFUSALS {
            let output = read("error", &layout(&format!("{words} of something")));
            assert_eq!(output.errors[0].refusal, Some(*refusal), "{:?}", output.errors);
            assert_eq!(output.reports_a_cycle, *refusal == Refusal::Cycle, "{words}");
        }
        for (words, warning) in WARNINGS {
            let output = read("warn", &layout(words));
            assert_eq!(output.diagnostics().map(|it| it.warning).collect::<Vec<_>>(), [Some(*warning)]);
        }
        let output = read("error", &layout("Error: Bad thing: node-1; it is"));
        let [error] = &*output.errors else { panic!("{output:?}") };
        assert_eq!(
            (&*error.text, error.summary.as_deref()),
            ("Error: Bad thing: node-1; it is", Some("Bad thing"))
        );
        let bug = read("error", &layout("Error: x: This is a bug in Terraform"));
        assert_eq!(bug.alarms.iter().map(|it| it.meaning).collect::<Vec<_>>(), [AlarmMeaning::OwnBug]);
    }
}

/// A message as engines print it, with some fields.
fn message(kind: &str, text: &str, fields: &str) -> String {
    let head = format!(r#""@level":"info","@message":{text:?},"@module":"terraform.ui""#);
    format!(r#"{{{head},"@timestamp":"2026-11-18T07:25:40.5Z","type":"{kind}",{fields}}}"#)
}

const RESOURCE: &str = concat!(
    r#""resource":{"addr":"mock_node.a","module":"","resource":"mock_node.a","implied_provider":"mock","#,
    r#""resource_type":"mock_node","resource_name":"a","resource_key":null}"#
);

#[test]
fn words_of_alarm_in_names_and_values_are_no_alarm_and_outside_of_messages_they_are() {
    let words =
        "panic: fatal error: WARNING: DATA RACE [running]: This is a bug in Provider produced in crash.log";
    let outputs = format!(r#""outputs":{{"a":{{"sensitive":false,"value":"{words}"}}}}"#);
    let detail = format!(r#""detail":"It is the create of \"{words}\", call 1""#);
    let provider = "The mock provider was told to fail this operation";
    let diagnostic = format!(r#""diagnostic":{{"severity":"error","summary":"{provider}",{detail}}}"#);
    let error = message("diagnostic", &format!("Error: {provider}"), &diagnostic).replace("info", "error");
    let other = error.replace(provider, "Something else");
    let lines = [message("outputs", "Outputs: 1", &outputs), error, other].join("\n");
    let output = parse(&lines, "");
    assert!(output.alarms.is_empty() && output.flaws.is_empty(), "{output:?}");
    for line in ["panic: x", "fatal error: x", "WARNING: DATA RACE", "goroutine 1 [running]:"] {
        assert!(!parse(line, "").alarms.is_empty() && !parse("", line).alarms.is_empty(), "{line}");
    }
    assert_eq!(parse("", "\nx\n").on_stderr, ["x"]);
}

#[test]
fn a_message_that_contradicts_itself_has_a_flaw() {
    let change = format!(r#""change":{{{RESOURCE},"action":"create"}}"#);
    let sound = message("planned_change", "mock_node.a: Plan to create", &change);
    let problems = |line: &str| -> Vec<MessageProblem> {
        parse(line, "").flaws.into_iter().map(|flaw| flaw.problem).collect()
    };
    assert_eq!(problems(&sound), []);
    let replaced = |from: &str, to: &str| problems(&sound.replace(from, to));
    assert_eq!(replaced("Plan to create", "Plan to delete"), [MessageProblem::Text]);
    assert_eq!(replaced("\"mock_node.a: ", "\"mock_node.b: "), [MessageProblem::Text]);
    assert_eq!(replaced(r#"name":"a""#, r#"name":"b""#), [MessageProblem::Address]);
    assert_eq!(replaced(r#"provider":"mock""#, r#"provider":"other""#), [MessageProblem::Address]);
    assert_eq!(replaced(r#""module":"","#, ""), [MessageProblem::Incomplete]);
    assert_eq!(replaced("terraform.ui", "plugin"), [MessageProblem::Incomplete]);
    assert_eq!(replaced("Plan to create", "Nothing to do"), [MessageProblem::Text]);
    assert_eq!(replaced("info", "warn"), [MessageProblem::Level]);
    assert_eq!(replaced("2026-11", "2026-31"), [MessageProblem::Time]);
    let unknown = MessageProblem::UnexpectedKind { kind: "telemetry".to_owned(), exists: false };
    assert_eq!(replaced("planned_change", "telemetry"), [unknown]);
    let earlier = sound.replace("07:25", "07:20");
    assert_eq!(problems(&format!("{sound}\n{earlier}")), [MessageProblem::Time]);
    let took = |seconds: &str| {
        let hook = |more: &str| format!(r#""hook":{{{RESOURCE},"action":"create"{more}}}"#);
        let begin = message("apply_start", "mock_node.a: Creating...", &hook(""));
        let more = format!(r#","id_key":"id","id_value":"x","elapsed_seconds":{seconds}"#);
        let end = message("apply_complete", "mock_node.a: Creation complete after 0s [id=x]", &hook(&more));
        problems(&format!("{begin}\n{end}"))
    };
    assert_eq!(
        [took("0"), took("3600"), took("-1")],
        [vec![], vec![MessageProblem::Time], vec![MessageProblem::Time]]
    );
}

#[test]
fn lines_end_as_lines_do_and_none_is_empty() {
    let line = message("planned_change", "mock_node.a: Plan to create", "\"change\":null");
    let stray = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        std::fs::write(&path, text).unwrap();
        read(&path, &folder.path().join("none")).unwrap().stray
    };
    assert_eq!(stray(&format!("{line}\n{line}\n")), None);
    for text in [line.clone(), format!("{line}\r\n"), format!("{line}\n\n{line}\n")] {
        assert!(stray(&text).is_some(), "{text:?}");
    }
}

#[test]
fn a_cycle_of_resources_is_read_in_the_layouts_of_all_versions() {
    let messages = [
        r#"{"@level":"error","@message":"Error: Cycle: mock_node.a, mock_node.b (destroy)","type":"diagnostic"}"#,
        concat!(
            r#"{"@level":"error","@message":"Error: Cycle:\n  mock_node.a\n  mock_node.b (destroy)","#,
            r#""type":"diagnostic"}"#
        ),
    ];
    let [one, many] = messages.map(|message| parse(message, ""));
    assert!(one.reports_a_cycle && many.reports_a_cycle);
    assert_eq!(one.errors, many.errors);
    assert_eq!(one.errors[0].cycle.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        (one.errors[0].refusal, one.errors[0].summary.as_deref()),
        (Some(Refusal::Cycle), Some("Cycle"))
    );
    let named = parse(r#"{"@level":"error","@message":"Error: Failed: Cycle","type":"diagnostic"}"#, "");
    assert!(!named.reports_a_cycle, "it is a word of something else");
}
