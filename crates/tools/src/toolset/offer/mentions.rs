//! What a conversation says about tools.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use tenon_domain::search::words;
use tenon_domain::{Content, Message, Part, ToolId, ToolSpec};

use crate::catalog::Tool;

/// How many messages of the user are searched for words: the newest, and of those before them as
/// many again. The first of them changes once in so many messages and not with each, so that a list
/// of tools that was chosen by them stays the same.
const MESSAGES: usize = 8;

/// How much of a message is searched.
const MAX_MESSAGE_BYTES: usize = 4_000;

pub(super) struct ToolMentions {
    /// What the user said, the oldest first, in lower case, with the number of the message.
    pub(super) texts: Vec<(usize, String)>,
    /// The tools that were called, and in which message first.
    pub(super) used: HashMap<ToolId, usize>,
    pub(super) has_cut_output: bool,
    /// What may be the name of a tool in these texts, and where it stands first.
    identifiers: HashMap<String, usize>,
    words: HashSet<String>,
    /// A name in lower case, kept for the next one: thousands are compared.
    name: RefCell<String>,
}

impl ToolMentions {
    pub(super) fn new(messages: &[Message]) -> Self {
        let mut texts = Vec::new();
        let mut used = HashMap::new();
        for (number, message) in messages.iter().enumerate() {
            match message {
                Message::User { text, .. } => texts.push((number, text)),
                Message::Assistant { parts } => {
                    for call in parts.iter().filter_map(Part::as_call) {
                        used.entry(call.tool_id.clone()).or_insert(number);
                    }
                }
                Message::Tools { .. } => {}
            }
        }
        let first = texts.len().saturating_sub(MESSAGES) / MESSAGES * MESSAGES;
        let texts = texts.into_iter().skip(first);
        let texts = texts.map(|(number, text)| (number, searched_text(text)));
        let texts: Vec<(usize, String)> = texts.collect();
        let mut identifiers = HashMap::new();
        for (number, text) in &texts {
            for identifier in identifiers_of(text) {
                identifiers.entry(identifier.to_owned()).or_insert(*number);
            }
        }
        Self {
            words: texts.iter().flat_map(|(_, text)| words(text)).collect(),
            identifiers,
            texts,
            used,
            has_cut_output: messages.iter().any(has_cut_output),
            name: RefCell::default(),
        }
    }

    /// What the user said in a message, where it is one that counts.
    pub(super) fn text(&self, message: usize) -> Option<&str> {
        let place = self
            .texts
            .binary_search_by_key(&message, |(number, _)| *number);
        place.ok().map(|place| &*self.texts[place].1)
    }

    /// The message that names a tool by its id, or by a name that is no plain word.
    pub(super) fn naming(&self, tool: &ToolSpec) -> Option<usize> {
        let by_id = self.naming_exactly(tool.id.as_str());
        by_id.or_else(|| {
            let by_name = self.naming_exactly(&tool.name)?;
            (words(&tool.name).len() > 1).then_some(by_name)
        })
    }

    fn naming_exactly(&self, name: &str) -> Option<usize> {
        if !name.is_ascii() {
            // Scripts without spaces do not say where a name ends.
            let name = name.to_lowercase();
            let mut texts = self.texts.iter();
            return texts.find_map(|(number, text)| text.contains(&name).then_some(*number));
        }
        let mut lower = self.name.borrow_mut();
        lower.clear();
        lower.push_str(name);
        lower.make_ascii_lowercase();
        self.identifiers.get(lower.as_str()).copied()
    }

    /// Whether the user speaks of what a tool does.
    pub(super) fn speak_of(&self, tool: &Tool) -> bool {
        let texts = [&*tool.spec.title, tool.source.keywords(&tool.spec.name)];
        let mut terms = texts.into_iter().flat_map(words);
        terms.any(|term| self.words.contains(&term))
    }
}

/// The last of [`ToolMentions::texts`].
pub(super) fn newest_text(messages: &[Message]) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::User { text, .. } => Some(searched_text(text)),
        Message::Assistant { .. } | Message::Tools { .. } => None,
    })
}

fn searched_text(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
    text[..end].to_lowercase()
}

/// What stands between the characters that names of tools are not made of.
fn identifiers_of(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    let candidates = text.split(move |c| !is_part(c));
    let candidates = candidates.map(|name| name.trim_matches(['.', ':', '/', '-']));
    candidates.filter(|name| !name.is_empty())
}

/// Whether there is an output to read on in: text whose whole was stored.
fn has_cut_output(message: &Message) -> bool {
    let Message::Tools { answers } = message else {
        return false;
    };
    let mut contents = answers.iter().flat_map(|answer| &answer.result);
    contents.any(|output| output.content.iter().any(is_stored_text))
}

fn is_stored_text(content: &Content) -> bool {
    matches!(content, Content::Blob { media_type, .. }
        if media_type.starts_with("text/") || media_type == "application/json")
}
