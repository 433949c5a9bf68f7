//! A path inside a workspace, refused before any file system sees it if it could leave.

use std::fmt;

use tenon_domain::ToolError;

/// The limit of Linux and macOS. Checked here because the system's own error is harder to
/// understand.
const MAX_PATH_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 255;

/// Names of folders and at last of a file or folder, none of which means "up"
/// or "elsewhere". Empty: the workspace itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FilePath {
    names: Vec<String>,
}

impl FilePath {
    pub(super) fn read(text: &str) -> Result<Self, ToolError> {
        let shown: String = text
            .chars()
            .take(80)
            .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
            .collect();
        let refuse = |why: &str| {
            Err(ToolError::denied(format!(
                "`{shown}` is refused: {why}. Name a path inside the workspace, such as `notes/today.md`."
            )))
        };
        if text.chars().any(char::is_control) {
            return refuse("it contains control characters");
        }
        if text.len() > MAX_PATH_BYTES {
            return refuse("it is too long");
        }
        if text.starts_with('/') {
            return refuse("it is absolute");
        }
        if text.contains('\\') {
            return refuse("it contains a backslash; folders are separated by `/`");
        }
        if text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic() {
            return refuse("it names a drive");
        }
        let names: Vec<&str> = text
            .split('/')
            .filter(|name| !matches!(*name, "" | "."))
            .collect();
        if names.contains(&"..") {
            return refuse("`..` leads out of the folder");
        }
        if names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
            return refuse("a name in it is too long");
        }
        Ok(Self {
            names: names.into_iter().map(str::to_owned).collect(),
        })
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The folders on the way, and the last name. None for the workspace itself.
    pub(super) fn split_last(&self) -> Option<(&[String], &str)> {
        let (last, folders) = self.names.split_last()?;
        Some((folders, last))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names.as_slice() {
            [] => f.write_str("the workspace"),
            names => f.write_str(&names.join("/")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let said = match FilePath::read(text) {
            Ok(path) => path.names().join("|"),
            Err(error) => {
                let (_, why) = error.message.split_once("refused: ").unwrap();
                why.split(". Name").next().unwrap().to_owned()
            }
        };
        assert_eq!(said, expected, "{text:?}");
    }

    #[test]
    fn paths_that_stay_inside_are_taken_apart() {
        check("", "");
        check(".", "");
        check("a", "a");
        check("a/b/c.txt", "a|b|c.txt");
        check("./a//b/", "a|b");
        check("...", "...");
        check("a..b", "a..b");
        check("笔记/今天.md", "笔记|今天.md");
        check("a b", "a b");
        check("12:30.txt", "12:30.txt");
    }

    #[test]
    fn paths_that_could_leave_are_refused() {
        check("..", "`..` leads out of the folder");
        check("../a", "`..` leads out of the folder");
        check("a/../../b", "`..` leads out of the folder");
        check("a/..", "`..` leads out of the folder");
        check("/etc/passwd", "it is absolute");
        check("//server/share", "it is absolute");
        check("C:/Windows", "it names a drive");
        check("c:notes.txt", "it names a drive");
        check(
            "C:\\Windows",
            "it contains a backslash; folders are separated by `/`",
        );
        check(
            "\\\\server\\share",
            "it contains a backslash; folders are separated by `/`",
        );
        check(
            "..\\a",
            "it contains a backslash; folders are separated by `/`",
        );
        check("a\0b", "it contains control characters");
        check("a\nb", "it contains control characters");
        check(&"a/".repeat(600), "it is too long");
        check(&"a".repeat(256), "a name in it is too long");
    }
}
