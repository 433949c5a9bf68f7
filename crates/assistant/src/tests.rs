//! Any message to any tools.

use std::sync::Arc;

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tenon_domain::{Annotations, Message, RunsOn, ToolId, ToolSpec};

fn tool(id: &str, description: &str, schema: Value) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        id: ToolId::new(id),
        name: id.into(),
        title: id.into(),
        display_name: format!("Test/{id}"),
        description: description.into(),
        input_schema: schema.into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    })
}

#[test]
fn a_text_is_spoken_in_chunks_that_are_the_text_again() {
    for text in [
        "",
        "one",
        "一二三四五六七八九十",
        &"word ".repeat(2_000),
        &"x".repeat(9_999),
    ] {
        let chunks = chunks(text);
        assert_eq!(chunks.concat(), *text);
        assert!(chunks.len() <= MAX_CHUNKS);
    }
}

/// JSON of any kind, with the keywords of a schema in the wrong places too.
fn any_schema() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "enum",
        "anyOf",
        "items",
        "default",
        "description",
        "const",
        "path",
        "query",
        "count",
        "city",
        "x",
        "format",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "string", "object", "array", "integer", "null", "path", "city", "number", "uri"
        ])
        .prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keyword.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Sentences made of what the rules look for, and of anything at all.
fn any_message() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        prop::sample::select(vec![
            "read",
            "write",
            "and",
            "then",
            "it",
            "in",
            "Tokyo",
            "notes.md",
            "\"",
            "'",
            "“",
            "”",
            "with",
            ":",
            "https://x.io",
            "6*7",
            "(",
            "{",
            "}",
            "现在",
            "几点",
            "和",
            "读",
            "三",
            "秒",
            "然后",
            "count",
            "=",
            "5",
            "-",
            ",",
            "path",
            "for",
            "weather",
            "city",
            "，",
            "```",
            "\n",
            "百分之",
            "file",
            "search",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
        "\\PC{0,8}",
    ];
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn whatever_is_said_to_whatever_tools_it_ends_in_a_few_sound_calls(
        messages in prop::collection::vec(any_message(), 1..3),
        schemas in prop::collection::vec(any_schema(), 0..4),
    ) {
        let mut tools = vec![
            tool("read_file", "Read a file", json!({"properties": {"path": {"type": "string"}}, "required": ["path"]})),
            tool("current_time", "The time", json!({"properties": {"timezone": {"type": "string"}}})),
            tool("weather", "Weather", json!({"properties": {"city": {"type": "string"}}, "required": ["city"]})),
        ];
        let names = ["search_things", "write_file", "count", "x"];
        tools.extend(schemas.into_iter().zip(names).map(|(schema, name)| tool(name, "Search and write", schema)));

        let mut history = Vec::new();
        for text in messages {
            history.push(Message::user(text));
            let mut calls = 0;
            // One more step than there can be calls.
            for _ in 0..=planner::MAX_CALLS {
                let step = think(&ModelRequest { system: String::new(), messages: history.clone(), tools: tools.clone(), ..ModelRequest::default() });
                prop_assert!(step.calls.iter().all(|call| call.arguments.is_object()));
                prop_assert_eq!(step.calls.is_empty(), !step.text.is_empty());
                calls += step.calls.len();
                prop_assert!(calls <= planner::MAX_CALLS);
                let ended = step.calls.is_empty();
                history.extend(after(step));
                if ended {
                    break;
                }
            }
            prop_assert!(matches!(history.last(), Some(Message::Assistant { .. })), "it did not end");
        }
    }
}

/// The step as history has it, with every call answered.
fn after(step: AssistantStep) -> Vec<Message> {
    use tenon_domain::{CallId, Part, ToolAnswer, ToolCall, ToolOutput};
    if step.calls.is_empty() {
        return vec![Message::Assistant {
            parts: vec![Part::text(step.text)],
        }];
    }
    let calls = step.calls.into_iter().map(|call| ToolCall {
        id: CallId::new("c"),
        tool_id: ToolId::new(call.tool),
        input: call.arguments,
    });
    let calls: Vec<ToolCall> = calls.collect();
    let answers = calls.iter().map(|call| ToolAnswer {
        call_id: call.id.clone(),
        tool_id: call.tool_id.clone(),
        result: Ok(ToolOutput::text("ok")),
    });
    let answers = Message::Tools {
        answers: answers.collect(),
    };
    vec![
        Message::Assistant {
            parts: calls.into_iter().map(Part::call).collect(),
        },
        answers,
    ]
}
