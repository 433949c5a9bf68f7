//! Chats of every kind, by name.

use serde_json::{Value, json};
use tenon_domain::{
    CallId, Content, Message, Part, ProviderBlock, ToolAnswer, ToolCall, ToolError, ToolId,
    ToolOutput, ToolResult, UserImage, WireFormat,
};
use tenon_llm::ModelRequest;

use crate::fake::tool;
use crate::history::THIS;

pub(super) fn user(text: &str) -> Message {
    Message::user(text)
}

fn shows(text: &str, media_type: &str) -> Message {
    let image = UserImage {
        media_type: media_type.into(),
        data: "aGk=".into(),
        name: None,
    };
    Message::User {
        text: text.into(),
        images: vec![image],
        files: Vec::new(),
    }
}

pub(super) fn says(parts: Vec<Part>) -> Message {
    Message::Assistant { parts }
}

pub(super) fn provider_block(maker: &str, block: Value) -> Option<ProviderBlock> {
    Some(ProviderBlock {
        maker: maker.into(),
        block,
    })
}

pub(super) fn call(id: &str, input: Value, provider_block: Option<ProviderBlock>) -> Part {
    Part::Call {
        call: ToolCall {
            id: CallId::new(id),
            tool_id: ToolId::new("weather"),
            input,
        },
        provider_block,
    }
}

pub(super) fn results(results: Vec<(&str, ToolResult)>) -> Message {
    let answers = results.into_iter().map(|(id, result)| ToolAnswer {
        call_id: CallId::new(id),
        tool_id: ToolId::new("weather"),
        result,
    });
    Message::Tools {
        answers: answers.collect(),
    }
}

pub(super) fn oslo() -> Value {
    json!({"city": "Oslo"})
}

pub(super) fn warm() -> ToolResult {
    Ok(ToolOutput::text("7 degrees"))
}

