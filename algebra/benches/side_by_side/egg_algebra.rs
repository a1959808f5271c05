//! The same guarded rules in the general e-graph library `egg`.

use std::str::FromStr;
use std::time::Duration;

use egg::{
    Analysis, ConditionalApplier, DidMerge, EGraph, Id, Pattern, Rewrite, Runner, SimpleScheduler, Subst,
    Var, define_language,
};
use equiform_algebra::egraph::{Denotation, Packed};
use equiform_algebra::graph::Resource;
use equiform_algebra::rules::{Argument, Base, Binding, Rule, Rules, StepKind, StepPattern, Variable};
use equiform_algebra::signature::Signature;

define_language! {
    enum Algebra {
        "empty" = Empty,
        "add" = Add([Id; 2]),
        "rem" = Rem([Id; 2]),
        "con" = Con([Id; 3]),
        "disc" = Disc([Id; 3]),
        Name(u32),
    }
}

/// What a class stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Resource(Resource),
    Graph(Packed),
}

#[derive(Default)]
struct Denote;

fn resource(egraph: &EGraph<Algebra, Denote>, id: Id) -> Resource {
    match egraph[id].data {
        Meaning::Resource(resource) => resource,
        Meaning::Graph(_) => unreachable!("a name is no graph"),
    }
}

fn graph(egraph: &EGraph<Algebra, Denote>, id: Id) -> Packed {
    match egraph[id].data {
        Meaning::Graph(graph) => graph,
        Meaning::Resource(_) => unreachable!("a graph is no name"),
    }
}

impl Analysis<Algebra> for Denote {
    type Data = Meaning;

    fn make(egraph: &mut EGraph<Algebra, Self>, node: &Algebra, _: Id) -> Meaning {
        let (kind, first, second, inner) = match *node {
            Algebra::Empty => return Meaning::Graph(Packed::empty()),
            Algebra::Name(number) => return Meaning::Resource(Resource::new(number)),
            Algebra::Add([a, inner]) => (StepKind::Add, a, a, inner),
            Algebra::Rem([a, inner]) => (StepKind::Rem, a, a, inner),
            Algebra::Con([a, b, inner]) => (StepKind::Con, a, b, inner),
            Algebra::Disc([a, b, inner]) => (StepKind::Disc, a, b, inner),
        };
        let number = |id| resource(egraph, id).index();
        let second = if kind.takes_edge() { number(second) } else { 0 };
        let step = kind.step([number(first), second, 0]);
        Meaning::Graph(graph(egraph, inner).after(step).expect("the guards admit what is defined only"))
    }

    fn merge(&mut self, left: &mut Meaning, right: Meaning) -> DidMerge {
        assert_eq!(*left, right, "the rules are sound");
        DidMerge(false, false)
    }
}

/// How a variable is written: as a pattern variable, or as the resource it stands for if only this side has it.
fn term(rule: &Rule, chain: &[StepPattern], fixed: &Binding) -> String {
    let inner = if rule.base == Base::Empty { "empty".to_owned() } else { "?g".to_owned() };
    chain.iter().fold(inner, |inner, step| {
        let name = |argument: Argument| match (argument, fixed.value(argument)) {
            (Argument::Variable(variable), None) => format!("?{}", rule.variables[variable.0 as usize].0),
            (_, number) => number.expect("it is fixed").to_string(),
        };
        let (first, second) = (name(step.arguments[0]), name(step.arguments[1]));
        let symbol = step.kind.symbol();
        if step.kind.takes_edge() {
            format!("({symbol} {first} {second} {inner})")
        } else {
            format!("({symbol} {first} {inner})")
        }
    })
}

/// A rule in one direction, once for each choice of resources for variables that only the result has.
fn rewrites(
    rule: &Rule,
    from: &[StepPattern],
    to: &[StepPattern],
    resources: u32,
) -> Vec<Rewrite<Algebra, Denote>> {
    let occurs = |variable: Variable| from.iter().any(|step| step.variables().any(|other| other == variable));
    let invented: Vec<Variable> = rule.variables().filter(|&variable| !occurs(variable)).collect();
    let mut choices = vec![Binding::default()];
    for &variable in &invented {
        choices = choices
            .into_iter()
            .flat_map(|choice| {
                (0..resources).map(move |number| {
                    let mut extended = choice;
                    extended.bind(variable, number);
                    extended
                })
            })
            .collect();
    }
    let pattern = |text: String| Pattern::<Algebra>::from_str(&text).expect("terms of rules are patterns");
    let mut all = Vec::new();
    for fixed in choices {
        let owned = rule.clone();
        let variables: Vec<(Variable, Var)> = rule
            .variables()
            .filter(|&variable| fixed.get(variable).is_none())
            .map(|variable| {
                let name = format!("?{}", rule.variables[variable.0 as usize].0);
                (variable, name.parse().expect("a variable"))
            })
            .collect();
        let condition = move |egraph: &mut EGraph<Algebra, Denote>, _: Id, subst: &Subst| {
            let mut binding = fixed;
            for &(variable, name) in &variables {
                binding.bind(variable, resource(egraph, subst[name]).index());
            }
            let base = subst.get("?g".parse().expect("a variable")).map(|&id| graph(egraph, id));
            owned.is_written(&binding, Signature::bare())
                && owned.guard.holds(&binding, |resource| base.is_some_and(|graph| graph.contains(resource)))
        };
        let applier = ConditionalApplier { condition, applier: pattern(term(rule, to, &fixed)) };
        let name = format!("{}: {} => {}", rule.name, term(rule, from, &fixed), term(rule, to, &fixed));
        all.push(
            Rewrite::new(name, pattern(term(rule, from, &fixed)), applier).expect("all variables are bound"),
        );
    }
    all
}

/// Saturates from `empty` over so many resources: the classes of graphs, and the time it took.
pub fn saturate(resources: u32) -> (usize, Duration) {
    let rules = Rules::algebra();
    let rewrites: Vec<_> = rules
        .iter()
        .flat_map(|rule| {
            let mut both = rewrites(rule, &rule.left, &rule.right, resources);
            both.extend(rewrites(rule, &rule.right, &rule.left, resources));
            both
        })
        .collect();
    let start = std::time::Instant::now();
    let runner = Runner::<Algebra, Denote>::default()
        .with_scheduler(SimpleScheduler)
        .with_node_limit(10_000_000)
        .with_iter_limit(1_000)
        .with_time_limit(Duration::from_secs(600))
        .with_expr(&"empty".parse().expect("a term"))
        .run(&rewrites);
    let time = start.elapsed();
    let graphs = runner.egraph.classes().filter(|class| matches!(class.data, Meaning::Graph(_))).count();
    (graphs, time)
}
