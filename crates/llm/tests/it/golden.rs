//! Recorded answers and what they must become.
//!
//! `tests/golden/<format>/<name>.sse` holds the bytes of a stream, `.json-body`
//! an answer that does not stream, and `<name>.json` beside it the reply. With
//! `UPDATE_GOLDEN=1` the replies are written anew: read the diff, it is the review.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tenon_domain::{CallId, Part, StopReason, ToolUse, WireFormat};
use tenon_llm::remote::{ResponseFormat, replay};
use tenon_llm::{Assembler, ModelDelta, ModelReply, Remote};

use crate::fake::remote;

/// One recorded answer.
#[derive(Debug, Clone)]
pub struct Golden {
    /// "openai/no-done"
    pub name: String,
    pub format: WireFormat,
    pub shape: ResponseFormat,
    pub bytes: Vec<u8>,
    expected: PathBuf,
}

const FORMATS: [WireFormat; 3] = [
    WireFormat::Openai,
    WireFormat::Responses,
    WireFormat::Anthropic,
];

/// All of them, in the order of their names.
pub fn goldens() -> Vec<Golden> {
    let mut goldens = Vec::new();
    for format in FORMATS {
        for entry in fs::read_dir(folder().join(format.as_str())).unwrap() {
            let path = entry.unwrap().path();
            let shape = match path.extension().and_then(|extension| extension.to_str()) {
                Some("sse") => ResponseFormat::EventStream,
                Some("json-body") => ResponseFormat::Json,
                _ => continue,
            };
            let stem = path.file_stem().unwrap().to_str().unwrap();
            goldens.push(Golden {
                name: format!("{}/{stem}", format.as_str()),
                format,
                shape,
                bytes: fs::read(&path).unwrap(),
                expected: path.with_extension("json"),
            });
        }
    }
    goldens.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(
        goldens.len() > 100,
        "only {} goldens were found",
        goldens.len()
    );
    goldens
}

/// What an answer becomes when it comes in these pieces.
pub fn hear<'a>(
    remote: &Remote,
    shape: ResponseFormat,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (ModelReply, Option<String>) {
    let (deltas, error) = replay(remote, shape, pieces);
    let stops = deltas
        .iter()
        .filter(|delta| matches!(delta, ModelDelta::Stop(_)));
    assert!(stops.count() <= 1, "a stream stops once");
    let mut assembler = Assembler::default();
    for delta in deltas {
        assembler.push(delta);
    }
    let mut number = 0;
    let reply = assembler.finish(|| {
        number += 1;
        CallId(format!("call_{number}"))
    });
    (reply, error.map(|error| error.to_string()))
}

/// Cuts bytes at the given places, in whatever order they are.
pub fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places
        .iter()
        .map(|place| place.index(bytes.len() + 1))
        .collect();
    places.sort_unstable();
    let ends = places.iter().copied().chain([bytes.len()]);
    let mut begin = 0;
    ends.map(|end| &bytes[std::mem::replace(&mut begin, end)..end])
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn of(golden: &Golden) -> Remote {
    remote(golden.format, "http://model.test/v1")
}

fn whole(golden: &Golden) -> (ModelReply, Option<String>) {
    hear(&of(golden), golden.shape, [golden.bytes.as_slice()])
}

