//! Chats that are longer than a model can read.

use serde_json::json;
use tenon_domain::{CallId, Message, Part, ToolAnswer, ToolCall, ToolId, ToolOutput, WireFormat};
use tenon_llm::{ModelRequest, Remote, connect};

use super::{FORMATS, ask_for, hi};
use crate::fake::{Act, Fake, ask};

/// A turn long ago with a long result, and the user's words, some of them long.
fn long_chat() -> ModelRequest {
    let user = |text: String| Message::user(text);
    let call = ToolCall {
        id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        input: json!({"city": "Oslo"}),
    };
    let answer = ToolAnswer {
        call_id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        result: Ok(ToolOutput::text("wet ".repeat(20_000))),
    };
    ModelRequest {
        messages: vec![
            user(format!("Weather? {}", "please ".repeat(1_000))),
            Message::Assistant {
                parts: vec![Part::text("I look."), Part::call(call)],
            },
            Message::Tools {
                answers: vec![answer],
            },
            Message::Assistant {
                parts: vec![Part::text("It is wet.")],
            },
            user("And tomorrow?".into()),
        ],
        ..hi()
    }
}

fn overflows() -> Vec<(WireFormat, Act)> {
    vec![
        (
            WireFormat::Openai,
            Act::json(
                400,
                &json!({"error": {"message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 30000 tokens.",
            "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
            ),
        ),
        (
            WireFormat::Openai,
            Act::json(
                400,
                &json!({"error": {"code": 400, "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error", "n_prompt_tokens": 30000, "n_ctx": 8192}}),
            ),
        ),
        (
            WireFormat::Openai,
            Act::json(
                400,
                &json!({"object": "error", "message": "This model's maximum context length is 8192 tokens. However, you requested 30000 tokens in the messages. Please reduce the length of the messages.",
            "type": "BadRequestError", "param": null, "code": 400}),
            ),
        ),
        (
            WireFormat::Openai,
            Act::json(
                400,
                &json!([{"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}]),
            ),
        ),
        (
            WireFormat::Openai,
            Act::status(413, "", "Payload Too Large"),
        ),
        (
            WireFormat::Anthropic,
            Act::json(
                400,
                &json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
            ),
        ),
        (
            WireFormat::Anthropic,
            Act::json(
                400,
                &json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again"}}),
            ),
        ),
        (
            WireFormat::Anthropic,
            Act::json(
                413,
                &json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
            ),
        ),
    ]
}

#[tokio::test]
async fn a_chat_that_is_too_long_is_told_shorter() {
    for (format, overflow) in overflows() {
        let fake = Fake::start([overflow, Act::hello(format)]).await;
        let request = long_chat();
        let heard = ask_for(&fake, format, request.clone()).await;
        heard.is_answer("Hello");
        assert!(heard.retries.is_empty(), "nobody has to wait for that");
        let asked = fake.asked();
        assert_eq!(asked.len(), 2);
        let (whole, short) = (asked[0].body.to_string(), asked[1].body.to_string());
        assert!(
            whole.len() > 80_000 && short.len() < 20_000,
            "{} {}",
            whole.len(),
            short.len()
        );
        for message in &request.messages {
            if let Message::User { text, .. } = message {
                assert!(short.contains(text), "the user's words stay");
            }
        }
        assert!(short.contains("more characters were left out to save space"));
        assert!(
            short.contains("It is wet."),
            "no more is taken than has to be"
        );
    }
}

#[tokio::test]
async fn a_chat_that_cannot_be_told_shorter_is_refused() {
    for (format, overflow) in overflows() {
        let fake = Fake::start([overflow]).await;
        let heard = ask_for(&fake, format, long_chat()).await;
        let why = heard.refused();
        assert!(
            why.starts_with("This chat is longer than Fake can read"),
            "{why}"
        );
        assert!(
            why.ends_with("Start a new chat, or choose a model with a larger context."),
            "{why}"
        );
        let sizes: Vec<usize> = fake
            .asked()
            .iter()
            .map(|asked| asked.body.to_string().len())
            .collect();
        assert!((2..=6).contains(&sizes.len()), "{sizes:?}");
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    }
}

#[tokio::test]
async fn a_context_that_is_known_is_kept_to_from_the_start() {
    for format in FORMATS {
        let fake = Fake::start([Act::hello(format)]).await;
        let remote = Remote {
            context_tokens: Some(8_000),
            tool_budget: None,
            ..fake.remote(format)
        };
        ask(&*connect(remote), long_chat()).await.is_answer("Hello");
        let body = fake.asked()[0].body.to_string();
        assert!(body.len() < 20_000, "{}", body.len());
    }
}

#[tokio::test]
async fn words_that_cannot_be_shortened_are_not_sent_twice() {
    for (format, overflow) in overflows() {
        let fake = Fake::start([overflow]).await;
        let request = ModelRequest {
            messages: vec![Message::user("please ".repeat(20_000))],
            ..hi()
        };
        ask_for(&fake, format, request).await.refused();
        assert_eq!(fake.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_context_that_the_server_tells_is_kept_to_from_then_on() {
    let told = json!({"error": {"code": 400, "message": "request (30000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "type": "exceed_context_size_error", "n_prompt_tokens": 30000, "n_ctx": 4096}});
    let hello = || Act::hello(WireFormat::Openai);
    let fake = Fake::start([Act::json(400, &told), hello(), hello()]).await;
    let provider = connect(fake.remote(WireFormat::Openai));
    ask(&*provider, long_chat()).await.is_answer("Hello");
    ask(&*provider, long_chat()).await.is_answer("Hello");
    let asked = fake.asked();
    assert_eq!(asked.len(), 3, "the second chat fits at once");
    let size = asked[2].body.to_string().len();
    assert!(size < 4 * 4096, "{size}");
}

#[tokio::test]
async fn a_fresh_output_stays_whole_in_a_small_context() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let remote = Remote {
        context_tokens: Some(4_096),
        tool_budget: None,
        ..fake.remote(WireFormat::Openai)
    };
    let mut request = long_chat();
    let output = "wet ".repeat(416);
    request.messages = vec![
        Message::user("Weather?"),
        request.messages[1].clone(),
        Message::Tools {
            answers: vec![ToolAnswer {
                call_id: CallId::new("call-1"),
                tool_id: ToolId::new("weather"),
                result: Ok(ToolOutput::text(&output)),
            }],
        },
    ];
    // As much as the tools of a fresh Tenon take.
    request.system = "x".repeat(4 * 2_000);
    ask(&*connect(remote), request).await.is_answer("Hello");
    assert!(fake.asked()[0].body.to_string().contains(output.trim()));
}
