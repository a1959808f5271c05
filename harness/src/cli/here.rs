//! Paths as a user in the working directory would type them.

use std::path::{Path, PathBuf};

/// The path relative to the working directory, if it is below it.
pub fn here(path: &Path) -> PathBuf {
    let below =
        std::env::current_dir().ok().and_then(|current| path.strip_prefix(current).ok().map(Path::to_owned));
    below.filter(|path| !path.as_os_str().is_empty()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_the_working_directory_is_told_without_it() {
        let current = std::env::current_dir().unwrap();
        assert_eq!(here(&current.join("a/b")), Path::new("a/b"));
        assert_eq!(here(&current), current);
        assert_eq!(here(Path::new("/nowhere/a")), Path::new("/nowhere/a"));
    }
}
