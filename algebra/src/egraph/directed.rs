//! Rules made ready for matching: each read in both directions, unless both readings are the same.

use super::ground::covers;
use crate::rules::{Argument, Base, Guard, Rule, Rules, Sort, StepKind, StepPattern, Variable};

/// A rule read in one direction: where `from` is found, `to` is entered.
#[derive(Debug, Clone)]
pub struct Directed {
    /// The name of the rule, for messages.
    pub name: String,
    /// What both sides are built upon.
    pub base: Base,
    /// The side to look for, innermost step first.
    pub from: Vec<StepPattern>,
    /// The side to enter.
    pub to: Vec<StepPattern>,
    /// When the rule holds.
    pub guard: Guard,
    /// The variables of `to` that do not occur in `from`: they range over all there is.
    pub invented: Vec<(Variable, Sort)>,
}

const KINDS: usize = StepKind::ALL.len();

/// All readings of all rules, and where to start for an e-node.
///
/// Nearly all chains have two operations. They are kept by the kinds of both, so that a pair of e-nodes meets only the
/// readings it can match.
#[derive(Debug, Clone)]
pub struct Readings {
    /// The readings, in the order of the rules.
    pub all: Vec<Directed>,
    of_one: [Vec<usize>; KINDS],
    of_two: [[Vec<usize>; KINDS]; KINDS],
    longer: [Vec<(usize, usize)>; KINDS],
    has_long_pairs: bool,
}

impl Readings {
    /// Both readings of each rule.
    pub fn of(rules: &Rules) -> Self {
        let mut all = Vec::new();
        for rule in rules.iter() {
            let forward = read(rule, &rule.left, &rule.right);
            let backward = read(rule, &rule.right, &rule.left);
            let same = normal_form(&forward) == normal_form(&backward);
            all.push(forward);
            if !same {
                all.push(backward);
            }
        }
        let mut readings = Self {
            all: Vec::new(),
            of_one: Default::default(),
            of_two: Default::default(),
            longer: Default::default(),
            has_long_pairs: false,
        };
        for (index, reading) in all.iter().enumerate() {
            match reading.from[..] {
                [] => {}
                [only] => readings.of_one[only.kind as usize].push(index),
                [inner, outer] => readings.of_two[inner.kind as usize][outer.kind as usize].push(index),
                ref chain => {
                    for (place, pattern) in chain.iter().enumerate() {
                        readings.longer[pattern.kind as usize].push((index, place));
                    }
                }
            }
        }
        readings.has_long_pairs = all
            .iter()
            .any(|reading| reading.base == Base::Any && reading.from.len() == 2 && !covers(reading));
        Self { all, ..readings }
    }

    /// The readings that look for one operation of this kind.
    pub fn of_one(&self, kind: StepKind) -> &[usize] {
        &self.of_one[kind as usize]
    }

    /// The readings that look for one operation upon another.
    pub fn of_two(&self, inner: StepKind, outer: StepKind) -> &[usize] {
        &self.of_two[inner as usize][outer as usize]
    }

    /// Whether some reading leads from two operations on any graph to what is not worked out in advance.
    pub fn has_long_pairs(&self) -> bool {
        self.has_long_pairs
    }

    /// The readings that look for longer chains, with each place in them at which an operation of this kind can stand.
    pub fn longer(&self, kind: StepKind) -> &[(usize, usize)] {
        &self.longer[kind as usize]
    }
}

fn read(rule: &Rule, from: &[StepPattern], to: &[StepPattern]) -> Directed {
    let occurs = |variable: Variable| from.iter().any(|step| step.variables().any(|other| other == variable));
    let variables = rule.variables().zip(rule.variables.iter().map(|variable| variable.1));
    Directed {
        name: rule.name.clone(),
        base: rule.base,
        from: from.to_vec(),
        to: to.to_vec(),
        guard: rule.guard.clone(),
        invented: variables.filter(|&(variable, _)| !occurs(variable)).collect(),
    }
}

/// The reading with its variables renamed in the order in which they occur.
fn normal_form(reading: &Directed) -> (Vec<StepPattern>, Vec<StepPattern>, Guard) {
    use crate::rules::Condition::{Differ, Member};
    let mut order: Vec<Variable> = Vec::new();
    let mut rename = |variable: Variable| {
        let place = order.iter().position(|&known| known == variable).unwrap_or_else(|| {
            order.push(variable);
            order.len() - 1
        });
        Variable(u8::try_from(place).expect("a rule has few variables"))
    };
    let mut renamed = |argument: Argument| match argument {
        Argument::Variable(variable) => Argument::Variable(rename(variable)),
        fixed @ Argument::Fixed(_) => fixed,
    };
    let mut chain = |steps: &[StepPattern]| -> Vec<StepPattern> {
        steps
            .iter()
            .map(|step| StepPattern { kind: step.kind, arguments: step.arguments.map(&mut renamed) })
            .collect()
    };
    let (from, to) = (chain(&reading.from), chain(&reading.to));
    let mut guard = reading.guard.clone();
    for alternative in &mut guard.0 {
        for condition in alternative.iter_mut() {
            *condition = match *condition {
                Differ(a, b) => {
                    let (a, b) = (renamed(a), renamed(b));
                    Differ(a.min(b), a.max(b))
                }
                Member(a) => match renamed(Argument::Variable(a)) {
                    Argument::Variable(a) => Member(a),
                    Argument::Fixed(_) => unreachable!("a variable stays one"),
                },
            };
        }
        alternative.sort_unstable();
    }
    guard.0.sort();
    (from, to, guard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rule_that_swaps_two_steps_of_a_kind_reads_the_same_both_ways() {
        let readings = Readings::of(&Rules::algebra());
        let once: Vec<&str> = readings
            .all
            .iter()
            .map(|reading| reading.name.as_str())
            .filter(|name| readings.all.iter().filter(|reading| reading.name == *name).count() == 1)
            .collect();
        assert_eq!(once, ["add-add-swap", "rem-rem-swap", "con-con-swap", "disc-disc-swap"]);
    }
}
