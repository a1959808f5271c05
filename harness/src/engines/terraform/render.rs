//! From a program to the text that an engine reads, in the two syntaxes that Terraform and OpenTofu take.

use hcl::expr::{Expression, Traversal, TraversalBuilder, Variable};
use hcl::format::{Format, Formatter};
use serde_json::{Map, Value as Json, json};

use crate::case::Batch;
use crate::case::stage::Defect;
use crate::engines::driver::Syntax;
use crate::spec::{Address, EdgeKind, Encoding, Node, NodeKey};

use super::literal::{literal, quoted};

/// The address of the mock provider.
const PROVIDER: &str = "equiform.test/equiform/mock";

/// A program, its resources in the given order, with its defect if it has one.
pub fn render(batch: &Batch, syntax: Syntax) -> String {
    let encoding = &batch.program.encoding;
    let written = batch.order.iter().filter_map(|key| {
        let defect = batch.defect.as_ref().filter(|defect| defect.resource() == key);
        Some(Written { key, node: batch.program.node(key)?, defect, encoding })
    });
    let twice = |written: &Written<'_>| usize::from(matches!(written.defect, Some(Defect::Twice { .. })));
    let written = written.flat_map(|written| std::iter::repeat_n(written, 1 + twice(&written)));
    let outputs = || batch.order.iter().filter(|_| encoding.outputs).map(|key| encoding.address(key));
    match syntax {
        _ if batch.is_blank => blank(syntax).to_owned(),
        Syntax::Hcl => hcl(written, outputs()),
        Syntax::Json => json(written, outputs()),
    }
}

/// A program in which nothing is written.
fn blank(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Hcl => "",
        Syntax::Json => "{}\n",
    }
}

/// What an output tells of a resource.
const TOLD: [&str; 2] = ["id", "label"];

/// A block as it is written.
#[derive(Clone, Copy)]
struct Written<'a> {
    key: &'a NodeKey,
    node: &'a Node,
    defect: Option<&'a Defect>,
    encoding: &'a Encoding,
}

impl Written<'_> {
    /// Where a resource is written.
    fn address(&self, key: &NodeKey) -> Address {
        self.encoding.address(key)
    }

    /// The key; none if it is to be missing.
    fn key(&self) -> Option<&str> {
        match self.defect {
            Some(Defect::MissingArgument { .. }) => None,
            Some(Defect::EmptyKey { .. }) => Some(""),
            _ => Some(self.key),
        }
    }

    /// An argument that nobody knows, or with a value of another type.
    fn wrong_argument(&self) -> Option<&'static str> {
        match self.defect {
            Some(Defect::UnknownArgument { .. }) => Some("nonsense"),
            Some(Defect::WrongType { .. }) => Some("label"),
            _ => None,
        }
    }
}

fn hcl<'a>(blocks: impl Iterator<Item = Written<'a>>, outputs: impl Iterator<Item = Address>) -> String {
    let source: hcl::Object<hcl::ObjectKey, Expression> =
        [(hcl::ObjectKey::from(hcl::Identifier::unchecked("source")), PROVIDER.into())].into_iter().collect();
    let required =
        hcl::Block::builder("required_providers").add_attribute(("mock", Expression::Object(source)));
    let head = hcl::Block::builder("terraform").add_block(required.build()).build();
    let blocks = std::iter::once(head).chain(blocks.map(hcl_block));
    let body: hcl::Body = blocks.chain(outputs.map(|address| hcl_output(&address))).collect();
    let mut formatter = Formatter::builder().compact_arrays(true).build_vec();
    body.format(&mut formatter).expect("memory can be written to");
    String::from_utf8(formatter.into_inner()).expect("HCL is text")
}

/// A reference to a resource, to go on with.
fn reference(address: &Address) -> TraversalBuilder {
    let variable = Variable::unchecked(&*address.type_name);
    Traversal::builder(variable).attr(hcl::Identifier::unchecked(&*address.name))
}

