use std::sync::Arc;

use super::*;
use crate::case::Batch;
use crate::case::stage::Stage;
use crate::engines::EngineSpec;
use crate::evidence::{CycleNode, EngineError, NodeOperation};
use crate::judge::finding::Detail;
use crate::judge::finding::detail::CommandEnd;
use crate::spec::encoding::plain_address;
use crate::spec::notation::{between, effect};
use crate::spec::semantics::terraform::TERRAFORM;
use crate::spec::{Action, Configuration, Deployed, Options};

/// Resources as `name:dependencies`, a `!` behind the name for create_before_destroy, a `*` before a
/// dependency for a reference whose change replaces, a `~` for one whose change updates.
fn program(text: &str) -> Configuration {
    let marks = text.split_whitespace().map(|word| {
        let (name, dependencies) = word.split_once(':').unwrap_or((word, ""));
        let dependencies = dependencies.split(',').map(|dependency| match dependency.chars().next() {
            None => String::new(),
            Some('*') => format!("^{}", &dependency[1..]),
            Some('~') => dependency[1..].to_owned(),
            Some(_) => format!("+{dependency}"),
        });
        format!("{name}<{}", dependencies.collect::<Vec<_>>().join(","))
    });
    crate::spec::notation::program(&marks.collect::<Vec<_>>().join(" "))
}

const REMOVED: Condition = Condition::RemovedDependentOutlivesReplacedDependency;
const REPLACED: Condition = Condition::ReplacedDependentOutlivesRemovedDependency;
const FORGOTTEN: Condition = Condition::ReplacedDependentOutlivesForgetfulDependency;
const BOTH: Condition = Condition::ReplacedDependentOutlivesReplacedDependency;

/// The conditions that are true of a step. `p` and `q` stand for what makes a resource change: a pinned
/// reference that comes or goes.
fn holding(before: &str, after: &str) -> Vec<Condition> {
    holding_after(&[before, after])
}

