//! The hash-cons: which class an operation on a class leads to.
//!
//! Every symbol but `empty` takes one graph, so the key of an e-node is an operation and a class. The e-nodes over a
//! class make a row: its parents, in the words of e-graphs. Congruence says that a row has one class for an operation,
//! and two classes that become one join their rows.

use std::ops::Range;

use super::operations::Op;

/// A class, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

impl ClassId {
    /// To index tables with.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Rows of classes, indexed by operation.
pub trait Table {
    /// An empty table for so many operations.
    fn new(operations: u32) -> Self;

    /// Begins the row of the next class.
    fn push_row(&mut self);

    /// The class of an e-node, if it is there.
    fn get(&self, class: ClassId, op: Op) -> Option<ClassId>;

    /// Enters an e-node, or changes its class.
    fn set(&mut self, class: ClassId, op: Op, result: ClassId);

    /// Takes all e-nodes out of a row, in the order of their operations.
    fn take_row(&mut self, class: ClassId) -> Vec<(Op, ClassId)>;

    /// The e-nodes of a row with an operation in a range, in the order of their operations.
    fn row(&self, class: ClassId, ops: Range<u32>) -> impl Iterator<Item = (Op, ClassId)> + '_;

    /// How many bytes it takes.
    fn bytes(&self) -> usize;
}

const NONE: u32 = u32::MAX;

/// A place for every operation: no search, for universes of a few resources.
#[derive(Debug)]
pub struct Dense {
    width: usize,
    cells: Vec<u32>,
}

impl Dense {
    fn cell(&self, class: ClassId, op: Op) -> usize {
        class.at() * self.width + op.0 as usize
    }
}

impl Table for Dense {
    fn new(operations: u32) -> Self {
        Self { width: operations as usize, cells: Vec::new() }
    }

    fn push_row(&mut self) {
        self.cells.resize(self.cells.len() + self.width, NONE);
    }

    fn get(&self, class: ClassId, op: Op) -> Option<ClassId> {
        let cell = self.cells[self.cell(class, op)];
        (cell != NONE).then_some(ClassId(cell))
    }

    fn set(&mut self, class: ClassId, op: Op, result: ClassId) {
        let cell = self.cell(class, op);
        self.cells[cell] = result.0;
    }

    fn take_row(&mut self, class: ClassId) -> Vec<(Op, ClassId)> {
        let width = u32::try_from(self.width).expect("made from a u32");
        let row = self.row(class, 0..width).collect();
        let start = self.cell(class, Op(0));
        self.cells[start..start + self.width].fill(NONE);
        row
    }

    fn row(&self, class: ClassId, ops: Range<u32>) -> impl Iterator<Item = (Op, ClassId)> + '_ {
        let cells = &self.cells[self.cell(class, Op(ops.start))..self.cell(class, Op(ops.end))];
        ops.zip(cells).filter(|&(_, &cell)| cell != NONE).map(|(op, &cell)| (Op(op), ClassId(cell)))
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<u32>()
    }
}

/// A sorted list for each class: for universes with more operations than any class will ever have e-nodes.
#[derive(Debug)]
pub struct Lists {
    rows: Vec<Vec<(Op, ClassId)>>,
}

impl Table for Lists {
    fn new(_operations: u32) -> Self {
        Self { rows: Vec::new() }
    }

    fn push_row(&mut self) {
        self.rows.push(Vec::new());
    }

    fn get(&self, class: ClassId, op: Op) -> Option<ClassId> {
        let row = &self.rows[class.at()];
        row.binary_search_by_key(&op, |entry| entry.0).ok().map(|place| row[place].1)
    }

    fn set(&mut self, class: ClassId, op: Op, result: ClassId) {
        let row = &mut self.rows[class.at()];
        match row.binary_search_by_key(&op, |entry| entry.0) {
            Ok(place) => row[place].1 = result,
            Err(place) => row.insert(place, (op, result)),
        }
    }

    fn take_row(&mut self, class: ClassId) -> Vec<(Op, ClassId)> {
        std::mem::take(&mut self.rows[class.at()])
    }

    fn row(&self, class: ClassId, ops: Range<u32>) -> impl Iterator<Item = (Op, ClassId)> + '_ {
        let row = &self.rows[class.at()];
        let start = row.partition_point(|entry| entry.0.0 < ops.start);
        row[start..].iter().copied().take_while(move |entry| entry.0.0 < ops.end)
    }

    fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|row| row.capacity() * size_of::<(Op, ClassId)>()).sum();
        rows + self.rows.capacity() * size_of::<Vec<(Op, ClassId)>>()
    }
}