#[test]
fn every_recorded_answer_becomes_what_it_should() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for golden in goldens() {
        let (reply, error) = whole(&golden);
        let found = json!({
            "parts": reply.parts,
            "usage": reply.usage,
            "stop": reply.stop,
            "error": error,
        });
        if update {
            let text = serde_json::to_string_pretty(&found).unwrap();
            fs::write(&golden.expected, text + "\n").unwrap();
        }
        let expected = fs::read_to_string(&golden.expected).unwrap_or_default();
        let expected: Value = serde_json::from_str(&expected).unwrap_or_default();
        if found != expected {
            wrong.push(format!(
                "{}:\n  found    {found}\n  expected {expected}",
                golden.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_is_the_same_byte_by_byte() {
    for golden in goldens() {
        let bytes = hear(&of(&golden), golden.shape, golden.bytes.chunks(1));
        assert_eq!(bytes, whole(&golden), "{}", golden.name);
    }
}

#[test]
fn a_mislabelled_answer_is_the_same_answer() {
    for golden in goldens() {
        let other = match golden.shape {
            ResponseFormat::EventStream => ResponseFormat::Json,
            ResponseFormat::Json => ResponseFormat::EventStream,
        };
        let found = hear(&of(&golden), other, golden.bytes.chunks(7));
        assert_eq!(found, whole(&golden), "{}", golden.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_answer_is_the_same_wherever_it_is_cut(
        golden in select(goldens()),
        places in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let found = hear(&of(&golden), golden.shape, cut(&golden.bytes, &places));
        prop_assert_eq!(found, whole(&golden));
    }
}

#[test]
fn a_megabyte_of_arguments_in_ten_byte_pieces_is_one_value() {
    let text: String = ('a'..='z').cycle().take(1_000_000).collect();
    let arguments = json!({ "text": text }).to_string();
    let pieces: Vec<&str> = arguments
        .as_bytes()
        .chunks(10)
        .map(|piece| std::str::from_utf8(piece).unwrap())
        .collect();
    for format in FORMATS {
        let mut stream = String::new();
        let mut event = |data: Value| stream.push_str(&format!("data: {data}\n\n"));
        match format {
            WireFormat::Openai => {
                let mut call = |call: Value| {
                    event(json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
                };
                call(json!({"index": 0, "id": "c", "function": {"name": "write"}}));
                for piece in &pieces {
                    // The name with every fragment: the dearest way there is.
                    call(json!({"index": 0, "function": {"name": "write", "arguments": piece}}));
                }
                event(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
            }
            WireFormat::Responses => {
                let item = json!({"type": "function_call", "call_id": "c", "name": "write"});
                event(
                    json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                );
                for piece in &pieces {
                    event(
                        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece}),
                    );
                }
                event(json!({"type": "response.completed", "response": {"status": "completed"}}));
            }
            WireFormat::Anthropic => {
                let block = json!({"type": "tool_use", "id": "c", "name": "write"});
                event(json!({"type": "content_block_start", "index": 0, "content_block": block}));
                for piece in &pieces {
                    let delta = json!({"type": "input_json_delta", "partial_json": piece});
                    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
                }
                event(json!({"type": "content_block_stop", "index": 0}));
                event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            }
        }
        let begun = std::time::Instant::now();
        let remote = remote(format, "http://model.test/v1");
        let (reply, error) = hear(
            &remote,
            ResponseFormat::EventStream,
            stream.as_bytes().chunks(1_400),
        );
        assert_eq!((reply.stop, error), (Some(StopReason::ToolCalls), None));
        let inputs: Vec<&Value> = reply
            .parts
            .iter()
            .filter_map(Part::as_call)
            .map(|call| &call.input)
            .collect();
        assert!(inputs == [&json!({ "text": text })], "{format:?}");
        // Linear takes about a second even here; quadratic would take minutes.
        assert!(
            begun.elapsed().as_secs() < 30,
            "{format:?}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn what_is_heard_and_never_shown_has_an_end_too() {
    let megabyte = "x".repeat(1024 * 1024);
    let secret = |format: WireFormat| match format {
        WireFormat::Openai => {
            let details = json!([{"type": "reasoning.encrypted", "data": megabyte}]);
            json!({"choices": [{"delta": {"reasoning_details": details}}]})
        }
        WireFormat::Responses => {
            let item = json!({"type": "reasoning", "encrypted_content": megabyte});
            json!({"type": "response.output_item.done", "output_index": 0, "item": item})
        }
        WireFormat::Anthropic => {
            let delta = json!({"type": "signature_delta", "signature": megabyte, "thinking": ""});
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        }
    };
    let said = json!({"choices": [{"delta": {"content": format!("{{\"tool\":\"{megabyte}")}}]});
    let constrained = Remote {
        tools: ToolUse::Constrained,
        ..remote(WireFormat::Openai, "http://model.test/v1")
    };
    for (remote, event) in [
        (constrained, said),
        (
            remote(WireFormat::Openai, "http://model.test/v1"),
            secret(WireFormat::Openai),
        ),
        (
            remote(WireFormat::Responses, "http://model.test/v1"),
            secret(WireFormat::Responses),
        ),
        (
            remote(WireFormat::Anthropic, "http://model.test/v1"),
            secret(WireFormat::Anthropic),
        ),
    ] {
        let event = format!("data: {event}\n\n");
        let mut sent = 0;
        let pieces = std::iter::repeat_n(event.as_bytes(), 100).inspect(|_| sent += 1);
        let (_, error) = replay(&remote, ResponseFormat::EventStream, pieces);
        assert_eq!(
            error.unwrap().to_string(),
            "model.test sent more than 64 MB as one answer and was cut off. Ask for less, or choose another model."
        );
        assert_eq!(sent, 64, "a megabyte and its envelope each");
    }
}

#[test]
fn calls_that_are_never_closed_take_no_longer_each() {
    const CALLS: usize = 30_000;
    for format in FORMATS {
        let mut stream = String::new();
        for index in 0..CALLS {
            let event = match format {
                WireFormat::Openai => {
                    let call = json!({"index": index, "id": index, "function": {"name": "f"}});
                    json!({"choices": [{"delta": {"tool_calls": [call]}}]})
                }
                WireFormat::Responses => {
                    let item =
                        json!({"type": "function_call", "call_id": index.to_string(), "name": "f"});
                    json!({"type": "response.output_item.added", "output_index": index, "item": item})
                }
                WireFormat::Anthropic => {
                    let block = json!({"type": "tool_use", "id": "c", "name": "f"});
                    json!({"type": "content_block_start", "index": index, "content_block": block})
                }
            };
            stream.push_str(&format!("data: {event}\n\n"));
        }
        let begun = std::time::Instant::now();
        let remote = remote(format, "http://model.test/v1");
        let (reply, error) = hear(
            &remote,
            ResponseFormat::EventStream,
            stream.as_bytes().chunks(1_400),
        );
        assert_eq!((reply.parts.len(), error), (CALLS, None));
        // Linear takes a second or two even here.
        assert!(
            begun.elapsed().as_secs() < 20,
            "{format:?}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn how_far_a_prompt_is_read_is_told_before_the_answer() {
    let mut goldens = goldens().into_iter();
    let golden = goldens.find(|golden| golden.name == "openai/llama-cpp-prompt-progress");
    let golden = golden.unwrap();
    let (deltas, _) = replay(&of(&golden), golden.shape, [golden.bytes.as_slice()]);
    let progress = |processed| ModelDelta::PromptProgress {
        processed,
        total: 617,
    };
    assert_eq!(deltas[..2], [progress(0), progress(617)]);
}

#[test]
fn a_model_without_tools_is_heard_like_any_other() {
    for golden in goldens() {
        let without = Remote {
            tools: ToolUse::None,
            ..of(&golden)
        };
        let found = hear(&without, golden.shape, [golden.bytes.as_slice()]);
        assert_eq!(found, whole(&golden), "{}", golden.name);
    }
}

fn is_of(format: WireFormat, name: &str) -> bool {
    let (folder, _) = name.split_once('/').unwrap_or_default();
    folder == format.as_str()
}

#[test]
fn the_catalogue_names_every_golden_and_no_other() {
    let compiler = fs::read_to_string(folder().join("README.md")).unwrap();
    let named: BTreeSet<&str> = compiler
        .split('`')
        .filter(|word| FORMATS.iter().any(|format| is_of(*format, word)))
        .collect();
    let goldens = goldens();
    let found: BTreeSet<&str> = goldens.iter().map(|golden| golden.name.as_str()).collect();
    assert_eq!(named, found);
    let replies = FORMATS
        .iter()
        .flat_map(|format| fs::read_dir(folder().join(format.as_str())).unwrap());
    let replies = replies.filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    assert_eq!(
        replies.count(),
        goldens.len(),
        "a reply without its answer was left behind"
    );
}
