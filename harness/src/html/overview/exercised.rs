//! What a campaign exercised, as tables.

use serde::Serialize;

use crate::judge::exercised::{Count, Exercised};
use crate::spec::{EdgeKind, ReplacementOrder, Rule};

/// The tables.
#[derive(Debug, Serialize)]
pub struct ExercisedTables {
    rules: Vec<Counted>,
    edges: Vec<Counted>,
    replacements: Vec<Counted>,
    workflows: Vec<(String, u64)>,
    changes: Vec<(String, u64)>,
    checks: Vec<(String, u64)>,
    left_out: Vec<String>,
    not_exercised: Vec<String>,
}

/// How often something was exercised.
#[derive(Debug, Serialize)]
struct Counted {
    name: String,
    about: &'static str,
    /// Which counts mean something: `o` of two operations in an order, `a` in any order, `s` of none.
    columns: char,
    #[serde(flatten)]
    count: Count,
}

impl ExercisedTables {
    /// Of what was exercised, of the rules that the engine is judged by.
    pub fn of(exercised: &Exercised, rules: &[Rule]) -> Self {
        let rule = |rule: Rule| Counted {
            name: format!("{} {}", rule.number(), rule.name()),
            about: rule.text(),
            columns: match rule {
                Rule::Unordered => 'a',
                Rule::SettingSpreads | Rule::WholeChain => 'o',
                _ if rule.orders() => 'o',
                _ => 's',
            },
            count: exercised.rule(rule),
        };
        let edge = |kind: EdgeKind| Counted {
            name: kind.name().to_owned(),
            about: "",
            columns: 'o',
            count: exercised.edge(kind),
        };
        let replacement = |order: ReplacementOrder| Counted {
            name: order.name().to_owned(),
            about: "",
            columns: if order == ReplacementOrder::Either { 'a' } else { 'o' },
            count: exercised.replacement(order),
        };
        let most_first = |counts: &std::collections::BTreeMap<String, u64>| {
            let mut listed: Vec<(String, u64)> =
                counts.iter().map(|(what, times)| (what.clone(), *times)).collect();
            listed.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
            listed
        };
        Self {
            rules: rules.iter().copied().map(rule).collect(),
            edges: EdgeKind::ALL.into_iter().map(edge).collect(),
            replacements: ReplacementOrder::ALL.into_iter().map(replacement).collect(),
            workflows: most_first(&exercised.workflows),
            changes: most_first(&exercised.changes),
            checks: most_first(&exercised.checks),
            left_out: exercised.left_out.iter().map(|rule| rule.name().to_owned()).collect(),
            not_exercised: exercised.not_exercised(rules),
        }
    }
}
