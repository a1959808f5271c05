//! Terraform, OpenTofu, and whatever takes their commands.

use std::ffi::OsString;
use std::path::Path;

use super::access::Access;
use super::driver::{Capabilities, Driver};
use super::evidence::Stage;
use crate::engine::Engine;
use crate::model::Deployment;
use crate::render::Syntax;

/// An engine with the commands of Terraform.
#[derive(Debug, Clone)]
pub struct Terraform {
    engine: Engine,
}

impl Terraform {
    /// For an engine that was found.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl Driver for Terraform {
    fn title(&self) -> String {
        self.engine.title()
    }

    fn executable(&self) -> &Path {
        &self.engine.path
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reattach: true, mirror: true, syntaxes: &[Syntax::Hcl, Syntax::Json] }
    }

    fn render(&self, deployment: &Deployment, order: &[String], syntax: Syntax) -> String {
        syntax.render(deployment, order)
    }

    fn environment(&self, access: &Access) -> Vec<(OsString, OsString)> {
        let (name, value) = match access {
            Access::Reattached(value) => ("TF_REATTACH_PROVIDERS", value.clone()),
            Access::Mirror { config } => ("TF_CLI_CONFIG_FILE", config.into()),
        };
        vec![(name.into(), value)]
    }

    /// A provider that is up needs no installation, and a folder without modules or a backend nothing else.
    fn preparation(&self, access: &Access) -> Option<&'static [&'static str]> {
        match access {
            Access::Reattached(_) => None,
            Access::Mirror { .. } => Some(&["init", "-input=false", "-no-color"]),
        }
    }

    fn command(&self, stage: Stage) -> &'static [&'static str] {
        match stage {
            Stage::Batch(_) | Stage::Idle => &["apply", "-auto-approve", "-input=false", "-json"],
            Stage::Cross => &["plan", "-detailed-exitcode", "-input=false", "-json"],
            Stage::Destroy => &["destroy", "-auto-approve", "-input=false", "-json"],
        }
    }

    fn state_file(&self) -> &'static str {
        "terraform.tfstate"
    }

    fn lock_file(&self) -> &'static str {
        ".terraform.tfstate.lock.info"
    }
}
