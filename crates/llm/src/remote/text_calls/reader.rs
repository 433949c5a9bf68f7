//! Calls in a text that comes piece by piece.

use super::callable_tools::{CallableTools, ParsedCall};
use super::cursor::{TextCursor, Unparsed};
use super::form::{self, CODE_FENCE, CallForm, CallOpening, OPENING_CHARS};

/// A longer candidate is text: no model writes such a call, and the reader must not wait for it.
const MAX_HELD_BYTES: usize = 128 * 1024;

/// White space that a call may follow on is held up to here.
const MAX_BLANK_BYTES: usize = 4 * 1024;

/// An unfinished call is parsed again when it has grown by this part of itself, so that all of the
/// parsing takes linear time.
const REPARSE_GROWTH: usize = 8;

/// Tells calls from text. Holds back what can still become a call, and no more.
pub(super) struct TextCallReader {
    tools: CallableTools,
    /// Text that was received and is not yet classified as text or call. Bytes before `start` are
    /// done.
    held: String,
    start: usize,
    candidate: Option<Candidate>,
    context: TextContext,
}

/// A possible beginning of a call, with the white space before it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    form: CallForm,
    blank: usize,
    /// How much has to be there before it is parsed again.
    next_parse: usize,
}

/// What stands before the held text.
#[derive(Debug)]
struct TextContext {
    before: Before,
    is_line_start: bool,
    last_visible: Option<char>,
    /// Inside a block of code that is no call.
    in_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Call,
    Text,
}

/// A part of the text, in its order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextPiece {
    Text(String),
    Call {
        call: ParsedCall,
        /// The text the model wrote. If several calls were written as one, the first has all of it.
        raw: String,
    },
}

impl TextCallReader {
    pub(super) fn new(tools: CallableTools) -> Self {
        Self {
            tools,
            held: String::new(),
            start: 0,
            candidate: None,
            context: TextContext {
                before: Before::Nothing,
                is_line_start: true,
                last_visible: None,
                in_code: false,
            },
        }
    }

    pub(super) fn push(&mut self, text: &str, out: &mut Vec<TextPiece>) {
        if self.tools.is_empty() {
            return out.push(TextPiece::Text(text.to_owned()));
        }
        self.held.push_str(text);
        self.advance(false, out);
    }

    /// Nothing follows: what is held is a call now, or text.
    pub(super) fn finish(&mut self, out: &mut Vec<TextPiece>) {
        self.advance(true, out);
        let rest = self.held.len();
        self.release(rest, out);
        self.held.clear();
        self.start = 0;
    }

    fn advance(&mut self, is_end: bool, out: &mut Vec<TextPiece>) {
        loop {
            let is_decided = match self.candidate {
                None => self.find_candidate(is_end, out),
                Some(candidate) => self.parse_candidate(candidate, is_end, out),
            };
            if !is_decided {
                break;
            }
        }
        self.held.drain(..self.start);
        self.start = 0;
    }

    fn rest(&self) -> &str {
        &self.held[self.start..]
    }

    /// Whether there is one; what stands before it is text.
    fn find_candidate(&mut self, is_end: bool, out: &mut Vec<TextPiece>) -> bool {
        let mut from = 0;
        while let Some(found) = self.rest()[from..].find(OPENING_CHARS) {
            let at = from + found;
            let rest = &self.rest()[at..];
            if self.context.in_code {
                if rest.starts_with(CODE_FENCE) {
                    self.context.in_code = false;
                    from = at + CODE_FENCE.len();
                    continue;
                }
                if CODE_FENCE.starts_with(rest) && !is_end {
                    self.release_before(at, out);
                    return false;
                }
                from = at + 1;
                continue;
            }
            match form::opening(rest, self.context.begins_line(&self.rest()[..at])) {
                CallOpening::Form(form) => {
                    let blank = self.release_before(at, out);
                    self.candidate = Some(Candidate {
                        form,
                        blank,
                        next_parse: 0,
                    });
                    return true;
                }
                CallOpening::Undecided if !is_end => {
                    self.release_before(at, out);
                    return false;
                }
                CallOpening::Undecided | CallOpening::None => from = at + 1,
            }
        }
        let rest = self.rest();
        let is_waiting = self.context.is_open(rest) && !is_end && rest.len() <= MAX_BLANK_BYTES;
        if self.context.is_open(rest) && is_end && self.context.before == Before::Call {
            // White space between the last call and the end is dropped.
            self.start = self.held.len();
        } else if !is_waiting {
            self.release(self.held.len(), out);
        }
        false
    }

