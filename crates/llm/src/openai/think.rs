//! Thinking that a server left inside the text: `<think>…</think>` before the answer.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
}

/// Tells thinking from text. Holds back no more than a tag that may be coming.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    place: Place,
    held: String,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum Place {
    /// Nothing but white space so far: only here can thinking begin.
    #[default]
    Start,
    Thinking,
    /// Behind the closing tag; the white space after it belongs to nobody.
    Between,
    Text,
}

impl Splitter {
    pub(super) fn push(&mut self, text: String, mut out: impl FnMut(Piece)) {
        if self.place == Place::Text && self.held.is_empty() {
            return out(Piece::Text(text));
        }
        self.held.push_str(&text);
        loop {
            match self.place {
                Place::Start => {
                    let begun = self.held.trim_start();
                    if let Some(rest) = begun.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        self.place = Place::Thinking;
                    } else if OPEN.starts_with(begun) {
                        return;
                    } else {
                        self.place = Place::Text;
                    }
                }
                Place::Thinking => {
                    if let Some(end) = self.held.find(CLOSE) {
                        let rest = self.held.split_off(end + CLOSE.len());
                        self.held.truncate(end);
                        let thought = std::mem::replace(&mut self.held, rest);
                        if !thought.is_empty() {
                            out(Piece::Thinking(thought));
                        }
                        self.place = Place::Between;
                        continue;
                    }
                    let tag = self.held.len() - half_tag(&self.held);
                    let held = self.held.split_off(tag);
                    let thought = std::mem::replace(&mut self.held, held);
                    if !thought.is_empty() {
                        out(Piece::Thinking(thought));
                    }
                    return;
                }
                Place::Between => {
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return;
                    }
                    self.place = Place::Text;
                }
                Place::Text => {
                    if !self.held.is_empty() {
                        out(Piece::Text(std::mem::take(&mut self.held)));
                    }
                    return;
                }
            }
        }
    }

    /// What was held back for a tag that never came. White space alone is no text.
    pub(super) fn finish(&mut self, mut out: impl FnMut(Piece)) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Place::Thinking if !held.is_empty() => out(Piece::Thinking(held)),
            Place::Start if !held.trim().is_empty() => out(Piece::Text(held)),
            // Between and in text nothing but white space is ever held.
            Place::Thinking | Place::Start | Place::Between | Place::Text => {}
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn half_tag(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE[..*length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, thinking: &str, answer: &str) {
        for size in [1, 3, 1000] {
            let mut splitter = Splitter::default();
            let (mut thought, mut said) = (String::new(), String::new());
            let mut out = |piece| match piece {
                Piece::Text(text) => said.push_str(&text),
                Piece::Thinking(text) => thought.push_str(&text),
            };
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(size) {
                splitter.push(piece.iter().collect(), &mut out);
            }
            splitter.finish(&mut out);
            assert_eq!(
                (thought.as_str(), said.as_str()),
                (thinking, answer),
                "{size}"
            );
        }
    }

    #[test]
    fn thinking_is_told_from_text() {
        check("<think>hm</think>\n\nYes.", "hm", "Yes.");
        check(
            "\n<think>a < b</thin k></think>Yes",
            "a < b</thin k>",
            "Yes",
        );
        check("<think></think>Yes", "", "Yes");
        check("<think>never ends", "never ends", "");
    }

    #[test]
    fn text_stays_text() {
        check("No tags.", "", "No tags.");
        check(
            "Use <think> in HTML</think>",
            "",
            "Use <think> in HTML</think>",
        );
        check("<thin", "", "<thin");
        check("  indented", "", "  indented");
        check(" \n", "", "");
    }
}
