//! A chat that has grown longer than its model can read.
//!
//! What tools said long ago goes first: it can be called for again. Then files that were attached
//! to older messages, then what the model itself said. What the user said stays, every word of it;
//! of the files that came with the last message as much as there is room for.

use std::borrow::Cow;

use tenon_domain::{Content, Message, Part, UserFile};

use super::shortened::{shorten_strings, shorten_with_note};
use super::weight::{files_weight, weight};

/// Length that an old output is cut to: enough to see what it was.
const OLD_OUTPUT_CHARS: usize = 300;

/// Enough of the newest outputs to go on with; less only where that does not fit.
const NEW_OUTPUT_CHARS: [usize; 4] = [4_000, 2_000, 1_000, 500];

/// Enough of an old answer to follow the thread.
const OLD_ANSWER_CHARS: usize = 300;

/// How many messages are shortened together. Where the cut is must not move
/// with every step: what stands before it is read from the provider's cache.
const MESSAGES_PER_BLOCK: usize = 8;

/// Shortens a chat that is too long, in the order of what is missed least, and
/// by more than it needs to be: the next words should still fit.
pub(crate) fn fit(messages: &mut [Message], budget: usize) {
    let mut total: usize = messages.iter().map(weight).sum();
    if total <= budget {
        return;
    }
    let target = budget / 10 * 7;
    let newest = messages
        .iter()
        .rposition(|message| matches!(message, Message::Tools { .. }))
        .unwrap_or(0);
    let turn = messages
        .iter()
        .rposition(|message| matches!(message, Message::User { .. }))
        .unwrap_or(0);

    type Shorten = fn(&mut Message);
    let steps: [(usize, Shorten); 4] = [
        (newest, |message| {
            outputs(message, OLD_OUTPUT_CHARS, ImageHandling::Describe)
        }),
        (newest, |message| inputs(message, OLD_OUTPUT_CHARS)),
        (turn, |message| shorten_files(message, OLD_OUTPUT_CHARS)),
        (turn, |message| answers(message, OLD_ANSWER_CHARS)),
    ];
    for (end, shorten) in steps {
        let mut shortened = 0;
        for message in &mut messages[..end] {
            if total <= target && shortened % MESSAGES_PER_BLOCK == 0 {
                return;
            }
            let before = weight(message);
            shorten(message);
            let saved = before.saturating_sub(weight(message));
            shortened += usize::from(saved > 0);
            total = total.saturating_sub(saved);
        }
        if total <= target {
            return;
        }
    }
    fit_newest(messages, budget);
    fit_newest_files(messages, budget);
}

/// Shortens the newest outputs last and as little as possible, because the model works with them
/// now.
fn fit_newest(messages: &mut [Message], budget: usize) {
    let kept = NEW_OUTPUT_CHARS.map(|chars| (chars, ImageHandling::Keep));
    let last = [(OLD_OUTPUT_CHARS, ImageHandling::Describe)];
    for (chars, images) in kept.into_iter().chain(last) {
        if messages.iter().map(weight).sum::<usize>() <= budget {
            return;
        }
        for message in &mut *messages {
            outputs(message, chars, images);
        }
    }
}

/// The files of the last message get what room there is, each the same share of its text.
fn fit_newest_files(messages: &mut [Message], budget: usize) {
    let total: usize = messages.iter().map(weight).sum();
    let newest = messages
        .iter_mut()
        .rfind(|message| matches!(message, Message::User { .. }));
    let Some(Message::User { files, .. }) = newest else {
        return;
    };
    let excess = total.saturating_sub(budget);
    let weight = files_weight(files);
    if excess == 0 || weight == 0 {
        return;
    }
    let room = weight.saturating_sub(excess);
    for file in files {
        if let Some(text) = &file.text {
            let chars = text.chars().count() * room / weight;
            shorten_file(file, chars.max(OLD_OUTPUT_CHARS));
        }
    }
}

fn shorten_files(message: &mut Message, chars: usize) {
    if let Message::User { files, .. } = message {
        for file in files {
            shorten_file(file, chars);
        }
    }
}

