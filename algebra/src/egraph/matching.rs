//! E-matching: finds where a reading of a rule applies, starting from one e-node.
//!
//! A side of a rule is a chain of operations upon a base class, so a match is a path through the table. Given a new
//! e-node, every chain it takes part in is found: backward through the members of classes to the base, then forward
//! through the rows.

use super::core::EGraph;
use super::denotation::Denotation;
use super::directed::{Directed, Readings};
use super::ground::{GroundPairs, covers, resources_in};
use super::operations::Op;
use super::table::{ClassId, Table};
use crate::rules::{Base, Binding, Sort, StepPattern, Variable};

/// A place where the other side of a rule is not yet known to be in the class it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Match {
    /// Which reading.
    pub reading: usize,
    /// The class both sides are built upon.
    pub base: ClassId,
    /// The class of the side that was found.
    pub class: ClassId,
    /// What all variables stand for.
    pub binding: Binding,
}

/// Collects matches that have something to change.
pub struct Matcher<'a, D, T> {
    egraph: &'a EGraph<D, T>,
    readings: &'a Readings,
    ground: Option<&'a GroundPairs>,
    found: &'a mut Vec<Match>,
}

impl<'a, D: Denotation, T: Table> Matcher<'a, D, T> {
    /// A matcher on a rebuilt e-graph.
    pub fn new(
        egraph: &'a EGraph<D, T>,
        readings: &'a Readings,
        ground: Option<&'a GroundPairs>,
        found: &'a mut Vec<Match>,
    ) -> Self {
        Self { egraph, readings, ground, found }
    }

    /// Finds all matches whose chain is nothing but this class.
    pub fn with_class(&mut self, class: ClassId) {
        for (reading, directed) in self.readings.all.iter().enumerate() {
            if directed.from.is_empty() && self.is_base(directed, class) {
                self.finish(reading, class, class, Binding::default());
            }
        }
    }

    /// Finds all matches with this e-node in their chain.
    pub fn with_node(&mut self, child: ClassId, op: Op) {
        let (egraph, readings) = (self.egraph, self.readings);
        let operations = egraph.operations();
        let Some(class) = egraph.table().get(child, op) else { return };
        let (kind, arguments) = operations.parts(op);
        for &reading in readings.of_one(kind) {
            let mut binding = Binding::default();
            let directed = &readings.all[reading];
            if directed.from[0].unify(arguments, &mut binding) && self.is_base(directed, child) {
                self.finish(reading, child, class, binding);
            }
        }
        for (outer, top) in egraph.table().row(class, 0..operations.count()) {
            self.pair(op, outer, child, top);
        }
        for &(inner, base) in egraph.members(child) {
            self.pair(inner, op, egraph.find(base), class);
        }
        let size = egraph.graph(child).size();
        for &(reading, place) in readings.longer(kind) {
            let mut binding = Binding::default();
            // So many steps upon `empty` make no larger graph.
            let in_reach = readings.all[reading].base == Base::Any || size <= place;
            if in_reach && readings.all[reading].from[place].unify(arguments, &mut binding) {
                self.backward(reading, place, child, place, class, binding);
            }
        }
    }

    /// Tries the readings that look for one operation upon another.
    fn pair(&mut self, inner: Op, outer: Op, base: ClassId, class: ClassId) {
        let Some(ground) = self.ground else { return self.match_pair(inner, outer, base, class, |_| true) };
        for entry in ground.of(inner, outer) {
            let reached = entry.to().iter().try_fold(base, |at, &op| self.egraph.table().get(at, op));
            if reached != Some(class) && self.has_members(base, entry.members) {
                let reading = entry.reading as usize;
                let mut binding = Binding::default();
                self.unify_pair(reading, inner, outer, &mut binding);
                self.found.push(Match { reading, base, class, binding });
            }
        }
        if base == EGraph::<D, T>::EMPTY || self.readings.has_long_pairs() {
            self.match_pair(inner, outer, base, class, |directed| !covers(directed));
        }
    }

    fn has_members(&self, base: ClassId, members: u32) -> bool {
        members == 0 || resources_in(members).all(|resource| self.egraph.graph(base).contains(resource))
    }

    fn match_pair(
        &mut self,
        inner: Op,
        outer: Op,
        base: ClassId,
        class: ClassId,
        wanted: impl Fn(&Directed) -> bool,
    ) {
        let operations = self.egraph.operations();
        for &reading in self.readings.of_two(operations.parts(inner).0, operations.parts(outer).0) {
            let directed = &self.readings.all[reading];
            let mut binding = Binding::default();
            if self.is_base(directed, base)
                && wanted(directed)
                && self.unify_pair(reading, inner, outer, &mut binding)
            {
                self.finish(reading, base, class, binding);
            }
        }
    }

