//! What Terraform says about a cycle in its graph. It prints the nodes: a resource, its `(expand)`, its `(destroy)`,
//! and with create_before_destroy `(destroy deposed 1a2b3c4d)`. Up to 1.15 they are in one line, separated by commas;
//! from 1.16 on, each is in a line of its own.

use crate::evidence::{CycleNode, NodeOperation};

/// The word after which an error lists the nodes of a cycle.
const HEADING: &str = "Cycle:";

/// The words before the list of an error about a cycle, and the nodes as it names them; none if it is about something
/// else.
fn parts(error: &str) -> Option<(&str, Vec<&str>)> {
    let is_word = |before: &str| before.chars().next_back().is_none_or(char::is_whitespace);
    let (start, _) = error.match_indices(HEADING).find(|(start, _)| is_word(&error[..*start]))?;
    let end = start + HEADING.len();
    let nodes = error[end..].split([',', '\n']).map(str::trim).filter(|node| !node.is_empty());
    Some((&error[..end], nodes.collect()))
}

/// Whether an error is about a cycle.
pub fn is_reported(error: &str) -> bool {
    parts(error).is_some()
}

/// An error about a cycle in one line, whatever its layout was.
pub fn in_one_line(error: &str) -> Option<String> {
    let (before, nodes) = parts(error)?;
    let before: Vec<&str> = before.split_whitespace().collect();
    Some(format!("{} {}", before.join(" "), nodes.join(", ")).trim_end().to_owned())
}

/// The nodes of the cycle that an error reports; none if it is another error, or if one of them is no resource.
pub fn nodes(error: &str) -> Option<Vec<CycleNode>> {
    parts(error)?.1.into_iter().map(node).collect()
}

fn node(text: &str) -> Option<CycleNode> {
    let (address, operation) = match text.split_once(" (") {
        None => (text, NodeOperation::Make),
        Some((address, operation)) => (
            address,
            match operation.strip_suffix(')')? {
                "expand" => NodeOperation::Make,
                "destroy" => NodeOperation::Delete,
                other => other.strip_prefix("destroy deposed ").map(|_| NodeOperation::DeleteDeposed)?,
            },
        ),
    };
    // A type and a name: other nodes are of providers, outputs, or the engine's own.
    (address.contains('.') && !address.contains([' ', '[']))
        .then(|| CycleNode { address: address.to_owned(), operation })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_A_LINE: &str =
        "Error: Cycle: mock_node.a, mock_node.b (destroy deposed 663dbbe8), mock_node.a (destroy)";
    const IN_LINES: &str =
        "Error: Cycle:\n  mock_node.a\n  mock_node.b (destroy deposed 663dbbe8)\n  mock_node.a (destroy)";

    #[test]
    fn a_cycle_is_the_same_in_one_line_and_in_many() {
        let nodes = nodes(IN_A_LINE).unwrap();
        let expected = [
            ("mock_node.a", NodeOperation::Make),
            ("mock_node.b", NodeOperation::DeleteDeposed),
            ("mock_node.a", NodeOperation::Delete),
        ];
        assert_eq!(nodes.iter().map(|it| (&*it.address, it.operation)).collect::<Vec<_>>(), expected);
        let wrapped = IN_A_LINE.replace(", ", ",\n    ");
        for layout in [IN_LINES, &wrapped, &IN_LINES.replace("\n  ", "\r\n\t"), &format!("\n{IN_LINES}\n\n")]
        {
            assert_eq!(super::nodes(layout).as_ref(), Some(&nodes), "{layout}");
            assert_eq!(in_one_line(layout).unwrap(), IN_A_LINE);
        }
    }

    #[test]
    fn what_names_something_else_is_no_cycle_of_resources() {
        assert_eq!(nodes("Error: Cycle: a, b"), None, "these are no resources");
        assert_eq!(nodes("Error: Cycle:\n  mock_node.a\n  provider[\"mock\"]"), None);
        for other in
            ["Error: mock_node.Cycle: a.b", "Error: Bicycle: a.b, a.c", "Error: Cycle", "Self reference: a.b"]
        {
            assert!(!is_reported(other), "{other}");
        }
        assert_eq!(in_one_line("Error: Cycle:"), Some("Error: Cycle:".to_owned()));
    }
}
