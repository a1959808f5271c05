//! The blocks of a file one by one, by brackets alone. Engines take more than our parser does (such as a name that an
//! object has twice), and what it refuses in one block must not hide the others.

/// A block at the top of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its labels.
    pub labels: Vec<&'a str>,
    /// All of it.
    pub text: &'a str,
}

/// The blocks at the top of a text. Whatever does not look like one is passed over.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Where the head of a block may begin.
    let mut start = 0;
    let mut depth = 0usize;
    while at < text.len() {
        let rest = &text[at..];
        let length = skipped(rest).unwrap_or_else(|| {
            let c = rest.chars().next().unwrap_or_default();
            match c {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        found.extend(piece(&text[start..=at]));
                        start = at + 1;
                    }
                }
                _ => {}
            }
            c.len_utf8()
        });
        // A comment before a block is not its head.
        if depth == 0 && is_comment(rest) {
            start = at + length;
        }
        at += length;
    }
    found
}

/// How deep a text is nested, at most: brackets, strings in strings, and the operators of an expression, each of which
/// may be nested in the one before. A parser needs the more of the stack the larger this is.
pub fn nesting(text: &str) -> usize {
    // What is open, by how it began, with how many operators it has had. An expression within a string counts as one
    // in parentheses.
    let mut open: Vec<(char, usize)> = vec![('{', 0)];
    let (mut depth, mut most, mut at) = (0usize, 0usize, 0usize);
    while at < text.len() {
        let rest = &text[at..];
        let is_outermost = open.len() == 1;
        let (began, operators) = open.last_mut().expect("the text itself is never closed");
        let next = rest.chars().next().unwrap_or_default();
        let mut length = next.len_utf8();
        match (*began, next) {
            ('"', '\\') => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            ('"', '"' | '\n') => {
                depth -= 1 + *operators;
                open.pop();
            }
            ('"', '$' | '%') if rest[1..].starts_with('{') => {
                // A directive may be nested in the ones before.
                *operators += 1;
                depth += 2;
                open.push(('(', 0));
                length = 2;
            }
            ('"', _) => {}
            (_, '"' | '{' | '[' | '(') => {
                depth += 1;
                open.push((if next == '[' { '(' } else { next }, 0));
            }
            _ if skipped(rest).is_some() => {
                // Only directives of heredocs are nested.
                length = skipped(rest).unwrap_or(1);
                most = most.max(depth + rest[..length].matches("%{").count());
            }
            (_, '}' | ']' | ')') if !is_outermost => {
                depth -= 1 + *operators;
                open.pop();
            }
            // What is written in braces ends with its line.
            (_, ',') | ('{', '\n') => depth -= std::mem::take(operators),
            (_, '?' | '!' | '-' | '+' | '*' | '/' | '%' | '<' | '>' | '=' | '&' | '|') => {
                *operators += 1;
                depth += 1;
            }
            _ => {}
        }
        most = most.max(depth);
        at += length;
    }
    most
}

fn piece(text: &str) -> Option<Piece<'_>> {
    let text = text.trim();
    let head = text.split('{').next()?.trim();
    let mut words = head.split_whitespace();
    let kind = words.next().filter(|kind| kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))?;
    Some(Piece { kind, labels: words.map(|word| word.trim_matches('"')).collect(), text })
}

fn is_comment(text: &str) -> bool {
    text.starts_with('#') || text.starts_with("//") || text.starts_with("/*")
}

/// The length of what begins here and has brackets that mean nothing: a comment, a string, a heredoc.
fn skipped(text: &str) -> Option<usize> {
    if text.starts_with("/*") {
        return Some(text.find("*/").map_or(text.len(), |end| end + 2));
    }
    if is_comment(text) {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with('"') {
        return Some(quoted(text));
    }
    if let Some(rest) = text.strip_prefix("<<") {
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let word = rest.lines().next().unwrap_or_default().trim_end();
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_word {
            return Some(heredoc(text, word));
        }
    }
    None
}

/// The length of a string, with the expressions in it that have strings of their own.
fn quoted(text: &str) -> usize {
    let mut at = 1;
    // How many brackets of expressions are open, in each of the strings that are: one in the other.
    let mut strings = vec![0usize];
    while let (Some(open), true) = (strings.last_mut(), at < text.len()) {
        let rest = &text[at..];
        if rest.starts_with('\\') && *open == 0 {
            at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
            continue;
        }
        if *open == 0 && (rest.starts_with("${") || rest.starts_with("%{")) {
            (*open, at) = (1, at + 2);
            continue;
        }
        let next = rest.chars().next().unwrap_or_default();
        match next {
            '"' if *open == 0 => drop(strings.pop()),
            '"' => strings.push(0),
            '{' if *open > 0 => *open += 1,
            '}' if *open > 0 => *open -= 1,
            // A string ends with its line, which belongs to what the string is in.
            '\n' if *open == 0 => {
                strings.pop();
                continue;
            }
            _ => {}
        }
        at += next.len_utf8();
    }
    at
}

fn heredoc(text: &str, word: &str) -> usize {
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        at += line.len();
        if number > 0 && line.trim() == word {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_are_told_apart_by_brackets_that_mean_something() {
        let text = r#"
            # a { comment
            resource "a_b" "c" {
              x = "} ${f("}", { y = "{" })} \" {"
              y = <<-EOT
                { ${z}
              EOT
              /* } */
              z = [{ a = 1, a = 2 }] // }
            }
            locals { a = { b = "}" } }

            module "m" {
              source = "./m" # }
            }
        "#;
        let heads: Vec<String> =
            pieces(text).iter().map(|piece| format!("{} {}", piece.kind, piece.labels.join(" "))).collect();
        assert_eq!(heads, ["resource a_b c", "locals ", "module m"]);
        assert!(pieces(text)[2].text.starts_with("module") && pieces(text)[2].text.ends_with('}'));
    }

    #[test]
    fn strings_in_strings_end_however_deep_they_are() {
        let deep = |ends: bool| {
            let (begin, end) = ("\"${".repeat(100_000), "}\"".repeat(100_000));
            format!("locals {{\n  a = {begin}1{}\n}}\nlocals {{}}\n", if ends { &end } else { "" })
        };
        assert_eq!(pieces(&deep(true)).len(), 2);
        assert!(pieces(&deep(false)).is_empty());
    }

    #[test]
    fn nesting_is_counted_where_a_parser_may_follow_it() {
        assert_eq!(nesting("a = 1\nb = 2\n"), 1);
        assert_eq!(nesting("a {\n  b = [(1)]\n  c = 1\n}\n"), 4);
        let many = format!("a {{\n{}}}\n", "  b = \"${c}-${d}\" # ((((\n".repeat(1000));
        assert!(nesting(&many) < 10, "{}", nesting(&many));
        for deep in ["(", "[", "{", "\"${", "!", "a ? b : ", "-", "a + ", "f("] {
            assert!(nesting(&format!("a = {}", deep.repeat(1000))) >= 1000, "{deep}");
        }
        assert!(nesting(&format!("a = \"{}", "%{if a}".repeat(1000))) >= 1000);
        assert!(nesting(&format!("a = <<EOT\n{}\nEOT\n", "%{if a}".repeat(1000))) >= 1000);
    }

    proptest! {
        #[test]
        fn any_text_has_a_nesting(text in "[\"{}$%<\\-EOT\\[\\]()#/*\\\\ \n,?!]{0,60}") {
            nesting(&text);
        }

        #[test]
        fn any_text_has_an_end(text in "[\"{}$%<\\-EOT\\[\\]()#/*\\\\ \n]{0,60}") {
            pieces(&text);
        }
    }
}
