//! A variant in the form in which it is cut down: its batches as graphs, of which any part can be taken away, and its
//! stages. The program that leads from one graph to the next is written anew each time, the shortest there is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algebra::graph::{Edge, Graph, NamedGraph, Names, Resource, topological_order};
use crate::algebra::program::{Derivation, Step, print};
use crate::algebra::signature::Signature as AlgebraSignature;
use crate::case::spelling::{Spelled, Spelling};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::case::{Batch, CASE_VERSION, Case, CaseError, Variant, workflow};
use crate::judge::variant::graph_of;

/// What is written at one point: resources, and their order in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The resources with their attributes, and the edges with their kinds.
    pub graph: NamedGraph,
    /// The names in the order of the text.
    pub order: Vec<String>,
}

impl Written {
    fn of(batch: &Batch, spelling: &Spelling) -> Self {
        let written = batch.order.iter().filter(|key| batch.program.node(key).is_some());
        Self {
            graph: graph_of(&batch.program, spelling),
            order: written.map(|key| key.to_string()).collect(),
        }
    }

    /// Keeps the order to what there is.
    pub fn tidied(mut self) -> Self {
        self.order.retain(|name| self.graph.nodes.contains(name));
        self
    }
}

/// How large a variant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Size {
    /// The resources that occur in it.
    pub resources: usize,
    /// The edges that occur in it.
    pub edges: usize,
    /// The programs that are deployed one after the other.
    pub batches: usize,
    /// The engine's commands, and what happens behind its back.
    pub commands: usize,
}

/// A variant as a list of graphs and stages, from which parts can be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The case that it is cut from, for what stays as it is; without variants.
    pub template: Case,
    /// The batches. Stages name them by their number from 1.
    pub batches: Vec<Written>,
    /// The last program of the other variant, where a stage plans that.
    pub other: Option<Written>,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The workflow that made them.
    pub workflow: String,
}

/// The number of the variant that stands for [`Candidate::other`] in a case.
const OTHER: usize = 1;

impl Candidate {
    /// A variant of a case.
    pub fn of(case: &Case, variant: usize) -> Result<Self, CaseError> {
        let written = |batch: &Arc<Batch>| Written::of(batch, &case.spelling);
        let batches: Vec<Written> = case.batches(variant)?.iter().map(written).collect();
        let Variant { stages, workflow, .. } = &case.variants[variant];
        let (mut stages, mut other) = (stages.clone(), None);
        for stage in &mut stages {
            let ProgramRef::LastOf(number) = stage.program else { continue };
            let last = case.batches(number)?.last().map(written).unwrap_or_default();
            if number == variant || Some(&last) == batches.last() {
                stage.program = ProgramRef::Batch(batches.len());
            } else {
                stage.program = ProgramRef::LastOf(OTHER);
                other = Some(last);
            }
        }
        let template = Case { variants: Vec::new(), ..case.clone() };
        Ok(Self { template, batches, other, stages, workflow: workflow.clone() })
    }

    /// The program that a stage has; none if it has no resources, or is another variant's.
    pub fn batch_of(stage: &Stage) -> Option<usize> {
        match stage.program {
            ProgramRef::Batch(number) | ProgramRef::Broken { batch: number, .. } => Some(number),
            ProgramRef::LastOf(_) | ProgramRef::Empty => None,
        }
    }

    /// How large it is, of what its stages use.
    pub fn size(&self) -> Size {
        let tidy = self.clone().tidied();
        let graphs = || tidy.batches.iter().chain(&tidy.other).map(|written| &written.graph);
        Size {
            resources: graphs().flat_map(|graph| &graph.nodes).collect::<BTreeSet<_>>().len(),
            edges: graphs().flat_map(|graph| &graph.edges).collect::<BTreeSet<_>>().len(),
            batches: tidy.batches.len(),
            commands: tidy.stages.len(),
        }
    }

    /// The names of all resources, in reading order.
    pub fn names(&self) -> BTreeSet<String> {
        let graphs = self.batches.iter().chain(&self.other).map(|written| &written.graph);
        graphs.flat_map(|graph| graph.nodes.iter().cloned()).collect()
    }

