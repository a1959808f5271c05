//! What is true of any step.

use std::sync::Arc;

use petgraph::algo::{has_path_connecting, is_cyclic_directed};
use proptest::prelude::*;

use super::super::notation::between;
use super::super::semantics::terraform::TERRAFORM;
use super::super::*;
use super::objects;

/// Two programs over five resources, with edges of all kinds that go upward only.
fn two_programs() -> impl Strategy<Value = (Configuration, Configuration)> {
    let kind = prop::sample::select(EdgeKind::ALL.to_vec());
    let edges = prop::collection::vec(prop::option::of(kind), 5);
    let value = || prop::option::of(prop::sample::select(vec!["v", "w"]));
    let settings = (prop::bool::weighted(0.3), prop::bool::weighted(0.2), value(), value());
    let resource = (prop::bool::weighted(0.7), edges, settings);
    let program = prop::collection::vec(resource, 5);
    type Settings = (bool, bool, Option<&'static str>, Option<&'static str>);
    (program.clone(), program).prop_map(|(before, after)| {
        let build = |drawn: Vec<(bool, Vec<Option<EdgeKind>>, Settings)>| {
            let mut program = Configuration::default();
            for (index, (_, kinds, settings)) in drawn.iter().enumerate().filter(|(_, (there, ..))| *there) {
                let (asks, ignores, label, pin) = settings;
                let kinds = kinds.iter().enumerate().take(index).filter(|(lower, _)| drawn[*lower].0);
                let dependencies =
                    kinds.filter_map(|(lower, kind)| Some((NodeKey::from(format!("r{lower}")), (*kind)?)));
                let node = Node {
                    dependencies: Arc::new(dependencies.collect()),
                    create_before_destroy: *asks,
                    ignore_changes: *ignores,
                    label: label.map(Into::into),
                    pin: pin.map(Into::into),
                    ..Node::default()
                };
                program.meaning.nodes.insert(format!("r{index}").into(), node);
            }
            program
        };
        (build(before), build(after))
    })
}

/// What a program deployed, with an odd memory: settings, marks, objects that refer to others which are gone, drift.
fn remembering(program: &Configuration, memory: &[u8]) -> Deployed {
    let mut deployed = Deployed::by(program);
    let keys: Vec<NodeKey> = deployed.keys().cloned().collect();
    for (key, memory) in keys.iter().zip(memory) {
        let remembered = deployed.memory.nodes.get_mut(key).unwrap();
        remembered.create_before_destroy ^= memory & 1 != 0;
        remembered.current.as_mut().unwrap().marked = memory & 6 == 6;
        let object = world::ObjectId { key: key.clone(), number: 0 };
        let object = deployed.world.objects.get_mut(&object).unwrap();
        if memory & 64 != 0 {
            let by_value = remembered.dependencies.iter().filter(|(_, kind)| kind.leaves_a_value());
            object.outdated.extend(by_value.map(|(key, _)| key.clone()).next());
        }
        if memory & 128 != 0 {
            // It was written when it depended on other things.
            let less = remembered.dependencies.iter().skip(1).map(|(key, kind)| (key.clone(), *kind));
            remembered.dependencies = Arc::new(less.collect());
            object.outdated.clear();
        }
        let drift = match memory >> 3 & 7 {
            0 => Drift::Label(Some("d".into())),
            1 => Drift::Pin(None),
            2 => Drift::Gone,
            _ => continue,
        };
        deployed = deployed.drifted(key, &drift);
    }
    deployed
}

