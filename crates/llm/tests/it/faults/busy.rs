//! Servers that are busy, die or dawdle.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use serde_json::json;
use tenon_domain::{ToolUse, WireFormat};
use tenon_llm::{Error, connect, probe};

use super::{FORMATS, SOON, ask_for, hi};
use crate::fake::{Act, Fake, begun, said, stream};

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    for format in FORMATS {
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
        "127.0.0.1 is limiting requests (\"Rate limit reached\"). Wait a moment and try again."
    );
    assert_eq!(heard.retries.len(), 3);
    assert_eq!(fake.asked().len(), 4);
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for() {
    let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let loading = || Act::status(503, SOON, loading);
    let acts = std::iter::repeat_with(loading).take(9);
    let fake = Fake::start(acts.chain([Act::hello(WireFormat::Openai)])).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    heard.is_answer("Hello");
    assert_eq!(heard.retries.len(), 9);
}

#[tokio::test]
async fn nobody_waits_for_minutes() {
    let fake = Fake::start([Act::status(429, "retry-after: 120\r\n", "")]).await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    assert_eq!(
        heard.refused(),
        "127.0.0.1 is limiting requests. Wait 2 min and try again."
    );
    assert_eq!(fake.asked().len(), 1);
}

fn failing(format: WireFormat) -> String {
    let event = match format {
        WireFormat::Openai => {
            json!({"error": {"message": "Overloaded", "type": "server_error", "code": 503}})
        }
        WireFormat::Responses => {
            json!({"type": "error", "code": "server_error", "message": "Overloaded", "param": null})
        }
        WireFormat::Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        }
    };
    format!("event: error\ndata: {event}\n\n")
}

#[tokio::test]
async fn an_error_before_the_first_word_is_asked_past() {
    for format in FORMATS {
        let begun = match format {
            WireFormat::Openai => {
                "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":{\"prompt_tokens\":9}}\n\n"
            }
            WireFormat::Responses => {
                "data: {\"type\":\"response.created\",\"response\":{\"model\":\"m\",\"status\":\"in_progress\"}}\n\n"
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
    for format in FORMATS {
        let fail = Act::stream(&format!("{}{}", begun(format, "Once "), failing(format)));
        let fake = Fake::start([fail, Act::hello(format)]).await;
        let heard = ask_for(&fake, format, hi()).await;
        assert_eq!(
            heard.interrupted(),
            "127.0.0.1 reported an internal error (\"Overloaded\"). Try again, or choose another model."
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
    let deaths = FORMATS.into_iter().flat_map(|format| {
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
    for format in FORMATS {
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
    let asked = async {
        while fake.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        said = deltas.next() => panic!("{said:?}"),
        asked = tokio::time::timeout(Duration::from_secs(20), asked) => asked.unwrap(),
    }
    let nothing = tokio::time::timeout(Duration::from_millis(300), deltas.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(fake.asked().len(), 1);
    drop(deltas);
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte() {
    for format in FORMATS {
        let bytes = stream(&said(format, "Grüße 👋"));
        let fake = Fake::start([Act::Say(bytes.chunks(1).map(<[u8]>::to_vec).collect())]).await;
        ask_for(&fake, format, hi()).await.is_answer("Grüße 👋");
    }
}

#[tokio::test]
async fn keep_alives_show_that_somebody_is_there() {
    for format in FORMATS {
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
    let tried = probe::run(&fake.remote(WireFormat::Openai), |_| {}).await;
    assert!(matches!(tried, Err(Error::Busy(_))), "{tried:?}");

    // A server that refuses every way says it clearly.
    let refuse = || Act::json(400, &json!({"error": {"message": "no such thing here"}}));
    let acts = [Act::hello(WireFormat::Openai), refuse(), refuse(), refuse()];
    let fake = Fake::start(acts).await;
    let tried = probe::run(&fake.remote(WireFormat::Openai), |_| {}).await;
    assert_eq!(tried.unwrap().tools, ToolUse::None);
}
