//! Notices a turn that goes in circles.
//!
//! A step repeats if each of its calls was made before, with the same input and the same result, and
//! no step since then brought anything new. So polling goes on for as long as its results differ or
//! something else happens in between, and a cycle of several calls is found as well as a single one.
//!
//! Small models loop on tools whose results count or tell the time: to them other numbers are nothing new.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use tenon_domain::{Content, Message, Part, ToolAnswer, ToolCall, ToolResult};

/// Told to the model with each repeated result.
const NOTE: &str = "[This is the same result as before, for the same call. Do not call it again: answer with what you know.]";

/// The calls of a turn and their results so far.
#[derive(Debug, Default)]
pub(super) struct RepeatDetector {
    steps: usize,
    /// The last step that brought something new.
    last_new: usize,
    /// For each call with its result, hashed, the last step that had it.
    seen: HashMap<u64, usize>,
    ignores_numbers: bool,
}

impl RepeatDetector {
    /// With what happened in the turn that these messages end with.
    pub(super) fn replay(messages: &[Message], is_small_model: bool) -> Self {
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        let turn = messages.iter().rposition(is_user).unwrap_or(0);
        let mut detector = Self {
            ignores_numbers: is_small_model,
            ..Self::default()
        };
        for pair in messages[turn..].windows(2) {
            if let [Message::Assistant { parts }, Message::Tools { answers }] = pair {
                detector.observe(parts, answers);
            }
        }
        detector
    }

    /// Whether a step repeats.
    pub(super) fn observe(&mut self, parts: &[Part], answers: &[ToolAnswer]) -> bool {
        self.steps += 1;
        let calls = parts.iter().filter_map(Part::as_call);
        let hashes: Vec<u64> = calls
            .zip(answers)
            .map(|(call, answer)| self.fingerprint(call, &answer.result))
            .collect();
        let is_repeated = |hash: &u64| {
            let last = self.seen.get(hash);
            last.is_some_and(|last| *last >= self.last_new)
        };
        let repeats = !hashes.is_empty() && hashes.iter().all(is_repeated);
        for hash in hashes {
            if self.seen.insert(hash, self.steps).is_none() {
                self.last_new = self.steps;
            }
        }
        repeats
    }

    fn fingerprint(&self, call: &ToolCall, result: &ToolResult) -> u64 {
        let mut hasher = DefaultHasher::new();
        call.tool_id.hash(&mut hasher);
        hash_json(&call.input, &mut hasher);
        let mut text = match result {
            Ok(output) => text_without_blob_ids(&output.content),
            Err(error) => error.message.clone(),
        };
        if self.ignores_numbers {
            text.retain(|char| !char.is_numeric());
        }
        text.hash(&mut hasher);
        if let Ok(output) = result {
            let images = output.content.iter();
            images.for_each(|content| hash_image(content, &mut hasher));
        }
        hasher.finish()
    }
}

/// Tells the model that it goes in circles.
pub(super) fn add_note(answers: &mut [ToolAnswer]) {
    for answer in answers {
        match &mut answer.result {
            Ok(output) => output.content.push(Content::Text { text: NOTE.into() }),
            Err(error) => error.message = format!("{} {NOTE}", error.message),
        }
    }
}

/// The text of a result without blob ids, which differ on each call even if the output is the same.
fn text_without_blob_ids(contents: &[Content]) -> String {
    let blob_ids = contents.iter().filter_map(|content| match content {
        Content::Blob { blob_id, .. } => Some(blob_id.as_str()),
        _ => None,
    });
    let texts: Vec<String> = contents.iter().map(Content::to_text).collect();
    blob_ids.fold(texts.join("\n"), |text, id| text.replace(id, ""))
}

fn hash_image(content: &Content, hasher: &mut DefaultHasher) {
    if let Content::Image { data, .. } = content {
        data.hash(hasher);
    }
}

/// The same for objects that differ in the order of their keys alone.
fn hash_json(value: &Value, hasher: &mut DefaultHasher) {
    std::mem::discriminant(value).hash(hasher);
    match value {
        Value::Array(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash_json(item, hasher));
        }
        Value::Object(entries) => {
            entries.len().hash(hasher);
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            for (key, value) in entries {
                key.hash(hasher);
                hash_json(value, hasher);
            }
        }
        Value::String(text) => text.hash(hasher),
        Value::Number(number) => number.hash(hasher),
        Value::Bool(flag) => flag.hash(hasher),
        Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_domain::{BlobId, CallId, ToolId, ToolOutput};

    use super::*;

    fn step(tool: &str, input: Value, output: ToolOutput) -> (Vec<Part>, Vec<ToolAnswer>) {
        let call = ToolCall {
            id: CallId::new("c"),
            tool_id: ToolId::new(tool),
            input,
        };
        let answer = ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(output),
        };
        (vec![Part::call(call)], vec![answer])
    }

    /// Which of these steps, each a tool and its result, are repeats.
    #[track_caller]
    fn check(steps: &str, expected: &[bool]) {
        check_with(RepeatDetector::default(), steps, expected);
    }

    #[track_caller]
    fn check_with(mut detector: RepeatDetector, steps: &str, expected: &[bool]) {
        let found: Vec<bool> = steps
            .split(' ')
            .map(|step_of| {
                let (tool, result) = step_of.split_at(1);
                let (parts, answers) = step(tool, json!({}), ToolOutput::text(result));
                detector.observe(&parts, &answers)
            })
            .collect();
        assert_eq!(found, expected, "{steps}");
    }

    #[test]
    fn a_step_repeats_that_brings_nothing_new() {
        check("a1 a1 a1", &[false, true, true]);
        // Polling: the results differ, or waiting in between does.
        check("a1 a2 a3 a3", &[false, false, false, true]);
        check(
            "a1 s1 a1 s2 a1 s3 a2",
            &[false, false, false, false, false, false, false],
        );
        // A circle of two.
        check("a1 b1 a1 b1", &[false, false, false, true]);
        check("a1 b1 c1", &[false, false, false]);
    }

    #[test]
    fn to_a_small_model_another_number_is_nothing_new() {
        let check = |steps: &str, expected: &[bool]| {
            check_with(RepeatDetector::replay(&[], true), steps, expected);
        };
        check("a12:01 a12:02", &[false, true]);
        check("aqueued arunning adone", &[false, false, false]);
    }

    #[test]
    fn input_is_compared_as_json_and_a_result_by_its_content() {
        let cut = |id: &str| ToolOutput {
            content: vec![
                Content::Text {
                    text: format!("beginning… blob_id \"{id}\""),
                },
                Content::Blob {
                    blob_id: BlobId(id.into()),
                    media_type: "text/plain".into(),
                    name: None,
                    bytes: 9,
                },
            ],
        };
        let mut detector = RepeatDetector::default();
        let mut observe = |input, output| {
            let (parts, answers) = step("a", input, output);
            detector.observe(&parts, &answers)
        };
        assert!(!observe(json!({"x": 1, "y": [1, 2]}), cut("b1")));
        assert!(observe(json!({"y": [1, 2], "x": 1}), cut("b2")));
        assert!(!observe(json!({"y": [2, 1], "x": 1}), cut("b3")));
        assert!(!observe(json!({"y": [2, 1], "x": 1}), ToolOutput::text("")));
    }
}
