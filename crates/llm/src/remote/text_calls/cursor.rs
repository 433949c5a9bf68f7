//! A place in a text that may not be whole yet.

use serde_json::Value;

/// Reads from the beginning of a candidate. A failed read leaves the place where it found out.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextCursor<'a> {
    text: &'a str,
    at: usize,
    is_end: bool,
}

/// Why nothing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unparsed {
    /// The text ends too early; with more of it, it can still be a call.
    Incomplete,
    /// Whatever follows, it is no call.
    Mismatch,
}

impl<'a> TextCursor<'a> {
    /// `is_end`: nothing follows on the text.
    pub(super) fn new(text: &'a str, is_end: bool) -> Self {
        Self {
            text,
            at: 0,
            is_end,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character after any white space, which is skipped.
    pub(super) fn peek(&mut self) -> Result<char, Unparsed> {
        self.skip_whitespace();
        self.rest().chars().next().ok_or(Unparsed::Incomplete)
    }

    /// The same, where the text may as well be over.
    pub(super) fn peek_or_end(&mut self) -> Result<Option<char>, Unparsed> {
        match self.peek() {
            Ok(char) => Ok(Some(char)),
            Err(_) if self.is_end => Ok(None),
            Err(unparsed) => Err(unparsed),
        }
    }

    pub(super) fn skip_whitespace(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn literal(&mut self, literal: &str) -> Result<(), Unparsed> {
        let rest = self.rest();
        if rest.starts_with(literal) {
            self.at += literal.len();
            Ok(())
        } else if literal.starts_with(rest) {
            Err(Unparsed::Incomplete)
        } else {
            Err(Unparsed::Mismatch)
        }
    }

    /// Reads the literal if it is the next thing after white space.
    pub(super) fn optional(&mut self, literal: &str) -> Result<bool, Unparsed> {
        let mut ahead = *self;
        ahead.skip_whitespace();
        match ahead.literal(literal) {
            Ok(()) => {
                *self = ahead;
                Ok(true)
            }
            Err(Unparsed::Incomplete) if !self.is_end => Err(Unparsed::Incomplete),
            Err(_) => Ok(false),
        }
    }

    /// The mark that closes a call. Models stop right before it, and servers swallow it.
    pub(super) fn closing(&mut self, mark: &str) -> Result<(), Unparsed> {
        self.skip_whitespace();
        if self.is_end && self.rest().is_empty() {
            return Ok(());
        }
        self.literal(mark)
    }

    pub(super) fn until(&mut self, mark: &str) -> Result<&'a str, Unparsed> {
        let rest = self.rest();
        let end = rest.find(mark).ok_or(Unparsed::Incomplete)?;
        self.at += end + mark.len();
        Ok(&rest[..end])
    }

    /// The longest run of such characters, and whether it is known to end there.
    pub(super) fn run(&mut self, is_part: impl Fn(char) -> bool) -> (&'a str, bool) {
        let rest = self.rest();
        let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        self.at += end;
        (&rest[..end], end < rest.len())
    }

    /// So many characters, or as many as there are.
    pub(super) fn run_chars(&mut self, count: usize) {
        let chars = self.rest().chars().take(count);
        self.at += chars.map(char::len_utf8).sum::<usize>();
    }

    /// White space, and then a new line or the end of the text.
    pub(super) fn end_of_line(&mut self) -> Result<(), Unparsed> {
        self.run(|char| matches!(char, ' ' | '\t' | '\r'));
        if self.is_end && self.rest().is_empty() {
            return Ok(());
        }
        self.literal("\n")
    }

    /// One JSON value.
    pub(super) fn json(&mut self) -> Result<Value, Unparsed> {
        let rest = self.rest();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        match values.next() {
            None => Err(Unparsed::Incomplete),
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) if error.is_eof() => Err(Unparsed::Incomplete),
            Some(Err(error)) => {
                self.at += byte_offset(rest, error.line(), error.column());
                Err(Unparsed::Mismatch)
            }
        }
    }
}

/// Where a line and a column are: the first of both has the number one.
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let offset = lines.map(str::len).sum::<usize>() + column.saturating_sub(1);
    text.floor_char_boundary(offset)
}
