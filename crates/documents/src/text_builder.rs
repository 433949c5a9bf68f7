//! A text that grows up to a limit.

use crate::DocumentText;

#[derive(Debug)]
pub(crate) struct TextBuilder {
    text: String,
    /// How many more characters fit.
    room: usize,
    truncated: bool,
}

impl TextBuilder {
    pub(crate) fn new(max_chars: usize) -> Self {
        Self {
            text: String::new(),
            room: max_chars,
            truncated: false,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.truncated
    }

    pub(crate) fn push(&mut self, text: &str) {
        for char in text.chars() {
            // A document has no say over a terminal or a log.
            if char.is_control() && !matches!(char, '\n' | '\t') {
                continue;
            }
            if self.room == 0 {
                self.truncated = true;
                return;
            }
            self.text.push(char);
            self.room -= 1;
        }
    }

    /// Begins a new line, unless this one is empty and so was the one before it.
    pub(crate) fn new_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.push("\n");
        }
    }

    pub(crate) fn finish(self) -> DocumentText {
        DocumentText {
            text: self.text.trim().to_owned(),
            truncated: self.truncated,
        }
    }
}
