//! Texts as they are written in programs, so that engines read them back unchanged.

use std::fmt::Write as _;

use hcl::expr::{Expression, TemplateExpr};

/// A byte order mark. Engines drop it at the beginning of a text in JSON, as if the text were a file.
const MARK: char = '\u{feff}';

/// A text for JSON.
pub fn literal(text: &str) -> String {
    match text.strip_prefix(MARK) {
        Some(rest) => format!(r#"${{"\ufeff"}}{}"#, doubled(rest)),
        None => doubled(text),
    }
}

/// A text in which nothing begins a template: the signs that would are doubled.
fn doubled(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        literal.push(character);
        if matches!(character, '$' | '%') && characters.peek() == Some(&'{') {
            literal.push(character);
        }
    }
    literal
}

/// A text in quotes. The library's own escaping overlooks the second of two signs before a brace.
pub fn quoted(text: &str) -> Expression {
    let mut quoted = String::with_capacity(text.len());
    for character in doubled(text).chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    Expression::from(TemplateExpr::QuotedString(quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        hcl::format::to_string(&quoted(text)).unwrap()
    }

    #[test]
    fn what_would_begin_a_template_is_doubled_once() {
        assert_eq!(written("${a} %{b} $ % ${"), r#""$${a} %%{b} $ % $${""#);
        // Engines take the last of several signs together with the brace.
        assert_eq!(written("$${a} $${b} %%{c} $%{d"), r#""$$${a} $$${b} %%%{c} $%%{d""#);
        assert_eq!(literal("$${a} %{\n"), "$$${a} %%{\n");
        assert_eq!(literal("\u{feff}${"), r#"${"\ufeff"}$${"#);
    }

    #[test]
    fn quotes_backslashes_and_control_characters_are_escaped() {
        assert_eq!(written("a\"b\\c\r\n\t\u{1}\u{7f}\u{85}é"), r#""a\"b\\c\r\n\t\u0001\u007f\u0085é""#);
    }
}
