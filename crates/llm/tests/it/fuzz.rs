//! Nothing a server says may make us panic or hang, nor mean one thing whole and another in pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use tenon_domain::{ToolUse, WireFormat};
use tenon_llm::Remote;
use tenon_llm::remote::ResponseFormat;

use crate::fake::remote;
use crate::golden::{Golden, cut, goldens, hear};

/// All formats, and the one that reads calls out of JSON.
fn ears() -> [Remote; 4] {
    let of = |format| remote(format, "http://model.test/v1");
    let constrained = Remote {
        tools: ToolUse::Constrained,
        ..of(WireFormat::Openai)
    };
    [
        of(WireFormat::Openai),
        of(WireFormat::Responses),
        of(WireFormat::Anthropic),
        constrained,
    ]
}

/// Whole and in pieces, by everybody who might hear it.
fn check(bytes: &[u8], places: &[Index]) -> Result<(), TestCaseError> {
    for reader in ears() {
        for shape in [ResponseFormat::EventStream, ResponseFormat::Json] {
            let whole = hear(&reader, shape, [bytes]);
            let pieces = hear(&reader, shape, cut(bytes, places));
            prop_assert_eq!(&whole, &pieces, "{:?} {:?}", reader.format, shape);
        }
    }
    Ok(())
}

fn places() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..8)
}

#[derive(Debug, Clone)]
enum Damage {
    Flip(Index, u8),
    Delete(Index, usize),
    Insert(Index, Vec<u8>),
    Truncate(Index),
    SwapLines(Index, Index),
    RepeatLine(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    prop_oneof![
        (place(), 1_u8..).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        (place(), 1_usize..40).prop_map(|(at, length)| Damage::Delete(at, length)),
        (place(), insertion()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        place().prop_map(Damage::Truncate),
        (place(), place()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        place().prop_map(Damage::RepeatLine),
    ]
}

fn insertion() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"\n\n",
        b"\r",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"null",
        b"data: ",
        b"error: x\n\n",
        b"[DONE]",
        b"\xF0\x9F",
        b"\\ud83d",
        b"\\ude00",
        b"<think>",
        b"</think>",
        b"\0",
        b"1e999",
        b"-1",
    ];
    prop_oneof![
        select(known).prop_map(<[u8]>::to_vec),
        vec(any::<u8>(), 1..6),
    ]
}

fn damaged(golden: &Golden, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = golden.bytes.clone();
    for damage in damages {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        match damage {
            Damage::Flip(at, bits) => bytes[at.index(length)] ^= bits,
            Damage::Delete(at, count) => {
                let at = at.index(length);
                bytes.drain(at..(at + count).min(length));
            }
            Damage::Insert(at, more) => {
                let at = at.index(length);
                bytes.splice(at..at, more.iter().copied());
            }
            Damage::Truncate(at) => bytes.truncate(at.index(length)),
            Damage::SwapLines(a, b) => lines(&mut bytes, |lines| {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
            }),
            Damage::RepeatLine(at) => lines(&mut bytes, |lines| {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }),
        }
    }
    bytes
}

fn lines(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let mut lines: Vec<Vec<u8>> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    change(&mut lines);
    *bytes = lines.join(&b'\n');
}

/// Any JSON at all, of words that mean something to us.
fn any_json() -> impl Strategy<Value = Value> {
    let word = || {
        let words = vec![
            "choices",
            "delta",
            "message",
            "content",
            "tool_calls",
            "function",
            "function_call",
            "name",
            "arguments",
            "index",
            "id",
            "finish_reason",
            "usage",
            "prompt_tokens",
            "error",
            "code",
            "type",
            "content_block",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_start",
            "message_delta",
            "message_stop",
            "text",
            "thinking",
            "tool_use",
            "input",
            "partial_json",
            "signature",
            "citation",
            "citations",
            "stop_reason",
            "stop",
            "tool",
            "reply",
            "reasoning",
            "reasoning_details",
            "detail",
            "metadata",
            "raw",
            "prompt_tokens_details",
            "x_groq",
            "extra_content",
            "refusal",
            "",
        ];
        select(words).prop_map(str::to_owned)
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((word(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// JSON in the shape of an event, with anything where its values should be.
fn near_event() -> impl Strategy<Value = Value> {
    let json = any_json;
    prop_oneof![
        json(),
        (json(), json(), json()).prop_map(|(content, calls, finish)| {
            json!({"choices": [{"delta": {"content": content, "tool_calls": calls}, "finish_reason": finish}]})
        }),
        (json(), json(), json(), json()).prop_map(|(index, id, name, arguments)| {
            let call = json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
            json!({"choices": [{"delta": {"tool_calls": [call]}}]})
        }),
        (0_u64..3, json()).prop_map(|(index, block)| {
            json!({"type": "content_block_start", "index": index, "content_block": block})
        }),
        (0_u64..3, json(), json(), json()).prop_map(|(index, text, thinking, partial)| {
            let delta = json!({"text": text, "thinking": thinking, "partial_json": partial});
            json!({"type": "content_block_delta", "index": index, "delta": delta})
        }),
        (0_u64..3).prop_map(|index| json!({"type": "content_block_stop", "index": index})),
        json().prop_map(|error| json!({ "error": error })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), places in places()) {
        check(&bytes, &places)?;
    }

    #[test]
    fn any_text_in_events_is_survived(texts in vec(".{0,40}", 0..6), places in places()) {
        let stream: String = texts.iter().map(|text| format!("data: {text}\n\n")).collect();
        check(stream.as_bytes(), &places)?;
    }

    #[test]
    fn damaged_answers_are_survived(
        golden in select(goldens()),
        damages in vec(damage(), 1..5),
        places in places(),
    ) {
        check(&damaged(&golden, &damages), &places)?;
    }

    #[test]
    fn any_json_is_survived(events in vec(near_event(), 0..6), places in places()) {
        let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        check(stream.as_bytes(), &places)?;
        let whole = Value::from(events).to_string();
        check(whole.as_bytes(), &places)?;
    }

    #[test]
    fn any_json_said_in_a_form_is_survived(said in any_json(), cuts in vec(any::<Index>(), 0..4), places in places()) {
        let said = said.to_string();
        let chars: Vec<char> = said.chars().collect();
        let mut ends: Vec<usize> = cuts.iter().map(|place| place.index(chars.len() + 1)).collect();
        ends.push(chars.len());
        ends.sort_unstable();
        let (mut stream, mut begin) = (String::new(), 0);
        for end in ends {
            let piece: String = chars[std::mem::replace(&mut begin, end)..end].iter().collect();
            let chunk = json!({"choices": [{"delta": {"content": piece}}]});
            stream.push_str(&format!("data: {chunk}\n\n"));
        }
        check(stream.as_bytes(), &places)?;
    }
}
