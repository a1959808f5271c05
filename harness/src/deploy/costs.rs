//! What commands took beside time, over a whole run, and which of them took far more than others. Machines are noisy,
//! so nothing here is a finding, and nothing goes by the clock on the wall.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Mutex;

use serde::Serialize;

use crate::evidence::{Cost, StageRecord};

/// How many times the usual a command must take to be listed.
pub const FAR_MORE: u64 = 10;

/// How many commands of a kind there must be to know what is usual.
const ENOUGH: usize = 8;

/// How many commands of a kind are remembered.
const MOST: usize = 100_000;

/// What a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Processor time, in milliseconds.
    Cpu,
    /// The most memory that a process had, in bytes.
    Memory,
    /// What was printed, in bytes.
    Output,
}

impl Measure {
    const ALL: [Self; 3] = [Self::Cpu, Self::Memory, Self::Output];

    fn of(self, cost: &Cost) -> u64 {
        match self {
            Self::Cpu => cost.cpu_milliseconds,
            Self::Memory => cost.peak_memory,
            Self::Output => cost.output_bytes,
        }
    }

    /// What is too little to be worth a line, however many times the usual it is.
    pub fn floor(self) -> u64 {
        match self {
            Self::Cpu => 1000,
            Self::Memory => 512 << 20,
            Self::Output => 256 << 10,
        }
    }

    /// An amount in words.
    pub fn text(self, amount: u64) -> String {
        match self {
            Self::Cpu => format!("{amount} ms of processor time"),
            Self::Memory => format!("{} MiB of memory", amount >> 20),
            Self::Output => format!("{} KiB of output", amount >> 10),
        }
    }
}

/// Something that took far more than is usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outlier {
    /// The kind of command: its first word.
    pub command: String,
    /// What it took.
    pub measure: Measure,
    /// How much; of all commands of the kind, the median.
    pub amount: u64,
    /// What is usual: the median of the kind, or of the other kinds.
    pub usual: u64,
    /// The stage, by its folder; none if it is all commands of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

impl Display for Outlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, measure, amount, usual, stage } = self;
        let (amount, usual) = (measure.text(*amount), measure.text(*usual));
        match stage {
            Some(stage) => write!(f, "{command} takes {amount} in {stage}, and {usual} as a rule"),
            None => write!(f, "{command} takes {amount} as a rule, and other commands {usual}"),
        }
    }
}

/// The commands of a run, by their kinds. A warm engine is another thing than one that is started for each command.
#[derive(Debug, Default)]
pub struct Costs(Mutex<BTreeMap<(bool, String), Kind>>);

#[derive(Debug, Default)]
struct Kind {
    costs: Vec<Cost>,
    /// The most that a command took of each measure, and where.
    most: BTreeMap<Measure, (u64, String)>,
}

impl Costs {
    /// Adds a command that was run in a variant's folder.
    pub fn add(&self, record: &StageRecord, folder: &str) {
        let Some(cost) = &record.cost else { return };
        let word = record.command.split(' ').next().unwrap_or_default();
        let mut kinds = self.0.lock().expect("no holder panics");
        let kind = kinds.entry((record.warm, word.to_owned())).or_default();
        if kind.costs.len() < MOST {
            kind.costs.push(*cost);
        }
        for measure in Measure::ALL {
            let amount = measure.of(cost);
            if kind.most.get(&measure).is_none_or(|(most, _)| amount > *most) {
                kind.most.insert(measure, (amount, format!("{folder}/{}", record.stage)));
            }
        }
    }

    /// What is usual of each kind of command, cold engines and warm ones apart.
    pub fn medians(&self) -> BTreeMap<(bool, String, Measure), u64> {
        let kinds = self.0.lock().expect("no holder panics");
        let all = kinds.iter().filter(|(_, kind)| kind.costs.len() >= ENOUGH);
        let each = all.flat_map(|((warm, word), kind)| {
            Measure::ALL.map(|measure| ((*warm, word.clone(), measure), median(&kind.costs, measure)))
        });
        each.collect()
    }

    /// What took far more than is usual: the worst command of each kind, and kinds as a whole.
    pub fn outliers(&self) -> Vec<Outlier> {
        let (medians, kinds) = (self.medians(), self.0.lock().expect("no holder panics"));
        let mut outliers = Vec::new();
        for ((warm, command, measure), usual) in &medians {
            let is_far_more = |amount: u64, usual: u64| {
                amount >= measure.floor() && amount > FAR_MORE.saturating_mul(usual)
            };
            let outlier = |amount, usual, stage| Outlier {
                command: command.clone(),
                measure: *measure,
                amount,
                usual,
                stage,
            };
            let others: Vec<Cost> = kinds
                .iter()
                .filter(|((is_warm, word), _)| is_warm == warm && word != command)
                .flat_map(|(_, kind)| kind.costs.iter().copied())
                .collect();
            let of_others = median(&others, *measure);
            if others.len() >= ENOUGH && is_far_more(*usual, of_others) {
                outliers.push(outlier(*usual, of_others, None));
            } else if let Some((most, stage)) = kinds[&(*warm, command.clone())].most.get(measure)
                && is_far_more(*most, *usual)
            {
                outliers.push(outlier(*most, *usual, Some(stage.clone())));
            }
        }
        outliers
    }
}

fn median(costs: &[Cost], measure: Measure) -> u64 {
    let mut amounts: Vec<u64> = costs.iter().map(|cost| measure.of(cost)).collect();
    amounts.sort_unstable();
    amounts.get(amounts.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(costs: &Costs, command: &str, cpu_milliseconds: u64, output_bytes: u64) {
        let cost = Cost { cpu_milliseconds, peak_memory: 100 << 20, output_bytes };
        costs.add(&StageRecord { cost: Some(cost), ..StageRecord::new("batch-1", command) }, "variant-0001");
    }

    #[test]
    fn a_stage_and_a_kind_of_command_that_take_far_more_than_others_are_listed() {
        let costs = Costs::default();
        for _ in 0..20 {
            add(&costs, "apply -json", 100, 20_000);
            add(&costs, "plan -json", 90, 15_000);
        }
        assert_eq!(costs.outliers(), []);
        add(&costs, "apply -json", 30_000, 20_000);
        for _ in 0..20 {
            add(&costs, "destroy -json", 95, 3 << 20);
        }
        let listed: Vec<String> = costs.outliers().iter().map(ToString::to_string).collect();
        assert_eq!(
            listed,
            [
                "apply takes 30000 ms of processor time in variant-0001/batch-1, and 100 ms of processor time as a \
                 rule",
                "destroy takes 3072 KiB of output as a rule, and other commands 19 KiB of output",
            ]
        );
    }

    #[test]
    fn what_is_little_is_not_listed_however_many_times_the_usual_it_is() {
        let costs = Costs::default();
        (0..20).for_each(|_| add(&costs, "plan", 10, 100));
        add(&costs, "plan", 900, 200_000);
        assert_eq!(costs.outliers(), []);
    }
}