    fn unify_pair(&self, reading: usize, inner: Op, outer: Op, binding: &mut Binding) -> bool {
        let operations = self.egraph.operations();
        let from = &self.readings.all[reading].from;
        from[0].unify(operations.parts(inner).1, binding) && from[1].unify(operations.parts(outer).1, binding)
    }

    /// Goes down the chain from a place to the base, then on from where the chain was entered.
    fn backward(
        &mut self,
        reading: usize,
        place: usize,
        class: ClassId,
        entry: usize,
        top: ClassId,
        binding: Binding,
    ) {
        let directed = &self.readings.all[reading];
        let Some(below) = place.checked_sub(1) else {
            if self.is_base(directed, class) {
                self.forward(reading, entry + 1, class, top, binding);
            }
            return;
        };
        let pattern = directed.from[below];
        let egraph = self.egraph;
        let ops = egraph.operations().of_kind(pattern.kind);
        for &(op, child) in egraph.members(class).iter().filter(|(op, _)| ops.contains(&op.0)) {
            let (_, arguments) = egraph.operations().parts(op);
            let mut extended = binding;
            if pattern.unify(arguments, &mut extended) {
                self.backward(reading, below, egraph.find(child), entry, top, extended);
            }
        }
    }

    /// Goes up the chain from a place to its end.
    fn forward(&mut self, reading: usize, place: usize, base: ClassId, class: ClassId, binding: Binding) {
        let directed = &self.readings.all[reading];
        let Some(&pattern) = directed.from.get(place) else {
            return self.finish(reading, base, class, binding);
        };
        let egraph = self.egraph;
        if let Some(op) = bound_op(egraph, pattern, &binding) {
            if let Some(next) = op.and_then(|op| egraph.table().get(class, op)) {
                self.forward(reading, place + 1, base, next, binding);
            }
            return;
        }
        for (op, next) in egraph.table().row(class, egraph.operations().of_kind(pattern.kind)) {
            let (_, arguments) = egraph.operations().parts(op);
            let mut extended = binding;
            if pattern.unify(arguments, &mut extended) {
                self.forward(reading, place + 1, base, next, extended);
            }
        }
    }

    fn is_base(&self, directed: &Directed, class: ClassId) -> bool {
        directed.base == Base::Any || class == EGraph::<D, T>::EMPTY
    }

    /// Binds the variables that only the other side has to all there is, and keeps what the guards admit.
    fn finish(&mut self, reading: usize, base: ClassId, class: ClassId, binding: Binding) {
        let directed = &self.readings.all[reading];
        self.bind_invented(reading, &directed.invented, base, class, binding);
    }

    fn bind_invented(
        &mut self,
        reading: usize,
        invented: &[(Variable, Sort)],
        base: ClassId,
        class: ClassId,
        binding: Binding,
    ) {
        let Some((&(variable, sort), rest)) = invented.split_first() else {
            return self.keep(reading, base, class, binding);
        };
        let operations = self.egraph.operations();
        for number in 0..sort.count(operations.resources(), operations.signature()) {
            let mut extended = binding;
            extended.bind(variable, number);
            self.bind_invented(reading, rest, base, class, extended);
        }
    }

    fn keep(&mut self, reading: usize, base: ClassId, class: ClassId, binding: Binding) {
        let directed = &self.readings.all[reading];
        let graph = self.egraph.graph(base);
        if !directed.guard.holds(&binding, |resource| graph.contains(resource)) {
            return;
        }
        let mut reached = Some(base);
        for &pattern in &directed.to {
            match bound_op(self.egraph, pattern, &binding) {
                Some(Some(op)) => reached = reached.and_then(|at| self.egraph.table().get(at, op)),
                // An edge against the order, or no value of the attribute: this binding is none of the rule's.
                _ => return,
            }
        }
        if reached != Some(class) {
            self.found.push(Match { reading, base, class, binding });
        }
    }
}

/// The operation of a pattern whose variables are all bound; within, nothing if the algebra has no such operation.
#[inline]
pub fn bound_op<D: Denotation, T: Table>(
    egraph: &EGraph<D, T>,
    pattern: StepPattern,
    binding: &Binding,
) -> Option<Option<Op>> {
    let arguments = pattern.bound(binding)?;
    Some(egraph.operations().number(pattern.kind, arguments))
}
