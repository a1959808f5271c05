//! What a deployment asks of an engine, whichever it is.

use std::ffi::OsString;
use std::fmt::Debug;
use std::path::Path;

use super::access::Access;
use super::evidence::Stage;
use crate::model::Deployment;
use crate::render::Syntax;

/// What an engine can do. A deployment asks for nothing that is not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It attaches to a provider that is up already.
    pub reattach: bool,
    /// It installs providers from a folder.
    pub mirror: bool,
    /// The syntaxes that it reads.
    pub syntaxes: &'static [Syntax],
}

impl Capabilities {
    /// Whether the engine can be run in this way.
    pub fn allow(&self, access: &Access, syntax: Syntax) -> bool {
        let reached = match access {
            Access::Reattached { .. } => self.reattach,
            Access::Mirror { .. } => self.mirror,
        };
        reached && self.syntaxes.contains(&syntax)
    }
}

/// An engine, as a deployment drives it: commands in a folder that holds a program.
pub trait Driver: Debug + Send + Sync {
    /// What it is called in reports, with its exact version.
    fn title(&self) -> String;

    /// Its executable.
    fn executable(&self) -> &Path;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// A program, its resources in the given order.
    fn render(&self, deployment: &Deployment, order: &[String], syntax: Syntax) -> String;

    /// The variables that its commands need beside those that every command gets.
    fn environment(&self, access: &Access) -> Vec<(OsString, OsString)>;

    /// The command that makes a folder with a program in it ready; none where that is not needed.
    fn preparation(&self, access: &Access) -> Option<&'static [&'static str]>;

    /// The command of a stage.
    fn command(&self, stage: Stage) -> &'static [&'static str];

    /// The file that holds its state, in the folder of the program.
    fn state_file(&self) -> &'static str;

    /// The file that is there while the state is locked.
    fn lock_file(&self) -> &'static str;
}