    /// The same without batches that no stage uses, the others in the order of their use, and equal neighbours as one.
    pub fn tidied(mut self) -> Self {
        let mut used: Vec<usize> = Vec::new();
        for number in self.stages.iter().filter_map(Self::batch_of) {
            if !used.contains(&number) {
                used.push(number);
            }
        }
        let (mut places, mut kept): (BTreeMap<usize, usize>, Vec<Written>) = (BTreeMap::new(), Vec::new());
        for number in used {
            let written = self.batches[number - 1].clone().tidied();
            if kept.last() != Some(&written) {
                kept.push(written);
            }
            places.insert(number, kept.len());
        }
        // A term cannot say that nothing was deployed before anything was: such a program is no batch.
        let first_is_empty = kept.len() > 1 && kept[0].graph.nodes.is_empty();
        for stage in &mut self.stages {
            match &mut stage.program {
                ProgramRef::Batch(number) if first_is_empty && places[number] == 1 => {
                    stage.program = ProgramRef::Empty;
                }
                ProgramRef::Batch(number) | ProgramRef::Broken { batch: number, .. } => {
                    *number = places[number] - usize::from(first_is_empty);
                }
                ProgramRef::LastOf(_) | ProgramRef::Empty => {}
            }
        }
        if first_is_empty {
            kept.remove(0);
        }
        self.batches = kept;
        if !self.stages.iter().any(|stage| matches!(stage.program, ProgramRef::LastOf(_))) {
            self.other = None;
        }
        self.other = self.other.map(Written::tidied);
        self.template.spelling = self.template.spelling.only(|spelled| self.has(spelled));
        self
    }

    /// Whether what is spelled occurs.
    fn has(&self, spelled: &Spelled) -> bool {
        let mut graphs = self.batches.iter().chain(&self.other).map(|written| &written.graph);
        graphs.any(|graph| match spelled {
            Spelled::Name { node } => graph.nodes.contains(node),
            Spelled::Text { node, attribute, value } => {
                graph.attributes.get(node).and_then(|of_node| of_node.get(attribute)) == Some(value)
            }
        })
    }

    /// The case that it is: the variant, and the other one if a stage plans that.
    pub fn to_case(&self) -> Case {
        let Self { template, batches, other, stages, workflow } = self.clone().tidied();
        let is_source = |stage: &&Stage| stage.judged_as == JudgedAs::Source;
        // All that is said to be the source has to be; where nothing is, it is what was deployed last.
        let source = stages.iter().rev().find(is_source).and_then(Self::batch_of);
        let graph = |number: usize| batches.get(number.wrapping_sub(1)).map(|written| &written.graph);
        let source = graph(source.unwrap_or(batches.len())).cloned().unwrap_or_default();
        let mut stages = stages;
        for stage in stages.iter_mut().filter(|stage| stage.judged_as == JudgedAs::Source) {
            if Self::batch_of(stage).and_then(graph).unwrap_or(&NamedGraph::default()) != &source {
                stage.judged_as = JudgedAs::Batch;
            }
        }
        let mut variants = vec![Variant { program: program(&batches), workflow, stages }];
        if let Some(other) = other {
            let program = program(std::slice::from_ref(&other));
            variants.push(Variant { program, workflow: workflow::plain_name(), stages: Stage::usual(1, 0) });
        }
        Case { version: CASE_VERSION, source, variants, ..template }
    }
}

/// The shortest program that deploys these one after the other, as a term.
fn program(batches: &[Written]) -> String {
    let names: BTreeSet<&str> =
        batches.iter().flat_map(|written| written.graph.nodes.iter().map(String::as_str)).collect();
    let edges: BTreeSet<(&str, &str)> = batches
        .iter()
        .flat_map(|written| written.graph.edges.iter().map(|(from, to)| (from.as_str(), to.as_str())))
        .collect();
    let edges: Vec<(&str, &str)> = edges.into_iter().collect();
    let order = topological_order(names, &edges).expect("all edges went upward in the program before");
    let places: BTreeMap<&str, Resource> =
        order.iter().zip(0..).map(|(name, index)| (name.as_str(), Resource::new(index))).collect();
    let (mut steps, mut cuts, mut before) = (Vec::new(), Vec::new(), Written::default());
    let mut graph = Graph::default();
    for written in batches {
        let from = steps.len();
        stretch(&before, written, &places, &graph, &mut steps);
        for step in &steps[from..] {
            step.apply(&mut graph).expect("each step is defined where it stands");
        }
        cuts.push(steps.len());
        before = written.clone();
    }
    cuts.pop();
    drop(places);
    print(&Derivation::new(steps), &cuts, &Names::new(order))
}

