//! Clients that mean harm: what they send takes no more memory than is theirs, and nobody
//! else waits for them.

mod client;
mod mix;

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::{Value, json};

use client::{Host, Text, body_of_zeros, frame_header, frame_of_zeros};

use crate::server::TEST_TIMEOUT;

/// More than any one attack may take.
const MAX_MIB: u64 = 300;

#[tokio::test]
async fn a_frame_that_a_key_may_not_send_is_refused_before_it_is_read() {
    let host = Host::start("");
    let before = host.memory().peak;
    let mut socket = host.socket(&host.key("eve", "read")).await.unwrap();
    let long = frame_of_zeros(Text::FRAME);
    // It may be refused before all of it is sent.
    let _ = socket.send_frame(&long).await;
    assert_eq!(socket.closed().await, Some(1009));
    let grown = host.memory().peak - before;
    assert!(grown < 50, "{grown} MiB");
}

#[tokio::test]
async fn a_frame_with_too_many_values_is_refused_and_the_socket_stays() {
    let host = Host::start("");
    let mut socket = host.socket(&host.key("eve", "full")).await.unwrap();
    socket
        .send_frame(&frame_of_zeros(Text::FRAME))
        .await
        .unwrap();
    let refused = socket.next_json().await.unwrap();
    assert_eq!(refused["error"]["code"], "too_many_values", "{refused}");
    host.check_memory();
    socket.send_frame(b"{}").await.unwrap();
    let refused = socket.next_json().await.unwrap();
    assert_eq!(refused["error"]["code"], "frame_invalid", "{refused}");
}

