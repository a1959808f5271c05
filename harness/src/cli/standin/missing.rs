//! The message for providers without a schema: which ones, the command that gets it, and where to put it.

use std::fmt::Write as _;
use std::path::Path;

use crate::engines::EngineName;
use crate::standin::chosen::Missing;
use crate::standin::store::name_in_folder;

use super::shell_word;

/// The message, with a command for each provider.
pub(super) fn sentence(program: &Path, missing: &[Missing], engine: EngineName, store: &Path) -> String {
    let store = &std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
    let mut text = match missing.len() {
        1 => format!("a provider that {} needs has no schema here. ", program.display()),
        number => format!("{number} providers that {} needs have no schema here. ", program.display()),
    };
    text += "A schema is the provider's own description of its types.\nOn a machine where it can be installed, type:\n";
    for Missing { needed, locked } in missing {
        let wanted = match locked {
            Some(version) => version.to_string(),
            None => needed.constraints.to_string(),
        };
        let _ = write!(text, "\n  # {} {wanted}", needed.address);
        text.truncate(text.trim_end().len());
        let _ = writeln!(text, ", for {}", needed.at.display());
        let mut provider = serde_json::json!({ "source": needed.address.to_string() });
        if !wanted.is_empty() {
            provider["version"] = wanted.into();
        }
        let local = &needed.address.type_name;
        let main = serde_json::json!({ "terraform": { "required_providers": { local: provider } } });
        let file = store.join(name_in_folder(&needed.address, locked.as_ref()));
        let folder = file.parent().unwrap_or(store);
        let _ = writeln!(text, "  mkdir -p {} && cd \"$(mktemp -d)\" &&", shell_word(folder));
        let _ = writeln!(text, "    echo '{main}' >main.tf.json &&");
        let _ = writeln!(text, "    {engine} init && {engine} providers schema -json >{}", shell_word(&file));
    }
    let _ = write!(
        text,
        "\nYou can also put a file for several providers beside the program, as {}, or name it with --schemas.",
        program.join("schema.json").display()
    );
    text
}