proptest! {
    /// An acyclic program that follows on an acyclic one can always be deployed: the order asked for has no circle.
    #[test]
    fn some_sequence_keeps_the_whole_order((before, after) in two_programs()) {
        prop_assert!(!is_cyclic_directed(&between(&before, &after).order));
    }

    /// Taking operations out of a step must leave a step that can be taken, whatever was done before it failed.
    #[test]
    fn the_rest_of_a_step_that_failed_is_a_step((before, after) in two_programs(), seed: u64) {
        let (deployed, whole) = (Deployed::by(&before), between(&before, &after));
        let sorted = petgraph::algo::toposort(&whole.order, None).expect("there is no circle");
        let effects = |order: &expectation::Order, sorted: &[petgraph::graph::NodeIndex]| -> Vec<Effect> {
            sorted.iter().map(|node| Effect::whole(&order[*node])).collect()
        };
        let done = &sorted[..(seed % (sorted.len() as u64 + 1)) as usize];
        let Ok(there) = TERRAFORM.after_failure(&deployed, &after, &effects(&whole.order, done)) else { return Ok(()) };
        let rest = Step { deployed: &there, configuration: &after, options: &Options::default(), semantics: TERRAFORM };
        let rest = rest.expectation(&LeftOut::none());
        prop_assert!(!is_cyclic_directed(&rest.order));
        let sorted = petgraph::algo::toposort(&rest.order, None).unwrap();
        let finished = TERRAFORM.after_failure(&there, &after, &effects(&rest.order, &sorted)).unwrap();
        let step = Step { deployed: &there, configuration: &after, options: &Options::default(), semantics: TERRAFORM };
        let outcome = step.outcome();
        prop_assert_eq!(objects(&finished), objects(&outcome));
        prop_assert!(finished.keys().eq(Deployed::by(&after).keys()));
    }

    /// An old object that a step left behind is deleted when nothing that the next step makes refers to it any more,
    /// and before nothing but deletes.
    #[test]
    fn old_objects_outlive_what_refers_to_them((before, after) in two_programs(), kept in 0usize..5) {
        let whole = between(&before, &after);
        let sorted = petgraph::algo::toposort(&whole.order, None).expect("there is no circle");
        let key = NodeKey::from(format!("r{kept}"));
        let is_kept = |operation: &ResourceOperation| {
            operation.key == key && operation.kind == OperationKind::Delete
        };
        let done = sorted.iter().map(|node| &whole.order[*node]).filter(|it| !is_kept(it));
        let done: Vec<Effect> = done.map(Effect::whole).collect();
        let Ok(there) = TERRAFORM.after_failure(&Deployed::by(&before), &after, &done) else { return Ok(()) };
        for (program, makes) in [(&after, false), (&before, true), (&Configuration::EMPTY, false)] {
            let options = Options::default();
            let step = Step { deployed: &there, configuration: program, options: &options, semantics: TERRAFORM };
            let rest = step.expectation(&LeftOut::none());
            prop_assert!(!is_cyclic_directed(&rest.order));
            let is_old = |operation: &ResourceOperation| matches!(operation.object, ObjectRole::Old(_));
            for (first, second, _) in rest.pairs() {
                prop_assert!(!is_old(first) || second.kind == OperationKind::Delete);
            }
            let old = rest.operations.iter().filter(|it| is_old(it));
            for old in old.filter(|_| makes) {
                for (dependent, remembered) in &there.memory.nodes {
                    let made = rest.operations.iter().filter(|it| {
                        it.key == *dependent && it.kind != OperationKind::Delete
                    });
                    let refers = remembered.current.is_some() && remembered.dependencies.contains_key(&old.key);
                    for made in made.filter(|_| refers) {
                        let is_ordered = |(first, second, _): (&ResourceOperation, &ResourceOperation, _)| {
                            first == made && second == old
                        };
                        prop_assert!(rest.pairs().any(is_ordered), "{made} before {old}");
                    }
                }
            }
        }
    }

    /// Whatever the state remembers, and whatever has drifted: there is an order, and after it nothing is left to do.
    #[test]
    fn a_step_leads_from_any_memory_to_a_world_in_which_the_program_asks_for_nothing(
        (before, after) in two_programs(), memory in prop::collection::vec(0u8..=255, 5), refresh: bool,
    ) {
        let deployed = remembering(&before, &memory);
        let options = Options { refresh, ..Options::default() };
        let step = Step { deployed: &deployed, configuration: &after, options: &options, semantics: TERRAFORM };
        prop_assert!(!is_cyclic_directed(&step.expectation(&LeftOut::none()).order));
        let outcome = step.outcome();
        // What was not read has drifted still.
        let again = Step { deployed: &outcome, configuration: &after, options: &options, semantics: TERRAFORM };
        prop_assert_eq!(again.changes().operations().count(), 0);
        prop_assert_eq!(again.outcome(), outcome);
    }

    /// Parts of a program, one after the other, and then the whole: the same world as the whole at once, but for labels
    /// whose changes are ignored by then.
    #[test]
    fn targets_and_then_the_whole_program_lead_to_the_same_world(
        (before, after) in two_programs(), targets in prop::collection::vec(0u8..5, 1..4),
        memory in prop::collection::vec(0u8..=255, 5),
    ) {
        let deployed = remembering(&before, &memory);
        let mut there = deployed.clone();
        for target in targets.iter().map(|number| NodeKey::from(format!("r{number}"))) {
            let options = Options { target: [target.clone()].into(), ..Options::default() };
            if after.node(&target).is_none() {
                continue;
            }
            let step = Step { deployed: &there, configuration: &after, options: &options, semantics: TERRAFORM };
            prop_assert!(!is_cyclic_directed(&step.expectation(&LeftOut::none()).order));
            let part = step.outcome();
            let again = Step { deployed: &part, configuration: &after, options: &options, semantics: TERRAFORM };
            prop_assert_eq!(again.changes().operations().count(), 0, "the same part again asks for nothing");
            there = part;
        }
        let outcome = |deployed: &Deployed| {
            let step = Step { deployed, configuration: &after, options: &Options::default(), semantics: TERRAFORM };
            let mut outcome = step.outcome();
            let ignores = |key: &NodeKey| after.node(key).is_some_and(|node| node.ignore_changes);
            for (key, remembered) in outcome.memory.nodes.iter_mut().filter(|(key, _)| ignores(key)) {
                remembered.current.as_mut().unwrap().label = None;
                let id = world::ObjectId { key: key.clone(), number: 0 };
                outcome.world.objects.get_mut(&id).unwrap().label = None;
            }
            outcome
        };
        prop_assert_eq!(outcome(&there), outcome(&deployed));
    }

    #[test]
    fn the_same_program_again_asks_for_nothing((program, _) in two_programs()) {
        let expected = between(&program, &program);
        prop_assert!(expected.operations.is_empty() && expected.replacements.is_empty());
        prop_assert_eq!((expected.order.node_count(), expected.left_alone), (0, program.meaning.nodes.len()));
    }

    #[test]
    fn order_speaks_only_of_operations_that_are_expected((before, after) in two_programs()) {
        let expectation = between(&before, &after);
        let operations = &expectation.operations;
        let expected = |operation| operations.contains(operation);
        prop_assert!(expectation.pairs().all(|(first, second, _)| expected(first) && expected(second)));
    }

    /// What is not implied says all that the whole order says, and nothing twice.
    #[test]
    fn what_is_not_implied_is_the_reduction_of_the_order((before, after) in two_programs()) {
        let whole = between(&before, &after);
        let mut reduced = whole.clone();
        reduced.order.retain_edges(|order, edge| !order[edge].implied);
        let reaches = |order: &expectation::Order, first, second| has_path_connecting(order, first, second, None);
        for edge in whole.order.edge_indices() {
            let (first, second) = whole.order.edge_endpoints(edge).unwrap();
            prop_assert!(reaches(&reduced.order, first, second), "what is implied follows from the rest");
            let mut without = reduced.clone();
            if let Some(edge) = without.order.find_edge(first, second) {
                without.order.remove_edge(edge);
                prop_assert!(!reaches(&without.order, first, second), "what is not implied does not");
            }
        }
    }

    #[test]
    fn a_resource_that_is_to_be_replaced_is_and_with_it_what_refers_to_it((program, _) in two_programs()) {
        let Some(key) = program.meaning.nodes.keys().next() else { return Ok(()) };
        let options = Options { replace: [key.clone()].into(), ..Options::default() };
        let deployed = Deployed::by(&program);
        let step = Step { deployed: &deployed, configuration: &program, options: &options, semantics: TERRAFORM };
        let expectation = step.expectation(&LeftOut::none());
        prop_assert!(expectation.replacements.contains_key(key));
        for (dependent, node) in &program.meaning.nodes {
            let changed = match node.dependencies.get(key) {
                Some(EdgeKind::Refs) => OperationKind::Update,
                Some(EdgeKind::PinnedRefs) => OperationKind::Create,
                _ => continue,
            };
            let operation = |kind| ResourceOperation::new(dependent, kind);
            let replaced = expectation.operations.contains(&operation(OperationKind::Create));
            prop_assert!(replaced || expectation.operations.contains(&operation(changed)));
        }
    }
}