/// Chats, each with one thing in it that has to be written with care.
pub(super) fn chats(format: WireFormat) -> Vec<(&'static str, ModelRequest)> {
    let chat = |name: &'static str, messages: Vec<Message>| {
        let request = ModelRequest {
            system: "You are Tenon.".into(),
            language: None,
            messages,
            tools: vec![tool("weather"), tool("clock")],
            ..ModelRequest::default()
        };
        (name, request)
    };
    let own = |block: Value| provider_block(THIS, block);
    let foreign = |block: Value| provider_block("another", block);
    let (thought, secret) = match format {
        WireFormat::Openai => (
            json!({"field": "reasoning_content"}),
            json!({"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "signature": "c2ln+/=="}]}),
        ),
        WireFormat::Responses => (
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "c2ln+/==", "summary": [
                {"type": "summary_text", "text": "Hm."},
            ]}),
            json!({"type": "tool_search_output", "id": "tso_1", "execution": "server", "tools": []}),
        ),
        WireFormat::Anthropic => (
            json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln+/=="}),
            json!({"type": "redacted_thinking", "data": "ZGF0YQ+/=="}),
        ),
    };
    let thinking = |provider_block: Option<ProviderBlock>| Part::Thinking {
        text: "Hm.".into(),
        provider_block,
    };
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "Eq+/=="}]});
    let cited = json!({"type": "text", "text": "It is 7 degrees.", "citations": [{"type": "web_search_result_location", "encrypted_index": "Eo8B=="}]});
    vec![
        chat(
            "text",
            vec![
                user("Hi"),
                says(vec![Part::text("Hello!")]),
                user("How are you?"),
            ],
        ),
        chat(
            "calls-and-results",
            vec![
                user("Weather?"),
                says(vec![
                    Part::text("I look."),
                    call("tenon-1", oslo(), own(json!({"id": "provider-1"}))),
                    call("tenon-2", json!({"city": "Rome"}), None),
                ]),
                results(vec![
                    ("tenon-1", warm()),
                    ("tenon-2", Ok(ToolOutput::json(json!({"degrees": 20})))),
                ]),
                says(vec![Part::text("7 and 20.")]),
                user("Thanks"),
            ],
        ),
        chat(
            "thinking-within-the-turn",
            vec![
                user("Weather?"),
                says(vec![
                    Part::Opaque {
                        provider_block: own(secret.clone()).unwrap(),
                    },
                    thinking(own(thought.clone())),
                    Part::text("I look."),
                    call("tenon-1", oslo(), own(json!({"id": "provider-1"}))),
                ]),
                results(vec![("tenon-1", warm())]),
            ],
        ),
        chat(
            "thinking-of-an-older-turn",
            vec![
                user("Weather?"),
                says(vec![thinking(own(thought.clone())), Part::text("Cold.")]),
                user("Thanks"),
            ],
        ),
        chat(
            "stopped-while-thinking",
            vec![
                user("Weather?"),
                says(vec![thinking(own(thought.clone()))]),
                user("Never mind."),
            ],
        ),
        chat(
            "began-elsewhere",
            vec![
                user("Weather?"),
                says(vec![
                    Part::Opaque {
                        provider_block: foreign(secret).unwrap(),
                    },
                    thinking(foreign(thought)),
                    Part::Text {
                        text: "I look.".into(),
                        provider_block: foreign(cited.clone()),
                    },
                    Part::Opaque {
                        provider_block: foreign(search.clone()).unwrap(),
                    },
                    call(
                        "tenon-1",
                        oslo(),
                        foreign(json!({"id": "foreign-1", "extra_content": {"x": 1}})),
                    ),
                ]),
                results(vec![("tenon-1", warm())]),
            ],
        ),
        chat(
            "results-with-an-image",
            vec![
                user("Show me"),
                says(vec![
                    call("tenon-1", oslo(), None),
                    call("tenon-2", oslo(), None),
                ]),
                results(vec![
                    (
                        "tenon-1",
                        Ok(ToolOutput {
                            content: vec![
                                Content::Text {
                                    text: "The harbour:".into(),
                                },
                                Content::Image {
                                    media_type: "image/png".into(),
                                    data: "aGk=".into(),
                                },
                            ],
                        }),
                    ),
                    (
                        "tenon-2",
                        Ok(ToolOutput {
                            content: vec![Content::Image {
                                media_type: "image/tiff".into(),
                                data: "aGk=".into(),
                            }],
                        }),
                    ),
                ]),
                user("Nice"),
            ],
        ),
        chat(
            "pictures-of-the-user",
            vec![
                shows("What is it?", "image/png"),
                says(vec![Part::text("A harbour.")]),
                shows("", "image/jpeg"),
                user("And this?"),
            ],
        ),
        chat(
            "results-that-failed",
            vec![
                user("Weather?"),
                says(vec![
                    call("tenon-1", oslo(), None),
                    call("tenon-2", oslo(), None),
                ]),
                results(vec![
                    ("tenon-1", Err(ToolError::failed("no such city"))),
                    ("tenon-2", Ok(ToolOutput::default())),
                ]),
            ],
        ),
        chat(
            "arguments-that-are-no-json",
            vec![
                user("Weather?"),
                says(vec![
                    call("tenon-1", json!("{\"city\": Oslo"), None),
                    call("tenon-2", json!([1]), None),
                ]),
                results(vec![
                    (
                        "tenon-1",
                        Err(ToolError::invalid_input("the input is no JSON")),
                    ),
                    (
                        "tenon-2",
                        Err(ToolError::invalid_input("the input is no object")),
                    ),
                ]),
            ],
        ),
        chat(
            "stopped-call",
            vec![
                user("Weather?"),
                says(vec![call(
                    "tenon-1",
                    oslo(),
                    own(json!({"id": "provider-1"})),
                )]),
                user("Stop that."),
            ],
        ),
        chat(
            "repeated-provider-ids",
            vec![
                user("Weather?"),
                says(vec![call("tenon-1", oslo(), own(json!({"id": "call_0"})))]),
                results(vec![("tenon-1", warm())]),
                says(vec![
                    call("tenon-2", oslo(), own(json!({"id": "call_0"}))),
                    call("tenon-3", oslo(), own(json!({"id": "tenon-2"}))),
                ]),
                results(vec![
                    ("tenon-2", warm()),
                    ("tenon-3", Err(ToolError::cancelled())),
                ]),
            ],
        ),
        chat(
            "blocks-only-the-maker-can-read",
            vec![
                user("Search"),
                says(match format {
                    WireFormat::Openai => vec![call(
                        "tenon-1",
                        oslo(),
                        own(json!({
                            "id": "provider-1",
                            "extra_content": {"google": {"thought_signature": "c2ln"}},
                        })),
                    )],
                    WireFormat::Responses => vec![
                        Part::text("I search."),
                        Part::Opaque {
                            provider_block: own(json!({"type": "tool_search_call", "id": "tsc_1"}))
                                .unwrap(),
                        },
                        call(
                            "tenon-1",
                            oslo(),
                            own(json!({"id": "call_1", "namespace": "sky"})),
                        ),
                    ],
                    WireFormat::Anthropic => vec![
                        Part::text("I search."),
                        Part::Opaque {
                            provider_block: own(search).unwrap(),
                        },
                        Part::Opaque {
                            provider_block: own(found).unwrap(),
                        },
                        Part::Text {
                            text: "It is 7 degrees.".into(),
                            provider_block: own(cited),
                        },
                    ],
                }),
                user("Thanks"),
            ],
        ),
    ]
}
