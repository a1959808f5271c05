//! The e-graph itself: classes, e-nodes, unions and their repair.

use std::fmt;

use super::denotation::Denotation;
use super::operations::{Op, Operations};
use super::table::{ClassId, Table};
use crate::graph::{Graph, NamedGraph, Names};
use crate::program::Step;
use crate::signature::Signature;

/// What entering or joining would have made untrue, told by the analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsound {
    /// The operation has no meaning on the graph of the class.
    Undefined {
        /// The operation.
        step: Step,
        /// The graph.
        graph: Box<Graph>,
    },
    /// Two classes with different graphs were to become one.
    Differs {
        /// The graph of one.
        left: Box<Graph>,
        /// The graph of the other.
        right: Box<Graph>,
    },
}

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = |graph: &Graph| graph.nodes().last().map_or(0, |node| node.index() + 1);
        let json = |graph: &Graph| {
            let named = NamedGraph::new(graph, &Names::numbered(last(graph)));
            serde_json::to_string(&named).expect("a graph is plain data")
        };
        match self {
            Unsound::Undefined { step, graph } => {
                let most = step.resources().map(|resource| resource.index() + 1).max().unwrap_or(0);
                write!(f, "`{}` has no meaning on {}", step.describe(&Names::numbered(most)), json(graph))
            }
            Unsound::Differs { left, right } => {
                write!(f, "it would make {} equal to {}", json(left), json(right))
            }
        }
    }
}

/// Classes of programs that mean the same, over one universe.
#[derive(Debug)]
pub struct EGraph<D, T> {
    operations: Operations,
    table: T,
    graphs: Vec<D>,
    leaders: Vec<ClassId>,
    /// For each class, its e-nodes: an operation and the class it is applied to. Classes in it may have been joined
    /// with others since.
    members: Vec<Vec<(Op, ClassId)>>,
    /// Unions whose rows are still to be joined: the class that goes, and the one that stays.
    to_repair: Vec<(ClassId, ClassId)>,
    /// E-nodes entered since the last call of [`EGraph::take_news`].
    news: Vec<(ClassId, Op)>,
    live_classes: usize,
    nodes: usize,
}

impl<D: Denotation, T: Table> EGraph<D, T> {
    /// The class of `empty`.
    pub const EMPTY: ClassId = ClassId(0);

    /// An e-graph over so many resources with nothing but `empty`.
    pub fn new(resources: u32, signature: &Signature) -> Self {
        let operations = Operations::over(resources, signature);
        let mut egraph = Self {
            table: T::new(operations.count()),
            operations,
            graphs: Vec::new(),
            leaders: Vec::new(),
            members: Vec::new(),
            to_repair: Vec::new(),
            news: Vec::new(),
            live_classes: 0,
            nodes: 1,
        };
        egraph.new_class(D::empty());
        egraph
    }

    fn new_class(&mut self, graph: D) -> ClassId {
        let class = ClassId(u32::try_from(self.leaders.len()).expect("fewer than 2^32 classes"));
        self.graphs.push(graph);
        self.leaders.push(class);
        self.members.push(Vec::new());
        self.table.push_row();
        self.live_classes += 1;
        class
    }

    /// The operations of its universe.
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// The number of classes.
    pub fn class_count(&self) -> usize {
        self.live_classes
    }

    /// The number of classes ever made, those that were joined with others among them.
    pub fn classes_made(&self) -> usize {
        self.leaders.len()
    }

    /// The number of e-nodes.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// The bytes its tables take.
    pub fn bytes(&self) -> usize {
        let members: usize =
            self.members.iter().map(|list| list.capacity() * size_of::<(Op, ClassId)>()).sum();
        let graphs: usize = self.graphs.iter().map(|graph| size_of::<D>() + graph.heap_bytes()).sum();
        let per_class = size_of::<ClassId>() + size_of::<Vec<(Op, ClassId)>>();
        self.table.bytes() + members + graphs + self.leaders.len() * per_class
    }

