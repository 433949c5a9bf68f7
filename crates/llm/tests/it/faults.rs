//! Servers that are busy, broken, strict or strange, and what becomes of a question to them.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use tenon_domain::{
    CallId, Content, LeftOut, Message, Part, ToolAnswer, ToolCall, ToolId, ToolOutput, ToolUse,
    WireFormat,
};
use tenon_llm::{Error, Remote, Request, connect, trial};

use crate::fake::{Act, Fake, Heard, ask, begun, said, stream, tool};

const BOTH: [WireFormat; 2] = [WireFormat::Openai, WireFormat::Anthropic];

/// Short, as tests go.
const SOON: &str = "retry-after: 0.05\r\n";

fn hi() -> Request {
    Request {
        messages: vec![Message::User { text: "Hi".into() }],
        tools: vec![tool("weather"), tool("clock")],
        ..Request::default()
    }
}

async fn ask_for(fake: &Fake, format: WireFormat, request: Request) -> Heard {
    ask(&*connect(fake.remote(format)), request).await
}

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().unwrap().iter();
    tools
        .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
        .collect()
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    for format in BOTH {
        for status in [408, 429, 500, 502, 503, 529] {
            let busy = Act::status(status, SOON, r#"{"error":{"message":"busy"}}"#);
            let fake = Fake::start([busy, Act::hello(format)]).await;
            let heard = ask_for(&fake, format, hi()).await;
            heard.is_answer("Hello");
            assert_eq!(heard.retries, [Duration::from_millis(50)], "{status}");
            let asked = fake.asked();
            assert_eq!(asked.len(), 2);
            assert_eq!(asked[0].body, asked[1].body);
        }
    }
}

