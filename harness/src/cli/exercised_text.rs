//! How a summary shows what was exercised.

use std::io::{self, Write};

use crate::judge::exercised::{Count, Exercised};
use crate::spec::{EdgeKind, ReplacementOrder, Rule};

/// Which columns mean something in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// Two operations in an order.
    Ordered,
    /// Two operations in any order.
    AnyOrder,
    /// No pair of operations.
    Single,
}

/// Writes the table, and lines with what was counted beside it.
pub fn write(out: &mut dyn Write, exercised: &Exercised, rules: &[Rule]) -> io::Result<()> {
    if exercised.is_empty() {
        return Ok(());
    }
    let rows = rows(exercised, rules);
    let names = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    writeln!(
        out,
        "  {:width$}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}",
        "exercised",
        "times",
        "kept",
        "adjacent",
        "overlap",
        "reversed",
        width = names + 2,
    )?;
    for (name, columns, count) in &rows {
        let pairs =
            |number: u64| if *columns == Columns::Single { "-".to_owned() } else { number.to_string() };
        let ordered =
            |number: u64| if *columns == Columns::Ordered { number.to_string() } else { "-".to_owned() };
        writeln!(
            out,
            "    {name:names$}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}",
            count.exercised,
            count.kept,
            ordered(count.adjacent),
            pairs(count.overlapped),
            ordered(count.reversed),
        )?;
    }
    let counts = [
        ("workflows", &exercised.workflows),
        ("changes", &exercised.changes),
        ("checked", &exercised.checks),
    ];
    for (title, counts) in counts.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        let listed: Vec<String> = counts.iter().map(|(what, times)| format!("{times} {what}")).collect();
        writeln!(out, "  {title:12}  {}", listed.join(", "))?;
    }
    Ok(())
}

fn rows(exercised: &Exercised, rules: &[Rule]) -> Vec<(String, Columns, Count)> {
    let rule = |rule: Rule| {
        let columns = match rule {
            Rule::Unordered => Columns::AnyOrder,
            Rule::SettingSpreads | Rule::WholeChain => Columns::Ordered,
            _ if rule.orders() => Columns::Ordered,
            _ => Columns::Single,
        };
        (format!("{:2} {}", rule.number(), rule.name()), columns, exercised.rule(rule))
    };
    let edge = |kind: EdgeKind| (format!("edges by {}", kind.name()), Columns::Ordered, exercised.edge(kind));
    let replacement = |order: ReplacementOrder| {
        let columns = if order == ReplacementOrder::Either { Columns::AnyOrder } else { Columns::Ordered };
        (format!("replacement ({})", order.name()), columns, exercised.replacement(order))
    };
    let rules = rules.iter().copied().map(rule);
    rules.chain(EdgeKind::ALL.map(edge)).chain(ReplacementOrder::ALL.map(replacement)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned() {
        let mut exercised = Exercised::default();
        let ordered = Count { exercised: 12345, kept: 12344, adjacent: 4321, overlapped: 1, reversed: 0 };
        for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::RemovedDependencyOutlives) {
            exercised.rules.insert(rule, ordered);
        }
        exercised.edges.insert(EdgeKind::Refs, ordered);
        exercised.edges.insert(EdgeKind::PinnedRefs, ordered);
        exercised.replacements.insert(ReplacementOrder::DeleteFirst, ordered);
        exercised.checked("batches", 40);
        exercised.changed("updated by label", 3);
        exercised.driven_by("drift");
        let mut text = Vec::new();
        write(&mut text, &exercised, &Rule::ALL).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