/// Calls with the steps that lead from one program to the next, from nothing on.
fn with_steps<T>(programs: &[Configuration], call: impl FnOnce(&[Step<'_>]) -> T) -> T {
    let deployed: Vec<Deployed> =
        std::iter::once(Deployed::NOTHING).chain(programs.iter().map(Deployed::by)).collect();
    let options = Options::default();
    let steps = deployed.iter().zip(programs);
    let steps: Vec<Step<'_>> = steps
        .map(|(deployed, configuration)| Step {
            deployed,
            configuration,
            options: &options,
            semantics: TERRAFORM,
        })
        .collect();
    call(&steps)
}

fn holding_after(programs: &[&str]) -> Vec<Condition> {
    let programs: Vec<Configuration> = programs.iter().map(|text| program(text)).collect();
    let all = [REMOVED, REPLACED, BOTH, FORGOTTEN];
    with_steps(&programs, |steps| all.into_iter().filter(|it| !it.pairs(steps).is_empty()).collect())
}

#[test]
fn the_reduced_cases_fulfil_their_conditions_and_no_other() {
    assert_eq!(holding("p a:*p b!:a", "p a"), [REMOVED]);
    assert_eq!(holding("p a b:a,*p", "p b c!:b"), [REPLACED]);
    assert_eq!(holding("p a:*p b!:a,*p", "p a b!"), [BOTH]);
    let forgotten = ["p u a b!:a,*p", "p u a:~u b!:a,*p", "p u b!"];
    assert_eq!(holding_after(&forgotten), [FORGOTTEN]);
}

#[test]
fn nothing_is_forgotten_where_the_dependent_is_changed_too_or_nothing_was() {
    assert_eq!(holding_after(&["p u a b!:a,*p", "p u a:~u b!:a,*p,~u", "p u b!"]), []);
    assert_eq!(holding_after(&["p u a b!:a,*p", "p u a b!:a,*p", "p u b!"]), []);
    assert_eq!(holding_after(&["p u a:~u b!:a,*p", "p u b!"]), []);
}

#[test]
fn a_condition_reaches_through_the_whole_chain() {
    assert_eq!(holding("p a:*p m:a b!:m", "p a m"), [REMOVED]);
    assert_eq!(holding("p a m:a b:m,*p", "p m b c!:b"), [REPLACED]);
}

#[test]
fn without_create_before_destroy_or_without_a_replacement_no_condition_is_true() {
    assert_eq!(holding("p a:*p b:a", "p a"), []);
    assert_eq!(holding("p a:*p b!:a", "p a:*p"), []);
    assert_eq!(holding("p a b:a,*p", "p b c:b"), []);
    assert_eq!(holding("p a:*p b!:a,*p", "p a b!:a"), [], "it spreads where the edge stays");
    assert_eq!(holding("", "p a:*p b!:a"), []);
    assert_eq!(holding("p a:*p b!:a", ""), [], "all of it goes in one order");
}

/// A finding about an operation.
fn operation(stage: &str, kind: FindingKind, signed: &str) -> Finding {
    let operation = crate::spec::notation::operation(signed);
    Finding::new(kind, stage).about([Subject::operation(&operation)])
}

/// An operation that was expected and not done.
fn missing(stage: &str, signed: &str) -> Finding {
    operation(stage, FindingKind::OperationMissing, signed)
}

/// A report of cycles: nodes as the engine prints them, without the type; a `?` is an error of another kind.
fn cycles(reported: &[&str]) -> Finding {
    let errors = reported.iter().map(|nodes| EngineError {
        cycle: (*nodes != "?").then(|| nodes.split(", ").map(node).collect()),
        ..EngineError::unknown("whatever its words are")
    });
    let end = CommandEnd::Exit { code: 1 };
    let detail = Detail::Command { command: "apply".to_owned(), end, errors: errors.collect() };
    Finding::new(FindingKind::ReportsCycle, "batch-2").with(detail)
}

fn node(text: &str) -> CycleNode {
    let (name, operation) = match text.split_once(" (") {
        None | Some((_, "expand)")) => (text.split(' ').next().unwrap(), NodeOperation::Make),
        Some((name, "destroy)")) => (name, NodeOperation::Delete),
        Some((name, _)) => (name, NodeOperation::DeleteDeposed),
    };
    CycleNode { address: plain_address(&name.into()).to_string(), operation }
}

fn batches(before: &str, after: &str) -> [Arc<Batch>; 2] {
    [before, after].map(|text| Arc::new(Batch { program: program(text), ..Batch::default() }))
}

/// Marks the findings of a variant with two batches, after which nothing was done in the second.
fn mark(engine: &str, (before, after): (&str, &str), findings: &mut [Finding]) {
    mark_after(engine, (before, after), "", findings);
}

/// The same after some operations of the second.
fn mark_after(engine: &str, (before, after): (&str, &str), done: &str, findings: &mut [Finding]) {
    let effects = done.split_whitespace().map(effect).collect();
    let failed = Failed::from([("batch-2".to_owned(), effects)]);
    let (stages, batches) = (Stage::usual(2, 0), batches(before, after));
    let staged = stages.iter().zip(batches).map(|(stage, batch)| StagedBatch { stage, batch });
    let engine = engine.parse::<EngineSpec>().unwrap().id().unwrap();
    KnownFindings::shipped().mark(&engine, &staged.collect::<Vec<_>>(), &failed, findings);
}

/// What is marked of a cycle in the step from `before` to `after`, after which nothing was done.
fn mark_of(engine: &str, before: &str, after: &str, cycle: Finding) -> Option<String> {
    let mut findings = vec![cycle];
    let due = between(&program(before), &program(after)).operations;
    findings.extend(due.iter().map(|due| missing("batch-2", &due.signed())));
    mark(engine, (before, after), &mut findings);
    findings.swap_remove(0).known
}

const REPORTED: &str = "a, b (destroy), a (destroy)";

/// The smallest case of `cycle-dependent-removed`: b, which has create_before_destroy, is removed, and a is
/// replaced.
const SMALLEST: (&str, &str) = ("p a:*p b!:a", "p a");

#[test]
fn a_known_cycle_takes_what_it_kept_from_happening_along_and_nothing_else() {
    let mut findings = vec![
        missing("batch-2", "-b"),
        missing("batch-2", "-a"),
        missing("batch-2", "+a"),
        operation("batch-2", FindingKind::OperationExtra, "+z"),
        missing("batch-1", "+b"),
        cycles(&[REPORTED]),
    ];
    mark("terraform@1.15.5", SMALLEST, &mut findings);
    let known: Vec<bool> = findings.iter().map(|finding| finding.known.is_some()).collect();
    assert_eq!(known, [true, true, true, false, false, true]);
}

#[test]
fn an_engine_that_reports_a_cycle_after_it_has_done_something_has_another_bug() {
    let marks = |done: &str| {
        let mut findings = vec![cycles(&[REPORTED])];
        mark_after("terraform@1.15.5", SMALLEST, done, &mut findings);
        findings.into_iter().filter(|finding| finding.known.is_some()).count()
    };
    assert_eq!((marks("-b"), marks("-b -a +a"), marks("")), (0, 0, 1));
}

#[test]
fn a_cycle_is_known_only_if_it_names_the_resources_of_which_the_condition_is_true() {
    let known = |reported: &[&str]| {
        mark_of("terraform@1.15.5", "p a:*p b!:a q k:*q", "p a q k", cycles(reported)).is_some()
    };
    assert!(known(&["a (destroy), a, b (destroy)"]));
    assert!(known(&["b (destroy), k, q (expand), a (destroy)"]));
    assert!(!known(&[]), "it names nothing");
    assert!(!known(&["?"]), "no resource at all");
    assert!(!known(&["k, k (destroy)"]), "others");
    assert!(!known(&["a, a (destroy)"]), "one of the two");
    assert!(!known(&["a (destroy), b (destroy), z"]), "what is not there");
    assert!(!known(&["a (destroy), b (destroy), q (destroy)"]), "a delete of what stays");
    assert!(!known(&["a (destroy), b (destroy deposed 1a2b3c4d)"]), "an old object of what is not replaced");
    let real = "a, a (destroy), b (destroy)";
    assert!(!known(&[real, "k, k (destroy)"]), "a new one beside it");
    assert!(!known(&[real, "?"]), "another error beside it");
    assert!(!known(&["?", real]));
}

/// Whether a missing delete of a resource with some key is known where another is replaced by an apply with targets,
/// for the programs with these names in the place of `a` and `b`.
fn missing_delete_is_known(a: &str, b: &str, missing_key: &str) -> bool {
    let named = |text: &str| {
        let mut program = crate::spec::notation::program(text);
        let name = |key: &NodeKey| -> NodeKey { if &**key == "a" { a.into() } else { b.into() } };
        let nodes = std::mem::take(&mut program.meaning.nodes).into_iter().map(|(key, mut node)| {
            let dependencies = node.dependencies.iter().map(|(key, kind)| (name(key), *kind));
            node.dependencies = Arc::new(dependencies.collect());
            (name(&key), node)
        });
        program.meaning.nodes = nodes.collect();
        program
    };
    let programs = [named("a!@p b<a"), named("a!@q b<a")];
    let batches = programs.map(|program| Arc::new(Batch { program, ..Batch::default() }));
    let mut stages = Stage::usual(2, 0);
    let target = [b.into()].into();
    stages[1].action = Action::Apply(Options { target, ..Options::USUAL });
    let subject = Subject::Operation {
        key: missing_key.to_owned(),
        operation: OperationKind::Delete,
        role: None,
        object: None,
    };
    let mut findings = vec![Finding::new(FindingKind::OperationMissing, "batch-2").about([subject])];
    let staged = stages.iter().zip(batches).map(|(stage, batch)| StagedBatch { stage, batch });
    let staged: Vec<StagedBatch<'_>> = staged.collect();
    let engine = "terraform@1.15.5".parse::<EngineSpec>().unwrap().id().unwrap();
    KnownFindings::shipped().mark(&engine, &staged, &Failed::new(), &mut findings);
    findings[0].known.as_deref() == Some("old-object-left-by-target")
}

#[test]
fn a_finding_is_known_by_the_whole_keys_of_its_subjects_whatever_they_are() {
    assert!(missing_delete_is_known("vpc/main", "b", "vpc/main"), "a key with a slash");
    assert!(missing_delete_is_known("the", "b", "the"), "an English word");
    assert!(missing_delete_is_known("a-b", "b", "a-b"), "a key with a hyphen");
    assert!(!missing_delete_is_known("vpc/main", "b", "main"), "a part of a key");
    assert!(!missing_delete_is_known("delete", "b", "a"), "a word of the sentence");
    assert!(!missing_delete_is_known("a-b", "b", "a"), "a part of a key");
}

#[test]
fn the_pairs_of_a_condition_are_those_that_the_reduced_cases_name() {
    let pairs = |condition: Condition, programs: &[&str]| -> Vec<String> {
        let programs: Vec<Configuration> = programs.iter().map(|text| program(text)).collect();
        let pairs = with_steps(&programs, |steps| condition.pairs(steps));
        pairs.iter().map(|pair| format!("{}:{}", pair.dependent, pair.dependency)).collect()
    };
    assert_eq!(pairs(REMOVED, &["p a:*p m:a b!:m k", "p a m k"]), ["b:a"], "through m, which stays");
    assert_eq!(pairs(REPLACED, &["p a b:a,*p", "p b c!:b"]), ["b:a"]);
    assert_eq!(pairs(BOTH, &["p a:*p b!:a,*p", "p a b!"]), ["b:a"]);
    assert_eq!(pairs(FORGOTTEN, &["p u a b!:a,*p", "p u a:~u b!:a,*p", "p u b!"]), ["b:a"]);
}

#[test]
fn a_setting_that_was_forgotten_for_one_resource_explains_no_cycle_of_another() {
    // The setting is forgotten for f, which stays; r, which is removed, never had it: that is the second
    // condition.
    let programs = ["p u f b!:f,*p r c:r,*p", "p u f:~u b!:f,*p r c:r,*p", "p u f:~u b!:f,*p c d!:c"];
    assert_eq!(holding_after(&programs), [REPLACED]);
}

#[test]
fn a_cycle_where_none_is_due_is_not_known() {
    assert_eq!(mark_of("terraform@1.15.5", "p a:*p b:a", "p a", cycles(&[REPORTED])), None);
}

#[test]
fn a_finding_is_known_for_the_named_engines_and_versions_only() {
    let known = |engine| mark_of(engine, SMALLEST.0, SMALLEST.1, cycles(&[REPORTED])).is_some();
    assert!(known("tofu@1.12.6") && known("terraform@1.15.0-beta1"));
    assert!(!known("terraform@1.5.7") && !known("terraform@1.16.0"));
}

#[test]
fn every_shipped_entry_has_its_smallest_case_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let known = KnownFindings::parse(SHIPPED).unwrap();
    assert!(!known.0.is_empty());
    for entry in &known.0 {
        assert!(root.join(&entry.case).join("README.md").is_file(), "{}", entry.case);
        assert_eq!(known.get(&entry.name), Some(entry), "names are unique");
    }
}

#[test]
fn a_file_that_would_hide_new_bugs_or_cannot_be_understood_is_refused_with_a_reason() {
    let entry = "version = 2\n[[finding]]\nname = \"x\"\ntext = \"t\"\ncase = \"c\"\n\
            oracle = \"health\"\nkind = \"failure\"\n\
                 engines = { tofu = \"*\" }\n";
    let error = |text: &str| KnownFindings::parse(text).unwrap_err();
    assert!(error(entry).contains("`x` has no `condition`, `resource`"));
    assert!(error(&format!("{entry}operation = \"delete\"\n")).contains("`x` has no `condition`"));
    assert!(error(&format!("{entry}condition = \"full-moon\"\n")).contains("line 9"));
    assert!(error(&format!("{entry}contains = \"x\"\n")).contains("unknown field `contains`"));
    let other = entry.replace("\"failure\"", "\"ghost-object\"");
    assert!(error(&format!("{other}resource = \"a\"\n")).contains("of the oracle `state`, not of `health`"));
    assert!(error("version = 1").contains("version 1"));
    for field in ["resource", "address", "attribute", "output", "error"] {
        assert!(KnownFindings::parse(&format!("{entry}{field} = \"x\"\n")).is_ok(), "{field}");
    }
}

#[test]
fn an_entry_can_name_what_a_finding_is_about_in_the_place_of_a_condition() {
    let entry = |kind: FindingKind, field: &str| {
        let text = format!(
            "version = 2\n[[finding]]\nname = \"x\"\ntext = \"t\"\ncase = \"c\"\noracle = \"{}\"\n\
             kind = \"{kind}\"\n{field}\nengines = {{ tofu = \"*\" }}\n",
            kind.oracle()
        );
        KnownFindings::parse(&text).unwrap().0.remove(0)
    };
    let kind = FindingKind::AttributeDiffers;
    let finding =
        Finding::new(kind, "batch-1").about([Subject::resource("vpc/main"), Subject::attribute("label")]);
    let fits = |field: &str| entry(kind, field).fits(&finding, &[]);
    assert!(fits("attribute = \"label\"") && fits("resource = \"vpc/main\""));
    assert!(!fits("attribute = \"lab\"") && !fits("resource = \"main\""));
    let summary = Some("Invalid count".to_owned());
    let errors = vec![EngineError { summary, ..EngineError::unknown("") }];
    let failure = Finding::new(FindingKind::Failure, "batch-1").with(Detail::Errors { errors });
    let fits = |field: &str| entry(FindingKind::Failure, field).fits(&failure, &[]);
    assert!(fits("error = \"Invalid count\"") && !fits("error = \"Invalid\""));
}

/// The keys of the pairs of which a condition is true in the last of some steps, each given by what is deployed, what
/// is written, and the targets.
fn pairs_after(condition: Condition, steps: &[(&str, &str, &str)]) -> Vec<(String, String)> {
    let programs = crate::spec::notation::program;
    let owned: Vec<(Deployed, Configuration, Options)> = steps
        .iter()
        .map(|(deployed, written, targets)| {
            let target = targets.split_whitespace().map(Into::into).collect();
            (Deployed::by(&programs(deployed)), programs(written), Options { target, ..Options::USUAL })
        })
        .collect();
    let steps: Vec<Step<'_>> = owned
        .iter()
        .map(|(deployed, configuration, options)| Step {
            deployed,
            configuration,
            options,
            semantics: TERRAFORM,
        })
        .collect();
    let pairs = condition.pairs(&steps).into_iter();
    pairs.map(|pair| (pair.dependent.to_string(), pair.dependency.to_string())).collect()
}

fn pair(dependent: &str, dependency: &str) -> (String, String) {
    (dependent.to_owned(), dependency.to_owned())
}

#[test]
fn what_lost_its_setting_in_the_step_before_is_removed_too_early_for_its_updated_dependent() {
    let condition = Condition::ChangedDependentNeedsForgetfulDependency;
    let pairs = |programs: &[&str]| -> Vec<(String, String)> {
        let programs: Vec<Configuration> =
            programs.iter().map(|text| crate::spec::notation::program(text)).collect();
        let pairs = with_steps(&programs, |steps| condition.pairs(steps));
        pairs.iter().map(|found| pair(&found.dependent, &found.dependency)).collect()
    };
    assert_eq!(pairs(&["a b!<a", "a=l b!<a", "b!"]), [pair("b", "a")]);
    assert_eq!(
        pairs(&["a m<a b!<m", "a=l m<a b!<m", "m b!<m"]),
        [pair("m", "a")],
        "the setting is another's"
    );
    assert_eq!(pairs(&["a m<+a b!<m", "a=l m<+a b!<m", "m b!"]), [pair("b", "a")], "through the whole chain");
    assert_eq!(pairs(&["a b!<a", "b!"]), [], "nothing was changed before");
    assert_eq!(pairs(&["a b!<a", "a=l b!=l<a", "b!"]), [], "its dependent was changed too");
    assert_eq!(pairs(&["a b<a", "a=l b<a", "b"]), [], "the setting was never there");
    assert_eq!(pairs(&["a b!<+a", "a=l b!<+a", "b!"]), [], "its dependent does not change");
    assert_eq!(pairs(&["a b!<^a", "a=l b!<^a", "b!"]), [], "its dependent is replaced, which is a cycle");
}

#[test]
fn an_update_that_failed_forgets_what_is_no_longer_written_and_still_referred_to() {
    let condition = Condition::FailedDependentForgotDependency;
    let failed = ("network! server<network", "server", "");
    assert_eq!(pairs_after(condition, &[failed, failed]), [pair("server", "network")]);
    assert_eq!(pairs_after(condition, &[failed]), [], "nothing has failed before");
    let other = ("network! server<network other", "network! server<network other=l", "");
    assert_eq!(pairs_after(condition, &[other, failed]), [], "another was to be updated");
}

#[test]
fn an_old_object_is_left_of_what_is_replaced_new_object_first_and_is_no_target_by_name() {
    let condition = Condition::TargetedDependencyKeepsOldObject;
    let replaced = |targets| pairs_after(condition, &[("a!@p b<a", "a!@q b<a", targets)]);
    assert_eq!(replaced("b"), [pair("a", "a")]);
    assert_eq!(replaced("a b"), []);
    assert_eq!(replaced(""), [], "there are no targets");
    assert_eq!(pairs_after(condition, &[("a@p b<a", "a@q b<a", "b")]), [], "the old object goes first");
}

#[test]
fn what_is_planned_for_dependencies_of_a_target_is_skipped_if_that_does_not_change() {
    let condition = Condition::DependencyOfUnchangedTarget;
    let skipped = |after, targets| pairs_after(condition, &[("a@p b<+a", after, targets)]);
    assert_eq!(skipped("a@q b<+a", "b"), [pair("a", "a")]);
    assert_eq!(skipped("a@q b=l<+a", "b"), [], "b changes too");
    assert_eq!(skipped("a@q b<+a", "a b"), [], "a is a target itself");
    assert_eq!(skipped("a@q b<+a", ""), []);
}

#[test]
fn a_replaced_dependent_of_a_changed_dependency_with_the_setting_may_keep_its_old_object() {
    let condition = Condition::ReplacedDependentOfOutlivingDependency;
    let kept = |before, after| pairs_after(condition, &[(before, after, "")]);
    assert_eq!(kept("a!@p b", "a!@q b@p<a"), [pair("b", "b")]);
    assert_eq!(kept("a! b", "a!=l b<*=a"), [pair("b", "b")]);
    assert_eq!(kept("a! m<+a b", "a!=l m<+a b@p<m"), [pair("b", "b")], "through the whole chain");
    assert_eq!(kept("a! b", "a! b@p<a"), [], "the dependency does not change");
    assert_eq!(kept("a@p b", "a@q b@p<a"), [], "the setting is not there");
    assert_eq!(kept("a!@p b!", "a!@q b!@p<a"), [], "the dependent has it too");
}

#[test]
fn outputs_alone_differ_where_a_program_is_not_deployed_and_nothing_has_drifted() {
    let pairs = |deployed: Deployed, outputs| {
        let mut configuration = crate::spec::notation::program("a=l b");
        configuration.encoding.outputs = outputs;
        let options = &Options::USUAL;
        let step = Step { deployed: &deployed, configuration: &configuration, options, semantics: TERRAFORM };
        Condition::OutputsAloneDiffer.pairs(&[step]).len()
    };
    let deployed = |text| Deployed::by(&crate::spec::notation::program(text));
    assert_eq!((pairs(deployed("a b"), true), pairs(Deployed::NOTHING, true)), (1, 2));
    assert_eq!((pairs(deployed("a b"), false), pairs(deployed("a=l b"), true)), (0, 0));
    let drifted = deployed("a b").drifted("b", &crate::spec::Drift::Gone);
    assert_eq!(pairs(drifted, true), 0);
}
