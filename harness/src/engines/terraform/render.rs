//! From a program to the text that an engine reads, in the two syntaxes that Terraform and OpenTofu take.

use hcl::expr::{Expression, Traversal, Variable};
use hcl::format::{Format, Formatter};
use serde_json::{Map, Value as Json, json};

use crate::engines::driver::Syntax;
use crate::spec::{Address, Block, EdgeKind, Program};

/// The address of the mock provider.
const PROVIDER: &str = "equiform.test/equiform/mock";

/// A program, its resources in the given order.
pub fn render(program: &Program, order: &[Address], syntax: Syntax) -> String {
    let blocks = order.iter().filter_map(|address| Some((address, program.blocks.get(address)?)));
    match syntax {
        Syntax::Hcl => hcl(blocks),
        Syntax::Json => json(blocks),
    }
}

fn hcl<'a>(blocks: impl Iterator<Item = (&'a Address, &'a Block)>) -> String {
    let source: hcl::Object<hcl::ObjectKey, Expression> =
        [(hcl::ObjectKey::from(hcl::Identifier::unchecked("source")), PROVIDER.into())].into_iter().collect();
    let required =
        hcl::Block::builder("required_providers").add_attribute(("mock", Expression::Object(source)));
    let head = hcl::Block::builder("terraform").add_block(required.build()).build();
    let body: hcl::Body = std::iter::once(head).chain(blocks.map(hcl_block)).collect();
    let mut formatter = Formatter::builder().compact_arrays(true).build_vec();
    body.format(&mut formatter).expect("memory can be written to");
    String::from_utf8(formatter.into_inner()).expect("HCL is text")
}

fn hcl_block((address, block): (&Address, &Block)) -> hcl::Block {
    let reference = |address: &Address| {
        let variable = Variable::unchecked(address.type_name());
        Traversal::builder(variable).attr(hcl::Identifier::unchecked(address.name()))
    };
    let mut resource = hcl::Block::builder("resource")
        .add_label(address.type_name())
        .add_label(address.name())
        // The formatter doubles what begins an interpolation, and not what begins a directive.
        .add_attribute(("key", block.key.replace("%{", "%%{")));
    for (name, value) in [("label", &block.label), ("pin", &block.pin)] {
        if let Some(value) = value {
            resource = resource.add_attribute((name, value.replace("%{", "%%{")));
        }
    }
    for kind in IN_THE_BLOCK {
        let references = block.by(kind).map(|address| match kind {
            EdgeKind::Refs | EdgeKind::PinnedRefs => Expression::from(reference(address).attr("id").build()),
            _ => Expression::from(reference(address).build()),
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
        .map(|(address, attribute)| match attribute {
            None => reference(address).build().into(),
            Some(attribute) => reference(address).attr(attribute).build().into(),
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
fn flags(block: &Block) -> [(&'static str, bool); 2] {
    [("create_before_destroy", block.create_before_destroy), ("prevent_destroy", block.prevent_destroy)]
}

/// What triggers a replacement: resources, or an attribute of theirs.
fn triggers(block: &Block) -> impl Iterator<Item = (&Address, Option<&'static str>)> {
    let whole = block.by(EdgeKind::TriggeredBy).map(|address| (address, None));
    whole.chain(block.by(EdgeKind::TriggeredByLabel).map(|address| (address, Some("label"))))
}

fn json<'a>(blocks: impl Iterator<Item = (&'a Address, &'a Block)>) -> String {
    // A list of objects with one resource each: an object would not keep their order.
    let resources: Vec<Json> = blocks
        .map(|(address, block)| json!({ address.type_name(): { address.name(): json_block(block) } }))
        .collect();
    let program = json!({
        "terraform": { "required_providers": { "mock": { "source": PROVIDER } } },
        "resource": resources,
    });
    serde_json::to_string_pretty(&program).expect("a program is JSON") + "\n"
}

fn json_block(block: &Block) -> Json {
    let mut resource = Map::from_iter([("key".to_owned(), Json::String(literal(&block.key)))]);
    for (name, value) in [("label", &block.label), ("pin", &block.pin)] {
        if let Some(value) = value {
            resource.insert(name.to_owned(), Json::String(literal(value)));
        }
    }
    for kind in IN_THE_BLOCK {
        let references = block.by(kind).map(|address| match kind {
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
        .map(|(address, attribute)| match attribute {
            None => address.to_string(),
            Some(attribute) => format!("{address}.{attribute}"),
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

/// A text in which nothing begins a template: the signs that would are doubled.
fn literal(text: &str) -> String {
    let mut literal = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        literal.push(character);
        if matches!(character, '$' | '%') && characters.peek() == Some(&'{') {
            literal.push(character);
        }
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::notation::program;

    fn everything() -> (Program, [Address; 6]) {
        let program = program("net disk key~=l@p rules<+net host!<net,disk,^key,+rules user<*net,*=key");
        (program, ["net", "disk", "key", "rules", "host", "user"].map(Address::of_node))
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_hcl() {
        let (program, order) = everything();
        insta::assert_snapshot!(render(&program, &order, Syntax::Hcl));
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written_in_json() {
        let (program, order) = everything();
        insta::assert_snapshot!(render(&program, &order, Syntax::Json));
    }

    #[test]
    fn odd_keys_are_quoted_and_have_names_that_engines_take() {
        let odd = "1 \"web\" ${a} %{b} $ c:\\d\n\u{1}ü";
        let address = Address::of_node(odd);
        let block = Block { key: odd.into(), label: Some(odd.into()), ..Block::default() };
        let program = Program { blocks: [(address.clone(), block)].into() };
        let [hcl, json] = [Syntax::Hcl, Syntax::Json]
            .map(|syntax| render(&program, std::slice::from_ref(&address), syntax));
        insta::assert_snapshot!(hcl + &json);
    }
}
