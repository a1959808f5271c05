//! Which operations were under way at the same time.

use crate::evidence::ObservedOperation;

/// The pairs of operations that overlapped, the one that began first in front: neither had ended when the
/// other began. An operation that never ended overlaps with all that began after it. Operations are given in
/// the order of their begins.
pub fn overlaps(operations: &[ObservedOperation]) -> Vec<(&ObservedOperation, &ObservedOperation)> {
    let mut pairs = Vec::new();
    let mut open: Vec<&ObservedOperation> = Vec::new();
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
    use crate::spec::{OperationKind, ResourceOperation};

    fn operation(key: &str, begin: u64, end: Option<u64>) -> ObservedOperation {
        let operation = ResourceOperation::new(&key.into(), OperationKind::Create);
        ObservedOperation { operation, begin, end: end.map(|end| (end, true)), id: None, fault: None }
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
            .map(|(first, second)| (&*first.operation.key, &*second.operation.key))
            .collect();
        assert_eq!(pairs, [("a", "b"), ("c", "d"), ("c", "e")]);
    }
}
