//! Which operations were under way at the same time.

use crate::deploy::evidence::Observed;

/// The pairs of operations that overlapped, the one that began first in front: neither had ended when the
/// other began. An operation that never ended overlaps with all that began after it. Operations are given in
/// the order of their begins.
pub fn overlaps(operations: &[Observed]) -> Vec<(&Observed, &Observed)> {
    let mut pairs = Vec::new();
    let mut open: Vec<&Observed> = Vec::new();
    for observed in operations {
        open.retain(|earlier| earlier.end.is_none_or(|(end, _)| end > observed.begin));
        pairs.extend(open.iter().map(|earlier| (*earlier, observed)));
        open.push(observed);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ExpectedOperation, Kind};

    fn operation(key: &str, begin: u64, end: Option<u64>) -> Observed {
        let operation = ExpectedOperation { key: key.to_owned(), kind: Kind::Create };
        Observed { operation, begin, end: end.map(|end| (end, true)) }
    }

    #[test]
    fn operations_overlap_if_neither_had_ended_when_the_other_began() {
        let operations = [
            operation("a", 1, Some(4)),
            operation("b", 2, Some(3)),
            operation("c", 5, None),
            operation("d", 6, Some(7)),
            operation("e", 8, Some(9)),
        ];
        let pairs: Vec<(&str, &str)> = overlaps(&operations)
            .into_iter()
            .map(|(first, second)| (first.operation.key.as_str(), second.operation.key.as_str()))
            .collect();
        assert_eq!(pairs, [("a", "b"), ("c", "d"), ("c", "e")]);
    }
}
