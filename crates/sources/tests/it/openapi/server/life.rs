//! What becomes of a server over time: read, read again, gone, back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::{ErrorDetail, ErrorKind, OpenapiConfig, SourceState};
use tenon_sources::openapi::{
    FillError, OpenapiServer, OpenapiSettings, RefreshSchedule, VariableResolver,
};
use tenon_sources::{CallTimeouts, Network, SupervisedServer, ToolChanges};
use tenon_sources::{ServerFault, ServerStatus};
use tenon_tools::ToolSource;

use super::changing::{Changing, http_server, keeping};
use super::harness::{MemoryDocuments, OpenapiHarness, QUICK, at, given, settings, settings_in};
use super::http_server::{Reply, TestHttpServer, document, ok, status};
use crate::harness::sentences;

#[tokio::test]
async fn an_openapi_document_that_changes_is_told_and_kept() {
    for tagged in [true, false] {
        let changing = Changing::new(tagged, &["/a", "/b", "/c"]);
        let http_server = http_server(&changing).await;
        let documents = Arc::new(MemoryDocuments::default());
        let mut harness = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
        assert_eq!(harness.names(), ["a", "b", "c"]);
        assert_eq!(harness.server.status().change, None);
        let before = harness.server.status();

        let same = harness.server.refresh().await.unwrap();
        assert_eq!(*same, ToolChanges::default());
        assert_eq!(harness.server.status().revision, before.revision);
        assert_eq!(changing.sent(), if tagged { 1 } else { 2 });
        assert_eq!(*documents.times.lock().unwrap(), 1);

        let mut other = document(&["/a", "/b", "/d"]);
        other["paths"]["/b"]["get"]["description"] = json!("Otherwise.");
        changing.set(other.clone());
        let change = harness.server.refresh().await.unwrap();
        let expected = ToolChanges {
            added: vec!["d".into()],
            removed: vec!["c".into()],
            changed: vec!["b".into()],
        };
        assert_eq!(*change, expected);
        let status = harness
            .until(|status| status.revision > before.revision)
            .await;
        assert_eq!(status.change.as_deref(), Some(&expected));
        assert_eq!(harness.names(), ["a", "b", "d"]);
        let kept = documents.kept.lock().unwrap()[0].clone();
        assert_eq!(kept.body, other.to_string().into_bytes());
        assert_eq!(kept.etag.is_some(), tagged);
        assert_eq!(kept.url, http_server.url("/openapi.json"));
        let log = harness.log();
        assert!(log.contains("New: d.\nGone: c.\nChanged: b."), "{log}");
    }
}

#[tokio::test]
async fn openapi_tools_are_there_before_anything_is_asked() {
    let changing = Changing::new(true, &["/a"]);
    let first = http_server(&changing).await;
    let documents = Arc::new(MemoryDocuments::default());
    drop(OpenapiHarness::ready(keeping(&first, &documents)).await);
    let config = at(&first.url("/openapi.json"));
    let address = first.address;
    drop(first);

    // It answers calls, but no longer says what it is.
    let silent = TestHttpServer::at(address, |seen| match seen.path.as_str() {
        "/openapi.json" => Reply::Silence,
        path => ok(json!(path)),
    })
    .await;
    let settings = || settings_in(config.clone(), Network::Anywhere, documents.clone());
    let pace = RefreshSchedule {
        fetch_timeout: Duration::from_secs(2),
        ..QUICK
    };
    let mut harness = OpenapiHarness::starting(settings(), pace).await;
    let status = harness.until(|status| status.tools == 1).await;
    assert_eq!((status.state, status.stale), (SourceState::Starting, true));
    assert!(harness.text("a", json!({})).await.contains("/a"));
    let is_degraded = |status: &ServerStatus, told: &str| matches!(&status.state, SourceState::Degraded { why } if why.message == told);
    let slow = "127.0.0.1 did not send its document in time.";
    harness.until(|status| is_degraded(status, slow)).await;
    assert!(
        harness
            .text("a", json!({"q": "1"}))
            .await
            .contains("/a?q=1")
    );
    drop(harness);
    drop(silent);

    // It is not there at all, and then it is: with the same document, which is not sent again.
    let mut harness = OpenapiHarness::starting(settings(), QUICK).await;
    let gone = format!("127.0.0.1 refuses connections at port {}.", address.port());
    harness.until(|status| is_degraded(status, &gone)).await;
    assert_eq!(harness.names(), ["a"]);
    let error = harness.error("a", json!({})).await;
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let again = changing.clone();
    let _back = TestHttpServer::at(address, move |seen| again.reply(seen)).await;
    let status = harness
        .until(|status| status.state == SourceState::Ready)
        .await;
    assert_eq!((status.stale, status.tools, changing.sent()), (false, 1, 1));
    assert!(harness.text("a", json!({})).await.contains("/a"));
}

