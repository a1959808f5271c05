//! E-graphs as pictures: DOT for Graphviz, and SVG without it.
//!
//! In DOT a class is a dashed box around its e-nodes, and an e-node points to the class it is applied to. The layout
//! library behind the SVG knows no boxes around nodes, so there a class is one node that lists the operations that
//! leave it as it is, and every other e-node is an arrow to the class it is applied to.

use std::collections::BTreeMap;
use std::fmt::Write;

use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::frozen::Frozen;
use super::table::ClassId;
use crate::graph::{Graph, Names};
use crate::signature::Signature;

/// The most classes a picture may have; with more it shows nothing a person could follow.
pub const MOST_CLASSES: usize = 150;

/// What a picture shows of a class: its graph, and its e-nodes with the class each is applied to.
struct Class {
    title: String,
    members: Vec<(String, ClassId)>,
}

fn classes(egraph: &Frozen, names: &Names) -> Vec<Class> {
    let operations = egraph.operations();
    let programs = egraph.shortest_programs(&operations);
    let title = |graph: Graph| {
        let nodes: Vec<&str> = graph.nodes().map(|node| names.of(node)).collect();
        let signature = Signature::attributed();
        let values = graph.values().map(|(node, attribute, value)| {
            let (attribute, value) =
                (signature.attribute_name(attribute), signature.value_name(attribute, value));
            format!("{}.{attribute}={value}", names.of(node))
        });
        let edges = graph.kinds().map(|(edge, kind)| {
            let pair = format!("{}→{}", names.of(edge.dependency), names.of(edge.dependent));
            if kind.is_default() { pair } else { format!("{pair}:{}", signature.kind_name(kind)) }
        });
        let lists =
            [nodes.join(" "), values.collect::<Vec<_>>().join(" "), edges.collect::<Vec<_>>().join(" ")];
        match lists.iter().filter(|list| !list.is_empty()).cloned().collect::<Vec<_>>().join(" · ") {
            nothing if nothing.is_empty() => "∅".to_owned(),
            title => title,
        }
    };
    let graphs =
        programs.iter().map(|program| program.eval().expect("the analysis refuses ill-formed programs"));
    let mut classes: Vec<Class> =
        graphs.map(|graph| Class { title: title(graph), members: Vec::new() }).collect();
    for child in egraph.classes() {
        for &(op, class) in egraph.over(child) {
            classes[class.at()].members.push((operations.step(op).describe(names), child));
        }
    }
    classes
}

/// The e-graph in the language of Graphviz.
pub fn dot(egraph: &Frozen, names: &Names) -> String {
    let mut text = String::from(
        "digraph egraph {\n  \
         compound=true; rankdir=BT; fontname=\"sans-serif\";\n  \
         node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
    );
    let classes = classes(egraph, names);
    for (number, class) in classes.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster_{number} {{\n    style=dashed; label={:?};", class.title);
        if number == 0 {
            let _ = writeln!(text, "    n0_0 [label=\"empty\"];");
        }
        for (at, (operation, _)) in class.members.iter().enumerate() {
            let _ = writeln!(text, "    n{number}_{} [label={operation:?}];", at + 1);
        }
        text.push_str("  }\n");
    }
    for (number, class) in classes.iter().enumerate() {
        for (at, (_, child)) in class.members.iter().enumerate() {
            let first = u8::from(child.0 != 0);
            let _ =
                writeln!(text, "  n{number}_{} -> n{}_{first} [lhead=cluster_{}];", at + 1, child.0, child.0);
        }
    }
    text.push_str("}\n");
    text
}

/// The e-graph as a drawing.
pub fn svg(egraph: &Frozen, names: &Names) -> String {
    let mut picture = VisualGraph::new(Orientation::TopToBottom);
    let classes = classes(egraph, names);
    let handles: Vec<_> = classes
        .iter()
        .enumerate()
        .map(|(number, class)| {
            let stays: Vec<&str> = class
                .members
                .iter()
                .filter(|member| member.1.at() == number)
                .map(|member| member.0.as_str())
                .collect();
            let label =
                stays.chunks(3).fold(class.title.clone(), |label, line| label + "\n" + &line.join(", "));
            let width = label.lines().map(|line| line.chars().count()).max().unwrap_or(1) as f64 * 9.0 + 20.0;
            let size = Point::new(width, label.lines().count() as f64 * 20.0 + 20.0);
            let shape = ShapeKind::new_box(&label);
            picture.add_node(Element::create(shape, StyleAttr::simple(), Orientation::TopToBottom, size))
        })
        .collect();
    for (number, class) in classes.iter().enumerate() {
        let mut arrows: BTreeMap<ClassId, Vec<&str>> = BTreeMap::new();
        for (operation, child) in class.members.iter().filter(|member| member.1.at() != number) {
            arrows.entry(*child).or_default().push(operation);
        }
        for (child, operations) in arrows {
            picture.add_edge(Arrow::simple(&operations.join(", ")), handles[number], handles[child.at()]);
        }
    }
    let mut out = SVGWriter::new();
    picture.do_it(false, false, false, &mut out);
    out.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egraph::Limits;
    use crate::rules::Rules;

    #[test]
    fn the_e_graph_over_one_resource_is_drawn_as_two_classes() {
        let egraph =
            Frozen::build(1, Signature::bare(), &[], &Rules::algebra(), Limits::default(), |_| {}).unwrap();
        insta::assert_snapshot!(dot(&egraph, &Names::new(vec!["a".to_owned()])));
    }

    #[test]
    fn every_class_is_in_the_drawing() {
        let egraph =
            Frozen::build(2, Signature::bare(), &[], &Rules::algebra(), Limits::default(), |_| {}).unwrap();
        let drawing = svg(&egraph, &Names::numbered(2));
        for title in ["∅", "r0 r1", "r0 r1 · r0→r1"] {
            assert!(drawing.contains(&format!(">{title}<")), "{title} is missing");
        }
    }
}
