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
    // How many brackets of expressions are open.
    let mut open = 0usize;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with('\\') && open == 0 {
            at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
            continue;
        }
        if open == 0 && (rest.starts_with("${") || rest.starts_with("%{")) {
            (open, at) = (1, at + 2);
            continue;
        }
        match rest.chars().next().unwrap_or_default() {
            '"' if open == 0 => return at + 1,
            '"' => {
                at += quoted(rest);
                continue;
            }
            '{' if open > 0 => open += 1,
            '}' if open > 0 => open -= 1,
            // A string ends with its line.
            '\n' if open == 0 => return at,
            _ => {}
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    text.len()
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

    proptest! {
        #[test]
        fn any_text_has_an_end(text in "[\"{}$%<\\-EOT\\[\\]()#/*\\\\ \n]{0,60}") {
            pieces(&text);
        }
    }
}
