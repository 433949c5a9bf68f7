//! The file with the set-up link, in the data folder, readable by its owner only: whoever can read
//! it could have started Tenon.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::fresh_code;

const LINK: &str = "setup-link";

/// A page for browsers that are to be opened: an address on a command line, all of the machine can
/// read.
const REDIRECT_PAGE: &str = "setup.html";

pub(super) struct LinkFile {
    folder: PathBuf,
    /// What this process wrote.
    written: Option<String>,
}

impl LinkFile {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            written: None,
        }
    }

    pub(super) fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(self.folder.join(LINK)) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_written(&self) -> bool {
        self.written.is_some()
    }

    pub(super) fn write(&mut self, link: &str) -> io::Result<()> {
        // The page leads to a code that is used up.
        self.delete(REDIRECT_PAGE)?;
        self.put(LINK, &format!("{link}\n"))?;
        self.written = Some(link.to_owned());
        Ok(())
    }

    pub(super) fn write_redirect_page(&self, link: &str) -> io::Result<PathBuf> {
        let page = format!(
            "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n<title>Tenon</title>\n\
             <p><a href=\"{link}\">Open Tenon</a></p>\n"
        );
        self.put(REDIRECT_PAGE, &page)?;
        Ok(self.folder.join(REDIRECT_PAGE))
    }

    /// Removes what this process wrote; what another one wrote since is left to that.
    pub(super) fn remove(&mut self) -> io::Result<()> {
        let Some(written) = self.written.take() else {
            return Ok(());
        };
        if self.read()?.as_ref() != Some(&written) {
            return Ok(());
        }
        self.clear()
    }

    pub(super) fn clear(&self) -> io::Result<()> {
        self.delete(REDIRECT_PAGE)?;
        self.delete(LINK)
    }

    /// Writes the file atomically, readable by its owner only.
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        // A random name that cannot be guessed or pre-created.
        let draft = self.folder.join(format!(".{name}.{}", fresh_code()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options
            .open(&draft)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .and_then(|()| fs::rename(&draft, self.folder.join(name)));
        if written.is_err() {
            // There may be nothing to remove.
            let _ = fs::remove_file(&draft);
        }
        written
    }

    fn delete(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_written_is_its_owners_alone_whatever_was_there_before() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        fs::write(&elsewhere, "untouched").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.path().join(LINK)).unwrap();
        let mut file = LinkFile::in_folder(folder.path());
        file.write("http://127.0.0.1:1/#setup=A").unwrap();
        let page = file.write_redirect_page("http://127.0.0.1:1/#setup=A");
        for path in [folder.path().join(LINK), page.unwrap()] {
            let made = fs::symlink_metadata(&path).unwrap();
            assert!(made.is_file(), "{path:?}");
            assert_eq!(made.permissions().mode() & 0o777, 0o600, "{path:?}");
        }
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
    }

    #[test]
    fn the_link_of_another_server_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (
            LinkFile::in_folder(folder.path()),
            LinkFile::in_folder(folder.path()),
        );
        one.write("http://127.0.0.1:1/#setup=A").unwrap();
        other.write("http://127.0.0.1:2/#setup=B").unwrap();
        one.remove().unwrap();
        let kept = one.read().unwrap();
        assert_eq!(kept.as_deref(), Some("http://127.0.0.1:2/#setup=B"));
        other.remove().unwrap();
        assert_eq!(other.read().unwrap(), None);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
