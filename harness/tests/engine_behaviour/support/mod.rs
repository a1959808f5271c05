//! What the behaviours share: engines, a workspace to run them in, and the ledger as they left it.

pub mod behaviour;
pub mod disk;
pub mod engines;
pub mod ledger;
pub mod limits;
pub mod output;
pub mod process;
pub mod provider;
pub mod workspace;

pub use equiform::engines::Engine;
pub use ledger::graph;
pub use workspace::Workspace;

/// Two nodes, the second of which refers to the first.
pub const PAIR: &str = r#"
    resource "mock_node" "a" {
      key = "a"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
"#;
