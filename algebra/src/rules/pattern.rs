//! What rules are made of: operations on variables, and the conditions under which they may be exchanged.

use crate::graph::{Edge, Resource};
use crate::program::Step;
use crate::signature::{AttributeId, Kind, Signature, ValueId};

/// The operations, without their arguments.
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
    /// Gives a resource a value.
    Set,
}

/// What an argument of an operation stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// A resource.
    Resource,
    /// An attribute.
    Attribute,
    /// A value of an attribute.
    Value,
    /// A kind of edges.
    Kind,
}

impl Sort {
    /// What a person calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Sort::Resource => "a resource",
            Sort::Attribute => "an attribute",
            Sort::Value => "a value",
            Sort::Kind => "a kind",
        }
    }

    /// How many there are; of values, as many as the attribute with most of them has.
    pub fn count(self, resources: u32, signature: &Signature) -> u32 {
        let count = match self {
            Sort::Resource => return resources,
            Sort::Attribute => signature.attributes().len(),
            Sort::Value => {
                signature.attributes().iter().map(|attribute| attribute.values().len()).max().unwrap_or(0)
            }
            Sort::Kind => signature.kinds().len(),
        };
        u32::try_from(count).expect("a few names")
    }
}

/// The arguments of an operation, by number, in the order in which they are written. What it does not take is 0.
pub type Arguments = [u32; 3];

impl StepKind {
    /// All of them.
    pub const ALL: [StepKind; 5] =
        [StepKind::Add, StepKind::Rem, StepKind::Con, StepKind::Disc, StepKind::Set];

    /// Its name in a term.
    pub const fn symbol(self) -> &'static str {
        match self {
            StepKind::Add => "add",
            StepKind::Rem => "rem",
            StepKind::Con => "con",
            StepKind::Disc => "disc",
            StepKind::Set => "set",
        }
    }

    /// What it takes.
    pub const fn sorts(self) -> &'static [Sort] {
        match self {
            StepKind::Add | StepKind::Rem => &[Sort::Resource],
            StepKind::Con => &[Sort::Resource, Sort::Resource, Sort::Kind],
            StepKind::Disc => &[Sort::Resource, Sort::Resource],
            StepKind::Set => &[Sort::Resource, Sort::Attribute, Sort::Value],
        }
    }

    /// Whether it takes an edge, not a single resource.
    pub const fn takes_edge(self) -> bool {
        matches!(self, StepKind::Con | StepKind::Disc)
    }

    /// The step of this kind with these arguments.
    pub fn step(self, arguments: Arguments) -> Step {
        let [first, second, third] = arguments;
        let resource = Resource::new(first);
        let edge = || Edge::new(resource, Resource::new(second));
        let small = |number: u32| u8::try_from(number).expect("a few names");
        match self {
            StepKind::Add => Step::Add(resource),
            StepKind::Rem => Step::Rem(resource),
            StepKind::Con => Step::Con(edge(), Kind::new(small(third))),
            StepKind::Disc => Step::Disc(edge()),
            StepKind::Set => Step::Set(resource, AttributeId::new(small(second)), ValueId::new(small(third))),
        }
    }

    /// The kind and the arguments of a step.
    pub fn of(step: Step) -> (StepKind, Arguments) {
        match step {
            Step::Add(resource) => (StepKind::Add, [resource.index(), 0, 0]),
            Step::Rem(resource) => (StepKind::Rem, [resource.index(), 0, 0]),
            Step::Con(edge, kind) => {
                let (dependency, dependent) = (edge.dependency.index(), edge.dependent.index());
                (StepKind::Con, [dependency, dependent, u32::from(kind.index())])
            }
            Step::Disc(edge) => (StepKind::Disc, [edge.dependency.index(), edge.dependent.index(), 0]),
            Step::Set(resource, attribute, value) => {
                let (attribute, value) = (u32::from(attribute.index()), u32::from(value.index()));
                (StepKind::Set, [resource.index(), attribute, value])
            }
        }
    }

    /// Whether there is such a step in the algebra: edges go upward in the fixed order, and an attribute has the value.
    pub fn is_written(self, arguments: Arguments, signature: &Signature) -> bool {
        let [first, second, third] = arguments;
        match self {
            StepKind::Add | StepKind::Rem => true,
            StepKind::Con => first < second && (third as usize) < signature.kinds().len(),
            StepKind::Disc => first < second,
            StepKind::Set => {
                let attribute = signature.attributes().get(second as usize);
                attribute.is_some_and(|attribute| (third as usize) < attribute.values().len())
            }
        }
    }
}