    /// Whether the candidate is decided.
    fn parse_candidate(
        &mut self,
        candidate: Candidate,
        is_end: bool,
        out: &mut Vec<TextPiece>,
    ) -> bool {
        let text = &self.held[self.start + candidate.blank..];
        if text.len() < candidate.next_parse && !is_end {
            return false;
        }
        let window = &text[..text.floor_char_boundary(MAX_HELD_BYTES)];
        let is_cut = window.len() < text.len();
        let mut cursor = TextCursor::new(window, is_end && !is_cut);
        let parsed = candidate.form.parse(&mut cursor, &self.tools);
        let used = match parsed {
            Ok(calls) => {
                let end = self.start + candidate.blank + cursor.position();
                self.take_calls(calls, end, out);
                return true;
            }
            Err(Unparsed::Incomplete) if !is_end && !is_cut => {
                let next_parse = text.len() + (text.len() / REPARSE_GROWTH).max(1);
                self.candidate = Some(Candidate {
                    next_parse,
                    ..candidate
                });
                return false;
            }
            Err(Unparsed::Incomplete) => window.len(),
            Err(Unparsed::Mismatch) => {
                let first = text.chars().next().map_or(0, char::len_utf8);
                cursor.position().max(first)
            }
        };
        self.candidate = None;
        self.context.in_code = candidate.form == CallForm::CodeBlock;
        self.release(self.start + candidate.blank + used, out);
        true
    }

    fn take_calls(&mut self, calls: Vec<ParsedCall>, end: usize, out: &mut Vec<TextPiece>) {
        let mut raw = self.held[self.start..end].to_owned();
        self.start = end;
        self.candidate = None;
        self.context.before = Before::Call;
        self.context.is_line_start = true;
        self.context.last_visible = None;
        out.extend(calls.into_iter().map(|call| TextPiece::Call {
            call,
            raw: std::mem::take(&mut raw),
        }));
    }

    /// Gives out what stands before a candidate as text, except white space that may go with
    /// it. Returns how much of that there is.
    fn release_before(&mut self, at: usize, out: &mut Vec<TextPiece>) -> usize {
        if self.context.is_open(&self.rest()[..at]) {
            return at;
        }
        self.release(self.start + at, out);
        0
    }

    fn release(&mut self, end: usize, out: &mut Vec<TextPiece>) {
        let text = &self.held[self.start..end];
        if text.is_empty() {
            return;
        }
        self.context.follow(text);
        out.push(TextPiece::Text(text.to_owned()));
        self.start = end;
    }
}

impl TextContext {
    /// Whether nothing but this white space stands before a call that follows.
    fn is_open(&self, text: &str) -> bool {
        self.before != Before::Text && text.trim_start().is_empty()
    }

    /// Whether a call without marks may follow on this text. Inside JSON that is none, every
    /// line begins like one.
    fn begins_line(&self, text: &str) -> bool {
        let visible = text.trim_end();
        let is_line_start = match text.chars().next_back() {
            None => self.is_line_start,
            Some(last) => last == '\n' || self.is_open(text),
        };
        let before = visible.chars().next_back().or(self.last_visible);
        is_line_start && !matches!(before, Some(',' | '[' | '{' | '('))
    }

    fn follow(&mut self, text: &str) {
        let visible = text.trim_end();
        self.is_line_start = text.ends_with('\n');
        self.before = Before::Text;
        self.last_visible = visible.chars().next_back().or(self.last_visible);
    }
}