fn shorten_file(file: &mut UserFile, chars: usize) {
    let short = file
        .text
        .as_deref()
        .map(|text| shorten_with_note(text, chars));
    if let Some(Cow::Owned(short)) = short {
        file.text = Some(short.into());
    }
}

/// How images are handled in a shortened output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ImageHandling {
    Keep,
    /// That there was one is said, and no more.
    Describe,
}

fn outputs(message: &mut Message, chars: usize, images: ImageHandling) {
    let Message::Tools { answers } = message else {
        return;
    };
    for answer in answers {
        match &mut answer.result {
            Ok(output) => {
                let content = std::mem::take(&mut output.content).into_iter();
                output.content = content.map(|part| shorten(part, chars, images)).collect();
            }
            Err(error) => {
                if let Cow::Owned(short) = shorten_with_note(&error.message, chars) {
                    error.message = short;
                }
            }
        }
    }
}

fn shorten(content: Content, chars: usize, images: ImageHandling) -> Content {
    match &content {
        Content::Image { .. } if images == ImageHandling::Keep => content,
        other => match shorten_with_note(&other.to_text(), chars) {
            Cow::Owned(text) => Content::Text { text },
            Cow::Borrowed(text) if matches!(content, Content::Image { .. }) => Content::Text {
                text: text.to_owned(),
            },
            Cow::Borrowed(_) => content,
        },
    }
}

/// Long texts that a model once wrote into a call: a file, a page.
fn inputs(message: &mut Message, chars: usize) {
    let Message::Assistant { parts } = message else {
        return;
    };
    for part in parts {
        if let Part::Call { call, .. } = part {
            shorten_strings(&mut call.input, chars);
        }
    }
}

