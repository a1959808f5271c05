//! Terraform, OpenTofu, and whatever takes their commands: how they are driven, and how what they leave is read.
//!
//! `render` writes programs in their two syntaxes, [`builtin`] without our provider; `output`, `state` and `cycle` read
//! back what they print and store, `quote` quotes it; [`instances`] says which
//! object is at which address. [`provider_access`] is how they find a provider, `workspace` where their state is.

mod answer;
pub mod builtin;
mod cycle;
pub mod instances;
mod literal;
mod output;
pub mod provider_access;
mod quote;
mod render;
mod state;
mod workspace;

use std::ffi::OsString;
use std::path::Path;

use equiform_proto::control::Endpoint;

use super::driver::{
    Access, CallBounds, Capabilities, Driver, EngineCommand, EngineProfile, Syntax, WorkerProgram,
};
use super::workspace::{ProgramFile, RelativePath, Workspace};
use super::{Engine, EngineId, EngineName, Version, worker};
use crate::case::Batch;
use crate::case::workflow::Feature;
use crate::evidence::{
    Answer, ExitCodes, FileRole, Output, Quote, Reader, StageRecord, StateComparison, StateDifference,
    StateFile, StoredIdentity, StoredSetting, Topic, Unreadable,
};
use crate::spec::semantics::terraform::{TERRAFORM, TOFU_FROM_1_12};
use crate::spec::{Action, Encoding, Options, PlanMode, Query};
use provider_access::reattach_value;
pub use render::render;
use workspace::LocalState;

/// What judging needs to know of one of them.
pub fn profile(id: &EngineId) -> EngineProfile {
    let (is_tofu, version) = (id.name == EngineName::Tofu, (id.version.major, id.version.minor));
    EngineProfile {
        reader: &FilesOfTerraform,
        semantics: if is_tofu && version >= (1, 12) { TOFU_FROM_1_12 } else { TERRAFORM },
        identity: match version {
            _ if is_tofu => StoredIdentity::Never,
            (1, 12) => StoredIdentity::WithoutFailure,
            version if version > (1, 12) => StoredIdentity::Always,
            _ => StoredIdentity::Never,
        },
        setting: if is_tofu || version < (1, 10) {
            StoredSetting::LostByChange
        } else {
            StoredSetting::Always
        },
        version: Some((id.version.major, id.version.minor, id.version.patch)),
        // Terraform 1.6.6, 1.11.4 and 1.15.5 and OpenTofu 1.12.6 print nothing there.
        known_stderr: &[],
        calls: CALLS,
        // OpenTofu writes another text of the same state.
        backup_is_a_copy: !is_tofu,
        usual_options: &["-auto-approve", "-input=false", "-json", "-no-color", "-detailed-exitcode"],
    }
}

/// How often a command calls the provider at most, in any version that was tried.
const CALLS: CallBounds = CallBounds {
    reads: 1,
    plans: 4,
    validations: 3,
    others: &[
        ("GetProviderSchema", 1),
        ("GetSchema", 1),
        ("GetResourceIdentitySchemas", 1),
        ("ValidateProviderConfig", 3),
        ("PrepareProviderConfig", 3),
        ("ConfigureProvider", 3),
        ("Configure", 3),
        ("StopProvider", 0),
        ("Stop", 0),
    ],
    per_object: &[("UpgradeResourceState", 6), ("UpgradeResourceIdentity", 6)],
    about_resources: &[
        "ValidateResourceConfig",
        "ValidateResourceTypeConfig",
        "ReadResource",
        "PlanResourceChange",
        "ApplyResourceChange",
    ],
    at_once: 10,
};

/// The file of a program in the usual syntax.
pub const PROGRAM_FILE: &str = "main.tf";

/// What versions offer that have neither -replace nor -refresh-only.
const OF_OLD_VERSIONS: &[Feature] =
    &[Feature::SavedPlan, Feature::NoRefresh, Feature::Parallelism, Feature::Target, Feature::Mark];

/// The file that a plan is saved in.
const PLAN_FILE: &str = "saved.tfplan";

/// The option by which a plan tells by its exit code, 2, that it is not empty.
const DETAILED: &str = "-detailed-exitcode";