    /// All classes, in the order in which they were made.
    pub fn classes(&self) -> impl Iterator<Item = ClassId> + '_ {
        let all = 0..u32::try_from(self.leaders.len()).expect("fewer than 2^32 classes");
        all.map(ClassId).filter(|&class| self.leaders[class.at()] == class)
    }

    /// The graph a class denotes.
    pub fn graph(&self, class: ClassId) -> &D {
        &self.graphs[class.at()]
    }

    /// The hash-cons. Its classes are leaders unless a repair is due.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The e-nodes in a class: each an operation and the class it is applied to, found through [`EGraph::find`].
    pub fn members(&self, class: ClassId) -> &[(Op, ClassId)] {
        &self.members[class.at()]
    }

    /// The class that a class has become part of.
    pub fn find(&self, mut class: ClassId) -> ClassId {
        while self.leaders[class.at()] != class {
            class = self.leaders[class.at()];
        }
        class
    }

    /// The class of a program, if all of it is there.
    pub fn lookup(&self, steps: impl IntoIterator<Item = Step>) -> Option<ClassId> {
        let mut class = Self::EMPTY;
        for step in steps {
            class = self.table.get(class, self.operations.of_step(step)?)?;
        }
        Some(class)
    }

    /// The class of an e-node; it is made if it is not there.
    pub fn enter(&mut self, child: ClassId, op: Op) -> Result<ClassId, Unsound> {
        if let Some(class) = self.table.get(child, op) {
            return Ok(self.find(class));
        }
        let graph = self.denoted(child, op)?;
        let class = self.new_class(graph);
        self.insert(child, op, class);
        Ok(class)
    }

    /// Enters an e-node into a class that is known to be its own; if it is elsewhere already, the two become one.
    pub fn enter_into(&mut self, child: ClassId, op: Op, class: ClassId) -> Result<(), Unsound> {
        if let Some(present) = self.table.get(child, op) {
            return self.union(present, class);
        }
        let graph = self.denoted(child, op)?;
        if graph != self.graphs[class.at()] {
            return Err(self.differs(&graph, class));
        }
        self.insert(child, op, class);
        Ok(())
    }

    fn denoted(&self, child: ClassId, op: Op) -> Result<D, Unsound> {
        let step = self.operations.step(op);
        let graph = &self.graphs[child.at()];
        graph.after(step).ok_or_else(|| Unsound::Undefined { step, graph: Box::new(graph.graph()) })
    }

    fn differs(&self, graph: &D, class: ClassId) -> Unsound {
        let (left, right) = (graph.graph(), self.graphs[class.at()].graph());
        Unsound::Differs { left: Box::new(left), right: Box::new(right) }
    }

    fn insert(&mut self, child: ClassId, op: Op, class: ClassId) {
        self.table.set(child, op, class);
        self.members[class.at()].push((op, child));
        self.news.push((child, op));
        self.nodes += 1;
    }

    /// Makes two classes one. Their rows are joined later, by [`EGraph::rebuild`].
    pub fn union(&mut self, left: ClassId, right: ClassId) -> Result<(), Unsound> {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return Ok(());
        }
        if self.graphs[left.at()] != self.graphs[right.at()] {
            return Err(self.differs(&self.graphs[left.at()].clone(), right));
        }
        let (stays, goes) = (left.min(right), left.max(right));
        self.leaders[goes.at()] = stays;
        self.live_classes -= 1;
        self.to_repair.push((goes, stays));
        Ok(())
    }

    /// Restores congruence after unions: an operation on one class leads to one class, and the table names
    /// leaders only.
    pub fn rebuild(&mut self) -> Result<(), Unsound> {
        while let Some((goes, stays)) = self.to_repair.pop() {
            let stays = self.find(stays);
            // Chains through the joined class are new where one half comes from each side: those up from a member that
            // moved, and those up to an e-node that moved.
            let moved = std::mem::take(&mut self.members[goes.at()]);
            for &(op, child) in &moved {
                let child = self.find(child);
                if self.table.get(child, op) == Some(goes) {
                    self.table.set(child, op, stays);
                }
                self.news.push((child, op));
            }
            self.members[stays.at()].extend(moved);
            for (op, result) in self.table.take_row(goes) {
                match self.table.get(stays, op) {
                    Some(present) => {
                        self.nodes -= 1;
                        self.union(present, result)?;
                    }
                    None => {
                        self.table.set(stays, op, self.find(result));
                        self.news.push((stays, op));
                    }
                }
            }
        }
        Ok(())
    }

    /// The e-nodes that are new since the last call, or whose surroundings are.
    pub fn take_news(&mut self) -> impl Iterator<Item = (ClassId, Op)> + '_ {
        self.news.drain(..)
    }
}