fn hcl_output(address: &Address) -> hcl::Block {
    let told = TOLD.map(|name| {
        let key = hcl::ObjectKey::from(hcl::Identifier::unchecked(name));
        (key, Expression::from(reference(address).attr(name).build()))
    });
    let value: hcl::Object<hcl::ObjectKey, Expression> = told.into_iter().collect();
    let output = hcl::Block::builder("output").add_label(&*address.name);
    output.add_attribute(("value", Expression::Object(value))).build()
}

fn hcl_block(written: Written<'_>) -> hcl::Block {
    let (address, block) = (written.address(written.key), written.node);
    let mut resource =
        hcl::Block::builder("resource").add_label(&*address.type_name).add_label(&*address.name);
    if let Some(key) = written.key() {
        resource = resource.add_attribute(("key", quoted(written.encoding.written(key))));
    }
    if let Some(name) = written.wrong_argument() {
        resource = resource.add_attribute((name, Vec::<Expression>::new()));
    }
    for (name, value) in [("label", &block.label), ("pin", &block.pin)] {
        if let Some(value) = value.as_ref().filter(|_| written.wrong_argument() != Some(name)) {
            resource = resource.add_attribute((name, quoted(written.encoding.written(value))));
        }
    }
    for kind in IN_THE_BLOCK {
        let references = block.by(kind).map(|key| written.address(key)).map(|address| match kind {
            EdgeKind::Refs | EdgeKind::PinnedRefs => Expression::from(reference(&address).attr("id").build()),
            _ => Expression::from(reference(&address).build()),
        });
        let references: Vec<Expression> = references.collect();
        if !references.is_empty() {
            resource = resource.add_attribute((kind.name(), references));
        }
    }
    let mut lifecycle = hcl::Block::builder("lifecycle");
    for (name, is_set) in flags(block) {
        if is_set {
            lifecycle = lifecycle.add_attribute((name, true));
        }
    }
    if block.ignore_changes {
        let label = Expression::Variable(Variable::unchecked("label"));
        lifecycle = lifecycle.add_attribute(("ignore_changes", vec![label]));
    }
    let triggers: Vec<Expression> = triggers(block)
        .map(|(key, attribute)| match attribute {
            None => reference(&written.address(key)).build().into(),
            Some(attribute) => reference(&written.address(key)).attr(attribute).build().into(),
        })
        .collect();
    if !triggers.is_empty() {
        lifecycle = lifecycle.add_attribute(("replace_triggered_by", triggers));
    }
    let lifecycle = lifecycle.build();
    if lifecycle.body.iter().next().is_some() {
        resource = resource.add_block(lifecycle);
    }
    resource.build()
}

/// The kinds of edges that are arguments of the resource itself; the others are of its lifecycle.
const IN_THE_BLOCK: [EdgeKind; 3] = [EdgeKind::Refs, EdgeKind::PinnedRefs, EdgeKind::DependsOn];

/// The settings of a lifecycle that are true or absent.
fn flags(block: &Node) -> [(&'static str, bool); 2] {
    [("create_before_destroy", block.create_before_destroy), ("prevent_destroy", block.prevent_destroy)]
}

/// What triggers a replacement: resources, or an attribute of theirs.
fn triggers(block: &Node) -> impl Iterator<Item = (&NodeKey, Option<&'static str>)> {
    let whole = block.by(EdgeKind::TriggeredBy).map(|key| (key, None));
    whole.chain(block.by(EdgeKind::TriggeredByLabel).map(|key| (key, Some("label"))))
}

fn json<'a>(blocks: impl Iterator<Item = Written<'a>>, outputs: impl Iterator<Item = Address>) -> String {
    // A list of objects with one resource each: an object would not keep their order.
    let resources: Vec<Json> = blocks
        .map(|written| {
            let address = written.address(written.key);
            json!({ &*address.type_name: { &*address.name: json_block(written) } })
        })
        .collect();
    let mut program = json!({
        "terraform": { "required_providers": { "mock": { "source": PROVIDER } } },
        "resource": resources,
    });
    let outputs: Map<String, Json> = outputs
        .map(|address| {
            let told = TOLD.map(|name| (name.to_owned(), Json::from(format!("${{{address}.{name}}}"))));
            (address.name.to_string(), json!({ "value": Map::from_iter(told) }))
        })
        .collect();
    if !outputs.is_empty() {
        program["output"] = outputs.into();
    }
    serde_json::to_string_pretty(&program).expect("a program is JSON") + "\n"
}