/// An engine with the commands of Terraform.
#[derive(Debug, Clone)]
pub struct Terraform {
    engine: Engine,
}

impl Terraform {
    /// For an engine that was found. Only [`super::open`] calls it.
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl Driver for Terraform {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn worker(&self) -> Option<WorkerProgram> {
        worker::program(&self.engine)
    }

    fn profile(&self) -> EngineProfile {
        profile(&self.engine.id)
    }

    fn capabilities(&self) -> Capabilities {
        // -replace came with 0.15.2, -refresh-only with 0.15.4.
        let is_old = self.engine.id.version < Version::new(0, 15, 4);
        let features = if is_old { OF_OLD_VERSIONS } else { Feature::ALL };
        Capabilities { reattach: true, mirror: true, syntaxes: &[Syntax::Hcl, Syntax::Json], features }
    }

    fn files(&self, batch: &Batch, syntax: Syntax) -> Vec<ProgramFile> {
        let path = match syntax {
            Syntax::Hcl => PROGRAM_FILE,
            Syntax::Json => "main.tf.json",
        };
        let path = RelativePath::new(path).expect("it is a file's name");
        vec![ProgramFile { path, content: render(batch, syntax) }]
    }

    fn is_steered_by(&self, variable: &str) -> bool {
        ["TF_", "TOFU_", "CHECKPOINT_"].iter().any(|prefix| variable.starts_with(prefix))
    }

    fn environment(&self, access: &Access, endpoint: Option<&Endpoint>) -> Vec<(OsString, OsString)> {
        let mut environment: Vec<(OsString, OsString)> =
            vec![("CHECKPOINT_DISABLE".into(), "1".into()), ("TF_IN_AUTOMATION".into(), "1".into())];
        match access {
            Access::Served { .. } => {
                environment.push(("TF_CLI_CONFIG_FILE".into(), "/dev/null".into()));
                let variable = |endpoint| ("TF_REATTACH_PROVIDERS".into(), reattach_value(endpoint).into());
                environment.extend(endpoint.map(variable));
            }
            // An engine passes its environment on to the providers that it starts.
            Access::Mirror { config, crash_log } => environment.extend([
                ("TF_CLI_CONFIG_FILE".into(), config.into()),
                ("EQUIFORM_CRASH_LOG".into(), crash_log.into()),
            ]),
        }
        environment
    }

    /// A provider that is up needs no installation, and a folder without modules or a backend nothing else.
    fn preparation(&self, access: &Access) -> Option<Vec<String>> {
        match access {
            Access::Served { .. } => None,
            Access::Mirror { .. } => Some(["init", "-input=false", "-no-color"].map(str::to_owned).to_vec()),
        }
    }

    fn command(&self, action: &Action, encoding: &Encoding) -> EngineCommand {
        let exit_codes = match action {
            Action::Plan(_) => ExitCodes::TwoIsAChange,
            _ => ExitCodes::Usual,
        };
        EngineCommand { arguments: arguments(action, encoding), exit_codes }
    }

    fn workspace(&self) -> &dyn Workspace {
        &LocalState
    }
}

/// The arguments of the command for an action, which names resources where the encoding has them.
fn arguments(action: &Action, encoding: &Encoding) -> Vec<String> {
    if let Action::Mark(key) | Action::Unmark(key) = action {
        let command = if matches!(action, Action::Mark(_)) { "taint" } else { "untaint" };
        return vec![command.to_owned(), "-no-color".to_owned(), encoding.address(key).to_string()];
    }
    if let Action::Query(query) = action {
        return answer::arguments(*query, PLAN_FILE);
    }
    let command: &[&str] = match action {
        Action::Apply(_) => &["apply", "-auto-approve"],
        Action::Plan(_) => &["plan", DETAILED],
        Action::ApplySaved(_) => &["apply"],
        Action::Destroy(_) => &["destroy", "-auto-approve"],
        Action::Refresh(_) => &["apply", "-refresh-only", "-auto-approve"],
        Action::Mark(_) | Action::Unmark(_) | Action::Query(_) | Action::Drift { .. } => &[],
    };
    let mut arguments: Vec<String> =
        command.iter().chain(&["-input=false", "-json"]).map(|&argument| argument.to_owned()).collect();
    let Options { replace, target, refresh, mode, save, .. } = action.options();
    arguments.extend(action.parallelism().map(|most| format!("-parallelism={most}")));
    if matches!(action, Action::ApplySaved(_)) {
        arguments.push(PLAN_FILE.to_owned());
        return arguments;
    }
    arguments.extend(replace.iter().map(|key| format!("-replace={}", encoding.address(key))));
    arguments.extend(target.iter().map(|key| format!("-target={}", encoding.address(key))));
    arguments.extend((!refresh).then(|| "-refresh=false".to_owned()));
    arguments.extend(match mode {
        PlanMode::Program => None,
        PlanMode::Destroy => Some("-destroy".to_owned()),
        PlanMode::Refresh => Some("-refresh-only".to_owned()),
    });
    arguments.extend(save.then(|| format!("-out={PLAN_FILE}")));
    arguments
}

/// Reads what they leave.
#[derive(Debug)]
struct FilesOfTerraform;

impl Reader for FilesOfTerraform {
    fn role_of(&self, path: &str) -> Option<FileRole> {
        workspace::role_of(path)
    }

