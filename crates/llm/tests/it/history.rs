//! Any chat, however it came about, becomes one that every provider accepts.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tenon_domain::{
    CallId, Content, Message, Part, ProviderBlock, ToolAnswer, ToolCall, ToolError, ToolId,
    ToolOutput, ToolResult, WireFormat,
};
use tenon_llm::history::{check, repair};

/// Stands for the maker of kept blocks until the model that is asked is known.
pub const THIS: &str = "this very model";

/// A chat in which everything that can be wrong is.
pub fn any_chat(format: WireFormat) -> impl Strategy<Value = Vec<Message>> {
    let message = prop_oneof![
        words().prop_map(Message::user),
        vec(part(format), 0..5).prop_map(|parts| Message::Assistant { parts }),
        vec((call_id(), result()), 0..4).prop_map(|answers| Message::Tools {
            answers: answers.into_iter().map(answer).collect(),
        }),
    ];
    vec(message, 0..12)
}

/// A chat as it should be.
fn valid_chat(format: WireFormat) -> impl Strategy<Value = Vec<Message>> {
    let said = vec(part(format), 1..4).prop_filter("somebody says nothing", |parts| {
        !parts
            .iter()
            .any(|part| matches!(part, Part::Text { text, provider_block: None } if text.trim().is_empty()))
    });
    let step = (said, vec(result(), 4));
    let turns = vec(("[a-z]{1,8}", vec(step, 1..3)), 0..4);
    (turns, "[a-z]{1,8}").prop_map(|(turns, last)| {
        let (mut messages, mut number) = (Vec::new(), 0);
        for (text, steps) in turns {
            messages.push(Message::user(text));
            for (mut parts, results) in steps {
                // Without calls the model has had its say.
                let is_last = !parts.iter().any(|part| part.as_call().is_some());
                let mut answers = Vec::new();
                for part in &mut parts {
                    if let Part::Call { call, .. } = part {
                        number += 1;
                        call.id = CallId(format!("call{number}"));
                        answers.push(answer((call.id.clone(), results[answers.len()].clone())));
                    }
                }
                messages.push(Message::Assistant { parts });
                if is_last {
                    break;
                }
                messages.push(Message::Tools { answers });
            }
        }
        messages.push(Message::user(last));
        messages
    })
}

fn words() -> impl Strategy<Value = String> {
    select(vec![
        "",
        " \n",
        "Hello",
        "what now?",
        "你好",
        "a\n\nb",
        "  x  ",
    ])
    .prop_map(str::to_owned)
}

fn call_id() -> impl Strategy<Value = CallId> {
    select(vec!["a", "b", "c", "d"]).prop_map(CallId::new)
}

fn part(format: WireFormat) -> impl Strategy<Value = Part> {
    prop_oneof![
        (words(), maker()).prop_map(move |(text, maker)| Part::Text {
            provider_block: provider_block(maker, citing(format, &text)),
            text,
        }),
        (words(), maker()).prop_map(move |(text, maker)| Part::Thinking {
            provider_block: provider_block(maker, thought(format, &text)),
            text,
        }),
        (
            call_id(),
            input(),
            maker(),
            select(vec!["", "a", "b", "toolu_1"])
        )
            .prop_map(|(id, input, maker, own)| Part::Call {
                call: ToolCall {
                    id,
                    tool_id: ToolId::new("weather"),
                    input
                },
                provider_block: provider_block(maker, Some(json!({ "id": own }))),
            }),
        select(vec![THIS, "another"]).prop_map(move |maker| Part::Opaque {
            provider_block: ProviderBlock {
                maker: maker.into(),
                block: opaque(format)
            },
        }),
    ]
}

fn maker() -> impl Strategy<Value = Option<&'static str>> {
    option::of(select(vec![THIS, "another"]))
}

fn provider_block(maker: Option<&str>, block: Option<Value>) -> Option<ProviderBlock> {
    let (maker, block) = (maker?.to_owned(), block?);
    Some(ProviderBlock { maker, block })
}

