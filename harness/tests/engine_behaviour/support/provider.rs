//! The provider's binary, and a mirror that engines find it in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The addresses under which the mirror has the provider. The binary does not care for its address.
const ADDRESSES: [&str; 2] = ["equiform.test/equiform/mock", "equiform.test/other/mock"];

/// The provider's binary, built by the same profile as these tests.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let this = std::env::current_exe().expect("a running test has a path");
        let folder = this.parent().and_then(Path::parent).expect("tests run in target/<profile>/deps");
        let binary = folder.join("terraform-provider-mock");
        assert!(
            binary.is_file(),
            "the provider is not built: {} is missing; run `cargo build -p terraform-provider-mock`",
            binary.display()
        );
        binary
    })
}

/// A folder laid out as a filesystem mirror.
pub fn mirror() -> &'static Path {
    static MIRROR: OnceLock<PathBuf> = OnceLock::new();
    MIRROR.get_or_init(|| {
        let mirror = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mirror");
        let platform = platform();
        for address in ADDRESSES {
            let package = mirror.join(address).join(env!("CARGO_PKG_VERSION")).join(&platform);
            fs::create_dir_all(&package).expect("the target folder is writable");
            let place = package.join("terraform-provider-mock");
            // A link under another name, then a rename: a test run beside this one always finds a whole binary.
            let new = mirror.join(format!("new-{}", std::process::id()));
            fs::hard_link(binary(), &new).expect("the mirror is beside the binary");
            fs::rename(&new, &place).expect("the mirror is writable");
            // A rename onto another link of the same file leaves both.
            let _ = fs::remove_file(&new);
        }
        mirror
    })
}

/// The machine as mirrors name it.
pub fn platform() -> String {
    format!("{}_{}", std::env::consts::OS, architecture())
}

/// The machine's architecture as Go calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
