//! Files of a program in the usual syntax.

use hcl::{Block, Body, Expression, ObjectKey, TemplateExpr};

use super::module::{InFile, Requirement, TYPED};
use super::pieces::{Piece, nesting, pieces};

/// How deep a text may be nested that is given to the parser, which uses the stack for it. People write a tenth of
/// that.
const MOST_NESTED: usize = 200;

/// The stack that the parser has. It needs less than 100 KiB for each of these levels.
const STACK: usize = 64 << 20;

/// What the parser says of a text.
fn parse(text: &str) -> Result<Body, String> {
    let deep = nesting(text);
    if deep > MOST_NESTED {
        return Err(format!("it is nested {deep} deep, and more than {MOST_NESTED} is not read"));
    }
    std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().stack_size(STACK);
        let parser = parser.spawn_scoped(scope, || hcl::parse(text).map_err(|error| error.to_string()));
        let parsed = parser.map_err(|error| error.to_string())?.join();
        parsed.unwrap_or_else(|_| Err("the parser gave up".to_owned()))
    })
}

/// Reads a file's text. What the parser refuses is read by the heads of its blocks, and told: engines decide.
pub fn read(text: &str, file: &mut InFile<'_>) -> Result<(), String> {
    match parse(text) {
        Ok(body) => read_body(&body, file),
        Err(mut why) => {
            for piece in pieces(text) {
                match parse(piece.text) {
                    Ok(body) => read_body(&body, file),
                    Err(error) => {
                        why = error;
                        read_head(&piece, file);
                    }
                }
            }
            file.is_not_read(why);
        }
    }
    Ok(())
}

/// What the head of a block tells, and the source of a module, which stands on a line of its own.
fn read_head(piece: &Piece<'_>, file: &mut InFile<'_>) {
    match (piece.kind, piece.labels.first()) {
        ("provider", Some(name)) => file.configures(name),
        ("module", Some(name)) => {
            let source = piece.text.lines().find_map(|line| {
                let rest = line.trim_start().strip_prefix("source")?.trim_start().strip_prefix('=')?;
                rest.trim().strip_prefix('"')?.split('"').next()
            });
            source.into_iter().for_each(|source| file.calls(name, source));
        }
        (kind, Some(type_name)) if TYPED.contains(&kind) => file.has_type(type_name, None),
        _ => {}
    }
}

fn read_body(body: &Body, file: &mut InFile<'_>) {
    for block in body.blocks() {
        let label = block.labels().first().map(hcl::BlockLabel::as_str);
        match (block.identifier(), label) {
            ("terraform", _) => terraform(block, file),
            ("provider", Some(name)) => file.configures(name),
            ("module", Some(name)) => {
                if let Some(source) = attribute(block, "source").and_then(text_of) {
                    file.calls(name, &source);
                }
            }
            ("check", _) => {
                for data in block.body().blocks().filter(|inner| inner.identifier() == "data") {
                    typed(data, file);
                }
            }
            (kind, _) if TYPED.contains(&kind) => typed(block, file),
            _ => {}
        }
    }
}

fn terraform(block: &Block, file: &mut InFile<'_>) {
    for meta in block.body().blocks().filter(|inner| inner.identifier() == "provider_meta") {
        if let Some(provider) = meta.labels().first() {
            let names = meta.body().attributes().map(|attribute| attribute.key().to_owned());
            file.has_meta(provider.as_str(), names.collect());
        }
    }
    let required = block.body().blocks().filter(|inner| inner.identifier() == "required_providers");
    for attribute in required.flat_map(|inner| inner.body().attributes()) {
        let local = attribute.key().to_owned();
        let (source, version) = match attribute.expr() {
            Expression::Object(object) => {
                let get =
                    |name: &str| object.iter().find(|(key, _)| is(key, name)).and_then(|(_, v)| text_of(v));
                (get("source"), get("version"))
            }
            other => (None, text_of(other)),
        };
        file.requires(Requirement { local, source, version });
    }
}

fn typed(block: &Block, file: &mut InFile<'_>) {
    let Some(type_name) = block.labels().first() else { return };
    let provider = attribute(block, "provider").and_then(first_name);
    file.has_type(type_name.as_str(), provider.as_deref());
    if block.body().blocks().any(|inner| inner.identifier() == "provisioner") {
        file.provisions();
    }
}

fn attribute<'a>(block: &'a Block, name: &str) -> Option<&'a Expression> {
    block.body().attributes().find(|attribute| attribute.key() == name).map(hcl::Attribute::expr)
}

fn is(key: &ObjectKey, name: &str) -> bool {
    match key {
        ObjectKey::Identifier(identifier) => identifier.as_str() == name,
        ObjectKey::Expression(Expression::String(text)) => text == name,
        ObjectKey::Expression(Expression::Variable(variable)) => variable.as_str() == name,
        _ => false,
    }
}

/// A text without anything to compute in it.
fn text_of(expression: &Expression) -> Option<String> {
    match expression {
        Expression::String(text) => Some(text.clone()),
        Expression::TemplateExpr(template) => match &**template {
            TemplateExpr::QuotedString(text) if !text.contains("${") => Some(text.clone()),
            _ => None,
        },
        Expression::Parenthesis(inner) => text_of(inner),
        _ => None,
    }
}

/// The name that `aws` or `aws.west` begins with.
fn first_name(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Variable(variable) => Some(variable.as_str().to_owned()),
        Expression::Traversal(traversal) => first_name(&traversal.expr),
        Expression::String(text) => Some(text.clone()),
        _ => None,
    }
}
