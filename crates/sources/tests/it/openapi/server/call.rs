//! Calls: connections, redirects, keys, and answers that are none.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_domain::{ErrorKind, SourceCredential};
use tenon_sources::Network;

use super::harness::{MemoryDocuments, OpenapiHarness, at, given, settings, settings_in};
use super::http_server::{Reply, Seen, TestHttpServer, document, ok, redirect, status};

/// The document at `/openapi.json`, with posts besides.
fn described(seen: &Seen, reply: impl Fn(&Seen) -> Reply) -> Reply {
    if seen.path != "/openapi.json" {
        return reply(seen);
    }
    let mut document = document(&["/yes", "/no"]);
    let body = json!({"content": {"application/json": {"schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}}});
    document["paths"]["/post"] =
        json!({"post": {"operationId": "post", "requestBody": body, "responses": {}}});
    ok(document)
}

async fn http_server(
    reply: impl Fn(&Seen) -> Reply + Clone + Send + Sync + 'static,
) -> TestHttpServer {
    TestHttpServer::start(move |seen| described(seen, reply.clone())).await
}

async fn harness(http_server: &TestHttpServer) -> OpenapiHarness {
    OpenapiHarness::ready(settings(at(&http_server.url("/openapi.json")))).await
}

#[tokio::test]
async fn openapi_calls_use_one_connection_again() {
    let http_server = http_server(|_| ok(json!({"fine": true}))).await;
    let harness = harness(&http_server).await;
    for number in 0..50 {
        let tool = ["yes", "no", "post"][number % 3];
        harness.text(tool, json!({})).await;
    }
    assert_eq!((http_server.count("/yes"), http_server.accepted()), (17, 1));
}

/// A tool that is an HTTP request.
fn capability() -> Value {
    json!({
        "id": "weather.get", "name": "Weather", "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string"}, "unit": {"type": "string"},
        }, "required": ["city"]},
        "invocation": {"type": "http", "method": "GET", "url": "/weather/{city}",
            "mapping": {"unit": "query.units"}},
    })
}

#[tokio::test]
async fn a_server_that_describes_its_tools_as_http_requests_is_called() {
    let capability = capability();
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/about" => ok(json!({"serverInfo": {"name": "Home"}, "capabilities": [capability]})),
        _ => ok(json!({"asked": seen.path})),
    })
    .await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("/about")))).await;
    assert_eq!(harness.names(), ["weather_get"]);
    let answer = harness
        .text("weather_get", json!({"city": "New York", "unit": "C"}))
        .await;
    assert_eq!(answer, r#"{"asked":"/weather/New%20York?units=C"}"#);
}

#[tokio::test]
async fn capabilities_in_the_answer_to_a_handshake_are_http_requests_too() {
    let capability = capability();
    let http_server = TestHttpServer::start(move |seen| match seen.method.as_str() {
        "POST" if seen.body.contains("initialize") => ok(json!({
            "jsonrpc": "2.0", "id": 1,
            "result": {"serverInfo": {"name": "Home"}, "capabilities": [capability]},
        })),
        _ if seen.path.starts_with("/weather") => ok(json!({"asked": seen.path})),
        _ => status(404),
    })
    .await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("/rpc")))).await;
    assert_eq!(harness.names(), ["weather_get"]);
    let answer = harness.text("weather_get", json!({"city": "Oslo"})).await;
    assert_eq!(answer, r#"{"asked":"/weather/Oslo"}"#);
}

#[tokio::test]
async fn capabilities_in_an_event_of_a_stream_are_http_requests_too() {
    let result = json!({"serverInfo": {"name": "Home"}, "capabilities": [capability()]});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let http_server = TestHttpServer::start(move |seen| match seen.method.as_str() {
        "GET" if seen.path == "/sse" => {
            let events = format!(
                ": hello\n\nevent: endpoint\ndata: /messages/\n\nevent: message\ndata: {answer}\n\n"
            );
            let headers = vec![("content-type", "text/event-stream".into())];
            Reply::Whole(200, headers, events)
        }
        _ if seen.path.starts_with("/weather") => ok(json!({"asked": seen.path})),
        _ => status(404),
    })
    .await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("/sse")))).await;
    assert_eq!(harness.names(), ["weather_get"]);
    let answer = harness.text("weather_get", json!({"city": "Oslo"})).await;
    assert_eq!(answer, r#"{"asked":"/weather/Oslo"}"#);
}

