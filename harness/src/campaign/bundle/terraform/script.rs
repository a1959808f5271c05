//! The script of a bundle. It needs a POSIX shell and an engine, and the provider's binary where built-in resources do
//! not show the bug.

use std::fmt::Write as _;

use super::super::{Form, Runs, SCRIPT};
use super::check::Check;
use super::steps::{Step, StepCommand, Steps};
use crate::judge::finding::Finding;
use crate::util::shell::{self, quoted, word};

/// How often a script tries to show a bug that does not always show.
pub const MOST_RUNS: usize = 20;

/// The text of the script.
pub fn script(
    title: &str,
    steps: &Steps,
    check: &Check,
    form: &Form,
    finding: &Finding,
    runs: Runs,
) -> String {
    let mut text = head(title, form, check, runs);
    if let Check::Equiform = check {
        text += &by_equiform(finding);
        return text;
    }
    text += TOOLS;
    text += match form {
        Form::Builtin => WITHOUT_PROVIDER,
        Form::Mock { .. } => WITH_PROVIDER,
    };
    let last = steps.steps.len() - 1;
    for (place, step) in steps.steps.iter().enumerate() {
        text += &step_lines(step, place == 0, place == last, form);
    }
    let Check::Shell { lines, events } = check else { return text };
    text += "\n# Whether the bug shows.\n";
    if *events {
        text += &match form {
            Form::Builtin => EVENTS_OF_OUTPUT.to_owned(),
            Form::Mock { .. } => EVENTS_OF_LEDGER.replace("STAGE", &steps.last().stage),
        };
    }
    text += lines;
    text
}

fn head(title: &str, form: &Form, check: &Check, runs: Runs) -> String {
    let needs = match (check, form) {
        (Check::Equiform, _) => {
            "\
# It needs `equiform`, which deploys case.json on the engine and judges it: no shell can tell what it looks at.
# EQUIFORM=/path/equiform names it where it is not on the PATH.\n"
        }
        (_, Form::Builtin) => "# It needs nothing but the engine, and works in a temporary folder.\n",
        (_, Form::Mock { .. }) => {
            "\
# It needs the engine, and the mock provider of equiform: PROVIDER=/path/terraform-provider-mock names its binary, which
# is put into a mirror in a temporary folder. All work is done there.\n"
        }
    };
    let (tries, again) = match runs {
        Runs::Once => (String::new(), String::new()),
        Runs::UntilShown => (
            format!(
                "# The bug does not show every time: all is done up to {MOST_RUNS} times, until it does.\n"
            ),
            AGAIN.replace("MOST_RUNS", &MOST_RUNS.to_string()),
        ),
    };
    format!(
        "#!/bin/sh\n# {title}\n#\n# Usage: ./{SCRIPT} [ENGINE]     or ENGINE=tofu ./{SCRIPT}\n\
         # ENGINE is the executable of an engine: terraform, tofu, a path. Without one, terraform.\n{needs}{tries}\
         #\n# Exit code: 0 the bug shows, 1 it does not show, 2 it could not be run.\n{again}{BEGIN}"
    )
}

/// Runs the rest again as long as the bug does not show.
const AGAIN: &str = r#"
if [ -z "${ONCE:-}" ]; then
  tried=0
  while [ "$tried" -lt MOST_RUNS ]; do
    tried=$((tried + 1))
    printf '== try %d\n' "$tried"
    code=0
    ONCE=yes sh "$0" "$@" || code=$?
    [ "$code" -eq 1 ] || exit "$code"
  done
  exit 1
fi
"#;

const BEGIN: &str = r#"
set -u
umask 077
say() { printf '%s\n' "$*"; }
cannot() { printf 'it could not be run: %s\n' "$*" >&2; exit 2; }
shows() { say "== the bug shows: $*"; exit 0; }
does_not() { say "== the bug does not show: $*"; exit 1; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || cannot "the folder of this script cannot be found"
wanted=${1:-${ENGINE:-terraform}}
engine=$(command -v -- "$wanted") || cannot "there is no $wanted: name the executable of an engine, as in '$0 tofu'"
case $engine in /*) ;; *) engine=$(pwd)/$engine ;; esac
work=${TMPDIR:-/tmp}/repro-$$
mkdir -- "$work" "$work/run" || cannot "no folder can be made in ${TMPDIR:-/tmp}"
trap 'rm -rf -- "$work"' EXIT
trap 'exit 2' HUP INT TERM
# What steers engines must not come from whoever runs this, but for their logs.
for name in $(env | sed -n 's/^\(TF_[A-Za-z0-9_]*\)=.*/\1/p; s/^\(TOFU_[A-Za-z0-9_]*\)=.*/\1/p'); do
  case $name in TF_LOG*) ;; *) unset "$name" ;; esac
done
export CHECKPOINT_DISABLE=1
"#;

const TOOLS: &str = r#"out=$work/out.txt
before=$work/before.tfstate
state=$work/run/terraform.tfstate
events=$work/events.txt

# The program of folder $1 is put in place.
program() {
  say "== $1/main.tf"
  cp -- "$here/$1/main.tf" "$work/run/main.tf" || cannot "$here/$1/main.tf cannot be copied"
}

# Runs the engine with these arguments. Leaves the exit code in $code, and what it printed in $out.
run() {
  say "== ${engine##*/} $*"
  if [ -e "$state" ]; then cp -- "$state" "$before"; else : >"$before"; fi
  code=0
  (cd -- "$work/run" && "$engine" "$@") >"$out" 2>&1 </dev/null || code=$?
  cat -- "$out"
}

# The last command has to have succeeded, or to have failed, or there is nothing to see.
succeeded() { [ "$code" -eq 0 ] || cannot "a step before the last one failed, with exit code $code"; }
failed() { [ "$code" -ne 0 ] || cannot "a step before the last one succeeded that has to fail"; }
"#;

