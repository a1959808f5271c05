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
        match access {
            Access::Reattached { variable, .. } => vec![("TF_REATTACH_PROVIDERS".into(), variable.clone())],
            // An engine passes its environment on to the providers that it starts.
            Access::Mirror { config, crash_log, .. } => vec![
                ("TF_CLI_CONFIG_FILE".into(), config.into()),
                ("EQUIFORM_CRASH_LOG".into(), crash_log.into()),
            ],
        }
    }

    /// A provider that is up needs no installation, and a folder without modules or a backend nothing else.
    fn preparation(&self, access: &Access) -> Option<&'static [&'static str]> {
        match access {
            Access::Reattached { .. } => None,
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