#[tokio::test]
async fn a_server_that_stays_busy_is_left_alone() {
    let busy = Act::status(
        429,
        SOON,
        r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#,
    );
    let fake = Fake::start([busy]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    assert_eq!(
        heard.refused(),
        "127.0.0.1 takes no more requests for now (\"Rate limit reached\"). Wait a little and try again."
    );
    assert_eq!(heard.retries.len(), 3);
    assert_eq!(fake.asked().len(), 4);
}

#[tokio::test]
async fn nobody_waits_for_minutes() {
    let fake = Fake::start([Act::status(429, "retry-after: 120\r\n", "")]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    assert_eq!(
        heard.refused(),
        "127.0.0.1 takes no more requests for now. Wait 2 min and try again."
    );
    assert_eq!(fake.asked().len(), 1);
}

/// One answer, once, and this sentence.
#[track_caller]
fn once(fake: &Fake, heard: &Heard, sentence: &str) {
    assert_eq!(heard.refused(), sentence);
    assert_eq!(fake.asked().len(), 1, "{sentence}");
    assert_eq!(heard.text(), "");
}

#[tokio::test]
async fn a_key_is_never_repeated() {
    let key = "sk-very-secret-1234567890";
    let quoted = |status: u16| {
        Act::json(
            status,
            &json!({"error": {"message": format!("Incorrect API key provided: {key}.")}}),
        )
    };
    let bare = Act::status(
        200,
        "content-type: text/html\r\n",
        &format!("you sent {key}"),
    );
    let tool_named = Act::json(
        400,
        &json!({"error": {"message": format!("Invalid schema for function 'clock' ({key})")}}),
    );
    for (acts, expected) in [
        (
            vec![quoted(401)],
            "127.0.0.1 refused the key (\"Incorrect API key provided: …\"). Check the key of Fake, or enter a new one.",
        ),
        (
            vec![quoted(400)],
            "127.0.0.1 did not accept the request (\"Incorrect API key provided: …\").",
        ),
        (
            vec![bare],
            "127.0.0.1 answered with something that is not a model's answer (you sent …). Check the address and the kind of server.",
        ),
        (
            vec![tool_named, quoted(403)],
            "127.0.0.1 refused the key (\"Incorrect API key provided: …\"). Check the key of Fake, or enter a new one.",
        ),
    ] {
        let fake = Fake::start(acts).await;
        let remote = Remote {
            key: Some(key.into()),
            ..fake.remote(WireFormat::Openai)
        };
        let heard = ask(&*connect(remote.clone()), hi()).await;
        assert_eq!(heard.refused(), expected);
        assert!(!format!("{heard:?} {remote:?}").contains(key));
    }
}

#[tokio::test]
async fn a_key_that_is_missing_is_asked_for() {
    let fake = Fake::start([Act::json(401, &json!({"error": {"message": "No key"}}))]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    once(
        &fake,
        &heard,
        "127.0.0.1 wants a key (\"No key\"). Enter one for Fake.",
    );
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named() {
    let openai = json!({"error": {"message": "The model `m` does not exist or you do not have access to it.",
        "type": "invalid_request_error", "param": null, "code": "model_not_found"}});
    let ollama = json!({"error": {"message": "model \"m\" not found, try pulling it first", "type": "api_error", "param": null, "code": null}});
    let anthropic =
        json!({"type": "error", "error": {"type": "not_found_error", "message": "model: m"}});
    for (format, body, expected) in [
        (
            WireFormat::Openai,
            openai,
            "127.0.0.1 has no model `m` (\"The model `m` does not exist or you do not have access to it\"). Choose one that it offers.",
        ),
        (
            WireFormat::Openai,
            ollama,
            "127.0.0.1 has no model `m` (\"model \"m\" not found, try pulling it first\"). `ollama pull m` fetches it. Choose one that it offers.",
        ),
        (
            WireFormat::Anthropic,
            anthropic,
            "127.0.0.1 has no model `m` (\"model: m\"). Choose one that it offers.",
        ),
    ] {
        let fake = Fake::start([Act::json(404, &body)]).await;
        once(&fake, &ask_for(&fake, format, hi()).await, expected);
    }
}

#[tokio::test]
async fn an_address_without_a_model_server_is_told() {
    let fake = Fake::start([Act::status(404, "", "404 page not found")]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    let base = fake.remote(WireFormat::Openai).base_url;
    once(
        &fake,
        &heard,
        &format!(
            "There is no model server at {base} (\"404 page not found\"). Check the address; it often ends in /v1."
        ),
    );
}

#[tokio::test]
async fn an_account_without_credit_is_not_asked_again() {
    let openai = json!({"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let deepseek = json!({"error": {"message": "Insufficient Balance"}});
    let anthropic = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low."}});
    for (format, status, body, said) in [
        (
            WireFormat::Openai,
            429,
            openai,
            "You exceeded your current quota",
        ),
        (WireFormat::Openai, 402, deepseek, "Insufficient Balance"),
        (
            WireFormat::Anthropic,
            400,
            anthropic,
            "Your credit balance is too low",
        ),
    ] {
        let fake = Fake::start([Act::json(status, &body)]).await;
        let heard = ask_for(&fake, format, hi()).await;
        once(
            &fake,
            &heard,
            &format!(
                "The account at 127.0.0.1 has no credit left (\"{said}\"). Top it up there, or choose another model."
            ),
        );
    }
}

/// A turn long ago with a long result, and the user's words, some of them long.
fn long_chat() -> Request {
    let user = |text: String| Message::User { text };
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
    Request {
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
            if let Message::User { text } = message {
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
            why.ends_with("Start a new chat, or choose a model that reads more."),
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
    for format in BOTH {
        let fake = Fake::start([Act::hello(format)]).await;
        let remote = Remote {
            context_tokens: Some(8_000),
            ..fake.remote(format)
        };
        ask(&*connect(remote), long_chat()).await.is_answer("Hello");
        let body = fake.asked()[0].body.to_string();
        assert!(body.len() < 20_000, "{}", body.len());
    }
}

fn failing(format: WireFormat) -> String {
    let event = match format {
        WireFormat::Openai => {
            json!({"error": {"message": "Overloaded", "type": "server_error", "code": 503}})
        }
        WireFormat::Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        }
    };
    format!("event: error\ndata: {event}\n\n")
}

#[tokio::test]
async fn an_error_before_the_first_word_is_asked_past() {
    for format in BOTH {
        let begun = match format {
            WireFormat::Openai => {
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":{\"prompt_tokens\":9}}\n\n"
            }
            WireFormat::Anthropic => {
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n"
            }
        };
        let fail = Act::stream(&format!("{begun}{}", failing(format)));
        let fake = Fake::start([fail, Act::hello(format)]).await;
        let heard = ask_for(&fake, format, hi()).await;
        heard.is_answer("Hello");
        assert_eq!((heard.retries.len(), fake.asked().len()), (1, 2));
    }
}

#[tokio::test]
async fn an_error_after_some_words_leaves_them_standing() {
    for format in BOTH {
        let fail = Act::stream(&format!("{}{}", begun(format, "Once "), failing(format)));
        let fake = Fake::start([fail, Act::hello(format)]).await;
        let heard = ask_for(&fake, format, hi()).await;
        assert_eq!(
            heard.interrupted(),
            "127.0.0.1 has trouble of its own (\"Overloaded\"). Try again, or choose another model."
        );
        assert_eq!((heard.text(), heard.reply.stop), ("Once ".into(), None));
        assert_eq!(fake.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_connection_that_dies_before_the_first_word_is_made_again() {
    let dies = async |format: WireFormat, dead: Act| {
        let fake = Fake::start([dead, Act::hello(format)]).await;
        let heard = ask_for(&fake, format, hi()).await;
        heard.is_answer("Hello");
        assert_eq!((heard.retries.len(), fake.asked().len()), (1, 2));
    };
    let deaths = BOTH.into_iter().flat_map(|format| {
        let deaths = [
            Act::SayAndReset(Vec::new()),
            Act::SayAndReset(b"HTTP/1.1 200 OK\r\ncontent-type".to_vec()),
            Act::SayAndReset(stream(": processing\n\n")),
            // A clean end, and nothing in it.
            Act::stream(": processing\n\n"),
        ];
        deaths.map(|dead| dies(format, dead))
    });
    // At once: each waits a while before it asks again.
    join_all(deaths).await;
}

#[tokio::test]
async fn a_connection_that_dies_after_some_words_leaves_them_standing() {
    for format in BOTH {
        let words = begun(format, "Once ");
        let cut_off = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{words}\r\n",
            words.len()
        );
        for dead in [
            Act::SayAndReset(stream(&words)),
            Act::Say(vec![cut_off.into_bytes()]),
        ] {
            let fake = Fake::start([dead, Act::hello(format)]).await;
            let heard = ask_for(&fake, format, hi()).await;
            let why = heard.interrupted();
            assert_eq!(why, "The connection to 127.0.0.1 broke. Try again.");
            assert_eq!((heard.text(), fake.asked().len()), ("Once ".into(), 1));
        }
    }
}

#[tokio::test]
async fn a_server_that_never_answers_can_be_left() {
    let fake = Fake::start([Act::BeSilent]).await;
    let provider = connect(fake.remote(WireFormat::Openai));
    let mut deltas = provider.stream(hi()).await.unwrap();
    let nothing = tokio::time::timeout(Duration::from_millis(300), deltas.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(fake.asked().len(), 1);
    drop(deltas);
}

#[tokio::test]
async fn nothing_listens_there() {
    // A port that was just free and is nobody's now.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fake = Fake::start([Act::BeSilent]).await;
    let remote = Remote {
        base_url: format!("http://{address}/v1"),
        ..fake.remote(WireFormat::Openai)
    };
    let heard = ask(&*connect(remote), hi()).await;
    let why = heard.refused();
    let expected = format!(
        "Nothing answers at http://{address}/v1. Check that the server runs and the address is right."
    );
    assert_eq!(why, expected);
    assert_eq!(heard.retries.len(), 3);
}

#[tokio::test]
async fn an_address_that_is_none_is_told() {
    let fake = Fake::start([Act::BeSilent]).await;
    let remote = Remote {
        base_url: "not an address".into(),
        ..fake.remote(WireFormat::Openai)
    };
    let heard = ask(&*connect(remote), hi()).await;
    assert_eq!(
        heard.refused(),
        "`not an address` cannot be asked: its address or its key has signs in it that do not belong there."
    );
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte() {
    for format in BOTH {
        let bytes = stream(&said(format, "Grüße 👋"));
        let fake = Fake::start([Act::Say(bytes.chunks(1).map(<[u8]>::to_vec).collect())]).await;
        ask_for(&fake, format, hi()).await.is_answer("Grüße 👋");
    }
}

#[tokio::test]
async fn keep_alives_show_that_somebody_is_there() {
    for format in BOTH {
        let pause = |act: Vec<u8>| [act, Vec::new(), Vec::new()];
        let pieces = [
            pause(stream("")),
            pause(b": processing\n\n".to_vec()),
            pause(b": processing\n\n".to_vec()),
            pause(said(format, "Hello").into_bytes()),
        ];
        let fake = Fake::start([Act::Say(pieces.concat())]).await;
        let heard = ask_for(&fake, format, hi()).await;
        heard.is_answer("Hello");
        assert!(heard.alive >= 1);
    }
}

#[tokio::test]
async fn what_is_no_answer_is_refused_at_once() {
    let page = "<!doctype html>\n<title>Router</title>\n<h1>Welcome</h1>\n";
    let answers: [(&str, &[u8], &str); 5] = [
        ("text/html", page.as_bytes(), "a web page"),
        ("text/event-stream", page.as_bytes(), "a web page"),
        (
            "application/json",
            b"{\"hello\": \"world\"}",
            "{\"hello\": \"world\"}",
        ),
        ("application/json", b"OK", "OK"),
        (
            "application/octet-stream",
            b"\x00\x01\xff\xfe PNG",
            "\u{FFFD}\u{FFFD} PNG",
        ),
    ];
    for format in BOTH {
        for (kind, body, quoted) in answers {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let fake = Fake::start([Act::Say(vec![[head.as_bytes(), body].concat()])]).await;
            let heard = ask_for(&fake, format, hi()).await;
            once(
                &fake,
                &heard,
                &format!(
                    "127.0.0.1 answered with something that is not a model's answer ({quoted}). Check the address and the kind of server."
                ),
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for status in [301, 302, 307, 308] {
        let elsewhere = Fake::start([Act::hello(WireFormat::Openai)]).await;
        let there = elsewhere.remote(WireFormat::Openai).base_url;
        let fake = Fake::start([Act::status(
            status,
            &format!("location: {there}/chat/completions\r\n"),
            "",
        )])
        .await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        let base = fake.remote(WireFormat::Openai).base_url;
        once(
            &fake,
            &heard,
            &format!("{base} sends on to another address. Enter that one instead."),
        );
        assert_eq!(elsewhere.asked().len(), 0);
    }
}

#[tokio::test]
async fn a_tool_that_is_refused_is_left_out_and_no_other() {
    let named = "Invalid schema for function 'clock': In context=('properties', 'x'), array schema missing items.";
    for (format, error, said) in [
        (
            WireFormat::Openai,
            json!({"message": named, "type": "invalid_request_error", "param": "tools[1].function.parameters", "code": "invalid_function_parameters"}),
            format!("tools[1].function.parameters {named}"),
        ),
        (
            WireFormat::Openai,
            json!({"message": named, "type": "invalid_request_error", "param": null}),
            named.to_owned(),
        ),
        (
            WireFormat::Anthropic,
            json!({"type": "invalid_request_error", "message": "tools.1.custom.input_schema: JSON schema is invalid."}),
            "tools.1.custom.input_schema: JSON schema is invalid.".to_owned(),
        ),
    ] {
        let refuse = Act::json(400, &json!({"type": "error", "error": error}));
        let fake = Fake::start([refuse, Act::hello(format)]).await;
        let provider = connect(fake.remote(format));
        let expected = [LeftOut {
            tool_id: ToolId::new("clock"),
            display_name: "Fake/clock".into(),
            why: format!("its description was refused: {said}"),
        }];
        // The second question knows it from the start.
        for asked in [2, 3] {
            let heard = ask(&*provider, hi()).await;
            heard.is_answer("Hello");
            assert_eq!(heard.left_out, expected);
            assert_eq!(fake.asked().len(), asked);
        }
        let asked = fake.asked();
        let offered: Vec<Vec<&str>> = asked.iter().map(|asked| names(&asked.body)).collect();
        assert_eq!(
            offered,
            [vec!["weather", "clock"], vec!["weather"], vec!["weather"]]
        );
    }
}

#[tokio::test]
async fn a_model_without_tools_answers_without_them() {
    for (status, said) in [
        (
            400,
            "registry.ollama.ai/library/gemma:2b does not support tools",
        ),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (500, "tools param requires --jinja flag"),
        (
            404,
            "No endpoints found that support tool use. Try disabling \"weather\".",
        ),
    ] {
        let refuse = Act::json(status, &json!({"error": {"message": said}}));
        let fake = Fake::start([refuse, Act::hello(WireFormat::Openai)]).await;
        let provider = connect(fake.remote(WireFormat::Openai));
        // The second question knows it from the start.
        for asked in [2, 3] {
            let heard = ask(&*provider, hi()).await;
            heard.is_answer("Hello");
            let left: Vec<&str> = heard
                .left_out
                .iter()
                .map(|tool| tool.tool_id.as_str())
                .collect();
            assert_eq!(left, ["weather", "clock"], "{said}");
            assert_eq!(fake.asked().len(), asked, "{said}");
        }
        assert!(fake.asked()[1].body.get("tools").is_none(), "{said}");
    }
}

#[tokio::test]
async fn a_trial_says_nothing_about_a_model_whose_server_is_in_trouble() {
    let busy = || Act::status(429, "retry-after: 0.01\r\n", "{}");
    let acts = [
        Act::hello(WireFormat::Openai),
        busy(),
        busy(),
        busy(),
        busy(),
    ];
    let fake = Fake::start(acts).await;
    let tried = trial::run(&fake.remote(WireFormat::Openai), |_| {}).await;
    assert!(matches!(tried, Err(Error::Busy(_))), "{tried:?}");

    // A server that refuses both ways says it clearly.
    let refuse = || Act::json(400, &json!({"error": {"message": "no such thing here"}}));
    let fake = Fake::start([Act::hello(WireFormat::Openai), refuse(), refuse()]).await;
    let tried = trial::run(&fake.remote(WireFormat::Openai), |_| {}).await;
    assert_eq!(tried.unwrap().tools, ToolUse::None);
}

#[tokio::test]
async fn tools_are_refused_one_after_the_other() {
    let refuse = |name: &str| {
        Act::json(
            400,
            &json!({"error": {"message": format!("Invalid schema for function '{name}'")}}),
        )
    };
    let fake = Fake::start([
        refuse("weather"),
        refuse("clock"),
        Act::hello(WireFormat::Openai),
    ])
    .await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    heard.is_answer("Hello");
    let left_out: Vec<&str> = heard
        .left_out
        .iter()
        .map(|tool| tool.tool_id.as_str())
        .collect();
    assert_eq!(left_out, ["weather", "clock"]);
    assert_eq!(fake.asked()[2].body.get("tools"), None);
}

#[tokio::test]
async fn more_tools_than_a_model_can_be_told_of_are_left_out() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let tools = (0..130)
        .map(|number| tool(&format!("tool{number}")))
        .collect();
    let heard = ask_for(&fake, WireFormat::Openai, Request { tools, ..hi() }).await;
    heard.is_answer("Hello");
    assert_eq!(names(&fake.asked()[0].body).len(), 128);
    let left_out: Vec<&str> = heard
        .left_out
        .iter()
        .map(|tool| tool.tool_id.as_str())
        .collect();
    assert_eq!(left_out, ["tool128", "tool129"]);
}

/// One refusal, then an answer; and the next question is right from the start.
async fn adapts(
    format: WireFormat,
    refusal: Value,
    request: Request,
    is_mended: fn(&Value) -> bool,
) {
    let fake = Fake::start([Act::json(400, &refusal), Act::hello(format)]).await;
    let provider = connect(fake.remote(format));
    ask(&*provider, request.clone()).await.is_answer("Hello");
    ask(&*provider, request).await.is_answer("Hello");
    let mended: Vec<bool> = fake
        .asked()
        .iter()
        .map(|asked| is_mended(&asked.body))
        .collect();
    assert_eq!(mended, [false, true, true], "{refusal}");
}

#[tokio::test]
async fn what_a_server_does_not_know_is_not_sent_again() {
    let unknown = json!({"error": {"message": "Unknown parameter: 'stream_options'.", "param": "stream_options"}});
    let extra = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]});
    for refusal in [unknown, extra] {
        adapts(WireFormat::Openai, refusal, hi(), |body| {
            body.get("stream_options").is_none()
        })
        .await;
    }
    let order = json!({"object": "error", "message": "Unexpected role 'user' after role 'tool'", "type": "invalid_request_message_order", "code": "3230"});
    adapts(WireFormat::Openai, order, with_image(), |body| {
        let messages = body["messages"].as_array().unwrap();
        !messages
            .windows(2)
            .any(|pair| pair[0]["role"] == "tool" && pair[1]["role"] == "user")
    })
    .await;
    let most = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m"}});
    adapts(WireFormat::Anthropic, most, hi(), |body| {
        body["max_tokens"] == 4096
    })
    .await;
    let cache = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "system.0.cache_control: Extra inputs are not permitted"}});
    adapts(WireFormat::Anthropic, cache, hi(), |body| {
        !body.to_string().contains("cache_control")
    })
    .await;
    let image = json!({"error": {"message": "Invalid content type. image_url is only supported by certain models.", "param": "messages.[3].content.[1].type"}});
    let blind = json!({"error": {"message": "This model does not support image input"}});
    for (format, refusal) in [(WireFormat::Openai, image), (WireFormat::Anthropic, blind)] {
        adapts(format, refusal, with_image(), |body| {
            !body.to_string().contains("aGk=")
        })
        .await;
    }
}

#[tokio::test]
async fn thoughts_that_are_not_taken_back_stay_away() {
    let thought = json!({"choices": [{"delta": {"reasoning": "Hm."}}]});
    let call = json!({"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": "clock", "arguments": "{}"}},
    ]}, "finish_reason": "tool_calls"}]});
    let refusal = json!({"error": {"message": "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]"}});
    let fake = Fake::start([
        Act::stream(&format!(
            "data: {thought}\n\ndata: {call}\n\ndata: [DONE]\n\n"
        )),
        Act::json(400, &refusal),
        Act::hello(WireFormat::Openai),
    ])
    .await;
    let provider = connect(fake.remote(WireFormat::Openai));
    let mut request = hi();
    let parts = ask(&*provider, request.clone()).await.reply.parts;
    let answers = parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(ToolOutput::text("noon")),
        });
    let answers = answers.collect();
    request.messages.push(Message::Assistant { parts });
    request.messages.push(Message::Tools { answers });
    ask(&*provider, request).await.is_answer("Hello");
    let told: Vec<bool> = fake
        .asked()
        .iter()
        .map(|asked| asked.body["messages"].to_string().contains("reasoning"))
        .collect();
    assert_eq!(told, [false, true, false]);
}