fn json_block(written: Written<'_>) -> Json {
    let (block, mut resource) = (written.node, Map::new());
    if let Some(key) = written.key() {
        resource.insert("key".to_owned(), Json::String(literal(written.encoding.written(key))));
    }
    if let Some(name) = written.wrong_argument() {
        resource.insert(name.to_owned(), json!([]));
    }
    for (name, value) in [("label", &block.label), ("pin", &block.pin)] {
        if let Some(value) = value.as_ref().filter(|_| written.wrong_argument() != Some(name)) {
            resource.insert(name.to_owned(), Json::String(literal(written.encoding.written(value))));
        }
    }
    for kind in IN_THE_BLOCK {
        let references = block.by(kind).map(|key| written.address(key)).map(|address| match kind {
            EdgeKind::Refs | EdgeKind::PinnedRefs => format!("${{{address}.id}}"),
            _ => address.to_string(),
        });
        let references: Vec<String> = references.collect();
        if !references.is_empty() {
            resource.insert(kind.name().to_owned(), references.into());
        }
    }
    let mut lifecycle = Map::new();
    for (name, _) in flags(block).into_iter().filter(|(_, is_set)| *is_set) {
        lifecycle.insert(name.to_owned(), Json::Bool(true));
    }
    if block.ignore_changes {
        lifecycle.insert("ignore_changes".to_owned(), json!(["label"]));
    }
    let triggers: Vec<String> = triggers(block)
        .map(|(key, attribute)| match attribute {
            None => written.address(key).to_string(),
            Some(attribute) => format!("{}.{attribute}", written.address(key)),
        })
        .collect();
    if !triggers.is_empty() {
        lifecycle.insert("replace_triggered_by".to_owned(), triggers.into());
    }
    if !lifecycle.is_empty() {
        resource.insert("lifecycle".to_owned(), lifecycle.into());
    }
    Json::Object(resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::notation::program;
    use crate::spec::{Configuration, Meaning};

    fn everything() -> Batch {
        let program = program("net disk key~=l@p rules<+net host!<net,disk,^key,+rules user<*net,*=key");
        let order = ["net", "disk", "key", "rules", "host", "user"].map(NodeKey::from).to_vec();
        let program = Configuration { encoding: Encoding { outputs: true, ..Encoding::PLAIN }, ..program };
        Batch { program, order, defect: None, is_blank: false }
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_hcl() {
        insta::assert_snapshot!(render(&everything(), Syntax::Hcl));
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_json() {
        insta::assert_snapshot!(render(&everything(), Syntax::Json));
    }

    #[test]
    fn a_defect_of_the_text_is_written_where_it_is() {
        let resource = || NodeKey::from("key");
        let defects = [
            Defect::UnknownArgument { resource: resource() },
            Defect::MissingArgument { resource: resource() },
            Defect::WrongType { resource: resource() },
            Defect::Twice { resource: resource() },
            Defect::EmptyKey { resource: resource() },
        ];
        let good = [Syntax::Hcl, Syntax::Json].map(|syntax| render(&everything(), syntax));
        for defect in defects {
            let batch = Batch { defect: Some(defect), ..everything() };
            for (syntax, good) in [Syntax::Hcl, Syntax::Json].into_iter().zip(&good) {
                assert_ne!(&render(&batch, syntax), good, "{:?}", batch.defect);
            }
        }
    }

    #[test]
    fn odd_keys_are_quoted_and_have_names_that_engines_take() {
        let odd = "1 \"web\" ${a} %{b} $ c:\\d\n\u{1}ü";
        let node = Node { label: Some(odd.into()), ..Node::default() };
        let meaning = Meaning { nodes: [(odd.into(), node)].into() };
        let program = Configuration { meaning, encoding: Encoding::PLAIN };
        let batch = Batch { program, order: vec![odd.into()], defect: None, is_blank: false };
        let [hcl, json] = [Syntax::Hcl, Syntax::Json].map(|syntax| render(&batch, syntax));
        insta::assert_snapshot!(hcl + &json);
    }
}