#[tokio::test]
async fn one_user_has_no_more_sockets_than_pages() {
    let host = Host::start("");
    let key = host.key("eve", "read");
    let mut open = Vec::new();
    let refused = loop {
        assert!(open.len() < 100, "all are accepted");
        match host.socket(&key).await {
            Ok(socket) => open.push(socket),
            Err(status) => break status,
        }
    };
    assert_eq!((refused, open.len()), (429, 64));
    let other = host.key("ada", "read");
    assert!(host.socket(&other).await.is_ok(), "others have their own");
    open.pop();
    let started = Instant::now();
    while host.socket(&key).await.is_err() {
        assert!(started.elapsed() < TEST_TIMEOUT, "the place is given back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn frames_that_are_never_finished_take_little_and_are_given_up() {
    let host = Host::start("");
    let key = host.key("eve", "full");
    let mut sockets = Vec::new();
    for _ in 0..40 {
        sockets.push(host.socket(&key).await.unwrap());
    }
    let most = vec![b' '; Text::FRAME - 1024];
    let sending = sockets.iter_mut().map(|socket| async {
        socket.send(&frame_header(Text::FRAME)).await.unwrap();
        // What is not taken is not sent.
        let sending = tokio::time::timeout(Duration::from_secs(3), socket.send(&most));
        let _ = sending.await;
    });
    futures::future::join_all(sending).await;
    host.check_memory();
    // Those that were read from went quiet, the others never had their turn.
    let closed =
        futures::future::join_all(sockets.iter_mut().map(|socket| socket.closed_within(90)));
    let closed = closed.await;
    assert!(closed.iter().all(Option::is_some), "{closed:?}");
    host.check_memory();
}

#[tokio::test]
async fn a_body_with_too_many_values_is_refused_without_being_parsed() {
    let host = Host::start("");
    let key = host.key("eve", "use");
    let body = body_of_zeros(24_000_000);
    let (status, refused) = host.post("/v1/chat/completions", &key, body).await;
    assert_eq!(status, 413, "{refused}");
    assert_eq!(refused["error"]["code"], "too_many_values", "{refused}");
    host.check_memory();
    // One that is just long is read.
    let long = "word ".repeat(100_000);
    let body = json!({"messages": [{"role": "user", "content": long}]}).to_string();
    let (status, answer) = host.post("/v1/chat/completions", &key, body).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let host = Host::start("");
    let key = host.key("eve", "use");
    let mut waiting = Vec::new();
    for declared in [1_000, 1_000_000, 24_000_000] {
        let mut connection = host.connect().await;
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {declared}\r\n\r\n{{"
        );
        connection.send(head.as_bytes()).await.unwrap();
        waiting.push(connection);
    }
    for mut connection in waiting {
        let answer = connection.read_to_end(60).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer:?}");
        assert!(answer.contains("too_slow"), "{answer:?}");
    }
}

#[tokio::test]
async fn a_request_that_never_comes_is_given_up() {
    let host = Host::start("");
    let said = ["", "GET /health HTTP/1.1\r\nHost: localh"];
    join_all(said.map(async |said| {
        let mut connection = host.connect().await;
        connection.send(said.as_bytes()).await.unwrap();
        let answer = connection.read_to_end(60).await;
        assert!(!answer.contains("200"), "{answer:?}");
    }))
    .await;
}

#[tokio::test]
async fn strangers_who_hold_connections_keep_nobody_out() {
    let host = Host::start("max_connections = 64\n");
    let key = host.key("ada", "full");
    let mut strangers = Vec::new();
    for _ in 0..200 {
        let mut connection = host.connect().await;
        let _ = connection.send(b"GET / HTTP/1.1\r\n").await;
        strangers.push(connection);
    }
    let started = Instant::now();
    assert_eq!(host.get("/health", None).await.0, 200);
    assert_eq!(host.get("/api/chats", Some(&key)).await.0, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "they waited");
    let mut closed = 0;
    for connection in &mut strangers {
        closed += usize::from(connection.is_closed().await);
    }
    assert!(closed >= 136, "{closed} of 200 made way");
}

#[tokio::test]
async fn pages_that_never_read_keep_little_in_memory() {
    let host = Host::start("");
    let key = host.key("eve", "use");
    let (_, chat) = host.post("/api/chats", &key, "{}".into()).await;
    let chat = chat["id"].as_str().unwrap();
    let turns = format!("/api/chats/{chat}/turns");
    let said = json!({"text": "x".repeat(1_000_000)}).to_string();
    for _ in 0..12 {
        let started = Instant::now();
        // The answer before has to be over.
        while host.post(&turns, &key, said.clone()).await.0 != 202 {
            assert!(started.elapsed() < TEST_TIMEOUT, "the chat stays busy");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let subscribe = json!({"type": "subscribe", "chatId": chat}).to_string();
    let mut pages = Vec::new();
    for _ in 0..60 {
        let mut page = host.socket(&key).await.unwrap();
        page.send_frame(subscribe.as_bytes()).await.unwrap();
        pages.push(page);
    }
    // Until everything that is sent to nobody has been read from the store.
    tokio::time::sleep(Duration::from_secs(4)).await;
    host.check_memory();
    // And one that reads gets it all.
    drop(pages);
    let mut page = host.socket(&key).await.unwrap();
    page.send_frame(subscribe.as_bytes()).await.unwrap();
    let mut said = 0;
    loop {
        let frame = page.next_json().await.unwrap();
        said += usize::from(frame["body"]["type"] == "turnStarted");
        if frame["type"] == "caughtUp" {
            break;
        }
    }
    assert_eq!(said, 12);
}

#[tokio::test]
async fn who_is_not_logged_in_has_nothing_long_to_say() {
    let host = Host::start("");
    let body = json!({"email": "x".repeat(1_000_000), "password": "y"}).to_string();
    let url = format!("{}/api/auth/login", host.served.address);
    let sent = host
        .served
        .client
        .post(url)
        .header("content-type", "application/json");
    match sent.body(body).send().await {
        Ok(answer) => {
            assert_eq!(answer.status(), 413);
            let refused: Value = answer.json().await.unwrap();
            assert_eq!(refused["error"]["code"], "too_long", "{refused}");
        }
        // It hung up before all was sent.
        Err(error) => assert!(error.is_request() || error.is_body(), "{error:?}"),
    }
}