#[tokio::test]
async fn a_refusal_is_not_trouble_because_of_a_word_in_it() {
    let named = "Invalid schema for function 'clock': In context=('properties', 'timeout'), schema must have a 'type' key.";
    let missing = "Invalid schema for function 'clock': In context=('properties', 'model'), '#/$defs/Model' does not exist.";
    for said in [named, missing] {
        let refusal = Act::json(400, &json!({"error": {"message": said}}));
        let fake = Fake::start([refusal, Act::hello(WireFormat::Openai)]).await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        heard.is_answer("Hello");
        assert_eq!(heard.left_out.len(), 1, "{said}");
        assert_eq!(fake.asked().len(), 2, "{said}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_show_pictures_is_told_without() {
    let said = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
    let refusal = Act::json(
        500,
        &json!({"error": {"code": 500, "message": said, "type": "server_error"}}),
    );
    let fake = Fake::start([refusal, Act::hello(WireFormat::Openai)]).await;
    let heard = ask_for(&fake, WireFormat::Openai, with_image()).await;
    heard.is_answer("Hello");
    assert_eq!(fake.asked().len(), 2);
    assert!(!fake.asked()[1].body.to_string().contains("aGk="));
}

#[tokio::test]
async fn any_number_of_tools_may_be_refused() {
    let tools: Vec<_> = (0..40)
        .map(|number| tool(&format!("tool{number}")))
        .collect();
    let refusals = (0..20).map(|number| {
        let said = format!("Invalid schema for function 'tool{number}'");
        Act::json(400, &json!({"error": {"message": said}}))
    });
    let fake = Fake::start(refusals.chain([Act::hello(WireFormat::Openai)])).await;
    let request = Request { tools, ..hi() };
    let heard = ask_for(&fake, WireFormat::Openai, request).await;
    heard.is_answer("Hello");
    assert_eq!(heard.left_out.len(), 20);
}

fn with_image() -> Request {
    let call = ToolCall {
        id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        input: json!({}),
    };
    let picture = Content::Image {
        media_type: "image/png".into(),
        data: "aGk=".into(),
    };
    let answer = ToolAnswer {
        call_id: CallId::new("call-1"),
        tool_id: ToolId::new("weather"),
        result: Ok(ToolOutput {
            content: vec![picture],
        }),
    };
    let mut request = hi();
    request.messages.push(Message::Assistant {
        parts: vec![Part::call(call)],
    });
    request.messages.push(Message::Tools {
        answers: vec![answer],
    });
    request
}

#[tokio::test]
async fn a_refusal_that_names_nothing_stands() {
    for format in BOTH {
        let fake = Fake::start([Act::json(400, &json!({"error": {"message": "Bad."}}))]).await;
        once(
            &fake,
            &ask_for(&fake, format, hi()).await,
            "127.0.0.1 did not accept the request (\"Bad\").",
        );
    }
}

#[tokio::test]
async fn a_refusal_that_repeats_itself_stands() {
    for said in [
        "stream_options",
        "max_tokens: 8192 > 4096",
        "tools[0]: no",
        "image",
    ] {
        let fake = Fake::start([Act::json(400, &json!({"error": {"message": said}}))]).await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        assert_eq!(
            heard.refused(),
            format!("127.0.0.1 did not accept the request (\"{said}\").")
        );
        assert!(fake.asked().len() <= 3, "{said}: {}", fake.asked().len());
    }
}

#[tokio::test]
async fn what_has_no_end_is_not_read_to_its_end() {
    let refusal = b"HTTP/1.1 400 X\r\n\r\n".to_vec();
    let fake = Fake::start([Act::Flood(refusal, b"no ".repeat(1_000))]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    let why = heard.refused();
    assert!(
        why.starts_with("127.0.0.1 did not accept the request (\"no no no"),
        "{why}"
    );
    assert!(why.chars().count() < 400, "{why}");
    // One event and one JSON value that never end.
    for begin in ["data: {\"a\":\"", "{\"a\":\""] {
        let fake = Fake::start([Act::Flood(stream(begin), vec![b'x'; 1 << 20])]).await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        once(
            &fake,
            &heard,
            "127.0.0.1 answered with something that is not a model's answer (one event without end). Check the address and the kind of server.",
        );
    }
}
