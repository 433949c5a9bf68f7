//! Thinking that a server left inside the text: `<think>…</think>` before the answer.

use crate::Delta;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// No model thinks about so much white space first: more of it is the answer.
const MAX_BLANK: usize = 4 * 1024;

/// Tells thinking from text. Holds back no more than a tag that may be coming
/// and the white space before it.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    place: Place,
    held: String,
    /// How much of what is held at the start is known to be white space.
    blank: usize,
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
    pub(super) fn push(&mut self, text: String, out: &mut Vec<Delta>) {
        if self.place == Place::Text && self.held.is_empty() {
            return out.push(Delta::Text(text));
        }
        self.held.push_str(&text);
        loop {
            match self.place {
                Place::Start => {
                    let begun = self.held[self.blank..].trim_start();
                    self.blank = self.held.len() - begun.len();
                    if self.blank > MAX_BLANK {
                        self.place = Place::Text;
                    } else if let Some(rest) = begun.strip_prefix(OPEN) {
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
                            out.push(Delta::Thinking(thought));
                        }
                        self.place = Place::Between;
                        continue;
                    }
                    let tag = self.held.len() - half_tag(&self.held);
                    let held = self.held.split_off(tag);
                    let thought = std::mem::replace(&mut self.held, held);
                    if !thought.is_empty() {
                        out.push(Delta::Thinking(thought));
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
                        out.push(Delta::Text(std::mem::take(&mut self.held)));
                    }
                    return;
                }
            }
        }
    }

    /// What was held back for a tag that never came. White space alone is no text.
    pub(super) fn finish(&mut self, out: &mut Vec<Delta>) {
        let held = std::mem::take(&mut self.held);
        self.blank = 0;
        match self.place {
            Place::Thinking if !held.is_empty() => out.push(Delta::Thinking(held)),
            Place::Start if !held.trim().is_empty() => out.push(Delta::Text(held)),
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
            let (mut splitter, mut out) = (Splitter::default(), Vec::new());
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(size) {
                splitter.push(piece.iter().collect(), &mut out);
            }
            splitter.finish(&mut out);
            let (mut thought, mut said) = (String::new(), String::new());
            for delta in out {
                match delta {
                    Delta::Text(text) => said.push_str(&text),
                    Delta::Thinking(text) => thought.push_str(&text),
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
        let short = "\n".repeat(MAX_BLANK);
        check(&format!("{short}<think>hm</think>Yes"), "hm", "Yes");
        check(&short, "", "");
        let long = format!("{short}\n<think>hm</think>");
        check(&long, "", &long);
    }

    #[test]
    fn white_space_without_end_comes_as_it_is_said() {
        let (mut splitter, mut out) = (Splitter::default(), Vec::new());
        for _ in 0..3 * MAX_BLANK {
            splitter.push("\n".into(), &mut out);
        }
        // The first piece is what was held, and nothing is held any more.
        assert_eq!(out.len(), 2 * MAX_BLANK);
    }
}
