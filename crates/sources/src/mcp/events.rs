//! Bytes in, server-sent events out, wherever the bytes were cut.
//!
//! The `llm` room has a parser of its own: neither room may know the other, and
//! this one remembers where a stream was, which nobody needs there.

use std::time::Duration;

use super::message::MAX_MESSAGE;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Empty where the server gives none, which means "message".
    pub(super) name: String,
    pub(super) data: Vec<u8>,
}

/// Cuts a stream of bytes into events, and remembers where it was and when to come back.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
    /// The first line is over, the only one that may begin with a byte order mark.
    begun: bool,
    /// Of the last event that had one: what to ask for to go on after it.
    pub(super) last_id: Option<String>,
    /// How long the server would like us to wait before we come back.
    pub(super) retry: Option<Duration>,
}

/// An event is longer than any message may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl Parser {
    /// For a new stream that goes on where this one ended.
    pub(super) fn again(self) -> Self {
        Self {
            last_id: self.last_id,
            retry: self.retry,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (piece, after) = (&rest[..end], &rest[end + 1..]);
            let feed_of_return = self.after_return && rest[end] == b'\n' && end == 0;
            self.after_return = rest[end] == b'\r';
            rest = after;
            // The line feed after a carriage return ends the same line.
            if feed_of_return {
                continue;
            }
            self.line.extend_from_slice(piece);
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, events)?;
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.line.extend_from_slice(rest);
        }
        match self.line.len() + self.data.len() > MAX_MESSAGE {
            true => Err(TooLong),
            false => Ok(()),
        }
    }

    fn take_line(&mut self, line: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            true => line,
        };
        if line.is_empty() {
            let (name, data) = (
                std::mem::take(&mut self.name),
                std::mem::take(&mut self.data),
            );
            if std::mem::take(&mut self.has_data) {
                events.push(Event { name, data });
            }
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.name = text(),
            // It goes into a header when we come back.
            b"id" if value.len() <= 1024 => self.last_id = Some(text()),
            b"retry" => {
                let retry = text().parse().ok();
                self.retry = retry.map(Duration::from_millis).or(self.retry);
            }
            // Comments (nothing before the colon) and what nobody knows.
            _ => {}
        }
        match self.data.len() > MAX_MESSAGE {
            true => Err(TooLong),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stream: &str, expected: &[(&str, &str)]) {
        // Whole, byte by byte, and in threes: the cut must not matter.
        for size in [usize::MAX, 1, 3] {
            let (mut parser, mut events) = (Parser::default(), Vec::new());
            for piece in stream.as_bytes().chunks(size.min(stream.len().max(1))) {
                parser.push(piece, &mut events).unwrap();
            }
            let found: Vec<(&str, &str)> = events
                .iter()
                .map(|event| {
                    let data = std::str::from_utf8(&event.data).unwrap();
                    (event.name.as_str(), data)
                })
                .collect();
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn events_are_found_however_they_are_written() {
        check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
        check(
            "data:a\r\n\r\ndata:b\r\rdata: c\n\n",
            &[("", "a"), ("", "b"), ("", "c")],
        );
        check("event: endpoint\ndata: /m\n\n", &[("endpoint", "/m")]);
        check("data: one\ndata: two\n\n", &[("", "one\ntwo")]);
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
        check(": ping\n\nevent: lonely\n\nid: 4\n\n", &[]);
    }

    #[test]
    fn where_the_stream_was_is_remembered() {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        let stream = b"id: 7\nretry: 250\ndata: \n\nretry: soon\n";
        parser.push(stream, &mut events).unwrap();
        assert_eq!(parser.last_id.as_deref(), Some("7"));
        assert_eq!(parser.retry, Some(Duration::from_millis(250)));
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        let megabyte = vec![b'x'; 1024 * 1024];
        let pushed = (0..64).try_for_each(|_| parser.push(&megabyte, &mut events));
        assert_eq!(pushed, Err(TooLong));
    }
}
