//! About how much of a model's context a message takes.

use tenon_domain::{Content, Message, Part, ToolAnswer, UserFile};

/// A picture costs about as much as a page of text.
const IMAGE_TOKENS: usize = 1_500;

/// What stands around the text of a file.
const FILE_TOKENS: usize = 20;

pub(super) fn files_weight(files: &[UserFile]) -> usize {
    let texts = files.iter().filter_map(|file| file.text.as_deref());
    texts.map(|text| tokens(text) + FILE_TOKENS).sum()
}

/// About how many tokens a text takes: four letters each, and one for every
/// sign of the scripts that need no spaces. No tokeniser fits every model.
pub(crate) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii / 4 + text.chars().filter(|char| !char.is_ascii()).count()
}

pub(crate) fn weight(message: &Message) -> usize {
    match message {
        Message::User {
            text,
            images,
            files,
        } => tokens(text) + images.len() * IMAGE_TOKENS + files_weight(files),
        Message::Assistant { parts } => parts.iter().map(part_weight).sum(),
        Message::Tools { answers } => answers.iter().map(answer_weight).sum(),
    }
}

fn part_weight(part: &Part) -> usize {
    match part {
        Part::Text { text, .. } => tokens(text),
        Part::Thinking {
            text,
            provider_block,
        } => match provider_block {
            Some(_) => tokens(text),
            None => 0,
        },
        Part::Call { call, .. } => tokens(&call.input.to_string()) + 10,
        Part::Image(_) | Part::File { .. } => IMAGE_TOKENS,
        Part::Opaque { provider_block } => provider_block.block.to_string().len() / 4,
    }
}

fn answer_weight(answer: &ToolAnswer) -> usize {
    match &answer.result {
        Ok(output) => output.content.iter().map(content_weight).sum(),
        Err(error) => tokens(&error.message),
    }
}

fn content_weight(content: &Content) -> usize {
    match content {
        Content::Image { .. } => IMAGE_TOKENS,
        other => tokens(&other.to_text()),
    }
}
