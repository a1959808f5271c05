//! The equalities between programs, as data.
//!
//! Those of the bare algebra live in `algebra.rules`, those with attributes and kinds in `attributed.rules`, one a
//! line. A person's own file has the same form and passes the same gate: [`Rules::from_user_file`] refuses a rule
//! that [`check()`] finds unsound.

mod check;
mod parse;
mod pattern;

use std::fmt;

use sha2::{Digest, Sha256};

pub use check::{Counterexample, Side, check};
pub use pattern::{
    Argument, Arguments, Base, Binding, Condition, Guard, MAX_VARIABLES, Sort, StepKind, StepPattern,
    Variable,
};

use crate::program::SyntaxError;
use crate::signature::{AttributeId, Kind, Signature, ValueId};

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
    /// The names of its variables, and what each stands for.
    pub variables: Vec<(String, Sort)>,
    /// The name of its graph variable.
    pub graph_variable: String,
}

impl Rule {
    /// Every way to bind its variables to the first `resources` resources and to what a signature has, under which
    /// both sides are steps of the algebra.
    pub fn bindings<'a>(
        &'a self,
        resources: u32,
        signature: &'a Signature,
    ) -> impl Iterator<Item = Binding> + 'a {
        let choices: Vec<u64> =
            self.variables.iter().map(|(_, sort)| sort.count(resources, signature).into()).collect();
        (0..choices.iter().product()).filter_map(move |mut number| {
            let mut binding = Binding::default();
            for (variable, &count) in self.variables().zip(&choices) {
                binding.bind(variable, u32::try_from(number % count).expect("less than there are"));
                number /= count;
            }
            self.is_written(&binding, signature).then_some(binding)
        })
    }

    /// Its variables.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + use<> {
        (0..).map(Variable).take(self.variables.len())
    }

    /// Whether every step of it whose variables are bound is one of the algebra: its edges go upward in the order, and
    /// its attributes have its values.
    pub fn is_written(&self, binding: &Binding, signature: &Signature) -> bool {
        self.left.iter().chain(&self.right).all(|pattern| {
            pattern.bound(binding).is_none_or(|arguments| pattern.kind.is_written(arguments, signature))
        })
    }

    /// Whether it uses attributes, or kinds other than the default.
    pub fn is_attributed(&self) -> bool {
        let plain = Argument::Fixed(0);
        self.left.iter().chain(&self.right).any(|pattern| {
            pattern.kind == StepKind::Set || pattern.kind == StepKind::Con && pattern.arguments[2] != plain
        })
    }

    fn name_of(&self, variable: Variable) -> &str {
        &self.variables[variable.0 as usize].0
    }

    /// An argument as it is written; the attribute before it, if that is named, tells what its values are called.
    fn word(&self, argument: Argument, sort: Sort, attribute: Option<Argument>) -> String {
        let signature = Signature::attributed();
        match (argument, sort, attribute) {
            (Argument::Variable(variable), _, _) => self.name_of(variable).to_owned(),
            (Argument::Fixed(number), Sort::Attribute, _) => {
                format!(":{}", signature.attribute_name(AttributeId::new(number)))
            }
            (Argument::Fixed(0), _, _) => "default".to_owned(),
            (Argument::Fixed(number), Sort::Kind, _) => {
                format!(":{}", signature.kind_name(Kind::new(number)))
            }
            (Argument::Fixed(number), _, Some(Argument::Fixed(attribute))) => {
                let (attribute, value) = (AttributeId::new(attribute), ValueId::new(number));
                format!(":{}", signature.value_name(attribute, value))
            }
            (Argument::Fixed(number), _, _) => number.to_string(),
        }
    }

    fn term(&self, chain: &[StepPattern]) -> String {
        let mut text = String::new();
        for pattern in chain.iter().rev() {
            text += &format!("({} ", pattern.kind.symbol());
            for (&argument, &sort) in pattern.arguments.iter().zip(pattern.kind.sorts()) {
                if (sort, argument) != (Sort::Kind, Argument::Fixed(0)) {
                    text += &(self.word(argument, sort, Some(pattern.arguments[1])) + " ");
                }
            }
        }
        text + &self.graph_variable + &")".repeat(chain.len())
    }

    fn condition(&self, condition: &Condition) -> String {
        match *condition {
            Condition::Differ(left, right) => {
                let sort = [left, right].into_iter().find_map(|argument| match argument {
                    Argument::Variable(variable) => Some(self.variables[variable.0 as usize].1),
                    Argument::Fixed(_) => None,
                });
                let word = |argument| self.word(argument, sort.unwrap_or(Sort::Resource), None);
                format!("{} != {}", word(left), word(right))
            }
            Condition::Member(variable) => format!("{} in {}", self.name_of(variable), self.graph_variable),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equality = format!("{} = {}", self.term(&self.left), self.term(&self.right));
        if self.guard.0.is_empty() {
            return write!(f, "{:<17} {:<22} {equality}", self.family, self.name);
        }
        let alternative = |all: &Vec<Condition>| {
            all.iter().map(|condition| self.condition(condition)).collect::<Vec<_>>().join(" and ")
        };
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
    /// One of its rules speaks of what the algebra in use does not have.
    #[error("the rule `{0}` uses attributes or kinds, which the bare algebra does not have")]
    Attributed(String),
}

/// A set of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// The equalities of the bare algebra.
    pub fn algebra() -> Self {
        Self::parse(include_str!("algebra.rules")).expect("the rules that come with the program can be read")
    }

    /// The equalities of the algebra with attributes and kinds.
    pub fn attributed() -> Self {
        Self::parse(include_str!("attributed.rules"))
            .expect("the rules that come with the program can be read")
    }

    /// The equalities of the algebra over a signature.
    pub fn over(signature: &Signature) -> Self {
        if signature.is_bare() { Self::algebra() } else { Self::attributed() }
    }

    /// Reads rules without judging them.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        parse::parse(text).map(Self)
    }

    /// Reads the text of a person's own file and refuses it if a rule in it is unsound, or speaks of more than the
    /// signature has.
    pub fn from_user_file(text: &str, signature: &Signature) -> Result<Self, RulesError> {
        let rules = Self::parse(text)?;
        for rule in rules.iter() {
            if signature.is_bare() && rule.is_attributed() {
                return Err(RulesError::Attributed(rule.name.clone()));
            }
            if let Some(counterexample) = check(rule, signature) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn from_user_file(text: &str) -> Result<Rules, RulesError> {
        Rules::from_user_file(text, Signature::bare())
    }

    #[test]
    fn the_algebra_has_twenty_five_sound_rules() {
        let rules = Rules::algebra();
        assert_eq!(rules.iter().count(), 25);
        for rule in rules.iter() {
            assert_eq!(check(rule, Signature::bare()), None, "{}", rule.name);
            assert!(!rule.is_attributed(), "{}", rule.name);
        }
    }

    #[test]
    fn with_attributes_it_has_thirty_four_sound_rules() {
        let rules = Rules::attributed();
        assert_eq!(rules.iter().count(), 34);
        for rule in rules.iter() {
            assert_eq!(check(rule, Signature::attributed()), None, "{}", rule.name);
        }
    }

    #[test]
    fn the_rules_of_the_bare_algebra_hold_with_attributes_too() {
        for rule in Rules::algebra().iter() {
            assert_eq!(check(rule, Signature::attributed()), None, "{}", rule.name);
        }
    }

    #[test]
    fn rules_print_as_they_are_read() {
        let text: String = Rules::algebra().iter().map(|rule| format!("{rule}\n")).collect();
        assert_eq!(Rules::parse(&text).unwrap(), Rules::algebra());
        insta::assert_snapshot!(text);
    }

    #[test]
    fn rules_with_attributes_print_as_they_are_read() {
        let named = "mine named (set a :label :b (set a x default g)) = (con a b :depends_on g) \
                     if x != :label or k != default and a in g\nmine other (con a b k g) = (con a b g)";
        let named = named.replace("or k != default and", "and");
        let rules = Rules::attributed();
        let text: String = rules.iter().map(|rule| format!("{rule}\n")).collect();
        assert_eq!(Rules::parse(&text).unwrap(), rules);
        let rules = Rules::parse(&named).unwrap();
        let printed: Vec<String> = rules.iter().map(Rule::to_string).collect();
        assert_eq!(Rules::parse(&printed.join("\n")).unwrap(), rules);
        insta::assert_snapshot!(text + &printed.join("\n"));
    }

    #[test]
    fn an_absorption_without_its_guard_is_refused() {
        let error = from_user_file("mine swallow (rem a (con a b g)) = (rem a g)").unwrap_err();
        insta::assert_snapshot!(error);
    }

    #[test]
    fn a_commutation_that_forgets_that_edges_may_be_the_same_is_refused() {
        let error = from_user_file("mine swap (con a b (disc c d g)) = (disc c d (con a b g))").unwrap_err();
        insta::assert_snapshot!(error);
    }

    #[test]
    fn an_equality_that_forgets_about_resources_it_does_not_name_is_refused() {
        let text = "mine fresh (add a (rem a g)) = (disc a b (disc a c g)) if b in g and c in g and b != c";
        assert!(matches!(from_user_file(text), Err(RulesError::Unsound { .. })));
    }

    #[test]
    fn a_sound_rule_of_ones_own_passes_the_gate() {
        assert!(from_user_file("mine again g = (add a g) if a in g").is_ok());
    }

    #[test]
    fn unsound_rules_about_attributes_and_kinds_are_refused_with_a_counterexample() {
        let error =
            |text: &str| Rules::from_user_file(text, Signature::attributed()).unwrap_err().to_string();
        insta::assert_snapshot!(
            [
                error("mine first-wins (set a x v (set a x w g)) = (set a x w g)"),
                error("mine swap (set a x v (set b y w g)) = (set b y w (set a x v g)) if v != w"),
                error("mine kinds (con a b k (con c d j g)) = (con c d j (con a b k g))"),
                error("mine renewed (add a (rem a g)) = (set a :pin default g)"),
                error("mine third (set a :label :c g) = (set a :label :b g)"),
            error("mine set (set a x v (set a x w g)) = (set a x w g) if v != default and w != default"),
            error("mine same (con a b k (con a b j g)) = (con a b j g) if k != default and j != default"),
            error("mine new (set a :label default (add a (rem a (add a empty)))) = (set a :pin :a (add a empty))"),
            ]
            .join("\n")
        );
    }

    #[test]
    fn sound_rules_about_named_attributes_and_kinds_pass_the_gate() {
        let text = "mine named (set a :label :c (set a x v g)) = (set a x v (set a :label :c g)) if x != :label\n\
                    mine kind (con a b :triggered_by (disc a b g)) = (con a b :triggered_by g)";
        assert!(Rules::from_user_file(text, Signature::attributed()).is_ok());
        let error = Rules::from_user_file(text, Signature::bare()).unwrap_err().to_string();
        assert_eq!(error, "the rule `named` uses attributes or kinds, which the bare algebra does not have");
    }
}
