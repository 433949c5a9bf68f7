//! Traces and metrics as a collector receives them that nobody here wrote, and what becomes of
//! turns where there is none.

mod cluster;
mod hub;
mod model;
mod receiver;

use std::fs::File;
use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::listening::everything;
use crate::program::{Served, ended};
use crate::server::TEST_TIMEOUT;
use crate::sources::fixtures::until;
use model::{ANSWERED_BY, MODEL, ToolCallingModel};
use receiver::{ReceivedSpan, Receiver};

/// The trace and the span of a page.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PAGE_SPAN: &str = "00f067aa0ba902b7";

/// What somebody writes is nobody else's to read.
const SECRET: &str = "the-name-of-my-cat";

fn sends_to<'a>(serve: &'a mut Command, url: &str) -> &'a mut Command {
    serve
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        .env("OTEL_BSP_SCHEDULE_DELAY", "50")
        .env("OTEL_METRIC_EXPORT_INTERVAL", "500")
}

async fn start_turn(served: &Served, body: Value) -> String {
    let chat = served.post("/api/chats", json!({})).await;
    let chat = chat["id"].as_str().unwrap().to_owned();
    let request = served
        .client
        .post(format!("{}/api/chats/{chat}/turns", served.address));
    let traceparent = format!("00-{TRACE}-{PAGE_SPAN}-01");
    let answer = request
        .header("traceparent", traceparent)
        .header("tracestate", "vendor=1")
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status().as_u16(), 202);
    chat
}

async fn until_done(served: &Served, chat: &str) -> Value {
    let path = format!("/api/chats/{chat}");
    served.until(&path, |chat| chat["running"].is_null()).await;
    served.get(&format!("{path}/messages")).await
}

