use std::fs;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = folder.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn read(&self, name: &str) -> Result<Program, String> {
        let told = |error: ProgramError| {
            let root = self.0.path().canonicalize().unwrap();
            error.to_string().replace(&format!("{}/", root.display()), "")
        };
        Program::read(&self.0.path().join(name)).map_err(told)
    }
}

fn needs(program: &Program) -> Vec<String> {
    let one = |needed: &Needed| format!("{} {}", needed.address, needed.constraints).trim_end().to_owned();
    program.providers.iter().map(one).collect()
}

#[test]
fn providers_are_those_that_are_required_configured_or_implied_by_a_type() {
    let folder = Folder::with(&[
        (
            "main.tf",
            r#"
            terraform {
              required_version = ">= 1.3"
              required_providers {
                cloud = { source = "example.org/team/cloud", version = ">= 2.0" }
                aws   = "~> 5.0"
                mock  = { source = "equiform.test/equiform/mock" }
                old = {
                  "source"              = "Team/Old"
                  version               = "1.2.0"
                  configuration_aliases = [old.a]
                }
              }
            }
            terraform {
              provider_meta "cloud" {
                team = "x"
              }
            }
            provider "random" {}
            resource "cloud_disk" "a" {
              name = "x-${var.a}"
              tags = { for k, v in var.t : k => "${upper(v)}" if v != null }
              user_data = <<-EOT
                #!/bin/sh
                %{ for x in var.list ~}
                echo ${x}
                %{ endfor ~}
              EOT
            }
            resource "aws_vpc" "main" { provider = aws.west }
            data "google_image" "i" {}
            resource "beta_thing" "b" { provider = google }
            ephemeral "vault_secret" "s" {}
            resource "terraform_data" "t" {
              provisioner "local-exec" { command = "true" }
            }
            check "up" {
              data "http" "page" { url = "https://example.org" }
              assert {
                condition     = data.http.page.status_code == 200
                error_message = "down"
              }
            }
            "#,
        ),
        (".hidden.tf", "{{{"),
        ("notes.txt", "{{{"),
    ]);
    let program = folder.read("").unwrap();
    assert_eq!(
        needs(&program),
        [
            "hashicorp/aws ~> 5.0",
            "hashicorp/google",
            "hashicorp/http",
            "hashicorp/random",
            "hashicorp/vault",
            "team/old 1.2.0",
            "example.org/team/cloud >= 2.0",
        ]
    );
    assert!(program.uses_mock);
    assert_eq!(program.provisioners.len(), 1);
    let meta: Vec<usize> = program.providers.iter().map(|needed| needed.provider_meta.len()).collect();
    assert_eq!(meta, [0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn json_says_the_same() {
    let folder = Folder::with(&[
        (
            "main.tf.json",
            r#"{
          "terraform": [{"required_providers": [
            {"aws": {"source": "hashicorp/aws", "version": "~> 5.0"}, "b": "1.0"}
          ]}],
          "provider": {"random": [{}]},
          "resource": {"aws_vpc": {"main": {"provider": "aws.west"}}, "x_y": [{"z": [{"provisioner": []}]}]},
          "data": [{"google_image": {"i": {}}}],
          "module": {"m": {"source": "./sub"}}
        }"#,
        ),
        ("sub/main.tf", ""),
    ]);
    let program = folder.read("").unwrap();
    let expected =
        ["hashicorp/aws ~> 5.0", "hashicorp/b 1.0", "hashicorp/google", "hashicorp/random", "hashicorp/x"];
    assert_eq!(needs(&program), expected);
    assert_eq!((program.folders.len(), program.provisioners.len(), program.uses_mock), (2, 1, false));
}

#[test]
fn modules_at_local_paths_are_read_and_all_constraints_hold_together() {
    let folder = Folder::with(&[
        (
            "app/main.tf",
            "module \"net\" {\n  source = \"../modules/net\"\n}\nmodule \"r\" { source = \"a/b/c\" }",
        ),
        (
            "modules/net/main.tf",
            "terraform {\n  required_providers {\n    aws = { version = \"~> 5.0\" }\n  }\n}\n\
                                 module \"sub\" { source = \"./sub\" }",
        ),
        (
            "modules/net/sub/main.tf",
            "terraform {\n  required_providers {\n    a = { source = \"hashicorp/aws\", \
                                     version = \">= 5.20\" }\n  }\n}\nmodule \"up\" { source = \"./..\" }",
        ),
        ("other/main.tf", "{{{"),
    ]);
    let program = folder.read("app").unwrap();
    assert_eq!(needs(&program), ["hashicorp/aws ~> 5.0, >= 5.20"]);
    assert_eq!(program.providers[0].constraints.pick().unwrap().to_string(), "5.20.0");
    assert_eq!(program.folders.len(), 3);
    assert_eq!(program.common_folder(), folder.0.path().canonicalize().unwrap());
    assert_eq!(program.remote_modules.len(), 1);
    assert_eq!(program.remote_modules[0].1, "a/b/c");
}

#[test]
fn mistakes_are_told_with_their_file() {
    let read = |name: &str, text: &str| Folder::with(&[(name, text)]).read("").unwrap_err();
    assert!(read("a.tf.json", "{\n \"a\": }").starts_with("a.tf.json: expected value at line 2"));
    assert!(read("main.txt", "").contains("there is no .tf or .tf.json file in this folder"));
    let required = |said: &str| format!("terraform {{\n  required_providers {{\n    x = {said}\n  }}\n}}");
    let error = read("main.tf", &required("{ source = \"../../etc/x\" }"));
    assert!(error.starts_with("main.tf: `../../etc/x` is not the address of a provider"), "{error}");
    let error = read("main.tf", &required("\"newest\""));
    assert!(error.starts_with("main.tf: `newest` is not a version constraint"), "{error}");
    let error = read("main.tf", "module \"m\" { source = \"./none\" }");
    assert!(
        error.starts_with("main.tf: module.m is called from none, which cannot be read: No such"),
        "{error}"
    );
    let deep = format!("x = {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(Folder::with(&[("main.tf", &deep)]).read("").unwrap().read_in_part.len(), 1, "no panic");
}

#[test]
fn a_block_that_the_parser_refuses_does_not_hide_what_the_program_needs() {
    let twice = "locals {\n  a = { b = 1, b = 2 }\n}\n";
    let text = format!(
        "{twice}resource \"aws_vpc\" \"a\" {{\n  x = {{ b = 1, b = 2 }}\n}}\nmodule \"m\" {{\n  source = \"./sub\"\n  \
         y = {{ b = 1, b = 2 }}\n}}\nresource \"other_thing\" \"b\" {{\n  provider = random\n}}\n"
    );
    let folder = Folder::with(&[("main.tf", &text), ("sub/main.tf", "provider \"google\" {}")]);
    let program = folder.read("").unwrap();
    assert_eq!(needs(&program), ["hashicorp/aws", "hashicorp/google", "hashicorp/random"]);
    assert_eq!(program.read_in_part.len(), 1);
    assert!(program.read_in_part[0].1.contains("redefined object key"), "{:?}", program.read_in_part);
}

#[test]
fn a_program_that_is_nested_too_deep_is_read_in_part_and_overflows_no_stack() {
    let nested = |begin: &str, end: &str, depth: usize| {
        let (begin, end) = (begin.repeat(depth), end.repeat(depth));
        format!("locals {{\n  a = {begin}1{end}\n}}\nresource \"cloud_disk\" \"a\" {{}}\n")
    };
    for (begin, end) in [
        ("\"${", "}\""),
        ("(", ")"),
        ("[", "]"),
        ("{ a = ", " }"),
        ("f(", ")"),
        ("a[", "]"),
        ("[for a in ", " : a]"),
        ("!", ""),
        ("- ", ""),
        ("a ? a : ", ""),
        ("a ? ", " : a"),
        ("a + ", ""),
        ("\"%{ if a }", "%{ endif }\""),
    ] {
        for depth in [30, 60, 50_000] {
            let folder = Folder::with(&[("main.tf", &nested(begin, end, depth))]);
            let program = folder.read(".").unwrap();
            assert_eq!(needs(&program).len(), 1, "{begin} {depth}");
            let is_deep = program.read_in_part.iter().any(|(_, why)| why.contains("nested"));
            assert_eq!(is_deep, depth == 50_000, "{begin} {depth}: {:?}", program.read_in_part);
        }
    }
}
