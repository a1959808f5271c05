//! Source positions in what Terraform reports: whether they lie in the program, and in which resource's block.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::fields::{RangeFields, SnippetFields};
use crate::spec::encoding::named_address;

/// The programs beside an engine's output, each read when something is said about it.
pub struct Programs {
    folder: Option<PathBuf>,
    read: BTreeMap<String, Option<String>>,
}

impl Programs {
    /// Those in the folder of a file; none are known if there is no file.
    pub fn beside(file: Option<&Path>) -> Self {
        Self { folder: file.and_then(Path::parent).map(Path::to_owned), read: BTreeMap::new() }
    }

    /// The text of a program; none if it is not part of the evidence.
    pub fn text(&mut self, file: &str) -> Option<&str> {
        // A name leads nowhere else.
        let folder = self.folder.as_ref().filter(|_| !file.contains('/'))?;
        let read = || std::fs::read_to_string(folder.join(file)).ok();
        self.read.entry(file.to_owned()).or_insert_with(read).as_deref()
    }
}

/// Whether a range lies in a text, and what is quoted is there.
pub fn is_in(text: &str, range: &RangeFields<'_>, snippet: Option<&SnippetFields<'_>>) -> bool {
    let (begin, end) = (range.start.byte, range.end.byte);
    let Some(before) = text.get(..begin) else { return false };
    let in_order = begin <= end && end <= text.len();
    let in_line = before.matches('\n').count() + 1 == range.start.line;
    let is_quoted = snippet.is_none_or(|snippet| {
        let lines = text.lines().skip(snippet.start_line.saturating_sub(1));
        snippet.code.lines().zip(lines).all(|(quoted, line)| quoted == line)
            && (1..=text.lines().count() + 1).contains(&snippet.start_line)
    });
    in_order && in_line && is_quoted
}

/// The address of the resource in whose block a place is. Blocks are written as `render` writes them.
pub fn resource_at(text: &str, line: usize) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let (place, header) =
        lines.iter().enumerate().rev().find(|(_, line)| line.ends_with('{') && !line.starts_with(' '))?;
    let ends = lines[place + 1..].split_last().is_some_and(|(_, inner)| inner.contains(&"}"));
    let name = header.strip_prefix("resource \"mock_node\" \"")?.strip_suffix("\" {")?;
    (!ends).then(|| named_address(name).to_string())
}

#[cfg(test)]
mod tests {
    use super::super::fields::PointFields;
    use super::*;

    const PROGRAM: &str =
        "resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\n\noutput \"a\" {\n  value = 1\n}\n";

    #[test]
    fn a_line_belongs_to_the_block_of_a_resource_or_to_none() {
        let at = |line| resource_at(PROGRAM, line);
        let a = Some("mock_node.a".to_owned());
        assert_eq!([at(1), at(2), at(3), at(5), at(6)], [a.clone(), a.clone(), a, None, None]);
    }

    #[test]
    fn a_position_has_to_be_in_the_program_as_it_is_quoted() {
        let point = |line, byte| PointFields { line, byte };
        let range = |line, begin, end| RangeFields {
            filename: "main.tf".into(),
            start: point(line, begin),
            end: point(line, end),
        };
        let snippet = |code: &'static str| SnippetFields { code: code.into(), start_line: 2 };
        let start = PROGRAM.find("key").unwrap();
        assert!(is_in(PROGRAM, &range(2, start, start + 3), Some(&snippet("  key = \"a\""))));
        assert!(!is_in(PROGRAM, &range(3, start, start + 3), None));
        assert!(!is_in(PROGRAM, &range(2, start, 1000), None));
        assert!(!is_in(PROGRAM, &range(2, start, start + 3), Some(&snippet("  key = \"b\""))));
    }
}
