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
    for kind in EdgeKind::ALL {
        let references = block.by(kind).map(|address| match kind {
            EdgeKind::DependsOn => Expression::from(reference(address).build()),
            EdgeKind::Refs | EdgeKind::PinnedRefs => Expression::from(reference(address).attr("id").build()),
        });
        let references: Vec<Expression> = references.collect();
        if !references.is_empty() {
            resource = resource.add_attribute((kind.name(), references));
        }
    }
    if block.create_before_destroy {
        let lifecycle = hcl::Block::builder("lifecycle").add_attribute(("create_before_destroy", true));
        resource = resource.add_block(lifecycle.build());
    }
    resource.build()
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
    for kind in EdgeKind::ALL {
        let references = block.by(kind).map(|address| match kind {
            EdgeKind::DependsOn => address.to_string(),
            EdgeKind::Refs | EdgeKind::PinnedRefs => format!("${{{address}.id}}"),
        });
        let references: Vec<String> = references.collect();
        if !references.is_empty() {
            resource.insert(kind.name().to_owned(), references.into());
        }
    }
    if block.create_before_destroy {
        resource.insert("lifecycle".to_owned(), json!({ "create_before_destroy": true }));
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

    fn everything() -> (Program, [Address; 5]) {
        let program = program("net disk key rules<+net host!<net,disk,^key,+rules");
        (program, ["net", "disk", "key", "rules", "host"].map(Address::of_node))
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
        let block = Block { key: odd.into(), dependencies: Default::default(), create_before_destroy: false };
        let program = Program { blocks: [(address.clone(), block)].into() };
        let [hcl, json] = [Syntax::Hcl, Syntax::Json]
            .map(|syntax| render(&program, std::slice::from_ref(&address), syntax));
        insta::assert_snapshot!(hcl + &json);
    }
}
