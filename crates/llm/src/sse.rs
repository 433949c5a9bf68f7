//! Bytes in, server-sent events out, wherever the bytes were cut.

/// One event is one piece of speech; a server that sends more is broken or hostile.
const MAX_EVENT: usize = 32 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Empty where the server gives none.
    pub name: String,
    pub data: String,
}

/// Cuts a stream of bytes into events. Comments and keep-alives vanish.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it ends the same line.
    after_return: bool,
    begun: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Parser {
    /// Takes in some bytes and appends the events they complete.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        while !bytes.is_empty() {
            if self.after_return {
                self.after_return = false;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = match end {
                Some(end) => {
                    self.after_return = bytes[end] == b'\r';
                    (&bytes[..end], &bytes[end + 1..])
                }
                None => (bytes, &[][..]),
            };
            if self.line.len() + self.data.len() + piece.len() > MAX_EVENT {
                return Err(TooLong);
            }
            // Most lines come whole and need not be copied together first.
            if self.line.is_empty() && end.is_some() {
                self.take_line(piece, events);
            } else {
                self.line.extend_from_slice(piece);
                if end.is_some() {
                    let line = std::mem::take(&mut self.line);
                    self.take_line(&line, events);
                }
            }
            bytes = rest;
        }
        Ok(())
    }

    /// What a stream that ended in the middle of an event leaves: servers
    /// forget the blank line after the last one.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, events);
        }
        self.dispatch(events);
    }

    fn take_line(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let line = match self.begun {
            // A byte order mark is allowed before everything else.
            false => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            true => line,
        };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch(events);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.take_data(value),
            // What llama.cpp once wrote instead of an event of that name.
            b"error" => {
                self.name = "error".into();
                self.take_data(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            // Comments (nothing before the colon), ids, retry times and what nobody knows.
            _ => {}
        }
    }

    fn take_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        let name = std::mem::take(&mut self.name);
        if !std::mem::take(&mut self.has_data) {
            return;
        }
        let data = std::mem::take(&mut self.data);
        let data = String::from_utf8(data)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        events.push(Event { name, data });
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
        check("data: one\ndata: two\n\n", &[("", "one\ntwo")]);
        check("\u{FEFF}data: a\n\n", &[("", "a")]);
        check("data\n\n", &[("", "")]);
        check("error: {}\n\n", &[("error", "{}")]);
        check("data: 你好\n\n", &[("", "你好")]);
    }

    #[test]
    fn what_is_no_event_is_nothing() {
        check(": OPENROUTER PROCESSING\n\n\n\n: keep-alive\n", &[]);
        check("event: lonely\n\ndata: a\n\n", &[("", "a")]);
        check("id: 4\nretry: 10\nnonsense\ndata: a\n\n", &[("", "a")]);
    }

    #[test]
    fn a_stream_may_end_without_a_blank_line() {
        check("data: a\n\ndata: b", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let (mut parser, mut events) = (Parser::default(), Vec::new());
        let megabyte = vec![b'x'; 1024 * 1024];
        let pushed = (0..64).try_for_each(|_| parser.push(&megabyte, &mut events));
        assert_eq!(pushed, Err(TooLong));
    }
}
