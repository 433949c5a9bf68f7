//! A chat that every provider accepts, whatever happened in it.
//!
//! A call without its result, a result without its call, two turns of the same
//! side in a row, an empty message: any of them makes a provider refuse the
//! whole request, and with it every later one of that chat.

mod files;
mod fit;
mod ids;
mod images;
mod shortened;
mod weight;

use std::collections::{HashMap, HashSet};

use tenon_domain::{CallId, Message, Part, ToolAnswer, ToolError, UserFile, UserImage};

pub(crate) use files::inline_files;
pub(crate) use fit::fit;
pub(crate) use ids::{CallIds, short};
pub(crate) use images::{asks_about_images, describe_images};
pub(crate) use weight::{tokens, weight};

/// Makes a chat valid. What is valid already stays as it is.
pub fn repair(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut asked: HashSet<CallId> = HashSet::new();
    let mut pending: Vec<ToolAnswer> = Vec::new();
    for message in messages {
        // Calls are answered by what follows them, or not at all.
        if !matches!(message, Message::Tools { .. }) {
            push_answers(&mut out, std::mem::take(&mut pending));
        }
        match message {
            Message::User {
                text,
                images,
                files,
            } => push_user(&mut out, text, images, files),
            Message::Assistant { parts } => push_assistant(&mut out, &mut asked, parts),
            Message::Tools { answers } => pending.extend(answers),
        }
    }
    push_answers(&mut out, pending);
    // Providers refuse a conversation that does not begin with the user.
    let begin = out
        .iter()
        .position(|message| matches!(message, Message::User { .. }))
        .unwrap_or(out.len());
    out.drain(..begin);
    out
}

fn push_user(out: &mut Vec<Message>, text: String, images: Vec<UserImage>, files: Vec<UserFile>) {
    let is_empty = text.trim().is_empty();
    if is_empty && images.is_empty() && files.is_empty() {
        return;
    }
    let last = out.last_mut();
    let Some(Message::User {
        text: before,
        images: shown,
        files: attached,
    }) = last
    else {
        return out.push(Message::User {
            text,
            images,
            files,
        });
    };
    if !is_empty {
        if !before.is_empty() {
            before.push_str("\n\n");
        }
        before.push_str(&text);
    }
    shown.extend(images);
    attached.extend(files);
}

/// Why a provider would refuse a chat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    #[error("a chat begins with the user")]
    FirstNotUser,
    #[error("the user said nothing")]
    EmptyUser,
    #[error("the user speaks twice")]
    ConsecutiveUsers,
    #[error("the model said nothing")]
    EmptyAssistant,
    #[error("the model speaks twice")]
    ConsecutiveAssistants,
    #[error("calls and results do not match")]
    MismatchedResults,
    #[error("call {0} has no result")]
    UnansweredCall(CallId),
    #[error("two calls have the same id")]
    DuplicateCallId,
}

/// Checks a chat before it is sent, so that a mistake of ours is found here and not by a
/// provider, whose error message seldom says what is wrong.
pub fn check(messages: &[Message]) -> Result<(), HistoryError> {
    if !matches!(messages.first(), Some(Message::User { .. })) {
        return Err(HistoryError::FirstNotUser);
    }
    let mut seen = HashSet::new();
    let mut open: Vec<&CallId> = Vec::new();
    let mut before: Option<&Message> = None;
    for message in messages {
        match message {
            Message::User {
                text,
                images,
                files,
            } => {
                if text.trim().is_empty() && images.is_empty() && files.is_empty() {
                    return Err(HistoryError::EmptyUser);
                }
                if matches!(before, Some(Message::User { .. })) {
                    return Err(HistoryError::ConsecutiveUsers);
                }
            }
            Message::Assistant { parts } => {
                if parts.is_empty() {
                    return Err(HistoryError::EmptyAssistant);
                }
                if matches!(before, Some(Message::Assistant { .. })) {
                    return Err(HistoryError::ConsecutiveAssistants);
                }
            }
            Message::Tools { answers } => {
                let answered: Vec<&CallId> = answers.iter().map(|answer| &answer.call_id).collect();
                if answered != open || open.is_empty() {
                    return Err(HistoryError::MismatchedResults);
                }
                open.clear();
            }
        }
        if let Some(call) = open.first() {
            return Err(HistoryError::UnansweredCall((*call).clone()));
        }
        if let Message::Assistant { parts } = message {
            open = parts
                .iter()
                .filter_map(Part::as_call)
                .map(|call| &call.id)
                .collect();
            if !open.iter().all(|id| seen.insert((*id).clone())) {
                return Err(HistoryError::DuplicateCallId);
            }
        }
        before = Some(message);
    }
    match open.first() {
        Some(call) => Err(HistoryError::UnansweredCall((*call).clone())),
        None => Ok(()),
    }
}

/// `asked` are the calls of the whole chat so far.
fn push_assistant(out: &mut Vec<Message>, asked: &mut HashSet<CallId>, mut parts: Vec<Part>) {
    parts.retain(|part| match part {
        Part::Text {
            text,
            provider_block,
        } => !text.trim().is_empty() || provider_block.is_some(),
        // A model shows none.
        Part::Image(_) | Part::File { .. } => false,
        Part::Thinking { .. } | Part::Call { .. } | Part::Opaque { .. } => true,
    });
    // A call that was answered once is not asked again under the same id.
    parts.retain(|part| {
        part.as_call()
            .is_none_or(|call| asked.insert(call.id.clone()))
    });
    if parts.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(Message::Assistant { parts: before }) => before.extend(parts),
        _ => out.push(Message::Assistant { parts }),
    }
}

/// Answers the calls that are open, in their order; those without an answer were lost.
fn push_answers(out: &mut Vec<Message>, answers: Vec<ToolAnswer>) {
    let Some(Message::Assistant { parts }) = out.last() else {
        return;
    };
    let mut pending: HashMap<CallId, ToolAnswer> = answers
        .into_iter()
        .map(|answer| (answer.call_id.clone(), answer))
        .collect();
    let answers: Vec<ToolAnswer> = parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| {
            pending.remove(&call.id).unwrap_or_else(|| ToolAnswer {
                call_id: call.id.clone(),
                tool_id: call.tool_id.clone(),
                result: Err(ToolError::lost()),
            })
        })
        .collect();
    if !answers.is_empty() {
        out.push(Message::Tools { answers });
    }
}
