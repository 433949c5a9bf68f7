//! A message in progress, as far as it was shown.

use tenon_domain::{ChatId, Delta, DeltaKind, MessageId};

#[derive(Debug)]
pub(super) struct MessageDraft {
    pub(super) message: MessageId,
    parts: Vec<DraftPart>,
}

#[derive(Debug)]
struct DraftPart {
    kind: DeltaKind,
    text: String,
    /// In UTF-16 units, as the page counts.
    length: usize,
}

impl MessageDraft {
    pub(super) fn new(message: MessageId) -> Self {
        Self {
            message,
            parts: Vec::new(),
        }
    }

    /// Appends to a part and tells how long it was before.
    pub(super) fn grow(&mut self, part: usize, kind: &DeltaKind, text: &str) -> usize {
        while self.parts.len() <= part {
            // A hidden part keeps its place as an empty text.
            self.parts.push(DraftPart {
                kind: DeltaKind::Text,
                text: String::new(),
                length: 0,
            });
        }
        let part = &mut self.parts[part];
        part.kind.clone_from(kind);
        let offset = part.length;
        part.text.push_str(text);
        part.length += text.encode_utf16().count();
        offset
    }

    /// How long a part is, in UTF-16 units.
    pub(super) fn length(&self, part: usize) -> usize {
        self.parts.get(part).map_or(0, |part| part.length)
    }

    pub(super) fn deltas(&self, chat: &ChatId) -> Vec<Delta> {
        let parts = self.parts.iter().enumerate().map(|(number, part)| Delta {
            chat_id: chat.clone(),
            message_id: self.message.clone(),
            part: number,
            kind: part.kind.clone(),
            offset: 0,
            text: part.text.clone(),
        });
        parts.collect()
    }
}