const WITHOUT_PROVIDER: &str = "export TF_CLI_CONFIG_FILE=/dev/null\n\nrun version\nsucceeded\n";

const WITH_PROVIDER: &str = r#"
provider=${PROVIDER:-$(command -v terraform-provider-mock)} || provider=
[ -n "$provider" ] && [ -x "$provider" ] || cannot "PROVIDER has to name the binary of terraform-provider-mock"
case $provider in /*) ;; *) provider=$(pwd)/$provider ;; esac
system=$(uname -s | tr 'A-Z' 'a-z')
case $(uname -m) in x86_64) machine=amd64 ;; aarch64 | arm64) machine=arm64 ;; *) machine=$(uname -m) ;; esac
mirror=$work/mirror/equiform.test/equiform/mock/VERSION/${system}_$machine
mkdir -p -- "$mirror" && cp -- "$provider" "$mirror/terraform-provider-mock" || cannot "$provider cannot be copied"
printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$work/mirror" >"$work/cli.tfrc"
export TF_CLI_CONFIG_FILE="$work/cli.tfrc"
export EQUIFORM_LEDGER="$work/ledger.jsonl"

run version
succeeded
"#;

/// The operations that the engine says it did, in the order of its lines.
const EVENTS_OF_OUTPUT: &str = r#"sed -n \
  -e 's/ (deposed object [0-9a-f]*): /: /' \
  -e 's/^terraform_data\.\([^ :]*\): Creating\.\.\..*/begin create \1/p' \
  -e 's/^terraform_data\.\([^ :]*\): Creation complete.*/end create \1/p' \
  -e 's/^terraform_data\.\([^ :]*\): Modifying\.\.\..*/begin update \1/p' \
  -e 's/^terraform_data\.\([^ :]*\): Modifications complete.*/end update \1/p' \
  -e 's/^terraform_data\.\([^ :]*\): Destroying\.\.\..*/begin delete \1/p' \
  -e 's/^terraform_data\.\([^ :]*\): Destruction complete.*/end delete \1/p' \
  "$out" >"$events"
"#;

/// The operations that the provider's ledger has of the last step.
const EVENTS_OF_LEDGER: &str = r#"# There is none if the engine never asked the provider for anything.
[ -e "$EQUIFORM_LEDGER" ] || : >"$EQUIFORM_LEDGER"
sed -n '/"run":"STAGE"/s/.*"op":"\([a-z]*\)","phase":"\([a-z]*\)".*"key":"\([^"]*\)".*/\2 \1 \3/p' "$EQUIFORM_LEDGER" |
  sed -n -e 's/^commit /end /' -e '/^[a-z]* create /p' -e '/^[a-z]* update /p' -e '/^[a-z]* delete /p' >"$events"
say "== what the ledger shows of the last step"
cat -- "$events"
"#;

fn step_lines(step: &Step, is_first: bool, is_last: bool, form: &Form) -> String {
    let mut text = format!("\n# {}\n", step.stage);
    let words = |arguments: &[String]| shell::line(arguments.iter().map(String::as_str));
    if let Some(program) = step.program {
        let _ = writeln!(text, "program {program}");
    }
    if is_first {
        text += "run init -input=false -no-color\nsucceeded\n";
    }
    if let Form::Mock { .. } = form {
        let _ =
            writeln!(text, "export EQUIFORM_RUN={} EQUIFORM_HOLD={}", word(&step.stage), word(&step.hold));
        if !step.faults.is_empty() {
            let _ = writeln!(text, "export EQUIFORM_FAULTS={}", word(&step.faults.to_json()));
        }
    }
    match &step.command {
        StepCommand::Engine(arguments) => {
            let _ = writeln!(text, "run {}", words(arguments));
        }
        StepCommand::Provider(arguments) => {
            let arguments = words(arguments);
            let _ = writeln!(text, "say \"== behind the engine's back:\" {arguments}");
            let _ = writeln!(
                text,
                "\"$provider\" {arguments} || cannot \"the provider cannot change the world\""
            );
            return text;
        }
    }
    if !step.faults.is_empty() {
        text += "unset EQUIFORM_FAULTS\n";
    }
    if !is_last {
        text += match step.succeeded {
            true if step.tells_by_exit_code() => "[ \"$code\" -eq 2 ] || succeeded\n",
            true => "succeeded\n",
            false => "failed\n",
        };
    }
    text
}

/// The script where only equiform can tell.
fn by_equiform(finding: &Finding) -> String {
    format!(
        r#"
equiform=${{EQUIFORM:-equiform}}
command -v -- "$equiform" >/dev/null || cannot "there is no $equiform: name it, as in EQUIFORM=/path/equiform $0"
say "== ${{engine##*/}} version"
"$engine" version || cannot "$engine does not say its version"
say "== equiform replay case.json on ${{engine##*/}}"
code=0
"$equiform" replay "$here" --variant 0 --engine "$engine" --no-known --no-again --out "$work/replay" --format json \
  >"$work/replay.json" || code=$?
case $code in
  0) does_not "nothing is found" ;;
  1) ;;
  *) cannot "equiform ended with exit code $code" ;;
esac
grep -qF -- {} "$work/replay.json" && grep -qF -- {} "$work/replay.json" || does_not "something else is found"
shows {}
"#,
        quoted(&format!("\"oracle\": \"{}\"", finding.oracle())),
        quoted(&format!("\"kind\": \"{}\"", finding.kind)),
        quoted(&finding.signature().to_string())
    )
}

/// The script with the version of the provider in it.
pub fn with_version(script: String) -> String {
    script.replace("mock/VERSION/", concat!("mock/", env!("CARGO_PKG_VERSION"), "/"))
}
