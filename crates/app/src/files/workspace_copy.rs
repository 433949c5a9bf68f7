//! The copy of a file in the folder of its chat.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::AttachmentError;

/// More files of one name than anybody attaches.
const MAX_SAME_NAMES: usize = 100;

/// Writes the file beside those that are there. Returns the name it has there.
pub(super) async fn copy_into(
    folder: PathBuf,
    name: String,
    data: Vec<u8>,
) -> Result<String, AttachmentError> {
    let writing = tokio::task::spawn_blocking(move || write(&folder, &name, &data));
    let written = writing.await.unwrap_or_else(|error| Err(error.into()));
    written.map_err(|error| AttachmentError::NotWritten {
        why: error.to_string(),
    })
}

fn write(folder: &Path, name: &str, data: &[u8]) -> std::io::Result<String> {
    DirBuilder::new().recursive(true).create(folder)?;
    for number in 1..=MAX_SAME_NAMES {
        let name = numbered(name, number);
        // Follows no link that a program left under this name.
        let mut options = OpenOptions::new();
        match options
            .write(true)
            .create_new(true)
            .open(folder.join(&name))
        {
            Ok(mut file) => {
                file.write_all(data)?;
                return Ok(name);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn numbered(name: &str, number: usize) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, extension))) => format!("{stem} ({number}).{extension}"),
        (_, None) => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let chat = folder.path().join("chat");
        let names = [b"1", b"2", b"3"].map(|data| write(&chat, "a.txt", data).unwrap());
        assert_eq!(names, ["a.txt", "a (2).txt", "a (3).txt"]);
        assert_eq!(std::fs::read(chat.join("a (2).txt")).unwrap(), b"2");
    }
}