/// A variable of a rule, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub u8);

/// The most variables a rule may have.
pub const MAX_VARIABLES: usize = 6;

/// What the variables of a rule stand for, as far as that is known. There is room for a power of two, so that places
/// need not be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding([u32; ROOM]);

const ROOM: usize = MAX_VARIABLES.next_power_of_two();

const OPEN: u32 = u32::MAX;

impl Default for Binding {
    fn default() -> Self {
        Self([OPEN; ROOM])
    }
}

impl Binding {
    /// The number of what a variable stands for.
    #[inline]
    pub fn get(&self, variable: Variable) -> Option<u32> {
        Some(self.0[variable.0 as usize % ROOM]).filter(|&number| number != OPEN)
    }

    /// Has a variable stand for something.
    pub fn bind(&mut self, variable: Variable, number: u32) {
        self.0[variable.0 as usize % ROOM] = number;
    }

    /// The number of what an argument stands for.
    #[inline]
    pub fn value(&self, argument: Argument) -> Option<u32> {
        match argument {
            Argument::Variable(variable) => self.get(variable),
            Argument::Fixed(number) => Some(number.into()),
        }
    }
}

/// An argument in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument {
    /// A variable.
    Variable(Variable),
    /// This attribute, value or kind; or, where the operation takes nothing, 0.
    Fixed(u8),
}

/// An operation on variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepPattern {
    /// Which operation.
    pub kind: StepKind,
    /// Its arguments.
    pub arguments: [Argument; 3],
}

impl StepPattern {
    /// What its arguments stand for, if all of them are bound.
    #[inline]
    pub fn bound(self, binding: &Binding) -> Option<Arguments> {
        let [first, second, third] = self.arguments;
        Some([binding.value(first)?, binding.value(second)?, binding.value(third)?])
    }

    /// The step it becomes, if all its variables are bound.
    pub fn instance(self, binding: &Binding) -> Option<Step> {
        self.bound(binding).map(|arguments| self.kind.step(arguments))
    }

    /// Binds its variables to the arguments of a step of the same kind; false if one stands for something else already.
    #[inline]
    pub fn unify(self, arguments: Arguments, binding: &mut Binding) -> bool {
        let mut unify = |at: usize| match self.arguments[at] {
            Argument::Fixed(fixed) => u32::from(fixed) == arguments[at],
            Argument::Variable(variable) => {
                let slot = &mut binding.0[variable.0 as usize % ROOM];
                if *slot == OPEN {
                    *slot = arguments[at];
                }
                *slot == arguments[at]
            }
        };
        unify(0) && unify(1) && unify(2)
    }

    /// The variables it names.
    pub fn variables(self) -> impl Iterator<Item = Variable> {
        self.arguments.into_iter().filter_map(|argument| match argument {
            Argument::Variable(variable) => Some(variable),
            Argument::Fixed(_) => None,
        })
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
    /// The two stand for different things of the same sort.
    Differ(Argument, Argument),
    /// It stands for a resource in the graph both sides are built upon.
    Member(Variable),
}

/// When a rule applies: if all conditions of one of the alternatives hold. No alternative at all means always.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Guard(pub Vec<Vec<Condition>>);

impl Guard {
    /// Whether it holds under a binding of all its variables.
    #[inline]
    pub fn holds(&self, binding: &Binding, member: impl Fn(Resource) -> bool) -> bool {
        let value = |argument: Argument| binding.value(argument).expect("guards are asked when all is bound");
        let condition = |condition: &Condition| match *condition {
            Condition::Differ(left, right) => value(left) != value(right),
            Condition::Member(variable) => member(Resource::new(value(Argument::Variable(variable)))),
        };
        self.0.is_empty() || self.0.iter().any(|alternative| alternative.iter().all(condition))
    }
}