fn named<'a>(spans: &'a [ReceivedSpan], name: &str) -> Vec<&'a ReceivedSpan> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn only<'a>(spans: &'a [ReceivedSpan], name: &str) -> &'a ReceivedSpan {
    let found = named(spans, name);
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

fn check_attributes(span: &ReceivedSpan, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(span.attribute(name), *value, "{name} of {span:#?}");
    }
}

/// server-everything, with a copy of all that it is told.
async fn add_everything(served: &Served, data: &TempDir) -> std::path::PathBuf {
    let told = data.path().join("told");
    let script = format!(
        "tee '{}' | '{}' stdio",
        told.display(),
        everything().display()
    );
    let source = json!({
        "kind": "mcp", "name": "everything", "transport": "stdio",
        "command": "sh", "args": ["-c", script],
    });
    served.post("/api/sources", source).await;
    let is_there = |tools: &Value| {
        let mut tools = tools.as_array().unwrap().iter();
        tools.any(|tool| tool["toolId"] == "mcp_everything_echo")
    };
    served.until("/api/tools", is_there).await;
    let allow = json!({
        "layer": "user", "tools": [{"toolId": "mcp_everything_echo", "policy": "allow"}],
    });
    let request = served.client.patch(format!("{}/api/tools", served.address));
    let allowed = request.json(&allow).send().await.unwrap();
    assert!(allowed.status().is_success(), "{allowed:?}");
    told
}

#[tokio::test]
async fn one_trace_goes_from_the_page_to_the_mcp_server() {
    let receiver = Receiver::start();
    let input = json!({"message": format!("{SECRET}-in-a-call")});
    let model = ToolCallingModel::start("mcp_everything_echo", input).await;
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let served = Served::start_with(&data, |serve| {
        sends_to(serve, receiver.url())
            .env("OPENAI_BASE_URL", &model.base_url)
            .env("OPENAI_API_KEY", "sk-test")
            .env("TENON_LOG_FORMAT", "json")
            .stderr(File::create(&log).unwrap())
    });
    let told = add_everything(&served, &data).await;

    let text = format!("Say this back: {SECRET}");
    let body = json!({"text": text, "modelId": format!("openai:{MODEL}")});
    let chat = start_turn(&served, body).await;
    let messages = until_done(&served, &chat).await;
    let said = messages.to_string();
    assert!(said.contains("It was said back."), "{messages:#}");
    assert!(
        said.contains(&format!("Echo: {SECRET}-in-a-call")),
        "{messages:#}"
    );

    let chat_span = format!("chat {MODEL}");
    let spans = receiver.spans(TRACE, |spans| {
        named(spans, &chat_span).len() >= 2 && !named(spans, "invoke_agent").is_empty()
    });
    let spans = spans.await;

    let http = only(&spans, "POST /api/chats/{id}/turns");
    assert_eq!(http.parent, PAGE_SPAN);
    assert_eq!(http.kind, "SPAN_KIND_SERVER");
    let expected = [
        ("http.request.method", "Str(POST)"),
        ("http.route", "Str(/api/chats/{id}/turns)"),
        ("http.response.status_code", "Int(202)"),
    ];
    check_attributes(http, &expected);

    let turn = only(&spans, "invoke_agent");
    assert_eq!(turn.parent, http.id);
    let expected = [
        ("gen_ai.operation.name", "Str(invoke_agent)"),
        ("gen_ai.conversation.id", &*format!("Str({chat})")),
        ("gen_ai.usage.input_tokens", "Int(240)"),
        ("tenon.turn.outcome", "Str(done)"),
    ];
    check_attributes(turn, &expected);

    let chats = named(&spans, &chat_span);
    let of_turn: Vec<_> = chats.iter().filter(|chat| chat.parent == turn.id).collect();
    assert_eq!(of_turn.len(), 2, "{spans:#?}");
    for chat in &of_turn {
        assert_eq!(chat.kind, "SPAN_KIND_CLIENT");
        let expected = [
            ("gen_ai.operation.name", "Str(chat)"),
            ("gen_ai.provider.name", "Str(openai)"),
            ("gen_ai.request.model", &*format!("Str({MODEL})")),
            ("gen_ai.response.model", &*format!("Str({ANSWERED_BY})")),
            ("gen_ai.usage.input_tokens", "Int(120)"),
            ("gen_ai.usage.output_tokens", "Int(9)"),
            ("server.address", "Str(127.0.0.1)"),
        ];
        check_attributes(chat, &expected);
        let waited = chat.attribute("gen_ai.response.time_to_first_chunk");
        assert!(waited.starts_with("Double("), "{chat:#?}");
    }
    let mut reasons: Vec<_> = of_turn
        .iter()
        .map(|chat| chat.attribute("gen_ai.response.finish_reasons"))
        .collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["Slice(Str(stop))", "Slice(Str(tool_calls))"]);
    // And the model's server was told so.
    let mut asked_in = model.traceparents();
    let mut expected: Vec<_> = of_turn
        .iter()
        .map(|chat| format!("00-{TRACE}-{}-01", chat.id))
        .collect();
    asked_in.sort_unstable();
    expected.sort_unstable();
    assert_eq!(asked_in, expected);

    let call = only(&spans, "execute_tool echo");
    assert_eq!(call.parent, turn.id);
    let expected = [
        ("gen_ai.operation.name", "Str(execute_tool)"),
        ("gen_ai.tool.name", "Str(echo)"),
        ("tenon.tool.id", "Str(mcp_everything_echo)"),
        ("tenon.source.kind", "Str(mcp)"),
        ("tenon.source.name", "Str(everything)"),
    ];
    check_attributes(call, &expected);
    assert!(call.attribute("gen_ai.tool.call.id").len() > "Str()".len());

    let request = only(&spans, "tools/call echo");
    assert_eq!(request.parent, call.id);
    assert_eq!(request.kind, "SPAN_KIND_CLIENT");
    let expected = [
        ("mcp.method.name", "Str(tools/call)"),
        ("gen_ai.tool.name", "Str(echo)"),
        ("network.transport", "Str(pipe)"),
    ];
    check_attributes(request, &expected);
    let told = std::fs::read_to_string(told).unwrap();
    let mut told = told
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told = told
        .find(|message| message["method"] == "tools/call")
        .unwrap();
    let meta = &told["params"]["_meta"];
    assert_eq!(meta["traceparent"], format!("00-{TRACE}-{}-01", request.id));
    assert_eq!(meta["tracestate"], "vendor=1");
    assert_eq!(
        request.attribute("jsonrpc.request.id"),
        format!("Str({})", told["id"])
    );

    let chat = ("gen_ai.operation.name", "Str(chat)");
    let model = ("gen_ai.request.model", &*format!("Str({MODEL})"));
    let tool = ("gen_ai.operation.name", "Str(execute_tool)");
    let metrics = receiver
        .metrics(&[
            ("gen_ai.client.operation.duration", &[chat, model]),
            ("gen_ai.client.operation.duration", &[tool]),
            ("gen_ai.client.operation.time_to_first_chunk", &[chat]),
            (
                "gen_ai.client.token.usage",
                &[("gen_ai.token.type", "Str(input)"), chat],
            ),
            (
                "gen_ai.client.token.usage",
                &[("gen_ai.token.type", "Str(output)"), chat],
            ),
            (
                "mcp.client.operation.duration",
                &[
                    ("mcp.method.name", "Str(tools/call)"),
                    ("gen_ai.tool.name", "Str(echo)"),
                    ("network.transport", "Str(pipe)"),
                ],
            ),
            (
                "tenon.turns",
                &[("outcome", "Str(done)"), ("kind", "Str(turn)")],
            ),
            ("tenon.tool_calls", &[("source", "Str(everything)")]),
            ("tenon.http_requests", &[("area", "Str(api)")]),
            ("tenon.model_tokens", &[("direction", "Str(input)")]),
            ("tenon.sources", &[("kind", "Str(mcp)")]),
            ("tenon.build_info", &[]),
        ])
        .await;
    assert_eq!(metrics["gen_ai.client.operation.duration"].unit, "s");
    assert_eq!(metrics["gen_ai.client.token.usage"].unit, "{token}");

    // A line of the log says which trace it belongs to.
    let log = std::fs::read_to_string(&log).unwrap();
    let mut lines = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let line = lines
        .find(|line| line["message"] == "turn finished")
        .unwrap_or_else(|| panic!("{log}"));
    assert_eq!(line["trace_id"], TRACE, "{line}");

    // Neither of messages nor of inputs anything was sent.
    assert!(!receiver.printed().contains(SECRET));
}

