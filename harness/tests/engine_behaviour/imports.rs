//! Objects that another state made, brought into this one.

use crate::support::behaviour::{Behaviour, behaviours, everywhere, imports_by_identity};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        an_import_block_takes_an_id_or_a_key,
        the_import_command_takes_an_id_or_a_key,
        importing_what_is_not_there_is_told,
        an_imported_node_is_updated_to_what_the_program_says,
    ],
    imports_by_identity => [
        an_import_block_takes_an_identity,
        an_identity_that_contradicts_itself_is_told,
    ]
};

const NODE: &str = r#"
    resource "mock_node" "a" {
      key   = "a"
      label = "made elsewhere"
    }
"#;

/// Makes the node and forgets it: the ledger has it, the state does not.
fn with_a_forgotten_node(engine: &Engine) -> Workspace {
    let workspace = Workspace::with(engine, NODE);
    workspace.apply();
    std::fs::remove_file(workspace.path("terraform.tfstate")).expect("an apply leaves a state");
    workspace
}

/// Applies a program with an import block, which must do nothing but import.
fn imports(workspace: &Workspace, arguments: &str) {
    let id = workspace.ledger().id("a");
    workspace.write(&format!("{NODE}\nimport {{\n  to = mock_node.a\n  {arguments}\n}}\n"));
    workspace.run(&["plan", "-input=false"]).succeeded().says("1 to import, 0 to add, 0 to change");
    workspace.apply().are(&[]);
    assert_eq!(workspace.ledger().id("a"), id);
    assert_eq!(workspace.graph(), graph(&["a"], &[]));
    workspace.plan_is_empty();
    // It is this state's now.
    workspace.destroy().are(&["delete a"]);
}

fn an_import_block_takes_an_id_or_a_key(engine: &Engine) {
    let workspace = with_a_forgotten_node(engine);
    imports(&workspace, &format!("id = {:?}", workspace.ledger().id("a")));
    imports(&with_a_forgotten_node(engine), "id = \"a\"");
}

fn an_import_block_takes_an_identity(engine: &Engine) {
    let workspace = with_a_forgotten_node(engine);
    imports(&workspace, &format!("identity = {{ id = {:?} }}", workspace.ledger().id("a")));
    let workspace = with_a_forgotten_node(engine);
    imports(&workspace, &format!("identity = {{ id = {:?}, key = \"a\" }}", workspace.ledger().id("a")));
}

fn an_identity_that_contradicts_itself_is_told(engine: &Engine) {
    let workspace = with_a_forgotten_node(engine);
    let id = workspace.ledger().id("a");
    workspace.write(&format!(
        "{NODE}\nimport {{\n  to = mock_node.a\n  identity = {{ id = {id:?}, key = \"b\" }}\n}}\n"
    ));
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.ended_with(1).clean().says("The identity's id and key belong to different nodes");
}

fn the_import_command_takes_an_id_or_a_key(engine: &Engine) {
    for by_id in [true, false] {
        let workspace = with_a_forgotten_node(engine);
        let id = workspace.ledger().id("a");
        let name = if by_id { id.as_str() } else { "a" };
        workspace.run(&["import", "-input=false", "mock_node.a", name]).succeeded();
        workspace.plan_is_empty();
        assert_eq!(workspace.graph(), graph(&["a"], &[]));
        assert_eq!(workspace.state_list(), ["mock_node.a"]);
    }
}

fn importing_what_is_not_there_is_told(engine: &Engine) {
    let workspace = with_a_forgotten_node(engine);
    let sentence = "There is no mock_node with the id or key \"nobody\"";
    let advice = "has no such object. `equiform ledger world FILE` lists the existing ones.";
    let import = workspace.run(&["import", "-input=false", "mock_node.a", "nobody"]);
    import.ended_with(1).clean().says(sentence).says(advice);

    workspace.write(&format!("{NODE}\nimport {{\n  to = mock_node.a\n  id = \"nobody\"\n}}\n"));
    workspace.run(&["plan", "-input=false"]).ended_with(1).clean().says(sentence).says(advice);
    assert_eq!(workspace.graph(), graph(&["a"], &[]));
}

fn an_imported_node_is_updated_to_what_the_program_says(engine: &Engine) {
    let workspace = with_a_forgotten_node(engine);
    let program = format!("{NODE}\nimport {{\n  to = mock_node.a\n  id = \"a\"\n}}\n");
    workspace.write(&program.replace("made elsewhere", "ours now"));
    workspace.apply().are(&["update a"]);
    let ledger = workspace.ledger();
    assert_eq!((ledger.label("a").as_deref(), ledger.revision("a")), (Some("ours now"), 2));
    workspace.plan_is_empty();
}
