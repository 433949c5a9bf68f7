//! Looks for a text in all files below a folder, and knows when to give up.

use std::io::Read;
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, File};
use tenon_domain::text::{chars_after, chars_before, excerpt};
use tenon_domain::{ErrorKind, ToolError};

use super::path::FilePath;
use super::workspace::{DirectoryEntry, Workspace, entry_in, missing, names_in};
use crate::builtin::blocking::StopSignal;
use crate::builtin::matcher::CaseInsensitiveMatcher;

const MAX_HITS: usize = 200;
/// Larger files are data, not text that somebody wrote.
const MAX_FILE_BYTES: u64 = 10 * 1024 * 1024;
/// All of a large project; not all of a disk.
const MAX_BYTES: u64 = 500 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);
/// A file with a zero byte this near its beginning is binary, as git has it.
const BINARY_CHECK: usize = 8000;
/// How much of a long line is shown.
const SHOWN_CHARS: usize = 200;
/// Deeper than people nest folders; shallow enough for a thread's stack.
const MAX_DEPTH: usize = 64;

pub(super) fn search(
    workspace: &Workspace,
    path: &FilePath,
    needle: &CaseInsensitiveMatcher,
    stop: &StopSignal,
) -> Result<String, ToolError> {
    let mut search = Search {
        needle,
        stop,
        path,
        deadline: Instant::now() + TIMEOUT,
        hits: Vec::new(),
        files: 0,
        bytes: 0,
        skipped: 0,
        gave_up: None,
    };
    let prefix = path.names().join("/");
    match workspace.entry(path)? {
        Some(DirectoryEntry::Folder(folder)) => search.folder(&folder, &prefix, 0)?,
        Some(DirectoryEntry::File(file)) => search.file(file, &prefix)?,
        None if path.names().is_empty() => {}
        None => return Err(missing(path)),
    }
    Ok(search.report())
}

struct Search<'a> {
    needle: &'a CaseInsensitiveMatcher,
    stop: &'a StopSignal,
    path: &'a FilePath,
    deadline: Instant,
    hits: Vec<String>,
    files: usize,
    bytes: u64,
    skipped: usize,
    /// Why the search ended before everything was looked at.
    gave_up: Option<&'static str>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Dir, prefix: &str, depth: usize) -> Result<(), ToolError> {
        if depth == MAX_DEPTH {
            self.skipped += 1;
            return Ok(());
        }
        let (names, all) = match names_in(folder, self.path, self.stop) {
            Ok(listed) => listed,
            Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
            Err(_) => {
                self.skipped += 1;
                return Ok(());
            }
        };
        if !all {
            self.skipped += 1;
        }
        for name in names {
            if self.is_over()? {
                return Ok(());
            }
            let path = if prefix.is_empty() {
                name.clone()
            } else {
                format!("{prefix}/{name}")
            };
            match entry_in(folder, &name, self.path) {
                Ok(Some(DirectoryEntry::Folder(folder))) => {
                    self.folder(&folder, &path, depth + 1)?
                }
                Ok(Some(DirectoryEntry::File(file))) => self.file(file, &path)?,
                Ok(None) => {}
                // What may not be opened must not end the search for the rest.
                Err(_) => self.skipped += 1,
            }
        }
        Ok(())
    }

    fn file(&mut self, file: File, path: &str) -> Result<(), ToolError> {
        let mut bytes = Vec::new();
        // One byte more than allowed tells a file that is too large.
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        let is_binary = bytes.iter().take(BINARY_CHECK).any(|byte| *byte == 0);
        self.bytes += bytes.len() as u64;
        if read.is_err() || bytes.len() as u64 > MAX_FILE_BYTES || is_binary {
            self.skipped += 1;
            return Ok(());
        }
        self.files += 1;
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            if self.is_over()? {
                return Ok(());
            }
            let line = String::from_utf8_lossy(line);
            if let Some(place) = self.needle.find_all(&line).next() {
                self.hits
                    .push(format!("{path}:{number}: {}", around(&line, place.start)));
            }
        }
        Ok(())
    }

    fn is_over(&mut self) -> Result<bool, ToolError> {
        self.stop.check()?;
        if self.hits.len() >= MAX_HITS {
            self.gave_up = Some("there may be more");
        } else if self.bytes > MAX_BYTES {
            self.gave_up = Some("there was too much to search");
        } else if Instant::now() > self.deadline {
            self.gave_up = Some("the search took too long");
        }
        Ok(self.gave_up.is_some())
    }

    fn report(self) -> String {
        let mut summary = match self.hits.len() {
            0 => format!("Nothing found in {} files", self.files),
            1 => format!("1 line found in {} files", self.files),
            hits => format!("{hits} lines found in {} files", self.files),
        };
        if self.skipped > 0 {
            summary.push_str(&format!(
                ", {} skipped (binary, larger than 10 MB, or not files)",
                self.skipped
            ));
        }
        if let Some(why) = self.gave_up {
            summary.push_str(&format!(
                "; {why}: search in a folder or for something rarer"
            ));
        }
        let mut lines = self.hits;
        lines.push(format!("[{summary}]"));
        lines.join("\n")
    }
}

/// The part of a line that shows what is at `place`.
fn around(line: &str, place: usize) -> String {
    let line = line.trim_end();
    let start = chars_before(line, place.min(line.len()), SHOWN_CHARS / 4);
    excerpt(line, start..chars_after(line, start, SHOWN_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        assert_eq!(around("a short line", 2), "a short line");
        let long = format!("{}needle{}", "字".repeat(500), "x".repeat(500));
        assert_eq!(
            around(&long, 1500),
            format!("…{}needle{}…", "字".repeat(50), "x".repeat(144))
        );
        assert_eq!(around("tail   ", 7), "tail");
    }

    #[test]
    fn a_search_stops_when_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "needle").unwrap();
        let workspace = Workspace::at(folder.path());
        let (path, needle) = (
            FilePath::read("").unwrap(),
            CaseInsensitiveMatcher::new("needle").unwrap(),
        );
        let found = search(&workspace, &path, &needle, &StopSignal::never());
        assert_eq!(
            found,
            Ok("a.txt:1: needle\n[1 line found in 1 files]".into())
        );
        let stopped = search(&workspace, &path, &needle, &StopSignal::now());
        assert_eq!(stopped, Err(ToolError::cancelled()));
    }
}
