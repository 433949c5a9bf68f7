//! Documents that are hard to find, or are none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tenon_sources::openapi::preview;
use tenon_sources::{Network, SupervisedServer};

use super::harness::{OpenapiHarness, QUICK, at, caller, parses, settings, settings_in};
use super::http_server::{Reply, Seen, TestHttpServer, document, ok, redirect, status};

/// Why a document cannot be read from a server, without the server's address.
async fn failure(path: &str, reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> String {
    let http_server = TestHttpServer::start(reply).await;
    let settings = settings(at(&http_server.url(path)));
    let why = OpenapiHarness::starting(settings, QUICK)
        .await
        .failure()
        .await;
    why.replace(&http_server.url(""), "")
        .replace("127.0.0.1", "HOST")
}

fn html() -> Reply {
    // Says that it is JSON.
    ok("<!doctype html><title>Docs</title>")
}

#[tokio::test]
async fn an_openapi_document_is_found_beside_the_address() {
    const YAML: &str = "openapi: 3.1.0\ninfo: {title: Y, version: '1'}\npaths:\n  /yes:\n    get: {operationId: yes, responses: {}}\n";
    for (given, place, body) in [
        (
            "/openapi.json",
            "/openapi.json",
            document(&["/yes"]).to_string(),
        ),
        ("/", "/openapi.json", document(&["/yes"]).to_string()),
        ("", "/openapi.yaml", YAML.to_owned()),
        ("/docs", "/openapi.json", document(&["/yes"]).to_string()),
        (
            "/redoc/",
            "/swagger.json",
            format!("\u{feff}\n {}", document(&["/yes"])),
        ),
        ("/x", "/x/v3/api-docs", document(&["/yes"]).to_string()),
        (
            "/x/",
            "/x/api/openapi.json",
            document(&["/yes"]).to_string(),
        ),
        ("/any/name", "/any/name", YAML.to_owned()),
        (
            "/deep/api",
            "/openapi.json",
            document(&["/yes"]).to_string(),
        ),
    ] {
        let http_server = TestHttpServer::start(move |seen| match &seen.path {
            path if path == place => Reply::Whole(200, Vec::new(), body.clone()),
            path if path.ends_with(".json") => ok(json!({"detail": "Not Found"})),
            path if path == given => html(),
            _ => status(404),
        })
        .await;
        let harness = OpenapiHarness::ready(settings(at(&http_server.url(given)))).await;
        assert_eq!(harness.names(), ["yes"], "{given} {place}");
    }
}

#[tokio::test]
async fn an_openapi_document_may_be_packed() {
    for (how, packed) in [
        (
            "gzip",
            "H4sIAAAAAAACAx2MQQqAMBAD/5JzUYu3/sCbXyi6alG6pV0EEf/utrkEMkNecKLoU4DD2NlugEGIG8O9kCAX6T775aRVwU25BI46WXwGyctRqtg/1HonqaWP2YuK06pqZQaZSuJYmvfV/JoZe0t5AAAA",
        ),
        (
            "br",
            "G3MAIIzTFfOihHWPoG2mfnRFLMlmqIIitoEr41nqsPTp5EAPat+OhyDN8uSB2/DwF58CWw6DGM9BTZ86eEMouehSGigOzbuE/C33Xq94Cm3KusK+l/gD",
        ),
        (
            "deflate",
            "eJwdikEKwjAQAP8y51At3vIDb34h4GoXZHdJFkFK/y7pXOYws+Mh1kKp3JZ1uVJQezl1JzU/QuVB4St9qBuVlaMQLbcxn8tPTr8lpzykt1S3+5PKbIUuI9zG+R2TPynPJcE=",
        ),
    ] {
        let http_server = TestHttpServer::start(move |_| Reply::Packed(how, packed)).await;
        let harness = OpenapiHarness::ready(settings(at(&http_server.url("/any")))).await;
        assert_eq!(harness.names(), ["yes"]);
        assert!(
            http_server.seen.lock().unwrap()[0]
                .header("accept-encoding")
                .contains(how)
        );
    }
}

#[tokio::test]
async fn what_is_packed_is_measured_unpacked() {
    // Forty megabytes of spaces.
    const BOMB: &str = "y///P/glQOKxQCD3/o///3/wSwDEYRGA7v0f////4JcAiMMCAN37P/7//8EvARCHBQC693/5//+HXwIgDgsAdO//AA==";
    assert_eq!(
        failure("/any", |_| Reply::Packed("br", BOMB)).await,
        "The answer is larger than 32 MB, which is the limit."
    );
}

#[tokio::test]
async fn an_openapi_document_that_is_not_there_is_told_with_what_was_tried() {
    assert_eq!(
        failure("/", |_| status(404)).await,
        "No OpenAPI document was found. /, /openapi.json, /openapi.yaml and 17 more usual places \
         answered 404 Not Found."
    );
    let odd = failure("/api/openapi.json", |seen| match seen.path.as_str() {
        "/api/openapi.json" => html(),
        "/api/openapi.yaml" => ok(json!({"hello": 1})),
        "/api/swagger.json" => status(401),
        _ => ok("a: [b"),
    });
    let odd = odd.await;
    for part in [
        "/api/openapi.json answered with a web page.",
        "/api/openapi.yaml answered with JSON that is not an OpenAPI document.",
        "/api/swagger.json requires a key (it answered 401 Unauthorized).",
        " more usual places answered with text that is neither JSON nor YAML.",
    ] {
        assert!(odd.contains(part), "{odd}");
    }
    // Where it is ill or broken, no other document is the one that is wanted.
    assert_eq!(
        failure("/openapi.json", |_| status(503)).await,
        "/openapi.json answered 503 Service Unavailable."
    );
    let broken = failure("/openapi.json", |seen| match seen.path.as_str() {
        "/openapi.json" => ok("{\"openapi\": \"3.1.0\",\n \"paths\": {"),
        _ => ok(document(&["/other"])),
    });
    let broken = broken.await;
    assert!(
        broken.starts_with("/openapi.json cannot be read. "),
        "{broken}"
    );
    assert!(broken.contains("line 2"), "{broken}");
    let cut = failure("/", |_| Reply::Cut).await;
    assert!(cut.contains("HOST"), "{cut}");
    assert_eq!(
        failure("/a", |_| redirect(302, "/a")).await,
        "The address redirects more than 5 times."
    );
}

#[tokio::test]
async fn an_openapi_document_without_end_or_beginning_is_given_up() {
    let http_server = TestHttpServer::start(|seen| match seen.path.as_str() {
        "/endless" => Reply::Endless,
        _ => Reply::Silence,
    })
    .await;
    let begun = Instant::now();
    let mut harness =
        OpenapiHarness::starting(settings(at(&http_server.url("/endless"))), QUICK).await;
    assert_eq!(
        harness.failure().await,
        "The answer is larger than 32 MB, which is the limit."
    );
    harness.server.stop().await;
    let pace = tenon_sources::openapi::RefreshSchedule {
        fetch_timeout: Duration::from_millis(500),
        ..QUICK
    };
    let mut harness =
        OpenapiHarness::starting(settings(at(&http_server.url("/silent"))), pace).await;
    assert_eq!(
        harness.failure().await,
        "127.0.0.1 did not send its document in time."
    );
    assert!(begun.elapsed() < Duration::from_secs(20));
    harness.server.stop().await;
    // Nobody reads on: each was let go.
    let opened = http_server.seen.lock().unwrap().len();
    for _ in 0..100 {
        if http_server.dropped.load(Ordering::SeqCst) == opened {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{opened} were opened, and not all of them let go");
}

#[tokio::test]
async fn an_openapi_document_may_be_elsewhere_but_keys_do_not_go_there() {
    let other = TestHttpServer::start(|seen| match seen.path.as_str() {
        "/spec" => ok(document(&["/yes"])),
        _ => ok(json!({"at": "other"})),
    })
    .await;
    let there = other.url("/spec");
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => redirect(301, "/moved"),
        _ => redirect(302, &there),
    })
    .await;
    let mut config = at(&http_server.url("/openapi.json"));
    config.headers.insert("X-Key".into(), "secret".into());
    config.headers.insert("Cookie".into(), "secret=1".into());
    let harness = OpenapiHarness::ready(settings(config)).await;
    assert_eq!(harness.names(), ["yes"]);
    let keys = |http_server: &TestHttpServer| -> Vec<String> {
        let seen = http_server.seen.lock().unwrap();
        seen.iter()
            .map(|seen| format!("{}{}", seen.header("x-key"), seen.header("cookie")))
            .collect()
    };
    assert_eq!(keys(&http_server), ["secretsecret=1", "secretsecret=1"]);
    assert_eq!(keys(&other), [""]);
}

#[tokio::test]
async fn an_openapi_server_that_fails_behind_an_mcpo_does_not_spoil_the_others() {
    let hangs = Arc::new(AtomicBool::new(true));
    let hanging = hangs.clone();
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => ok(json!({
            "openapi": "3.1.0",
            "info": {"title": "All", "version": "1", "description": "- [a](/a/docs)\n- [gone](/gone/docs)\n- [slow](/slow/docs)\n- [broken](/broken/docs)\n- [b](/b/docs)"},
            "paths": {}
        })),
        "/a/openapi.json" | "/b/openapi.json" => {
            let mut document = document(&["/yes"]);
            document["servers"] = json!([{"url": &seen.path[..2]}]);
            ok(document)
        }
        "/slow/openapi.json" if hanging.load(Ordering::SeqCst) => Reply::Silence,
        "/broken/openapi.json" => ok("{"),
        "/a/yes?q=1" => ok(json!("from a")),
        "/b/yes?q=1" => ok(json!("from b")),
        _ => status(404),
    })
    .await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("")))).await;
    assert_eq!(harness.names(), ["a/yes", "b/yes"]);
    assert!(
        harness
            .text("a/yes", json!({"q": "1"}))
            .await
            .contains("from a")
    );
    assert!(
        harness
            .text("b/yes", json!({"q": "1"}))
            .await
            .contains("from b")
    );
    let problems = harness.server.status().problems;
    let begins = ["gone: ", "slow: ", "broken: "];
    assert_eq!(problems.len(), begins.len(), "{problems:#?}");
    for (problem, begin) in problems.iter().zip(begins) {
        assert!(problem.message.starts_with(begin), "{problem}");
    }

    hangs.store(false, Ordering::SeqCst);
    let caller = caller(Network::Anywhere);
    let seen = preview(at(&http_server.url("/")), &caller, &parses())
        .await
        .unwrap();
    assert_eq!((seen.title.as_str(), seen.tools.len()), ("All", 2));
    assert_eq!((seen.servers.len(), seen.notes.len()), (2, 3));

    // What stands before it knows the same servers.
    let proxy = TestHttpServer::start(|seen| ok(json!(seen.path))).await;
    let mut config = at(&http_server.url(""));
    config.base_url = Some(proxy.url("/proxy/"));
    let harness = OpenapiHarness::ready(settings(config)).await;
    for (tool, path) in [("a/yes", "/proxy/a/yes"), ("b/yes", "/proxy/b/yes")] {
        assert!(harness.text(tool, json!({})).await.contains(path));
    }
}

