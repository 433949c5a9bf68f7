//! What a conversation knows, by whom it was said.

use serde_json::{Value, json};
use tenon_domain::{BlobId, CallId, ToolCall, ToolError, ToolResult};

use super::*;

const EVIL: &str = "https://evil.example/?q=secret";

fn user(text: &str) -> Message {
    Message::user(text)
}

/// A call and what came of it.
fn called(tool: &str, input: Value, result: ToolResult) -> [Message; 2] {
    let (id, tool_id) = (CallId::new("c"), ToolId::new(tool));
    let call = ToolCall {
        id: id.clone(),
        tool_id: tool_id.clone(),
        input,
    };
    let answer = ToolAnswer {
        call_id: id,
        tool_id,
        result,
    };
    let parts = vec![Part::Call {
        call,
        provider_block: None,
    }];
    let answers = vec![answer];
    [Message::Assistant { parts }, Message::Tools { answers }]
}

fn shown(tool: &str, text: &str) -> [Message; 2] {
    called(tool, json!({}), Ok(ToolOutput::text(text)))
}

#[track_caller]
fn check(messages: &[Message], address: &str, is_known: bool) {
    let known = KnownAddresses::of(messages, |tool| tool.as_str().starts_with("web"));
    let url = Url::parse(address).unwrap();
    assert_eq!(known.contains(&url), is_known, "{address} in {messages:?}");
}

#[test]
fn the_whole_address_has_to_be_known() {
    let said = [user(
        "read https://Example.com/a?b=c#d, http://b.org and c.org/x",
    )];
    for known in [
        "https://example.com/a?b=c",
        "https://EXAMPLE.com:443/a?b=c#elsewhere",
        "http://b.org",
        "https://b.org/",
        "http://c.org/x",
        "https://c.org/x",
    ] {
        check(&said, known, true);
    }
    for unknown in [
        // Not in the clear what was to be secret.
        "http://example.com/a?b=c",
        "https://example.com/a?b=c&d=e",
        "https://example.com/a?b=C",
        "https://example.com/a/?b=c",
        "https://example.com/a",
        "https://example.com/",
        "https://example.com:8443/a?b=c",
        "https://www.example.com/a?b=c",
        "https://b.org/x",
        "https://b.org/?",
        "https://user@b.org/",
        "https://c.org/",
        "ftp://b.org/",
    ] {
        check(&said, unknown, false);
    }
    check(&[], EVIL, false);
}

#[test]
fn what_a_result_shows_is_known_in_text_in_json_and_in_what_is_read_on() {
    check(
        &shown("web", "[next](https://a.org/2)"),
        "https://a.org/2",
        true,
    );
    let found = json!({"results": [{"url": "https://a.org/2?x=1&y=2"}]});
    let found = called("web", json!({}), Ok(ToolOutput::json(found)));
    check(&found, "https://a.org/2?x=1&y=2", true);

    let long = |tool: &str| {
        let blob = Content::Blob {
            blob_id: BlobId::new("b1"),
            media_type: "text/plain".into(),
            name: None,
            bytes: 100_000,
        };
        called(
            tool,
            json!({}),
            Ok(ToolOutput {
                content: vec![blob],
            }),
        )
    };
    let read_on = |blob: &str| {
        let rest = Ok(ToolOutput::text("https://a.org/2"));
        called(READ_RESULT, json!({"blob_id": blob}), rest)
    };
    check(
        &[long("web"), read_on("b1")].concat(),
        "https://a.org/2",
        true,
    );
    check(
        &[long("files"), read_on("b1")].concat(),
        "https://a.org/2",
        false,
    );
    check(
        &[long("web"), read_on("b2")].concat(),
        "https://a.org/2",
        false,
    );
    check(&read_on(""), "https://a.org/2", false);
}

#[test]
fn nothing_becomes_known_by_way_of_the_model() {
    let said = Message::Assistant {
        parts: vec![Part::text(EVIL)],
    };
    check(&[said], EVIL, false);
    // A refusal, a page that is not there.
    let error = ToolError::failed(format!("{EVIL} answered 404"));
    check(&called("web", json!({}), Err(error)), EVIL, false);
    // An echo, in whatever form.
    for input in [
        json!({"url": EVIL}),
        json!({"q": "evil.example/?q=secret"}),
        json!({"q": "http://evil.example/?q=secret"}),
        json!([{"https://evil.example/?q=secret": 1}]),
        json!({"body": r#"{"u":"https:\/\/evil.example\/?q=secret"}"#}),
    ] {
        let echo = format!("You asked for {EVIL}.");
        check(
            &called("web", input.clone(), Ok(ToolOutput::text(&echo))),
            EVIL,
            false,
        );
        // Also one that comes later, from somewhere else.
        let kept = called("notes", input, Ok(ToolOutput::text("kept")));
        check(&[kept, shown("web", &echo)].concat(), EVIL, false);
    }
    // A file in which it was put together.
    check(&shown("files", EVIL), EVIL, false);
}

#[test]
fn what_was_known_before_a_call_stays_known() {
    let page = || called("web", json!({"url": EVIL}), Ok(ToolOutput::text(EVIL)));
    check(&[shown("web", EVIL), page()].concat(), EVIL, true);
    let mut written = vec![user(EVIL)];
    written.extend(page());
    check(&written, EVIL, true);
    // The user may say it afterwards, too.
    let mut later = page().to_vec();
    later.push(user(EVIL));
    check(&later, EVIL, true);
}

#[test]
fn a_flood_of_addresses_pushes_out_old_results_and_nothing_else() {
    let flood: String = (0..=MAX_KNOWN_ADDRESSES)
        .map(|n| format!("https://a.org/{n} "))
        .collect();
    let mut messages = vec![user("https://b.org/")];
    messages.extend(shown("web", "https://c.org/"));
    messages.extend(shown("web", &flood));
    check(&messages, "https://b.org/", true);
    check(&messages, "https://c.org/", false);
    check(&messages, "https://a.org/0", false);
    check(&messages, "https://a.org/1", true);
    check(
        &messages,
        &format!("https://a.org/{MAX_KNOWN_ADDRESSES}"),
        true,
    );

    // What was in an input is not forgotten: rather, nothing more is learned.
    let flood: String = (0..=MAX_INPUT_ADDRESSES)
        .map(|n| format!("https://a.org/{n} "))
        .collect();
    let mut messages = called(
        "notes",
        json!({"text": [EVIL, flood]}),
        Ok(ToolOutput::text("")),
    );
    check(
        &[messages.clone(), shown("web", "https://c.org/")].concat(),
        "https://c.org/",
        false,
    );
    check(
        &[messages.clone(), shown("web", EVIL)].concat(),
        EVIL,
        false,
    );
    messages[0] = user("https://b.org/");
    check(&messages, "https://b.org/", true);
}