/// The steps from what was written to what is written next. What stands elsewhere in the text than its neighbours is
/// taken away and added again, as only that puts it there.
fn stretch(
    before: &Written,
    after: &Written,
    places: &BTreeMap<&str, Resource>,
    graph: &Graph,
    steps: &mut Vec<Step>,
) {
    let place = |name: &String| places[name.as_str()];
    let mut old = before.order.iter();
    let stays: BTreeSet<&String> =
        after.order.iter().take_while(|name| old.by_ref().any(|other| other == *name)).collect();
    let goes = before.order.iter().filter(|name| !stays.contains(name));
    steps.extend(goes.map(|name| Step::Rem(place(name))));
    let comes = after.order.iter().filter(|name| !stays.contains(name));
    steps.extend(comes.map(|name| Step::Add(place(name))));
    let signature = AlgebraSignature::attributed();
    for name in &after.order {
        let values = after.graph.attributes.get(name);
        for (index, attribute) in signature.attributes().iter().enumerate() {
            let id = signature.attribute(attribute.name()).expect("it is one of the signature's");
            debug_assert_eq!(id.at(), index);
            let default = &attribute.values()[0];
            let wanted = values.and_then(|values| values.get(attribute.name())).unwrap_or(default);
            let value = attribute.value(wanted).expect("it was read from a program");
            let there = attribute.value(default).expect("it is one of the attribute's");
            let there = if stays.contains(name) { graph.value(place(name), id) } else { there };
            if value != there {
                steps.push(Step::Set(place(name), id, value));
            }
        }
    }
    let both_stay = |(from, to): &&(String, String)| stays.contains(from) && stays.contains(to);
    let edge = |(from, to): &(String, String)| Edge::new(place(from), place(to));
    let cut = before.graph.edges.iter().filter(both_stay).filter(|pair| !after.graph.edges.contains(*pair));
    steps.extend(cut.map(|pair| Step::Disc(edge(pair))));
    for pair in &after.graph.edges {
        let kind = after.graph.kinds.0.get(pair).map_or(&signature.kinds()[0], |kind| kind);
        let kind = signature.kind(kind).expect("it was read from a program");
        let there = Some(pair).filter(both_stay).and_then(|pair| graph.kind(edge(pair)));
        if there != Some(kind) {
            steps.push(Step::Con(edge(pair), kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::campaign::Settings;
    use crate::campaign::settings::Algebra;

    /// What each stage deploys, as it is written.
    fn written(case: &Case, variant: usize) -> Vec<(String, Written)> {
        let stages = case.stages(variant).unwrap();
        stages
            .iter()
            .map(|staged| (staged.stage.name.clone(), Written::of(&staged.batch, &case.spelling)))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// By all workflows and both algebras: what is written at each stage stays the same, to the order of the text.
        #[test]
        fn a_candidate_is_the_case_that_it_comes_from(seed in 0u64..1000, bare in any::<bool>()) {
            let algebra = if bare { Algebra::Bare } else { Algebra::Attributed };
            let case = Settings { seed, variants: 3, algebra, ..Settings::default() }.case(0);
            for variant in 0..case.variants.len() {
                let candidate = Candidate::of(&case, variant).unwrap();
                let again = candidate.to_case();
                prop_assert_eq!(written(&again, 0), written(&case, variant));
                prop_assert_eq!(Candidate::of(&again, 0).unwrap().to_case(), again);
            }
        }
    }

    #[test]
    fn batches_that_no_stage_uses_are_dropped_with_their_steps() {
        let program = "(rem x (con a b (add b (cut (add x (add a empty))))))".to_owned();
        let source = serde_json::from_str(r#"{"nodes":["a","b"],"edges":[["a","b"]]}"#).unwrap();
        let case = Case::new(0, source, vec![program]).unwrap();
        let mut candidate = Candidate::of(&case, 0).unwrap();
        assert_eq!(candidate.size(), Size { resources: 3, edges: 1, batches: 2, commands: 5 });
        candidate.stages.retain(|stage| stage.name == "batch-2");
        assert_eq!(candidate.size(), Size { resources: 2, edges: 1, batches: 1, commands: 1 });
        assert_eq!(candidate.to_case().variants[0].program, "(con a b (add b (add a empty)))");
    }
}
