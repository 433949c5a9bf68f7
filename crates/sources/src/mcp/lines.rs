//! Bytes in, lines out, wherever the bytes were cut and however long they get.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// What is kept of a line that is too long: enough to tell what it was.
const KEPT: usize = 512;

/// After a line this long the room it took is given back.
const ROOM: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Lines<R> {
    from: R,
    longest: usize,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// How far it has been searched for its end.
    searched: usize,
    /// The beginning of a line that is too long, while the rest of it goes by.
    over: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    TooLong {
        head: Vec<u8>,
        tail: &'a [u8],
    },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, longest: usize) -> Self {
        Self {
            from,
            longest,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            over: None,
        }
    }

    /// The next line; none at the end. A last line without its end counts.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let end = loop {
            if let Some(end) = self.find_end() {
                break end;
            }
            self.make_room();
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                if self.buffer.is_empty() && self.over.is_none() {
                    return Ok(None);
                }
                break self.buffer.len();
            }
        };
        let begin = self.start;
        self.start = (end + 1).min(self.buffer.len());
        self.searched = self.start;
        let line = &self.buffer[begin..end];
        Ok(Some(match self.over.take() {
            Some(head) => Line::TooLong {
                head,
                tail: &line[line.len().saturating_sub(KEPT)..],
            },
            None => Line::Whole(line.strip_suffix(b"\r").unwrap_or(line)),
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
        if self.buffer.len() > self.longest {
            if self.over.is_none() {
                self.over = Some(self.buffer[..KEPT.min(self.buffer.len())].to_vec());
            }
            let tail = self.buffer.len() - KEPT.min(self.buffer.len());
            self.buffer.drain(..tail);
        }
        self.searched = self.buffer.len();
        if self.buffer.len() < ROOM && self.buffer.capacity() > 2 * ROOM {
            self.buffer.shrink_to(ROOM);
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

    async fn check(text: &str, longest: usize, expected: &[&str]) {
        for size in [1, 3, 100_000] {
            let (mut sender, receiver) = tokio::io::duplex(size);
            let sent = text.to_owned();
            tokio::spawn(async move { sender.write_all(sent.as_bytes()).await });
            let mut lines = Lines::new(receiver, longest);
            let mut found = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                found.push(match line {
                    Line::Whole(line) => String::from_utf8(line.to_vec()).unwrap(),
                    Line::TooLong { .. } => "too long".to_owned(),
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
