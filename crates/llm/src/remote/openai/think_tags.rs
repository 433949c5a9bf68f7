//! Thinking that a server left inside the text: `<think>…</think>` before the answer.

use crate::ModelDelta;

const OPEN_TAG: &str = "<think>";
const CLOSE_TAG: &str = "</think>";

/// Limit of white space held back before a `<think>` tag: with more, the answer has begun.
const MAX_BLANK_BYTES: usize = 4 * 1024;

/// Tells thinking from text. Holds back no more than a tag that may be coming
/// and the white space before it.
#[derive(Debug, Default)]
pub(super) struct ThinkTagSplitter {
    state: ThinkState,
    held: String,
    /// How much of what is held at the start is known to be white space.
    blank: usize,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum ThinkState {
    /// Nothing but white space so far: only here can thinking begin.
    #[default]
    Start,
    Thinking,
    /// After the closing tag, whose trailing white space is dropped.
    Between,
    Text,
}

impl ThinkTagSplitter {
    pub(super) fn push(&mut self, text: String, out: &mut Vec<ModelDelta>) {
        if self.state == ThinkState::Text && self.held.is_empty() {
            return out.push(ModelDelta::Text(text));
        }
        self.held.push_str(&text);
        loop {
            match self.state {
                ThinkState::Start => {
                    let begun = self.held[self.blank..].trim_start();
                    self.blank = self.held.len() - begun.len();
                    if self.blank > MAX_BLANK_BYTES {
                        self.state = ThinkState::Text;
                    } else if let Some(rest) = begun.strip_prefix(OPEN_TAG) {
                        self.held = rest.to_owned();
                        self.state = ThinkState::Thinking;
                    } else if OPEN_TAG.starts_with(begun) {
                        return;
                    } else {
                        self.state = ThinkState::Text;
                    }
                }
                ThinkState::Thinking => {
                    if let Some(end) = self.held.find(CLOSE_TAG) {
                        let rest = self.held.split_off(end + CLOSE_TAG.len());
                        self.held.truncate(end);
                        let thought = std::mem::replace(&mut self.held, rest);
                        if !thought.is_empty() {
                            out.push(ModelDelta::Thinking(thought));
                        }
                        self.state = ThinkState::Between;
                        continue;
                    }
                    let tag = self.held.len() - partial_tag_bytes(&self.held);
                    let held = self.held.split_off(tag);
                    let thought = std::mem::replace(&mut self.held, held);
                    if !thought.is_empty() {
                        out.push(ModelDelta::Thinking(thought));
                    }
                    return;
                }
                ThinkState::Between => {
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return;
                    }
                    self.state = ThinkState::Text;
                }
                ThinkState::Text => {
                    if !self.held.is_empty() {
                        out.push(ModelDelta::Text(std::mem::take(&mut self.held)));
                    }
                    return;
                }
            }
        }
    }

    /// Flushes text that was held back for a possible tag. White space alone is dropped.
    pub(super) fn finish(&mut self, out: &mut Vec<ModelDelta>) {
        let held = std::mem::take(&mut self.held);
        self.blank = 0;
        match self.state {
            ThinkState::Thinking if !held.is_empty() => out.push(ModelDelta::Thinking(held)),
            ThinkState::Start if !held.trim().is_empty() => out.push(ModelDelta::Text(held)),
            // Between and in text nothing but white space is ever held.
            ThinkState::Thinking | ThinkState::Start | ThinkState::Between | ThinkState::Text => {}
        }
    }
}

/// How many bytes at the end may be the beginning of the closing tag.
fn partial_tag_bytes(text: &str) -> usize {
    (1..CLOSE_TAG.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE_TAG[..*length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, thinking: &str, answer: &str) {
        for size in [1, 3, 1000] {
            let (mut splitter, mut out) = (ThinkTagSplitter::default(), Vec::new());
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(size) {
                splitter.push(piece.iter().collect(), &mut out);
            }
            splitter.finish(&mut out);
            let (mut thought, mut said) = (String::new(), String::new());
            for delta in out {
                match delta {
                    ModelDelta::Text(text) => said.push_str(&text),
                    ModelDelta::Thinking(text) => thought.push_str(&text),
                    other => panic!("{other:?}"),
                }
            }
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

    #[test]
    fn white_space_is_held_up_to_a_point() {
        let short = "\n".repeat(MAX_BLANK_BYTES);
        check(&format!("{short}<think>hm</think>Yes"), "hm", "Yes");
        check(&short, "", "");
        let long = format!("{short}\n<think>hm</think>");
        check(&long, "", &long);
    }

    #[test]
    fn white_space_without_end_comes_as_it_is_said() {
        let (mut splitter, mut out) = (ThinkTagSplitter::default(), Vec::new());
        for _ in 0..3 * MAX_BLANK_BYTES {
            splitter.push("\n".into(), &mut out);
        }
        // The first piece is what was held, and nothing is held any more.
        assert_eq!(out.len(), 2 * MAX_BLANK_BYTES);
    }
}
