//! Some lines of a file, without reading more of it than that takes.

use std::io::{BufRead, BufReader, Read};

use tenon_domain::{Content, ToolError, ToolOutput};

use crate::builtin::blocking::StopSignal;

/// The most one call reads into memory, whatever a line is.
const MAX_BYTES: usize = 10 * 1024 * 1024;

#[derive(Debug, PartialEq)]
pub(super) struct FilePage {
    first: u64,
    lines: u64,
    bytes: Vec<u8>,
    /// Why the file goes on after this page, if it does.
    more: Option<Truncation>,
}

#[derive(Debug, PartialEq)]
enum Truncation {
    Lines,
    /// The last line is longer than a page may be; its rest is not shown.
    RestOfLine,
}

/// Reads `limit` lines from line `first` on.
pub(super) fn read(
    file: impl Read,
    first: u64,
    limit: u64,
    stop: &StopSignal,
) -> Result<FilePage, ToolError> {
    let mut reader = BufReader::new(file);
    let mut page = FilePage {
        first,
        lines: 0,
        bytes: Vec::new(),
        more: None,
    };
    let mut line = 1;
    let mut at_line_start = true;
    let mut line_start = 0;
    loop {
        stop.check()?;
        let buffer = reader.fill_buf().map_err(|error| {
            ToolError::failed(format!("The file cannot be read to its end: {error}."))
        })?;
        if buffer.is_empty() {
            break;
        }
        let wanted = line >= first;
        if wanted && at_line_start {
            if page.lines == limit {
                page.more = Some(Truncation::Lines);
                break;
            }
            page.lines += 1;
            line_start = page.bytes.len();
        }
        let end = buffer
            .iter()
            .position(|byte| *byte == b'\n')
            .map(|newline| newline + 1);
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        if wanted {
            let room = MAX_BYTES - page.bytes.len();
            if piece.len() > room && page.lines > 1 {
                // A full page ends with a whole line, so that the next one begins with one.
                page.bytes.truncate(line_start);
                page.lines -= 1;
                page.more = Some(Truncation::Lines);
                break;
            }
            if piece.len() > room {
                page.bytes.extend_from_slice(&piece[..room]);
                page.more = Some(Truncation::RestOfLine);
                break;
            }
            page.bytes.extend_from_slice(piece);
        }
        let used = piece.len();
        at_line_start = end.is_some();
        line += u64::from(at_line_start);
        reader.consume(used);
    }
    if page.lines == 0 && first > 1 {
        let lines = if at_line_start { line - 1 } else { line };
        return Err(ToolError::failed(format!(
            "The file has {lines} lines; there is no line {first}."
        )));
    }
    Ok(page)
}

impl FilePage {
    /// The lines as they stand in the file, and a note only where there is more.
    pub(super) fn into_output(self) -> ToolOutput {
        if self.bytes.is_empty() {
            return ToolOutput::text("[the file is empty]");
        }
        let mut output = ToolOutput::text_from_bytes(&self.bytes);
        let last = self.first + self.lines - 1;
        let note = match self.more {
            None => return output,
            Some(Truncation::Lines) => format!(
                "[These are lines {}–{last}; the file goes on. Read on with offset {}.]",
                self.first,
                last + 1
            ),
            Some(Truncation::RestOfLine) => format!(
                "[Line {last} is longer than {MAX_BYTES} bytes: this is its beginning. Read on with offset {}.]",
                last + 1
            ),
        };
        // The note comes first, because the end of a long text may not be shown.
        output.content.insert(0, Content::Text { text: note });
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, first: u64, limit: u64, expected: &str) {
        let said = match read(text.as_bytes(), first, limit, &StopSignal::never()) {
            Ok(page) => page.into_output().to_text(),
            Err(error) => error.message,
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn a_page_is_the_lines_asked_for() {
        check("a\nb\nc\n", 1, 10, "a\nb\nc\n");
        check("a\nb\nc", 1, 10, "a\nb\nc");
        check("a\r\nb", 1, 10, "a\r\nb");
        check("a\nb\nc\n", 2, 10, "b\nc\n");
        check("a\nb\nc\n", 1, 3, "a\nb\nc\n");
        check(
            "a\nb\nc\n",
            1,
            2,
            "[These are lines 1–2; the file goes on. Read on with offset 3.]\na\nb\n",
        );
        check("a\nb\nc\n", 3, 1, "c\n");
        check(
            "a\n\n\nb",
            2,
            1,
            "[These are lines 2–2; the file goes on. Read on with offset 3.]\n\n",
        );
        check("", 1, 10, "[the file is empty]");
        check("a\nb\n", 3, 10, "The file has 2 lines; there is no line 3.");
        check("a\nb", 3, 10, "The file has 2 lines; there is no line 3.");
        check(
            "a",
            u64::MAX,
            u64::MAX,
            "The file has 1 lines; there is no line 18446744073709551615.",
        );
    }

    #[test]
    fn a_page_never_holds_more_than_its_bytes() {
        let line = format!("{}\n", "x".repeat(999_999));
        let page = read(line.repeat(20).as_bytes(), 1, 100, &StopSignal::never()).unwrap();
        assert_eq!(
            (page.lines, page.bytes.len(), page.more),
            (10, 10_000_000, Some(Truncation::Lines))
        );

        let fits = format!("{}\n", "x".repeat(MAX_BYTES / 2 - 1));
        let page = read(fits.repeat(3).as_bytes(), 1, 100, &StopSignal::never()).unwrap();
        assert_eq!(
            (page.lines, page.bytes.len(), page.more),
            (2, MAX_BYTES, Some(Truncation::Lines))
        );

        let giant = "x".repeat(MAX_BYTES + 1);
        let page = read(giant.as_bytes(), 1, 100, &StopSignal::never()).unwrap();
        assert_eq!(
            (page.lines, page.bytes.len(), page.more),
            (1, MAX_BYTES, Some(Truncation::RestOfLine))
        );
    }

    #[test]
    fn reading_stops_when_told() {
        let error = read(std::io::repeat(b'x'), 2, 1, &StopSignal::now()).unwrap_err();
        assert_eq!(error, ToolError::cancelled());
    }
}