fn answers(message: &mut Message, chars: usize) {
    let Message::Assistant { parts } = message else {
        return;
    };
    // Signed thoughts and the provider's own blocks are whole or not at all.
    parts.retain(|part| !matches!(part, Part::Thinking { .. }));
    for part in parts {
        if let Part::Text {
            text,
            provider_block,
        } = part
            && let Cow::Owned(short) = shorten_with_note(text, chars)
        {
            *text = short;
            *provider_block = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tokens;
    use serde_json::json;
    use tenon_domain::{CallId, ToolAnswer, ToolCall, ToolId, ToolOutput};

    fn user(text: &str) -> Message {
        Message::user(text)
    }

    fn model(text: &str) -> Message {
        Message::Assistant {
            parts: vec![Part::text(text)],
        }
    }

    fn tool(text: &str) -> Message {
        Message::Tools {
            answers: vec![ToolAnswer {
                call_id: CallId::new("c"),
                tool_id: ToolId::new("t"),
                result: Ok(ToolOutput::text(text)),
            }],
        }
    }

    fn length(message: &Message) -> usize {
        match message {
            Message::User { text, .. } => text.len(),
            Message::Assistant { parts } => {
                parts.iter().filter_map(Part::as_text).map(str::len).sum()
            }
            Message::Tools { answers } => answers
                .iter()
                .flat_map(|answer| &answer.result)
                .map(|output| output.to_text().len())
                .sum(),
        }
    }

    fn chat() -> Vec<Message> {
        let long = "x".repeat(40_000);
        vec![
            user(&long),
            model(&long),
            tool(&long),
            user("and now?"),
            model("looking"),
            tool(&long),
        ]
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut messages = chat();
        fit(&mut messages, 1_000_000);
        assert_eq!(messages, chat());
    }

    #[test]
    fn old_outputs_go_first_and_the_users_words_never() {
        let check = |budget: usize, expected: [bool; 6]| {
            let (whole, mut messages) = (chat(), chat());
            fit(&mut messages, budget);
            let remaining: Vec<bool> = whole
                .iter()
                .zip(&messages)
                .map(|(a, b)| length(a) == length(b))
                .collect();
            assert_eq!(remaining, expected, "at {budget} tokens");
        };
        // Each of the four long texts weighs 10,000 tokens; shortened is shortened to 70 %.
        check(39_000, [true, false, false, true, true, true]);
        check(45_000, [true, true, true, true, true, true]);
        check(31_000, [true, false, false, true, true, true]);
        check(15_000, [true, false, false, true, true, false]);
        check(0, [true, false, false, true, true, false]);
    }

    #[test]
    fn the_newest_output_is_cut_no_further_than_it_has_to_be() {
        let check = |budget: usize, expected: usize| {
            let mut messages = vec![user("go"), model("looking"), tool(&"x".repeat(3_200))];
            fit(&mut messages, budget);
            let found = length(&messages[2]);
            assert!(found.abs_diff(expected) < 80, "{found} at {budget} tokens");
        };
        check(1_000, 3_200);
        check(800, 2_000);
        check(500, 1_000);
        check(200, 500);
        check(10, 300);
    }

    #[test]
    fn pictures_and_long_inputs_of_old_calls_go_too() {
        let picture = || Message::Tools {
            answers: vec![ToolAnswer {
                call_id: CallId::new("c"),
                tool_id: ToolId::new("t"),
                result: Ok(ToolOutput {
                    content: vec![Content::Image {
                        media_type: "image/png".into(),
                        data: "AAAA".repeat(1_000),
                    }],
                }),
            }],
        };
        let write = || Message::Assistant {
            parts: vec![Part::call(ToolCall {
                id: CallId::new("c"),
                tool_id: ToolId::new("t"),
                input: json!({"path": "a", "text": "x".repeat(40_000)}),
            })],
        };
        let mut messages = vec![user("go")];
        for _ in 0..10 {
            messages.extend([write(), picture()]);
        }
        fit(&mut messages, 8_000);
        let total: usize = messages.iter().map(weight).sum();
        // The newest call and picture are what the model works with now.
        assert!(total < 14_000, "{total}");
        assert_eq!(*messages.last().unwrap(), picture());
    }

    #[test]
    fn the_cut_stays_where_it_is_for_some_steps() {
        let step = |number: usize| {
            let output = format!("{number} {}", "x".repeat(4_000));
            [model("looking"), tool(&output)]
        };
        let sent = |steps: usize| {
            let mut messages = vec![user("go")];
            messages.extend((0..steps).flat_map(step));
            fit(&mut messages, 20_000);
            messages
        };
        let mut cuts = 0;
        for steps in 30..50 {
            let (before, now) = (sent(steps), sent(steps + 1));
            // All but the last message is what the provider has in its cache.
            cuts += usize::from(before[..before.len() - 1] != now[..before.len() - 1]);
        }
        assert!(cuts <= 4, "the cut moved {cuts} times in 20 steps");
    }

    #[test]
    fn old_files_go_before_new_ones_and_new_ones_get_what_room_there_is() {
        let attached = |chars: usize| Message::User {
            text: "Sum up.".into(),
            images: Vec::new(),
            files: vec![UserFile {
                name: "a.txt".into(),
                text: Some("x".repeat(chars).into()),
            }],
        };
        let chars = |message: &Message| match message {
            Message::User { files, .. } => files[0].text.as_ref().unwrap().len(),
            Message::Assistant { .. } | Message::Tools { .. } => 0,
        };
        let mut messages = [attached(40_000), model("done"), attached(40_000)];
        fit(&mut messages, 15_000);
        assert!(chars(&messages[0]) < 500);
        assert_eq!(chars(&messages[2]), 40_000);
        fit(&mut messages, 5_000);
        let left = chars(&messages[2]);
        assert!((18_000..20_500).contains(&left), "{left}");
    }

    #[test]
    fn chinese_is_weighed_by_its_signs_and_cut_between_them() {
        assert_eq!(tokens("东京现在几点"), 6);
        let mut messages = vec![
            user("问"),
            model("看"),
            tool(&"好".repeat(9_000)),
            user("又"),
        ];
        fit(&mut messages, 100);
        assert!(length(&messages[2]) < 2_000);
    }
}
