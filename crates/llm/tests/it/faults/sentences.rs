//! What cannot be helped: one sentence that says what to do.

use serde_json::json;
use tenon_domain::WireFormat;
use tenon_llm::{Remote, connect};

use super::{FORMATS, ask_for, hi, once};
use crate::fake::{Act, Fake, ask, stream};

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
            "127.0.0.1 rejected the request (\"Incorrect API key provided: …\").",
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
        "127.0.0.1 requires a key (\"No key\"). Enter one for Fake.",
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
        "No request can be sent to `not an address`: the address or the key contains characters that are not allowed."
    );
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
    for format in FORMATS {
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
            &format!("{base} redirects to another address. Enter that one instead."),
        );
        assert_eq!(elsewhere.asked().len(), 0);
    }
}

#[tokio::test]
async fn what_has_no_end_is_not_read_to_its_end() {
    let refusal = b"HTTP/1.1 400 X\r\n\r\n".to_vec();
    let fake = Fake::start([Act::Flood(refusal, b"no ".repeat(1_000))]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    let why = heard.refused();
    assert!(
        why.starts_with("127.0.0.1 rejected the request (\"no no no"),
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