#[tokio::test]
async fn an_openapi_server_that_was_never_there_fails_until_it_comes() {
    let nobody = TestHttpServer::start(|_| status(404)).await;
    let address = nobody.address;
    nobody.close().await;
    let settings = settings(at(&format!("http://{address}/")));
    let mut harness = OpenapiHarness::starting(settings, QUICK).await;
    let why = harness.failure().await;
    assert_eq!(
        why,
        format!("127.0.0.1 refuses connections at port {}.", address.port())
    );
    assert_eq!(harness.names(), [""; 0]);
    let refreshed = harness.server.refresh().await;
    assert_eq!(refreshed.unwrap_err().to_string(), why);
    let changing = Changing::new(false, &["/a"]);
    let _http_server = TestHttpServer::at(address, move |seen| changing.reply(seen)).await;
    harness
        .until(|status| status.state == SourceState::Ready)
        .await;
    assert_eq!(harness.names(), ["a"]);
}

#[tokio::test]
async fn openapi_servers_behind_an_mcpo_come_and_go() {
    let down = Arc::new(AtomicBool::new(false));
    let list = Arc::new(Mutex::new("[a](/a/docs) [b](/b/docs)"));
    let (is_down, listed) = (down.clone(), list.clone());
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => {
            let description = *listed.lock().unwrap();
            ok(json!({"openapi": "3.1.0", "info": {"title": "All", "version": "1", "description": description}, "paths": {}}))
        }
        "/b/openapi.json" if is_down.load(Ordering::SeqCst) => status(500),
        "/down/openapi.json" => ok(document(&[])),
        path if path.ends_with("/openapi.json") => ok(document(&["/do"])),
        path => ok(json!(path)),
    })
    .await;
    let documents = Arc::new(MemoryDocuments::default());
    let mut harness = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
    assert_eq!(harness.names(), ["a/do", "b/do"]);
    assert_eq!(documents.names(), ["", "a", "b"]);

    down.store(true, Ordering::SeqCst);
    assert_eq!(
        *harness.server.refresh().await.unwrap(),
        ToolChanges::default()
    );
    let status = harness.server.status();
    assert_eq!(status.state, SourceState::Ready);
    assert_eq!(status.problems.len(), 1, "{:?}", status.problems);
    assert!(
        status.problems[0]
            .message
            .ends_with("Its last known tools are listed.")
    );
    assert_eq!(harness.names(), ["a/do", "b/do"]);

    *list.lock().unwrap() = "[c](/c/docs) [a](/a/docs)";
    let change = harness.server.refresh().await.unwrap();
    assert_eq!(change.added, ["c/do"]);
    assert_eq!(change.removed, ["b/do"]);
    harness.until(|status| status.problems.is_empty()).await;
    assert_eq!(harness.names(), ["a/do", "c/do"]);
    let mut names = documents.names();
    names.sort();
    assert_eq!(names, ["", "a", "c"]);
    *list.lock().unwrap() = "[c](/c/docs) [down](/down/docs)";
    harness.server.refresh().await.unwrap();
    let problems = sentences(&harness.server.status().problems);
    assert_eq!(problems, ["down: It has no tools. It may not be running."]);
    // Once for each of the first three readings.
    assert_eq!(http_server.count("/a/openapi.json"), 3);
}

