//! Server-sent events: bytes in, events out, wherever the bytes were cut.
//!
//! It is more forgiving than the standard where servers are known to be wrong: an event
//! may end with its stream instead of a blank line, and bytes need not be UTF-8.

use std::time::Duration;

/// It goes into the header `Last-Event-ID` when a stream is resumed.
const MAX_ID_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Empty where the server gives none, which means "message".
    pub name: String,
    /// With a replacement character for what is not UTF-8.
    pub data: String,
}

/// An event is longer than the limit of its parser.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is too long")]
pub struct EventTooLong;

/// Splits a stream of bytes into events. Comments and keep-alives vanish.
#[derive(Debug)]
pub struct SseParser {
    max_event_bytes: usize,
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it ends the same line.
    after_return: bool,
    /// The first line is over, the only one that may begin with a byte order mark.
    has_begun: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl SseParser {
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            has_begun: false,
            last_id: None,
            retry: None,
        }
    }

    /// For a new stream that resumes where this one ended.
    pub fn resume(self) -> Self {
        Self {
            last_id: self.last_id,
            retry: self.retry,
            ..Self::new(self.max_event_bytes)
        }
    }

    /// The id of the last event that had one: `Last-Event-ID` when the stream is resumed.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server would like us to wait before we reconnect.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes in some bytes and appends the events they complete.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<SseEvent>,
    ) -> Result<(), EventTooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = match end {
                Some(end) => {
                    self.after_return = bytes[end] == b'\r';
                    (&bytes[..end], &bytes[end + 1..])
                }
                None => (bytes, &[][..]),
            };
            if self.line.len() + self.data.len() + piece.len() > self.max_event_bytes {
                return Err(EventTooLong);
            }
            // Most lines come whole and need not be copied together first.
            if self.line.is_empty() && end.is_some() {
                self.on_line(piece, events);
            } else {
                self.line.extend_from_slice(piece);
                if end.is_some() {
                    let line = std::mem::take(&mut self.line);
                    self.on_line(&line, events);
                }
            }
            bytes = rest;
        }
        Ok(())
    }

    /// The event that a stream was cut off in, if any: some servers forget the blank
    /// line after the last one.
    pub fn finish(&mut self, events: &mut Vec<SseEvent>) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.on_line(&line, events);
        }
        self.dispatch(events);
    }

    fn on_line(&mut self, line: &[u8], events: &mut Vec<SseEvent>) {
        let line = if std::mem::replace(&mut self.has_begun, true) {
            line
        } else {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        };
        if line.is_empty() {
            return self.dispatch(events);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"data" => self.on_data(value),
            b"event" => self.name = text(),
            b"id" if value.len() <= MAX_ID_BYTES => self.last_id = Some(text()),
            b"retry" => {
                let retry = text().parse().ok();
                self.retry = retry.map(Duration::from_millis).or(self.retry);
            }
            // What llama.cpp once wrote instead of an event of that name.
            b"error" => {
                self.name = "error".into();
                self.on_data(value);
            }
            // Comments (nothing before the colon) and unknown fields.
            _ => {}
        }
    }

    fn on_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
    }

    fn dispatch(&mut self, events: &mut Vec<SseEvent>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        let data = String::from_utf8(data)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        events.push(SseEvent { name, data });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 32 * 1024 * 1024;

    #[track_caller]
    fn check(stream: &str, expected: &[(&str, &str)]) {
        // Whole, byte by byte, and in threes: the cut must not matter.
        for size in [usize::MAX, 1, 3] {
            let (mut parser, mut events) = (SseParser::new(LIMIT), Vec::new());
            for piece in stream.as_bytes().chunks(size.min(stream.len().max(1))) {
                parser.push(piece, &mut events).unwrap();
            }
            parser.finish(&mut events);
            let found: Vec<(&str, &str)> = events
                .iter()
                .map(|event| (event.name.as_str(), event.data.as_str()))
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
        check("event: ping\ndata: {}\n\n", &[("ping", "{}")]);
        check("event: endpoint\ndata: /m\n\n", &[("endpoint", "/m")]);
        check("data: one\ndata: two\n\n", &[("", "one\ntwo")]);
        check("\u{FEFF}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
        check("data\n\n", &[("", "")]);
        check("error: {}\n\n", &[("error", "{}")]);
        check("data: 你好\n\n", &[("", "你好")]);
    }

    #[test]
    fn what_is_no_event_is_nothing() {
        check(": OPENROUTER PROCESSING\n\n\n\n: keep-alive\n", &[]);
        check("event: lonely\n\ndata: a\n\n", &[("", "a")]);
        check("id: 4\nretry: 10\nnonsense\ndata: a\n\n", &[("", "a")]);
        check(": ping\n\nevent: lonely\n\nid: 4\n\n", &[]);
    }

    #[test]
    fn a_stream_may_end_without_a_blank_line() {
        check("data: a\n\ndata: b", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn where_the_stream_was_is_remembered() {
        let (mut parser, mut events) = (SseParser::new(LIMIT), Vec::new());
        let stream = b"id: 7\nretry: 250\ndata: \n\nretry: soon\n";
        parser.push(stream, &mut events).unwrap();
        let parser = parser.resume();
        assert_eq!(parser.last_id(), Some("7"));
        assert_eq!(parser.retry(), Some(Duration::from_millis(250)));
    }

    #[test]
    fn text_that_is_not_utf_8_is_read_all_the_same() {
        let (mut parser, mut events) = (SseParser::new(LIMIT), Vec::new());
        parser.push(b"data: a\xffb\n\n", &mut events).unwrap();
        assert_eq!(events[0].data, "a\u{fffd}b");
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let (mut parser, mut events) = (SseParser::new(LIMIT), Vec::new());
        let megabyte = vec![b'x'; 1024 * 1024];
        let pushed = (0..64).try_for_each(|_| parser.push(&megabyte, &mut events));
        assert_eq!(pushed, Err(EventTooLong));
    }
}
