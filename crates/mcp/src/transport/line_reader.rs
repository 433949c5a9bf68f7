//! Splits a stream of bytes into lines, however long they get.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of the beginning and the end of a line that is too long is kept.
const KEPT_BYTES: usize = 512;

/// After a line longer than this the buffer is shrunk.
const SHRINK_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct LineReader<R> {
    source: R,
    max_line_bytes: usize,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// How far it has been searched for its end.
    searched: usize,
    /// The beginning of a line that is too long, while the rest of it goes by.
    oversized: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    TooLong {
        head: Vec<u8>,
        tail: &'a [u8],
    },
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(source: R, max_line_bytes: usize) -> Self {
        Self {
            source,
            max_line_bytes,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            oversized: None,
        }
    }

    /// The next line; none at the end. A last line without its end counts.
    pub(crate) async fn next(&mut self) -> io::Result<Option<InputLine<'_>>> {
        let end = loop {
            if let Some(end) = self.find_end() {
                break end;
            }
            self.make_room();
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                if self.buffer.is_empty() && self.oversized.is_none() {
                    return Ok(None);
                }
                break self.buffer.len();
            }
        };
        let begin = self.start;
        self.start = (end + 1).min(self.buffer.len());
        self.searched = self.start;
        let line = &self.buffer[begin..end];
        Ok(Some(match self.oversized.take() {
            Some(head) => InputLine::TooLong {
                head,
                tail: &line[line.len().saturating_sub(KEPT_BYTES)..],
            },
            None => InputLine::Whole(line.strip_suffix(b"\r").unwrap_or(line)),
        }))
    }

    fn find_end(&mut self) -> Option<usize> {
        let rest = &self.buffer[self.searched..];
        let found = rest.iter().position(|byte| *byte == b'\n');
        let found = found.map(|end| self.searched + end);
        self.searched = found.unwrap_or(self.buffer.len());
        found
    }

    /// Forgets the lines that were given out, and all but the end of a line that is too long.
    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.len() > self.max_line_bytes {
            if self.oversized.is_none() {
                self.oversized = Some(self.buffer[..KEPT_BYTES.min(self.buffer.len())].to_vec());
            }
            let tail = self.buffer.len() - KEPT_BYTES.min(self.buffer.len());
            self.buffer.drain(..tail);
        }
        self.searched = self.buffer.len();
        if self.buffer.len() < SHRINK_BYTES && self.buffer.capacity() > 2 * SHRINK_BYTES {
            self.buffer.shrink_to(SHRINK_BYTES);
        }
        // A long line comes in long pieces.
        let more = self.buffer.len().clamp(8 * 1024, 1024 * 1024);
        self.buffer.reserve(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn check(text: &str, max_line_bytes: usize, expected: &[&str]) {
        for size in [1, 3, 100_000] {
            let (mut sender, receiver) = tokio::io::duplex(size);
            let sent = text.to_owned();
            tokio::spawn(async move { sender.write_all(sent.as_bytes()).await });
            let mut lines = LineReader::new(receiver, max_line_bytes);
            let mut found = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                found.push(match line {
                    InputLine::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                    InputLine::TooLong { .. } => "too long".to_owned(),
                });
            }
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn lines_are_found_however_they_come() {
        check("a\nb\r\n\nc", 100, &["a", "b", "", "c"]).await;
        check("a\n", 100, &["a"]).await;
        check("", 100, &[]).await;
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_costs_only_itself() {
        let long = "x".repeat(100_000);
        check(&format!("a\n{long}\nb\n"), 20_000, &["a", "too long", "b"]).await;
        check(&long, 20_000, &["too long"]).await;
    }
}