#[tokio::test]
async fn an_openapi_call_follows_redirects_where_it_is() {
    let http_server = http_server(|seen| match (seen.method.as_str(), seen.path.as_str()) {
        (_, "/post") => redirect(307, "/a"),
        (_, "/a") => redirect(308, "/b?x=1"),
        ("POST", "/b?x=1") => redirect(303, "/c"),
        ("GET", "/c") => ok(json!("arrived")),
        (_, "/yes") => redirect(302, "/yes"),
        _ => status(404),
    })
    .await;
    let harness = harness(&http_server).await;
    let text = harness.text("post", json!({"a": 7})).await;
    assert!(text.contains("arrived"), "{text}");
    let seen: Vec<(String, String, String)> = http_server.seen.lock().unwrap()[1..]
        .iter()
        .map(|seen| (seen.method.clone(), seen.path.clone(), seen.body.clone()))
        .collect();
    let body = r#"{"a":7}"#.to_owned();
    assert_eq!(
        seen,
        [
            ("POST".into(), "/post".into(), body.clone()),
            ("POST".into(), "/a".into(), body.clone()),
            ("POST".into(), "/b?x=1".into(), body),
            ("GET".into(), "/c".into(), String::new()),
        ]
    );
    let error = harness.error("yes", json!({})).await;
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::Failed,
            "The address redirects more than 5 times."
        )
    );
}

#[tokio::test]
async fn an_openapi_call_is_not_led_to_another_site() {
    let other = TestHttpServer::start(|_| ok(json!("stolen"))).await;
    let there = other.url("/steal?k=1");
    let http_server = http_server(move |_| redirect(307, &there)).await;
    let mut config = at(&http_server.url("/openapi.json"));
    config.headers.insert("X-Key".into(), "secret".into());
    let harness = OpenapiHarness::ready(settings(config)).await;
    for (tool, path) in [("yes", "/yes"), ("post", "/post")] {
        let error = harness.error(tool, json!({})).await;
        let expected = format!(
            "{} redirects to {}, which is another site, so the redirect is not followed. If \
             that is the server, enter its address instead.",
            http_server.url(path),
            other.url("/steal")
        );
        assert_eq!((error.kind, error.message), (ErrorKind::Failed, expected));
    }
    assert_eq!(other.accepted(), 0);
}

#[tokio::test]
async fn an_openapi_answer_that_is_too_large_is_not_read_on() {
    let http_server = http_server(|seen| match seen.path.as_str() {
        "/yes" => Reply::Endless,
        _ => ok("x".repeat(17 * 1024 * 1024)),
    })
    .await;
    let harness = harness(&http_server).await;
    for tool in ["yes", "no"] {
        let error = harness.error(tool, json!({})).await;
        assert_eq!(
            (error.kind, error.message.as_str()),
            (
                ErrorKind::Failed,
                "The answer is larger than 16 MB, which is the limit."
            )
        );
    }
    wait_for(&http_server, 1).await;
}

