//! The fixed order of a universe, found from the edges that have to go upward in it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// No order exists: these names depend on each other in a ring.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the edges close a cycle: {}", .0.join(" → "))]
pub struct CycleError(pub Vec<String>);

/// Orders names so that every edge goes upward. Where the edges leave a choice, names come in reading order, numbers
/// in them by value (`r2` before `r10`), so the same names and edges always give the same order.
pub fn topological_order<'a>(
    names: impl IntoIterator<Item = &'a str>,
    edges: &[(&'a str, &'a str)],
) -> Result<Vec<String>, CycleError> {
    let mut waiting_for: BTreeMap<&str, usize> = names.into_iter().map(|name| (name, 0)).collect();
    let mut dependents: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &(dependency, dependent) in edges {
        *waiting_for.entry(dependent).or_default() += 1;
        waiting_for.entry(dependency).or_default();
        dependents.entry(dependency).or_default().push(dependent);
    }
    let mut ready: BinaryHeap<Reverse<Natural>> = waiting_for
        .iter()
        .filter(|&(_, &count)| count == 0)
        .map(|(&name, _)| Reverse(Natural(name)))
        .collect();
    let mut order = Vec::with_capacity(waiting_for.len());
    while let Some(Reverse(Natural(name))) = ready.pop() {
        order.push(name.to_owned());
        for dependent in dependents.remove(name).unwrap_or_default() {
            let count = waiting_for.get_mut(dependent).expect("every end of an edge was entered above");
            *count -= 1;
            if *count == 0 {
                ready.push(Reverse(Natural(dependent)));
            }
        }
    }
    if order.len() == waiting_for.len() { Ok(order) } else { Err(find_cycle(&waiting_for, edges)) }
}

/// Walks backward from a name that never became ready until a name comes up again.
fn find_cycle(waiting_for: &BTreeMap<&str, usize>, edges: &[(&str, &str)]) -> CycleError {
    let stuck = |name: &str| waiting_for[name] > 0;
    let mut at = *waiting_for.keys().find(|name| stuck(name)).expect("some name never became ready");
    let mut seen = BTreeSet::new();
    let mut path = vec![at];
    while seen.insert(at) {
        let into = edges.iter().find(|(dependency, dependent)| *dependent == at && stuck(dependency));
        at = into.expect("a stuck name waits for another stuck name").0;
        path.push(at);
    }
    let start = path.iter().position(|&name| name == at).expect("the walk came back to it");
    CycleError(path[start..].iter().rev().map(|&name| name.to_owned()).collect())
}

/// A name compared as people read it.
#[derive(PartialEq, Eq)]
struct Natural<'a>(&'a str);

impl Natural<'_> {
    /// The text before the number a name ends in, and that number's digits without leading zeros.
    fn split(&self) -> (&str, &str) {
        let text = self.0.trim_end_matches(|c: char| c.is_ascii_digit());
        (text, self.0[text.len()..].trim_start_matches('0'))
    }
}

impl Ord for Natural<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((text, digits), (other_text, other_digits)) = (self.split(), other.split());
        text.cmp(other_text)
            .then(digits.len().cmp(&other_digits.len()))
            .then(digits.cmp(other_digits))
            .then(self.0.cmp(other.0))
    }
}

impl PartialOrd for Natural<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_count_by_value() {
        assert_eq!(topological_order(["r10", "r2", "r1"], &[]).unwrap(), ["r1", "r2", "r10"]);
    }

    #[test]
    fn edges_come_before_reading_order() {
        assert_eq!(topological_order(["a", "b", "c"], &[("c", "a")]).unwrap(), ["b", "c", "a"]);
    }

    #[test]
    fn a_cycle_is_named() {
        let error = topological_order(["a", "b", "c"], &[("a", "b"), ("b", "c"), ("c", "b")]).unwrap_err();
        assert_eq!(error.to_string(), "the edges close a cycle: b → c → b");
    }
}