fn citing(format: WireFormat, text: &str) -> Option<Value> {
    match format {
        WireFormat::Openai => None,
        WireFormat::Responses => Some(json!({"phase": "commentary"})),
        WireFormat::Anthropic => {
            Some(json!({"type": "text", "text": text, "citations": [{"url": "u"}]}))
        }
    }
}

fn thought(format: WireFormat, text: &str) -> Option<Value> {
    Some(match format {
        WireFormat::Openai => json!({"field": "reasoning_content"}),
        WireFormat::Responses => reasoning(text),
        WireFormat::Anthropic => json!({"type": "thinking", "thinking": text, "signature": "c2ln"}),
    })
}

fn reasoning(text: &str) -> Value {
    let summary = json!([{"type": "summary_text", "text": text}]);
    json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "c2ln"})
}

fn opaque(format: WireFormat) -> Value {
    match format {
        WireFormat::Openai => {
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]})
        }
        WireFormat::Responses => {
            json!({"type": "tool_search_output", "execution": "server", "tools": []})
        }
        WireFormat::Anthropic => json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}),
    }
}

fn input() -> impl Strategy<Value = Value> {
    select(vec![
        json!({}),
        json!({"city": "Oslo"}),
        json!("{\"city\": "),
        json!([1]),
        json!(null),
    ])
}

fn result() -> impl Strategy<Value = ToolResult> {
    let image = |media_type: &str| Content::Image {
        media_type: media_type.into(),
        data: "aGk=".into(),
    };
    let text = |text: &str| Content::Text { text: text.into() };
    let outputs = vec![
        vec![],
        vec![text("")],
        vec![text("7 degrees")],
        vec![image("image/png")],
        vec![text("look"), image("image/jpeg"), image("image/tiff")],
        vec![Content::Json {
            value: json!({"degrees": 7}),
        }],
    ];
    prop_oneof![
        3 => select(outputs).prop_map(|content| Ok(ToolOutput { content })),
        1 => Just(Err(ToolError::failed("no such city"))),
        1 => Just(Err(ToolError::cancelled())),
    ]
}

fn answer((call_id, result): (CallId, ToolResult)) -> ToolAnswer {
    ToolAnswer {
        call_id,
        tool_id: ToolId::new("weather"),
        result,
    }
}

