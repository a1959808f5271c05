//! The equalities between programs, as data.
//!
//! They live in `algebra.rules`, one a line. A person's own file has the same form and passes the same gate:
//! [`Rules::from_user_file`] refuses a rule that `check` finds unsound.

mod check;
mod parse;

use std::fmt;

use sha2::{Digest, Sha256};

pub use check::{Counterexample, Side, check};

use crate::algebra::graph::{Edge, Graph, Resource};
use crate::algebra::program::{Step, SyntaxError};

/// The four operations, without their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// Puts a resource in.
    Add,
    /// Takes a resource out.
    Rem,
    /// Puts an edge in.
    Con,
    /// Takes an edge out.
    Disc,
}

impl StepKind {
    /// All of them.
    pub const ALL: [StepKind; 4] = [StepKind::Add, StepKind::Rem, StepKind::Con, StepKind::Disc];

    /// Its name in a term.
    pub const fn symbol(self) -> &'static str {
        match self {
            StepKind::Add => "add",
            StepKind::Rem => "rem",
            StepKind::Con => "con",
            StepKind::Disc => "disc",
        }
    }

    /// Whether it takes an edge, not a single resource.
    pub const fn takes_edge(self) -> bool {
        matches!(self, StepKind::Con | StepKind::Disc)
    }

    /// The step of this kind with these arguments; the second counts only where an edge is taken.
    pub fn step(self, first: Resource, second: Resource) -> Step {
        match self {
            StepKind::Add => Step::Add(first),
            StepKind::Rem => Step::Rem(first),
            StepKind::Con => Step::Con(Edge::new(first, second)),
            StepKind::Disc => Step::Disc(Edge::new(first, second)),
        }
    }

    /// The kind and arguments of a step; a single resource comes twice.
    pub fn of(step: Step) -> (StepKind, Resource, Resource) {
        match step {
            Step::Add(resource) => (StepKind::Add, resource, resource),
            Step::Rem(resource) => (StepKind::Rem, resource, resource),
            Step::Con(edge) => (StepKind::Con, edge.dependency, edge.dependent),
            Step::Disc(edge) => (StepKind::Disc, edge.dependency, edge.dependent),
        }
    }
}

/// A resource variable of a rule, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub u8);

/// The most resource variables a rule may have.
pub const MAX_VARIABLES: usize = 4;

/// What the variables of a rule stand for; `None` while that is open.
pub type Binding = [Option<Resource>; MAX_VARIABLES];

/// An operation on variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepPattern {
    /// Which operation.
    pub kind: StepKind,
    /// Its first resource.
    pub first: Variable,
    /// Its second, or the first again if it takes one only.
    pub second: Variable,
}

impl StepPattern {
    /// The step it becomes, if both its variables are bound.
    pub fn instance(self, binding: &Binding) -> Option<Step> {
        let (first, second) = (binding[self.first.0 as usize]?, binding[self.second.0 as usize]?);
        Some(self.kind.step(first, second))
    }

    /// Binds its variables to the arguments of a step of the same kind; false if one stands for something else already.
    pub fn unify(self, first: Resource, second: Resource, binding: &mut Binding) -> bool {
        *binding[self.first.0 as usize].get_or_insert(first) == first
            && *binding[self.second.0 as usize].get_or_insert(second) == second
    }
}

/// What both sides of a rule are built upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// Any graph.
    Any,
    /// The empty graph only.
    Empty,
}

/// A condition under which a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// The two stand for different resources.
    Differ(Variable, Variable),
    /// It is in the graph both sides are built upon.
    Member(Variable),
}

/// When a rule applies: if all conditions of one of the alternatives hold. No alternative at all means always.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guard(pub Vec<Vec<Condition>>);

impl Guard {
    /// Whether it holds under a binding of all its variables.
    pub fn holds(&self, binding: &Binding, member: impl Fn(Resource) -> bool) -> bool {
        let value =
            |variable: Variable| binding[variable.0 as usize].expect("guards are asked when all is bound");
        let condition = |condition: &Condition| match *condition {
            Condition::Differ(left, right) => value(left) != value(right),
            Condition::Member(variable) => member(value(variable)),
        };
        self.0.is_empty() || self.0.iter().any(|alternative| alternative.iter().all(condition))
    }
}

/// An equality between two chains of steps upon the same base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Which family it belongs to.
    pub family: String,
    /// Its name.
    pub name: String,
    /// What both sides are built upon.
    pub base: Base,
    /// One side, innermost step first.
    pub left: Vec<StepPattern>,
    /// The other side, innermost step first.
    pub right: Vec<StepPattern>,
    /// When it holds.
    pub guard: Guard,
    /// The names of its resource variables.
    pub variables: Vec<String>,
    /// The name of its graph variable.
    pub graph_variable: String,
}

