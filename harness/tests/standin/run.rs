//! `standin run` on programs of our own provider and on those that cannot be run.

use std::fs;
use std::path::Path;

use crate::{ENGINES, equiform, printed, root, schema, write};

#[test]
fn a_program_is_deployed_and_destroyed_in_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hello");
    fs::create_dir(&program).unwrap();
    fs::copy(root().join("fixtures/programs/hello/main.tf"), program.join("main.tf")).unwrap();
    // Neither of these may be looked at: the one is the program's own state, the other leads to the network.
    write(&program, "terraform.tfstate", "no state");
    write(
        &program,
        "backend.tf",
        "terraform {\n  backend \"http\" {\n    address = \"http://127.0.0.1:9\"\n  }\n}\n",
    );
    for engine in ENGINES {
        let run = ["standin", "run", "hello", "--destroy", "--engine", engine];
        let (said, _) = printed(&equiform(folder.path(), &run), 0);
        for part in [
            "== init\n== apply\nApply complete! Resources: 3 added, 0 changed, 0 destroyed.\n",
            "  create  commit  server   node-",
            "edges, dependency -> dependent: 3\n  network -> server\n  network -> subnet\n  subnet -> server\n",
            "names: 3 of 3 are certain\n== destroy\nDestroy complete! Resources: 3 destroyed.\n",
        ] {
            assert!(said.contains(part), "{part}\n{said}");
        }
    }
    let names: Vec<_> = fs::read_dir(&program).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "the program's folder is as it was: {names:?}");
}

#[test]
fn a_folder_that_is_kept_is_gone_on_from() {
    let folder = tempfile::tempdir().unwrap();
    let program = |label: &str| {
        let text = format!(
            "terraform {{\n  required_providers {{\n    mock = {{ source = \"equiform.test/equiform/mock\" }}\n  }}\n\
             }}\n\
             variable \"name\" {{}}\nresource \"mock_node\" \"a\" {{\n  key = var.name\n  label = \"{label}\"\n}}\n"
        );
        write(folder.path(), "p/main.tf", &text);
    };
    let run = || {
        let run = ["standin", "run", "p", "--keep=p/kept", "--var=name=x", "--engine", ENGINES[0]];
        printed(&equiform(folder.path(), &run), 0).0
    };
    program("one");
    assert!(run().contains("Resources: 1 added, 0 changed, 0 destroyed."));
    program("two");
    let said = run();
    assert!(said.contains("Resources: 0 added, 1 changed, 0 destroyed."), "{said}");
    assert!(said.contains("label: \"one\" → \"two\"") && !said.contains("  create  "), "{said}");
    let graph = ["ledger", "graph", "p/kept/equiform.ledger.jsonl", "--format=json"];
    assert_eq!(printed(&equiform(folder.path(), &graph), 0).0, "{\"nodes\":[\"x\"],\"edges\":[]}\n");
    // Somebody else's folder is left alone.
    write(folder.path(), "own/program/precious.txt", "x");
    let (_, error) = printed(&equiform(folder.path(), &["standin", "run", "p", "--keep=own"]), 2);
    assert!(error.contains("holds something else"), "{error}");
    assert!(folder.path().join("own/program/precious.txt").exists());
}

#[test]
fn an_engine_that_fails_is_told_with_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let hello = fs::read_to_string(root().join("fixtures/programs/hello/main.tf")).unwrap();
    write(folder.path(), "p/main.tf", &hello.replace("label       =", "lable       ="));
    let (said, error) =
        printed(&equiform(folder.path(), &["standin", "run", "p", "--engine", ENGINES[0]]), 1);
    assert!(said.contains("Unsupported argument"), "{said}");
    assert!(error.contains("error: `apply` failed: exit code 1"), "{error}");
}

