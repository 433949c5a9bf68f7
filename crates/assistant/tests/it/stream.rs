//! How an answer comes, and how much of a message can.

use super::ask::{answer, check, user, write};
use super::tools::tools;
use futures::StreamExt;
use tenon_assistant::Assistant;
use tenon_domain::StopReason;
use tenon_llm::{ModelDelta, ModelRequest, Provider};

#[test]
fn text_streams_and_calls_come_whole() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let deltas = |message: &str| {
        let request = ModelRequest {
            system: String::new(),
            language: None,
            messages: vec![user(message)],
            tools: tools(),
            ..ModelRequest::default()
        };
        runtime.block_on(async {
            Assistant
                .stream(request)
                .await
                .expect("it always answers")
                .filter_map(async |delta| delta.ok())
                .collect::<Vec<_>>()
                .await
        })
    };
    let spoken = deltas("hello");
    assert!(
        spoken
            .iter()
            .filter(|delta| matches!(delta, ModelDelta::Text(_)))
            .count()
            > 5
    );
    assert_eq!(spoken.last(), Some(&ModelDelta::Stop(StopReason::End)));
    let called = deltas("6*7");
    assert_eq!(called.len(), 2);
    assert_eq!(
        called.last(),
        Some(&ModelDelta::Stop(StopReason::ToolCalls))
    );
    assert_eq!(Assistant.name(), "Built-in assistant");
}

#[test]
fn a_long_text_is_written_whole() {
    let long = &format!("{}to the last", "every word counts, ".repeat(20_000));
    check(vec![
        (&format!("write to a.txt: {long}"), write("a.txt", long)),
        (&format!("create a.txt with {long}"), write("a.txt", long)),
        (&format!("write \"{long}\" to a.txt"), write("a.txt", long)),
    ]);
}

/// How much of it is read, and so how long that takes, is bounded by the lexer. With
/// `TORTURE_TEXTS` set it is a megabyte.
#[test]
fn a_message_as_long_as_a_book_is_answered() {
    let is_torture = std::env::var_os("TORTURE_TEXTS").is_some();
    let bytes = if is_torture { 1_000_000 } else { 100_000 };
    for piece in [
        "word ",
        "东京",
        "'",
        "\"",
        "(",
        "6*",
        "a/b.txt ",
        "x",
        "{",
        "“",
        "and then read ",
        "`",
        "3",
    ] {
        let message = piece.repeat(bytes / piece.len());
        for message in [&message, &format!("write to a.txt: {message}")] {
            assert!(!answer(&[user(message)]).parts.is_empty(), "{piece}");
        }
    }
}