#[tokio::test]
async fn an_openapi_server_may_list_what_is_behind_it_for_machines() {
    let http_server = TestHttpServer::start(|seen| match seen.path.as_str() {
        "/openapi.json" => {
            ok(json!({"openapi": "3.1.0", "info": {"title": "All", "version": "1"}}))
        }
        "/mcpo-tools-list" => {
            ok(json!({"tools": [{"name": "a", "path": "/sub/a"}, {"name": "b"}]}))
        }
        "/sub/a/openapi.json" | "/b/openapi.json" => ok(document(&["/yes"])),
        _ => status(404),
    })
    .await;
    let harness = OpenapiHarness::ready(settings(at(&http_server.url("")))).await;
    assert_eq!(harness.names(), ["a/yes", "b/yes"]);

    let http_server = TestHttpServer::start(|seen| match seen.path.as_str() {
        "/openapi.json" => ok(json!({
            "openapi": "3.1.0", "paths": {},
            "info": {"title": "All", "version": "1", "description": "- [a](/a/docs)\n- [b](/b/docs)"},
        })),
        _ => status(500),
    })
    .await;
    let mut harness = OpenapiHarness::starting(settings(at(&http_server.url(""))), QUICK).await;
    let why = harness.failure().await;
    assert!(
        why.starts_with("None of the 2 servers behind it could be read. a: "),
        "{why}"
    );
}

#[tokio::test]
async fn an_openapi_server_of_a_user_is_not_on_a_private_network() {
    let http_server = TestHttpServer::start(|_| ok(document(&["/yes"]))).await;
    let port = http_server.address.port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1"] {
        let config = at(&format!("http://{host}:{port}/openapi.json"));
        let settings = settings_in(config.clone(), Network::PublicOnly, Default::default());
        let mut harness = OpenapiHarness::starting(settings, QUICK).await;
        let why = harness.failure().await;
        let told = "is on a private network or on this machine. Only an administrator can add a server there.";
        assert!(why.ends_with(told), "{host}: {why}");
        let seen = preview(config, &caller(Network::PublicOnly), &parses()).await;
        assert!(seen.is_err_and(|error| error.to_string().ends_with(told)));
    }
    assert_eq!(http_server.accepted(), 0);
}