#[tokio::test]
async fn an_openapi_document_is_read_on_a_schedule_and_at_once_if_wanted() {
    let changing = Changing::new(false, &["/a"]);
    let http_server = http_server(&changing).await;
    let harness = OpenapiHarness::ready(keeping(&http_server, &Arc::default())).await;
    let many = (0..20).map(|_| harness.server.refresh());
    let many = futures::future::join_all(many).await;
    assert!(many.iter().all(Result::is_ok));
    assert!(changing.sent() <= 3, "{} times", changing.sent());

    let before = changing.sent();
    let pace = RefreshSchedule {
        interval: Duration::from_millis(50),
        ..QUICK
    };
    let often = OpenapiHarness::starting(keeping(&http_server, &Arc::default()), pace).await;
    until(|| changing.sent() >= before + 4).await;
    often.server.stop().await;
    assert_eq!(often.server.status().state, SourceState::Off);
    let after = changing.sent();
    // Another one on the same schedule is read meanwhile.
    let other = Changing::new(false, &["/a"]);
    let elsewhere = super::changing::http_server(&other).await;
    let _control = OpenapiHarness::starting(keeping(&elsewhere, &Arc::default()), pace).await;
    until(|| other.sent() >= 5).await;
    assert_eq!(changing.sent(), after);
    assert!(often.server.refresh().await.is_err());
    let error = often.server.call("a", json!({}), &often.context).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn an_openapi_document_that_was_given_is_read_when_it_is_replaced() {
    let http_server = TestHttpServer::start(|seen| ok(json!(seen.path))).await;
    let described = |paths: &[&str]| {
        let mut document = document(paths);
        document["servers"] = json!([{"url": http_server.url("/v1")}]);
        document
    };
    let documents = MemoryDocuments::with(described(&["/a"]));
    let settings = settings_in(given(), Network::Anywhere, documents.clone());
    let mut harness = OpenapiHarness::ready(settings).await;
    assert!(harness.text("a", json!({})).await.contains("/v1/a"));
    documents.kept.lock().unwrap()[0].body = described(&["/b"]).to_string().into_bytes();
    let change = harness.server.refresh().await.unwrap();
    assert_eq!(
        (&change.added[..], &change.removed[..]),
        (&["b".to_owned()][..], &["a".to_owned()][..])
    );
    harness.until(|status| status.change.is_some()).await;
    assert_eq!(harness.names(), ["b"]);
    // One that cannot be used leaves what there was.
    documents.kept.lock().unwrap()[0].body = b"{".to_vec();
    assert!(harness.server.refresh().await.is_err());
    assert_eq!(harness.names(), ["b"]);
    assert!(matches!(
        harness.server.status().state,
        SourceState::Degraded { .. }
    ));

    let settings = settings_in(given(), Network::Anywhere, Arc::default());
    let harness = OpenapiHarness::starting(settings, QUICK).await;
    let why = ServerFault::NotStored.into();
    assert_eq!(
        harness.server.settled().await.state,
        SourceState::Failed { why }
    );
}

/// Has no value until it is told one.
#[derive(Default)]
struct Later {
    value: Mutex<Option<String>>,
    asked: Mutex<usize>,
}

#[async_trait]
impl VariableResolver<OpenapiConfig> for Later {
    async fn fill(&self, config: &OpenapiConfig) -> Result<OpenapiConfig, FillError> {
        *self.asked.lock().unwrap() += 1;
        let value = self.value.lock().unwrap().clone();
        let value = value
            .ok_or_else(|| FillError::Unset(ErrorDetail::other("Nobody has set `${KEY}`.")))?;
        let mut config = config.clone();
        config.headers.insert("X-Key".into(), value);
        Ok(config)
    }
}

#[tokio::test]
async fn an_openapi_server_starts_when_its_variables_have_values() {
    let changing = Changing::new(false, &["/a"]);
    let http_server = http_server(&changing).await;
    let fill = Arc::new(Later::default());
    let settings = OpenapiSettings {
        fill: fill.clone(),
        ..keeping(&http_server, &Arc::default())
    };
    let mut harness = OpenapiHarness::starting(settings, QUICK).await;
    assert_eq!(harness.failure().await, "Nobody has set `${KEY}`.");
    // It is not asked again and again, though that is its schedule; who asks for it is told.
    let missing = TestHttpServer::start(|_| status(404)).await;
    let _control = OpenapiHarness::starting(keeping(&missing, &Arc::default()), QUICK).await;
    until(|| missing.count("/openapi.json") >= 5).await;
    assert_eq!(*fill.asked.lock().unwrap(), 1);
    let refreshed = harness.server.refresh().await;
    assert_eq!(
        refreshed.unwrap_err().to_string(),
        "Nobody has set `${KEY}`."
    );
    *fill.value.lock().unwrap() = Some("one".into());
    harness.server.restart();
    harness
        .until(|status| status.state == SourceState::Ready)
        .await;
    harness.text("a", json!({})).await;
    let before = harness.server.status().read_at;
    *fill.value.lock().unwrap() = Some("two".into());
    harness.server.restart();
    harness.until(|status| status.read_at > before).await;
    harness.text("a", json!({})).await;
    let seen = http_server.seen.lock().unwrap();
    let keys: Vec<&str> = seen.iter().map(|seen| seen.header("x-key")).collect();
    assert!(
        keys.starts_with(&["one", "one"]) && keys.ends_with(&["two"]),
        "{keys:?}"
    );
}

#[tokio::test]
async fn a_large_openapi_document_is_read_from_its_site() {
    let mut large = document(&["/a"]);
    large["info"]["description"] = json!("x".repeat(2 * 1024 * 1024));
    let changing = Changing::new(false, &[]);
    changing.set(large);
    let http_server = http_server(&changing).await;
    let harness = OpenapiHarness::ready(keeping(&http_server, &Arc::default())).await;
    assert_eq!(harness.names(), ["a"]);
    // What is as large and no document spoils nothing.
    changing.set(json!({"hello": "x".repeat(2 * 1024 * 1024)}));
    assert!(harness.server.refresh().await.is_err());
    assert_eq!(harness.names(), ["a"]);
}

#[tokio::test]
async fn a_large_openapi_document_holds_nobody_up() {
    let paths: Vec<String> = (0..5000).map(|number| format!("/many/{number}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let mut large = document(&paths);
    for (path, item) in large["paths"].as_object_mut().unwrap() {
        let properties = (0..40).map(|number| {
            let words = format!("The field {number} of {path}, at some length.");
            (
                format!("field{number}"),
                json!({"type": "string", "description": words}),
            )
        });
        let properties: serde_json::Map<_, _> = properties.collect();
        let schema = json!({"schema": {"type": "object", "properties": properties}});
        item["get"]["requestBody"] = json!({"content": {"application/json": schema}});
    }
    let documents = MemoryDocuments::with(&large);
    let bytes = documents.kept.lock().unwrap()[0].body.len();
    assert!(bytes > 15_000_000, "{bytes}");
    // All on one thread: whoever works long on it makes this one late.
    let latest = Arc::new(Mutex::new(Duration::ZERO));
    let late = latest.clone();
    let ticking = tokio::spawn(async move {
        loop {
            let begun = std::time::Instant::now();
            tokio::time::sleep(Duration::from_millis(5)).await;
            let mut late = late.lock().unwrap();
            *late = (*late).max(begun.elapsed());
        }
    });
    let begun = std::time::Instant::now();
    let server = OpenapiServer::new(settings_in(given(), Network::Anywhere, documents));
    let status = server.settled().await;
    let (took, late) = (begun.elapsed(), *latest.lock().unwrap());
    ticking.abort();
    assert_eq!((status.state, status.tools), (SourceState::Ready, 5000));
    assert!(late < took / 4, "{late:?} of {took:?}");
}

#[tokio::test]
async fn a_changed_timeout_reaches_an_openapi_call_that_waits() {
    // It takes connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/openapi.json", silent.local_addr().unwrap());
    let mut config = at(&address);
    config.timeout_ms = Some(600_000);
    let schedule = RefreshSchedule {
        fetch_timeout: Duration::from_secs(600),
        ..QUICK
    };
    let harness = OpenapiHarness::starting(settings(config), schedule).await;
    let begun = std::time::Instant::now();
    let call = harness.server.call("any", json!({}), &harness.context);
    let change = async {
        harness.server.set_timeouts(CallTimeouts {
            all: Some(Duration::from_millis(100)),
            ..CallTimeouts::default()
        });
    };
    let (answer, ()) = tokio::join!(call, change);
    let error = answer.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(
        error.message.starts_with("Test is still starting"),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(
        harness.server.deadline("any"),
        Some(Duration::from_millis(100))
    );
}

async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(10), waiting).await;
    waited.expect("it does not happen");
}