impl Rule {
    /// Every way to bind its variables to the first `resources` resources under which both sides are written in the
    /// fixed order.
    pub fn bindings(&self, resources: u32) -> impl Iterator<Item = Binding> + '_ {
        let choices = u64::from(resources);
        let count = choices.pow(u32::try_from(self.variables.len()).expect("a rule has few variables"));
        (0..count).filter_map(move |mut number| {
            let mut binding = Binding::default();
            for slot in &mut binding[..self.variables.len()] {
                *slot = Some(Resource::new(u32::try_from(number % choices).expect("less than resources")));
                number /= choices;
            }
            self.in_order(&binding).then_some(binding)
        })
    }

    /// Whether every edge it names goes upward in the order, as far as its variables are bound.
    pub fn in_order(&self, binding: &Binding) -> bool {
        self.left.iter().chain(&self.right).all(|pattern| match pattern.instance(binding) {
            Some(Step::Con(edge) | Step::Disc(edge)) => edge.goes_upward(),
            _ => true,
        })
    }

    fn term(&self, chain: &[StepPattern]) -> String {
        let mut text = String::new();
        for pattern in chain.iter().rev() {
            text += &format!("({} {} ", pattern.kind.symbol(), self.variables[pattern.first.0 as usize]);
            if pattern.kind.takes_edge() {
                text += &format!("{} ", self.variables[pattern.second.0 as usize]);
            }
        }
        text + &self.graph_variable + &")".repeat(chain.len())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equality = format!("{} = {}", self.term(&self.left), self.term(&self.right));
        if self.guard.0.is_empty() {
            return write!(f, "{:<17} {:<22} {equality}", self.family, self.name);
        }
        let condition = |condition: &Condition| match *condition {
            Condition::Differ(a, b) => {
                format!("{} != {}", self.variables[a.0 as usize], self.variables[b.0 as usize])
            }
            Condition::Member(a) => format!("{} in {}", self.variables[a.0 as usize], self.graph_variable),
        };
        let alternative = |all: &Vec<Condition>| all.iter().map(condition).collect::<Vec<_>>().join(" and ");
        let guard: Vec<String> = self.guard.0.iter().map(alternative).collect();
        write!(f, "{:<17} {:<22} {equality:<48} if {}", self.family, self.name, guard.join(" or "))
    }
}

/// Why a rule file may not be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// It cannot be read as rules.
    #[error("{0}")]
    Syntax(#[from] SyntaxError),
    /// One of its rules is unsound.
    #[error("the rule `{name}` is unsound and is refused: {counterexample}")]
    Unsound {
        /// The rule.
        name: String,
        /// Where it fails.
        counterexample: Box<Counterexample>,
    },
}

/// A set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// The equalities of the algebra.
    pub fn algebra() -> Self {
        Self::parse(include_str!("algebra.rules")).expect("the rules that come with the program can be read")
    }

    /// Reads rules without judging them.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        parse::parse(text).map(Self)
    }

    /// Reads the text of a person's own file and refuses it if a rule in it is unsound.
    pub fn from_user_file(text: &str) -> Result<Self, RulesError> {
        let rules = Self::parse(text)?;
        for rule in rules.iter() {
            if let Some(counterexample) = check(rule) {
                return Err(RulesError::Unsound {
                    name: rule.name.clone(),
                    counterexample: Box::new(counterexample),
                });
            }
        }
        Ok(rules)
    }

    /// The rules, in the order of their file.
    pub fn iter(&self) -> std::slice::Iter<'_, Rule> {
        self.0.iter()
    }

    /// A digest of what they say, for keys of caches.
    pub fn digest(&self) -> String {
        let text: String = self.iter().map(|rule| format!("{rule}\n")).collect();
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The graph a chain makes of a graph, or nothing if a step of it has no meaning there.
fn apply_chain(chain: &[StepPattern], binding: &Binding, graph: &Graph) -> Option<Graph> {
    let mut graph = graph.clone();
    for pattern in chain {
        pattern.instance(binding)?.apply(&mut graph).ok()?;
    }
    Some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_algebra_has_twenty_five_sound_rules() {
        let rules = Rules::algebra();
        assert_eq!(rules.iter().count(), 25);
        for rule in rules.iter() {
            assert_eq!(check(rule), None, "{}", rule.name);
        }
    }

    #[test]
    fn rules_print_as_they_are_read() {
        let text: String = Rules::algebra().iter().map(|rule| format!("{rule}\n")).collect();
        assert_eq!(Rules::parse(&text).unwrap(), Rules::algebra());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn an_absorption_without_its_guard_is_refused() {
        let error = Rules::from_user_file("mine swallow (rem a (con a b g)) = (rem a g)").unwrap_err();
        insta::assert_snapshot!(error);
    }

    #[test]
    fn a_commutation_that_forgets_that_edges_may_be_the_same_is_refused() {
        let error =
            Rules::from_user_file("mine swap (con a b (disc c d g)) = (disc c d (con a b g))").unwrap_err();
        insta::assert_snapshot!(error);
    }

    #[test]
    fn a_sound_rule_of_ones_own_passes_the_gate() {
        assert!(Rules::from_user_file("mine again g = (add a g) if a in g").is_ok());
    }
}