#[test]
fn a_schema_that_is_missing_is_asked_for_with_the_command_that_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let main = "terraform {\n  required_providers {\n    nimbus = {\n      source  = \"equiform/nimbus\"\n      \
                version = \"~> 2.1\"\n    }\n  }\n}\nresource \"other_thing\" \"a\" {}\n";
    write(folder.path(), "p/main.tf", main);
    write(folder.path(), "store/hashicorp/other.json", &schema("registry.terraform.io/hashicorp/other", &[]));
    let run = ["standin", "run", "p", "--schemas=store", "--engine", ENGINES[0]];
    let (said, error) = printed(&equiform(folder.path(), &run), 2);
    let error = error.replace(&folder.path().canonicalize().unwrap().display().to_string(), "");
    assert!(said.is_empty(), "{said}");
    let error = error.replace(r#"{"terraform":{"required_providers":{"#, "PROVIDERS ");
    insta::assert_snapshot!(error, @r#"
    error: a provider that p needs has no schema here. A schema is the provider's own description of its types.
    On a machine where it can be installed, type:

      # equiform/nimbus ~> 2.1, for /p/main.tf
      mkdir -p /store/equiform && cd "$(mktemp -d)" &&
        echo 'PROVIDERS "nimbus":{"source":"equiform/nimbus","version":"~> 2.1"}}}}' >main.tf.json &&
        terraform init && terraform providers schema -json >/store/equiform/nimbus.json

    You can also put a file for several providers beside the program, as p/schema.json, or name it with --schemas.
    "#);
    // And of an engine that is not there.
    let (_, error) =
        printed(&equiform(folder.path(), &["standin", "run", "p", "--engine=terraform@0.1.0"]), 2);
    assert!(error.contains("is neither on the PATH nor installed"), "{error}");
}

#[test]
fn programs_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "bad/main.tf", "resource \"terraform_data\" \"b\" {\n  input = = 1\n}\n");
    fs::create_dir(folder.path().join("empty")).unwrap();
    // What is wrong with a program, the engine says.
    let bad = equiform(folder.path(), &["standin", "run", "bad", "--engine", ENGINES[0]]);
    let (said, error) = printed(&bad, 1);
    assert!(
        said.contains("Invalid expression") && error.contains("bad/main.tf is read in part only"),
        "{said}{error}"
    );
    for (name, sentence) in [("empty", "there is no program to run"), ("none", "none:")] {
        let (_, error) =
            printed(&equiform(folder.path(), &["standin", "run", name, "--engine", ENGINES[0]]), 2);
        assert!(error.contains(sentence), "{error}");
    }
    assert!(!Path::new("kept").exists());
}

#[test]
fn modules_that_were_fetched_before_are_taken_along() {
    let folder = tempfile::tempdir().unwrap();
    let source = "git::https://example.invalid/net.git";
    write(folder.path(), "p/main.tf", &format!("module \"net\" {{\n  source = \"{source}\"\n}}\n"));
    let hello = fs::read_to_string(root().join("fixtures/programs/hello/main.tf")).unwrap();
    let inner = hello.replace("provider \"mock\" {\n  run = \"hello\"\n}\n", "");
    write(folder.path(), "p/.terraform/modules/net/main.tf", &inner);
    let manifest = serde_json::json!({ "Modules": [
        { "Key": "", "Source": "", "Dir": "." },
        { "Key": "net", "Source": source, "Dir": ".terraform/modules/net" },
    ]});
    for engine in ENGINES {
        let run = ["standin", "run", "p", "--engine", engine];
        let _ = fs::remove_file(folder.path().join("p/.terraform/modules/modules.json"));
        let (said, note) = printed(&equiform(folder.path(), &run), 1);
        assert!(note.contains("module.net in") && note.contains(source), "{note}");
        assert!(said.contains("example.invalid"), "{said}");
        write(folder.path(), "p/.terraform/modules/modules.json", &manifest.to_string());
        let (said, note) = printed(&equiform(folder.path(), &run), 0);
        assert!(said.contains("Apply complete! Resources: 3 added") && note.is_empty(), "{said}{note}");
    }
}

#[test]
fn the_overrides_on_the_page_are_taken_and_without_them_it_is_said_what_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let schema = fs::read_to_string(root().join("fixtures/standin/cloud/schema.json")).unwrap();
    write(folder.path(), "p/schema.json", &schema);
    let main = "terraform {\n  required_providers {\n    nimbus = { source = \"equiform/nimbus\" }\n  }\n}\n\
                data \"nimbus_zones\" \"all\" {}\ndata \"nimbus_image\" \"base\" {\n  name = \"base-2\"\n}\n\
                resource \"nimbus_instance\" \"web\" {\n  image_id = data.nimbus_image.base.id\n  size = \"small\"\n  \
                subnet_id = \"x\"\n}\n\
                output \"told\" {\n  value = join(\" \", concat(data.nimbus_zones.all.names, \
                [nimbus_instance.web.state, nimbus_instance.web.image_id, nimbus_instance.web.id]))\n}\n";
    write(folder.path(), "p/main.tf", main);
    let run = ["standin", "run", "p", "--engine", ENGINES[0]];
    let (said, error) = printed(&equiform(folder.path(), &run), 1);
    assert!(said.contains("No answer is configured for nimbus_zones"), "{said}");
    assert!(error.contains("hint: equiform.overrides.json belongs in p, from where it is copied"), "{error}");
    let page = fs::read_to_string(root().join("docs/standin.md")).unwrap();
    let example = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    write(folder.path(), "p/equiform.overrides.json", example);
    let (said, _) = printed(&equiform(folder.path(), &run), 0);
    assert!(said.contains("told = \"north-1a north-1b running image-of-autumn vm-"), "{said}");
}
