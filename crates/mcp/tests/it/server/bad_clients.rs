//! Clients that send what they should not, and never clean up.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use futures::future::join_all;
use serde_json::{Value, json};
use tenon_mcp::server::{MAX_REQUEST_BYTES, ServerResponse};

use super::{EventReader, TestClient, call, json_of, request};

#[tokio::test]
async fn ids_come_back_as_they_were_sent_or_are_refused() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    for id in [
        "0",
        "-5",
        "1.50",
        "123456789012345678901234567890",
        r#""a\"b""#,
        r#""""#,
    ] {
        let response = client.send(Method::POST, ping(id)).await;
        let body = response.into_body().into_bytes().unwrap();
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(body, expected);
    }
    let long = format!("\"{}\"", "x".repeat(300));
    for id in ["null", "true", "[1]", "{}", &long] {
        let (status, response) = json_of(client.send(Method::POST, ping(id)).await).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{id}");
        assert_eq!(
            (&response["id"], &response["error"]["code"]),
            (&Value::Null, &json!(-32600))
        );
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    let client = TestClient::new().initialize("2025-11-25").await;
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("nonsense", -32700),
        ("\u{feff}{}", -32700),
        ("5", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            -32602,
        ),
    ] {
        let (status, response) = json_of(client.send(Method::POST, body).await).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert_eq!(response["error"]["code"], code, "{body}");
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"a":{deep}}}}}}}"#
    );
    let (_, response) = json_of(client.send(Method::POST, deep).await).await;
    assert!(response["error"]["code"].is_i64(), "{response}");
}

#[tokio::test]
async fn requests_of_the_wrong_kind_are_refused() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let ping = request(json!(1), "ping", json!({}));
    let long = vec![b' '; MAX_REQUEST_BYTES + 1];
    let too_long = client.send(Method::POST, long).await;
    assert_eq!(too_long.status(), StatusCode::PAYLOAD_TOO_LARGE);
    for (client, expected) in [
        (
            client.clone().with("content-type", "text/plain"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            client.clone().without("content-type"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            client.clone().with("accept", "text/html"),
            StatusCode::NOT_ACCEPTABLE,
        ),
        (client.clone().without("accept"), StatusCode::OK),
        (client.clone().with("accept", "*/*"), StatusCode::OK),
        (
            client.clone().with("mcp-protocol-version", "2025-06-18"),
            StatusCode::OK,
        ),
        (
            client.clone().with("mcp-protocol-version", "1999-01-01"),
            StatusCode::BAD_REQUEST,
        ),
    ] {
        assert_eq!(
            client.post(&ping).await.status(),
            expected,
            "{:?}",
            client.headers
        );
    }
    let put = client.send(Method::PUT, "").await;
    assert_eq!(put.status(), StatusCode::METHOD_NOT_ALLOWED);
    let stranger = TestClient::new().send(Method::GET, "").await;
    assert_eq!(stranger.status(), StatusCode::METHOD_NOT_ALLOWED);
    let get = client
        .with("accept", "application/json")
        .send(Method::GET, "")
        .await;
    assert_eq!(get.status(), StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn a_client_may_cancel_everything() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let calls: Vec<Value> = (10..110)
        .map(|id| call(id, "wait_forever", json!({})))
        .collect();
    let waiting = join_all(calls.iter().map(|call| client.post(call)));
    let cancelling = async {
        while client.count_waiting().await != "100" {
            tokio::task::yield_now().await;
        }
        for call in &calls {
            let params = json!({ "requestId": call["id"], "reason": "enough" });
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            client.post(&cancelled).await;
        }
    };
    let (responses, ()) = tokio::join!(waiting, cancelling);
    for response in responses {
        assert_eq!(response.status(), StatusCode::ACCEPTED);
    }
    assert_eq!(client.count_waiting().await, "0");
    // What is cancelled may never have been asked.
    let params = json!({ "requestId": "nothing" });
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(client.post(&cancelled).await.status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_nothing_behind() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let wait = call(2, "wait_forever", json!({}));
    let gone = tokio::time::timeout(Duration::from_millis(50), client.post(&wait)).await;
    assert!(gone.is_err());
    assert_eq!(client.count_waiting().await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_nobody_comes_back_for_is_given_up() {
    let client = TestClient::new().initialize("2025-11-25").await;
    // After a while the response becomes a stream, which is kept alive.
    let response = client.post(&call(2, "wait_forever", json!({}))).await;
    let mut events = EventReader::new(response);
    events.next().await.unwrap();
    assert_eq!(client.count_waiting().await, "1");
    drop(events);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(client.count_waiting().await, "1", "it may still come back");
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert_eq!(client.count_waiting().await, "0");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_ends_what_runs_in_it() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let response = client.post(&call(2, "wait_forever", json!({}))).await;
    let mut events = EventReader::new(response);
    events.next().await.unwrap();
    client.send(Method::DELETE, "").await;
    assert_eq!(events.next().await, None);
    let again = client.initialize("2025-11-25").await;
    assert_eq!(again.count_waiting().await, "0");
}

#[tokio::test]
async fn too_many_requests_at_once_are_refused() {
    let client = TestClient::new().initialize("2025-11-25").await;
    let calls: Vec<Value> = (0..1000)
        .map(|id| call(id, "wait_forever", json!({})))
        .collect();
    let waiting = join_all(calls.iter().map(|call| client.post(call)));
    let asking = async {
        loop {
            let response = client.post(&call(2000, "count_waiting", json!({}))).await;
            if response.status() == StatusCode::TOO_MANY_REQUESTS {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = waiting => panic!("they wait for ever"),
        () = asking => {}
    }
    assert_eq!(client.count_waiting().await, "0");
}

#[tokio::test]
async fn ten_thousand_sessions_are_kept_and_the_oldest_goes_for_the_next() {
    let client = TestClient::new();
    let oldest = client.clone().initialize("2025-11-25").await;
    let mut newest = oldest.clone();
    for _ in 0..10_000 {
        newest = client.clone().initialize("2025-11-25").await;
    }
    let ping = request(json!(1), "ping", json!({}));
    assert_eq!(newest.post(&ping).await.status(), StatusCode::OK);
    let forgotten = oldest.post(&ping).await;
    assert_eq!(forgotten.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn there_are_only_so_many_streams_and_one_that_ends_makes_room() {
    let client = TestClient::new();
    let open = || {
        let server = &client.server;
        server.open_sse(&client.headers, "/messages", client.caller.clone())
    };
    let mut streams: Vec<ServerResponse> = (0..20_000).map(|_| open()).collect();
    let refused = open();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let session = client.clone().initialize("2025-11-25").await;
    let listen = session.send(Method::GET, "").await;
    assert_eq!(listen.status(), StatusCode::SERVICE_UNAVAILABLE);
    let ping = request(json!(1), "ping", json!({}));
    let still = session.post(&ping).await;
    assert_eq!(still.status(), StatusCode::OK, "calls need no stream");
    streams.pop();
    assert_eq!(open().status(), StatusCode::OK);
}