    fn succeeded(&self, record: &StageRecord) -> bool {
        record.exit == Some(0) || self.tells_of_changes(record)
    }

    fn tells_of_changes(&self, record: &StageRecord) -> bool {
        record.exit_codes == ExitCodes::TwoIsAChange && record.exit == Some(2)
    }

    fn output(&self, stdout: &Path, stderr: &Path) -> Result<Output, Unreadable> {
        output::read(stdout, stderr)
    }

    fn answer(&self, query: Query, stdout: &Path) -> Result<Answer, Unreadable> {
        answer::read(query, stdout)
    }

    fn state(&self, path: &Path) -> Result<StateFile, Unreadable> {
        state::read(path)
    }

    fn state_difference(
        &self,
        before: &Path,
        after: &Path,
        comparison: StateComparison,
    ) -> Result<Option<StateDifference>, Unreadable> {
        state::difference(before, after, comparison)
    }

    fn quote_output(&self, stage: &Path, topic: Topic) -> Vec<Quote> {
        quote::of_output(stage, topic)
    }

    fn quote_state(&self, stage: &Path, names: &[String]) -> Vec<Quote> {
        quote::of_state(stage, names)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::EngineOrigin;
    use super::*;
    use crate::case::workflow::WORKFLOWS;
    use crate::spec::SavedOptions;

    #[test]
    fn an_engine_of_before_an_option_cannot_be_driven_by_the_workflows_that_need_it() {
        let lacking = |version| {
            let path = "terraform".into();
            let id = EngineId::new(EngineName::Terraform, version);
            let capabilities = Terraform::new(Engine { id, path, origin: EngineOrigin::Path }).capabilities();
            let lacking = WORKFLOWS.iter().filter(|workflow| !capabilities.suffice_for(workflow));
            lacking.map(|workflow| workflow.name).collect::<Vec<_>>()
        };
        assert!(lacking(Version::new(1, 6, 6)).is_empty());
        let old = ["saved-options", "refresh-only", "replace", "drift", "failure-elsewhere"];
        assert_eq!(lacking(Version::new(0, 14, 11)), old);
    }

    #[test]
    fn options_become_arguments() {
        let arguments = |action| super::arguments(&action, &Encoding::PLAIN).join(" ");
        assert_eq!(arguments(Action::Apply(Options::default())), "apply -auto-approve -input=false -json");
        let odd = Options {
            replace: ["a", "b"].map(Into::into).into(),
            target: BTreeSet::from(["c".into()]),
            refresh: false,
            parallelism: Some(1),
            mode: PlanMode::Destroy,
            save: true,
        };
        assert_eq!(
            arguments(Action::Plan(odd)),
            "plan -detailed-exitcode -input=false -json -parallelism=1 -replace=mock_node.a -replace=mock_node.b \
             -target=mock_node.c -refresh=false -destroy -out=saved.tfplan"
        );
        assert_eq!(
            arguments(Action::ApplySaved(SavedOptions { parallelism: Some(1) })),
            "apply -input=false -json -parallelism=1 saved.tfplan"
        );
    }
}
