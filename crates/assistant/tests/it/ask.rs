//! Asking the assistant, and short names for what it should call.

use std::sync::Arc;

use super::tools::tools;
use futures::StreamExt;
use serde_json::{Value, json};
use tenon_assistant::Assistant;
use tenon_domain::{CallId, Message, Part, ToolSpec};
use tenon_llm::{Assembler, ModelReply, ModelRequest, Provider};

pub fn answer(messages: &[Message]) -> ModelReply {
    answer_with(messages, tools())
}

pub fn answer_with(messages: &[Message], tools: Vec<Arc<ToolSpec>>) -> ModelReply {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let request = ModelRequest {
            system: String::new(),
            language: None,
            messages: messages.to_vec(),
            tools,
            ..ModelRequest::default()
        };
        let mut deltas = Assistant.stream(request).await.expect("it always answers");
        let mut assembler = Assembler::default();
        while let Some(delta) = deltas.next().await {
            assembler.push(delta.expect("it never fails"));
        }
        assembler.finish(|| CallId::new("call"))
    })
}

pub fn user(text: &str) -> Message {
    Message::user(text)
}

pub fn calls(reply: &ModelReply) -> Vec<(String, Value)> {
    let calls = reply.parts.iter().filter_map(Part::as_call);
    calls
        .map(|call| (call.tool_id.as_str().to_owned(), call.input.clone()))
        .collect()
}

pub fn text(reply: &ModelReply) -> String {
    reply.parts.iter().filter_map(Part::as_text).collect()
}

/// What is wrong with the first step it takes, if anything.
pub fn wrong(message: &str, expected: &[(&str, Value)]) -> Option<String> {
    let reply = answer(&[user(message)]);
    let expected: Vec<(String, Value)> = expected
        .iter()
        .map(|(id, input)| (id.to_string(), input.clone()))
        .collect();
    let found = calls(&reply);
    // Who wants nothing is asked for nothing either.
    let asks = expected.is_empty() && text(&reply).contains('`');
    (found != expected || asks).then(|| {
        let head = |text: &str| text.chars().take(200).collect::<String>();
        let (expected, found) = (
            format!("{expected:?}"),
            format!("{found:?} {}", text(&reply)),
        );
        format!(
            "{}\n  expected {}\n  found    {}",
            head(message),
            head(&expected),
            head(&found)
        )
    })
}

/// All that is wrong, at once: rules that pull in different directions are tuned together.
#[track_caller]
pub fn check(cases: Vec<(&str, Vec<(&str, Value)>)>) {
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let run = |(message, expected)| scope.spawn(move || wrong(message, expected));
        let running: Vec<_> = cases
            .iter()
            .map(|(message, expected)| run((*message, expected.as_slice())))
            .collect();
        running
            .into_iter()
            .filter_map(|case| case.join().expect("it does not panic"))
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {} are wrong:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

pub fn one(tool: &'static str, input: Value) -> Vec<(&'static str, Value)> {
    vec![(tool, input)]
}

pub fn time(place: &str) -> Vec<(&'static str, Value)> {
    one("builtin_current_time", json!({"timezone": place}))
}

pub fn now() -> Vec<(&'static str, Value)> {
    one("builtin_current_time", json!({}))
}

pub fn sum(expression: &str) -> Vec<(&'static str, Value)> {
    one("builtin_calculate", json!({"expression": expression}))
}

pub fn read(path: &str) -> Vec<(&'static str, Value)> {
    one("builtin_read_file", json!({"path": path}))
}

pub fn write(path: &str, content: &str) -> Vec<(&'static str, Value)> {
    one(
        "builtin_write_file",
        json!({"path": path, "content": content}),
    )
}

pub fn files() -> Vec<(&'static str, Value)> {
    one("builtin_list_files", json!({}))
}

pub fn search(query: &str) -> Vec<(&'static str, Value)> {
    one("builtin_search_files", json!({"query": query}))
}

pub fn fetch(url: &str) -> Vec<(&'static str, Value)> {
    one("builtin_fetch_url", json!({"url": url}))
}

pub fn sleep(seconds: i64) -> Vec<(&'static str, Value)> {
    one("builtin_sleep", json!({"seconds": seconds}))
}

pub fn weather(city: &str) -> Vec<(&'static str, Value)> {
    one("mcp_sky_weather", json!({"city": city}))
}

pub const TODO: &str = "# To-do\n\n- [ ] First task\n- [ ] Second task\n- [ ] Third task\n";