#[tokio::test]
async fn content_is_sent_where_the_operator_says_so_and_what_is_left_at_the_end_as_well() {
    let receiver = Receiver::start();
    let data = tempfile::tempdir().unwrap();
    let config = data.path().join("tenon.toml");
    let settings = format!(
        "[telemetry]\nendpoint = \"{}\"\ncontent = true\n",
        receiver.url()
    );
    std::fs::write(&config, settings).unwrap();
    let mut served = Served::start_with(&data, |serve| {
        // Nothing is sent before the end.
        serve
            .env("TENON_CONFIG", &config)
            .env("OTEL_BSP_SCHEDULE_DELAY", "600000")
            .env("OTEL_TRACES_SAMPLER", "always_on")
    });
    let text = "what is 6 * 7?";
    let chat = start_turn(&served, json!({"text": text})).await;
    until_done(&served, &chat).await;
    served.signal("-TERM");
    assert!(ended(&mut served.child).success());

    let spans = receiver.spans(TRACE, |spans| !named(spans, "invoke_agent").is_empty());
    let spans = spans.await;
    let asked = named(&spans, "chat Built-in assistant");
    let first = asked.first().unwrap();
    assert!(
        first.attribute("gen_ai.input.messages").contains(text),
        "{first:#?}"
    );
    let call = only(&spans, "execute_tool calculate");
    assert!(
        call.attribute("gen_ai.tool.call.arguments")
            .contains("6 * 7"),
        "{call:#?}"
    );
    assert!(
        call.attribute("gen_ai.tool.call.result").contains("42"),
        "{call:#?}"
    );
}

/// A receiver that is not there, and one that takes every connection and never answers.
#[tokio::test]
async fn turns_go_on_as_ever_where_the_receiver_is_dead_or_hangs() {
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    let dead_url = format!("http://{}", dead.local_addr().unwrap());
    drop(dead);
    let hanging_url = format!("http://{}", hanging.local_addr().unwrap());
    std::thread::spawn(move || {
        let taken: Vec<_> = hanging.incoming().collect();
        drop(taken);
    });
    let (refused, late) = ("refuses connections", "did not answer in time");
    for (url, why) in [(dead_url, refused), (hanging_url, late)] {
        let data = tempfile::tempdir().unwrap();
        let log = data.path().join("log");
        let mut served = Served::start_with(&data, |serve| {
            serve.stderr(File::create(&log).unwrap());
            // A queue that is full in no time.
            sends_to(serve, &url)
                .env("OTEL_EXPORTER_OTLP_TIMEOUT", "300")
                .env("OTEL_BSP_MAX_QUEUE_SIZE", "4")
                .env("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
        });
        let begun = Instant::now();
        let call = json!({"arguments": {"expression": "6*7"}});
        for _ in 0..100 {
            let answer = served
                .post("/api/tools/builtin_calculate/call", call.clone())
                .await;
            assert_eq!(answer["ok"], true, "{answer}");
        }
        let chat = start_turn(&served, json!({"text": "what is 6 * 7?"})).await;
        let messages = until_done(&served, &chat).await;
        assert!(messages.to_string().contains("42"), "{messages:#}");
        // If each call waited for one export that hangs, they would take half a minute.
        assert!(
            begun.elapsed() < Duration::from_secs(8),
            "{:?}",
            begun.elapsed()
        );
        // It is said once, however often it is tried.
        let said =
            |log: &str, signal: &str| log.matches(&format!("{signal} cannot be sent")).count();
        let read = || std::fs::read_to_string(&log).unwrap();
        until(|| async {
            let log = read();
            if said(&log, "traces") > 0 && said(&log, "metrics") > 0 {
                Ok(())
            } else {
                Err(Value::from(log))
            }
        })
        .await;

        let begun = Instant::now();
        served.signal("-TERM");
        assert!(ended(&mut served.child).success());
        assert!(begun.elapsed() < TEST_TIMEOUT / 2, "{:?}", begun.elapsed());
        let log = read();
        assert!(log.contains(why), "{log}");
        assert_eq!(
            (said(&log, "traces"), said(&log, "metrics")),
            (1, 1),
            "{log}"
        );
    }
}

#[tokio::test]
async fn nothing_is_sent_along_where_nobody_follows_traces() {
    let model = ToolCallingModel::start("builtin_calculate", json!({"expression": "6*7"})).await;
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| {
        serve
            .env("OPENAI_BASE_URL", &model.base_url)
            .env("OPENAI_API_KEY", "sk-test")
    });
    let body = json!({"text": "6*7", "modelId": format!("openai:{MODEL}")});
    let chat = start_turn(&served, body).await;
    until_done(&served, &chat).await;
    assert_eq!(model.traceparents(), ["", ""]);
}
