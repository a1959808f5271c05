//! The files of a program in a working directory.

use std::fs;
use std::io;
use std::path::Path;

use super::{DeployError, io_error, make_folder, write};
use crate::engines::workspace::ProgramFile;

/// Writes the files of a program into a folder.
pub fn write_program(program: &[ProgramFile], folder: &Path) -> Result<(), DeployError> {
    for ProgramFile { path, content } in program {
        let place = path.within(folder);
        make_folder(place.parent().unwrap_or(folder))?;
        write(&place, content)?;
    }
    Ok(())
}

/// Removes the files of a program that are none of the next one's from a folder.
pub fn remove_program(
    program: &[ProgramFile],
    next: &[ProgramFile],
    folder: &Path,
) -> Result<(), DeployError> {
    let stays = |file: &ProgramFile| next.iter().any(|it| it.path == file.path);
    for file in program.iter().filter(|file| !stays(file)) {
        let place = file.path.within(folder);
        match fs::remove_file(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error("cannot remove", &place)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::workspace::RelativePath;

    #[test]
    fn a_program_of_several_files_takes_the_place_of_the_one_before() {
        let program = |files: &[(&str, &str)]| -> Vec<ProgramFile> {
            let file = |(path, content): &(&str, &str)| ProgramFile {
                path: RelativePath::new(path).unwrap(),
                content: (*content).to_owned(),
            };
            files.iter().map(file).collect()
        };
        let (folder, first) =
            (tempfile::tempdir().unwrap(), program(&[("main.tf", "1"), ("net/main.tf", "2")]));
        write_program(&first, folder.path()).unwrap();
        let second = program(&[("main.tf", "3"), ("outputs.tf", "4")]);
        remove_program(&first, &second, folder.path()).unwrap();
        write_program(&second, folder.path()).unwrap();
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).ok();
        assert_eq!(["main.tf", "outputs.tf"].map(read), [Some("3".to_owned()), Some("4".to_owned())]);
        assert_eq!(read("net/main.tf"), None);
    }
}