#[tokio::test]
async fn an_openapi_call_that_is_given_up_stops() {
    let http_server = http_server(|_| Reply::Silence).await;
    let mut config = at(&http_server.url("/openapi.json"));
    config.timeout_ms = Some(60_000);
    config.tool_timeouts_ms.insert("yes".into(), 300);
    let harness = OpenapiHarness::ready(settings(config)).await;
    let begun = Instant::now();
    let error = harness.error("yes", json!({})).await;
    assert_eq!(error.kind, ErrorKind::TimedOut, "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    wait_for(&http_server, 1).await;
    let call = harness.call("no", json!({}));
    let _ = tokio::time::timeout(Duration::from_millis(300), call).await;
    wait_for(&http_server, 2).await;
}

#[tokio::test]
async fn an_openapi_call_that_fails_says_why() {
    let http_server = http_server(|seen| match seen.path.as_str() {
        "/yes" => Reply::Whole(404, Vec::new(), "no such pet".into()),
        _ => Reply::Cut,
    })
    .await;
    let harness = harness(&http_server).await;
    let error = harness.error("yes", json!({})).await;
    assert_eq!(error.kind, ErrorKind::Failed);
    assert!(error.message.contains("404") && error.message.contains("no such pet"));
    let unsure = "It is not known whether the call took effect: check before repeating it.";
    let (get, post) = (
        harness.error("no", json!({})).await,
        harness.error("post", json!({})).await,
    );
    assert!(!get.message.contains(unsure), "{get:?}");
    assert!(post.message.ends_with(unsure), "{post:?}");
    let (address, port) = (http_server.address.ip(), http_server.address.port());
    http_server.close().await;
    let error = harness.error("post", json!({})).await;
    assert_eq!(
        (error.kind, error.message),
        (
            ErrorKind::Unavailable,
            format!("{address} refuses connections at port {port}.")
        )
    );
    let log = harness.log();
    assert!(log.contains("A call of `post` failed: "), "{log}");
}

#[tokio::test]
async fn openapi_calls_go_where_they_are_told_with_what_is_stored() {
    let http_server = TestHttpServer::start(|_| ok(json!("here"))).await;
    let mut document = document(&["/yes"]);
    document["servers"] = json!([{"url": "https://never.example/v1"}]);
    document["security"] = json!([{"token": []}]);
    document["components"] =
        json!({"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}});
    let documents = MemoryDocuments::with(&document);
    let mut config = given();
    config.base_url = Some(http_server.url("/moved/"));
    config.headers.insert("X-Team".into(), "blue".into());
    let key = SourceCredential::Key {
        value: "abc".into(),
    };
    config.credentials.insert("token".into(), key);
    let settings = settings_in(config, Network::Anywhere, documents);
    let harness = OpenapiHarness::ready(settings).await;
    assert!(
        harness
            .text("yes", json!({"q": "a b"}))
            .await
            .contains("here")
    );
    let seen = http_server.seen.lock().unwrap();
    let seen = &seen[0];
    let shown = (
        seen.path.as_str(),
        seen.header("x-team"),
        seen.header("authorization"),
    );
    assert_eq!(shown, ("/moved/yes?q=a%20b", "blue", "Bearer abc"));
}

#[tokio::test]
async fn an_openapi_document_leads_nobody_into_a_private_network() {
    let http_server = TestHttpServer::start(|_| ok(json!("secret"))).await;
    let reach = async |server: &str, network: Network| {
        let mut document = document(&["/yes"]);
        document["servers"] = json!([{"url": server}]);
        let documents = MemoryDocuments::with(&document);
        let harness = OpenapiHarness::ready(settings_in(given(), network, documents)).await;
        harness.call("yes", json!({})).await
    };
    let port = http_server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "10.0.0.1",
        "169.254.169.254",
    ] {
        let error = reach(&format!("http://{host}:{port}"), Network::PublicOnly).await;
        assert_eq!(error.unwrap_err().kind, ErrorKind::Denied, "{host}");
    }
    assert_eq!(http_server.accepted(), 0);
    assert!(reach(&http_server.url(""), Network::Anywhere).await.is_ok());
    // It does not say where its server is at all.
    let error = reach("/v1", Network::Anywhere).await.unwrap_err();
    assert!(error.message.contains("does not say where its server is"));
}

/// Which credentials a server was sent: "team token".
fn shown(http_server: &TestHttpServer) -> Vec<String> {
    let seen = http_server.seen.lock().unwrap();
    let calls = seen.iter().filter(|seen| seen.path == "/yes");
    calls
        .map(|seen| format!("{} {}", seen.header("x-team"), seen.header("authorization")))
        .collect()
}

/// A document that asks for a token, and names this server if any.
fn asking(server: Option<&str>) -> serde_json::Value {
    let mut document = document(&["/yes"]);
    if let Some(server) = server {
        document["servers"] = json!([{"url": server}]);
    }
    document["security"] = json!([{"token": []}]);
    document["components"] =
        json!({"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}});
    document
}

#[tokio::test]
async fn openapi_keys_go_to_the_sites_they_were_entered_for() {
    let entered = |url: &str| {
        let mut config = at(url);
        config.headers.insert("X-Team".into(), "blue".into());
        let key = SourceCredential::Key {
            value: "abc".into(),
        };
        config.credentials.insert("token".into(), key);
        config
    };
    // Another site, by another name: whatever asks it has to do without keys.
    let other = TestHttpServer::start(|seen| match seen.path.as_str() {
        "/spec" => ok(asking(None)),
        _ => status(401),
    })
    .await;
    let there = format!("http://localhost:{}", other.address.port());

    // A redirect leads to the other site, whose document says nothing of where its server is.
    let spec = format!("{there}/spec");
    let http_server = TestHttpServer::start(move |_| redirect(302, &spec)).await;
    let harness = OpenapiHarness::ready(settings(entered(&http_server.url("/openapi.json")))).await;
    let error = harness.error("yes", json!({})).await;
    let said = format!(
        "What is stored for this server was not sent to {there}: it was entered for {}.",
        http_server.url("")
    );
    assert!(error.message.contains(&said), "{}", error.message);
    assert_eq!(shown(&other), [" "]);

    // Whoever enters the other as the base URL means it.
    let mut config = entered(&http_server.url("/openapi.json"));
    config.base_url = Some(there.clone());
    let harness = OpenapiHarness::ready(settings(config)).await;
    let error = harness.error("yes", json!({})).await;
    assert!(!error.message.contains("was not sent"), "{}", error.message);
    assert_eq!(shown(&other), [" ", "blue Bearer abc"]);

    // A document names the other site, where everybody on the way could read the key.
    let http_server = TestHttpServer::start(move |_| ok(asking(Some(&there)))).await;
    let harness = OpenapiHarness::ready(settings(entered(&http_server.url("/openapi.json")))).await;
    harness.error("yes", json!({})).await;
    assert_eq!(shown(&other)[2..], [" "]);

    // At the same host it is shown what was stored for its scheme, and no more.
    let near = other.url("");
    let http_server = TestHttpServer::start(move |_| ok(asking(Some(&near)))).await;
    let harness = OpenapiHarness::ready(settings(entered(&http_server.url("/openapi.json")))).await;
    harness.error("yes", json!({})).await;
    assert_eq!(shown(&other)[3..], [" Bearer abc"]);
}

/// A document whose calls need a token that is given out here.
fn asking_for_token(token_url: &str) -> serde_json::Value {
    let mut document = asking(None);
    let flow = json!({"tokenUrl": token_url, "scopes": {}});
    document["components"]["securitySchemes"]["token"] =
        json!({"type": "oauth2", "flows": {"clientCredentials": flow}});
    document
}

#[tokio::test]
async fn an_openapi_document_of_another_site_gets_no_secret_though_there_is_a_base_url() {
    let third =
        TestHttpServer::start(|_| ok(json!({"access_token": "t", "token_type": "bearer"}))).await;
    // At the host that was entered, whose own document may say so without TLS.
    let token_url = third.url("/token");
    let spec = asking_for_token(&token_url).to_string();
    let other = TestHttpServer::start(move |_| ok(&spec)).await;
    let there = format!("http://localhost:{}/spec", other.address.port());
    let own = asking_for_token(&token_url).to_string();
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => redirect(302, &there),
        "/own.json" => ok(&own),
        _ => ok(json!("called")),
    })
    .await;
    let harness = async |path: &str| {
        let mut config = at(&http_server.url(path));
        config.base_url = Some(http_server.url(""));
        let client = SourceCredential::Client {
            id: "me".into(),
            secret: "hush".into(),
            token_url: None,
            scopes: None,
        };
        config.credentials.insert("token".into(), client);
        OpenapiHarness::ready(settings(config)).await
    };
    let error = harness("/openapi.json").await.error("yes", json!({})).await;
    assert!(
        error.message.contains("is not sent to that host"),
        "{}",
        error.message
    );
    assert_eq!((third.accepted(), http_server.count("/yes")), (0, 0));

    // What the entered site says itself is believed.
    let text = harness("/own.json").await.text("yes", json!({})).await;
    assert!(text.contains("called"), "{text}");
    assert_eq!((third.count("/token"), http_server.count("/yes")), (1, 1));
}

async fn wait_for(http_server: &TestHttpServer, dropped: usize) {
    for _ in 0..100 {
        if http_server.dropped.load(Ordering::SeqCst) >= dropped {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the transfer goes on");
}