/// What the user said, all of it.
fn said(messages: &[Message]) -> String {
    let texts = messages.iter().filter_map(|message| match message {
        Message::User { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn formats() -> impl Strategy<Value = WireFormat> {
    select(vec![
        WireFormat::Openai,
        WireFormat::Responses,
        WireFormat::Anthropic,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_chat_can_be_mended(chat in formats().prop_flat_map(any_chat)) {
        let mended = repair(chat.clone());
        match said(&chat).is_empty() {
            true => prop_assert_eq!(&mended, &Vec::new()),
            false => prop_assert_eq!(check(&mended), Ok(())),
        }
        prop_assert_eq!(said(&mended), said(&chat));
        prop_assert_eq!(repair(mended.clone()), mended);
    }

    #[test]
    fn a_valid_chat_stays_as_it_is(chat in formats().prop_flat_map(valid_chat)) {
        prop_assert_eq!(check(&chat), Ok(()));
        prop_assert_eq!(repair(chat.clone()), chat);
    }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn calls(ids: &[&str]) -> Message {
    let call = |id: &&str| {
        Part::call(ToolCall {
            id: CallId::new(*id),
            tool_id: ToolId::new("weather"),
            input: json!({}),
        })
    };
    Message::Assistant {
        parts: ids.iter().map(call).collect(),
    }
}

fn answers(of: &[(&str, &str)]) -> Message {
    let ok = |(id, text): &(&str, &str)| answer((CallId::new(*id), Ok(ToolOutput::text(*text))));
    Message::Tools {
        answers: of.iter().map(ok).collect(),
    }
}

fn lost(id: &str) -> Message {
    Message::Tools {
        answers: vec![answer((CallId::new(id), Err(ToolError::lost())))],
    }
}

#[test]
fn what_is_wrong_is_put_right() {
    let check = |chat: &[Message], expected: &[Message]| {
        assert_eq!(repair(chat.to_vec()), expected, "{chat:?}");
    };
    // A call that nobody answered, in the middle and at the end.
    check(
        &[user("a"), calls(&["1"]), user("b")],
        &[user("a"), calls(&["1"]), lost("1"), user("b")],
    );
    check(
        &[user("a"), calls(&["1"])],
        &[user("a"), calls(&["1"]), lost("1")],
    );
    // Answers that come in two messages, in another order, twice, or to no call.
    let whole = [
        user("a"),
        calls(&["1", "2"]),
        answers(&[("1", "x"), ("2", "y")]),
    ];
    check(
        &[
            user("a"),
            calls(&["1", "2"]),
            answers(&[("1", "x")]),
            answers(&[("2", "y")]),
        ],
        &whole,
    );
    check(
        &[
            user("a"),
            calls(&["1", "2"]),
            answers(&[("2", "y"), ("9", "z"), ("1", "x")]),
        ],
        &whole,
    );
    check(&[user("a"), answers(&[("1", "x")])], &[user("a")]);
    // An answer does not wait for the call to come.
    check(
        &[user("a"), answers(&[("1", "x")]), calls(&["1"])],
        &[user("a"), calls(&["1"]), lost("1")],
    );
    // A call under an id that was used before is gone, with its answer.
    check(
        &[
            user("a"),
            calls(&["1"]),
            answers(&[("1", "x")]),
            calls(&["1"]),
            answers(&[("1", "y")]),
        ],
        &[user("a"), calls(&["1"]), answers(&[("1", "x")])],
    );
    // Nobody speaks twice, says nothing, or speaks before the user.
    check(&[user("a"), user(" "), user("b")], &[user("a\n\nb")]);
    check(
        &[calls(&["1"]), answers(&[("1", "x")]), user("a")],
        &[user("a")],
    );
    check(
        &[
            user("a"),
            Message::Assistant {
                parts: vec![Part::text("")],
            },
        ],
        &[user("a")],
    );
    check(&[], &[]);
}

#[test]
fn a_long_chat_takes_no_longer_for_each_step() {
    const STEPS: usize = 40_000;
    let begun = std::time::Instant::now();
    let mut chat = vec![user("go")];
    for step in 0..STEPS {
        let id = format!("call{step}");
        chat.push(calls(&[&id]));
        chat.push(answers(&[(&id, "ok")]));
    }
    assert_eq!(repair(chat).len(), 1 + 2 * STEPS);
    // Linear takes about a second; quadratic would take minutes.
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}

#[test]
fn what_a_provider_would_refuse_is_refused_here() {
    let refused =
        |chat: &[Message], why: &str| assert_eq!(check(chat).unwrap_err().to_string(), why);
    refused(&[], "a chat begins with the user");
    refused(&[calls(&["1"])], "a chat begins with the user");
    refused(&[user(" ")], "the user said nothing");
    refused(&[user("a"), user("b")], "the user speaks twice");
    refused(
        &[user("a"), Message::Assistant { parts: vec![] }],
        "the model said nothing",
    );
    refused(&[user("a"), calls(&["1"])], "call 1 has no result");
    refused(
        &[user("a"), calls(&["1"]), user("b")],
        "call 1 has no result",
    );
    refused(
        &[
            user("a"),
            calls(&["1", "1"]),
            answers(&[("1", "x"), ("1", "x")]),
        ],
        "two calls have the same id",
    );
    refused(
        &[
            user("a"),
            calls(&["1", "2"]),
            answers(&[("2", "x"), ("1", "x")]),
        ],
        "calls and results do not match",
    );
    refused(
        &[user("a"), answers(&[("1", "x")])],
        "calls and results do not match",
    );
}
