//! Rules made ready for matching: each read in both directions, unless both readings are the same.

use crate::rules::{Base, Guard, Kind, Rule, Rules, StepPattern, Variable};

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
    /// The variables of `to` that do not occur in `from`: they range over the universe.
    pub invented: Vec<Variable>,
}

/// All readings of all rules, and where to start for an e-node.
#[derive(Debug, Clone)]
pub struct Readings {
    /// The readings, in the order of the rules.
    pub all: Vec<Directed>,
    /// For each kind of operation, every reading and place in its `from` side with that kind.
    by_kind: [Vec<(usize, usize)>; 4],
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
        let mut by_kind: [Vec<(usize, usize)>; 4] = Default::default();
        for (index, reading) in all.iter().enumerate() {
            for (place, pattern) in reading.from.iter().enumerate() {
                by_kind[pattern.kind as usize].push((index, place));
            }
        }
        Self { all, by_kind }
    }

    /// Every reading and place in it at which an operation of this kind can stand.
    pub fn places(&self, kind: Kind) -> &[(usize, usize)] {
        &self.by_kind[kind as usize]
    }
}

fn read(rule: &Rule, from: &[StepPattern], to: &[StepPattern]) -> Directed {
    let occurs =
        |variable: Variable| from.iter().any(|step| step.first == variable || step.second == variable);
    let variables = (0..rule.variables.len())
        .map(|number| Variable(u8::try_from(number).expect("a rule has few variables")));
    Directed {
        name: rule.name.clone(),
        base: rule.base,
        from: from.to_vec(),
        to: to.to_vec(),
        guard: rule.guard.clone(),
        invented: variables.filter(|&variable| !occurs(variable)).collect(),
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
    let mut chain = |steps: &[StepPattern]| -> Vec<StepPattern> {
        steps
            .iter()
            .map(|step| StepPattern {
                kind: step.kind,
                first: rename(step.first),
                second: rename(step.second),
            })
            .collect()
    };
    let (from, to) = (chain(&reading.from), chain(&reading.to));
    let mut guard = reading.guard.clone();
    for alternative in &mut guard.0 {
        for condition in alternative.iter_mut() {
            *condition = match *condition {
                Differ(a, b) => {
                    let (a, b) = (rename(a), rename(b));
                    Differ(a.min(b), a.max(b))
                }
                Member(a) => Member(rename(a)),
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
