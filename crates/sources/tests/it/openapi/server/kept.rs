//! What is kept of a server, and by what its document is asked for again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tenon_domain::{OpenapiConfig, OpenapiOrigin, SourceState};
use tenon_sources::SupervisedServer;
use tenon_sources::openapi::OpenapiServer;
use tenon_tools::ToolSource;

use super::changing::{Changing, http_server, keeping};
use super::harness::{MemoryDocuments, OpenapiHarness, QUICK};
use super::http_server::{Reply, TestHttpServer, document, ok};

#[tokio::test]
async fn an_openapi_document_that_could_not_be_kept_is_kept_later() {
    for tagged in [true, false] {
        let changing = Changing::new(tagged, &["/a"]);
        let http_server = http_server(&changing).await;
        let documents = Arc::new(MemoryDocuments::default());
        *documents.failures.lock().unwrap() = 1;
        let harness = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
        for _ in 0..3 {
            assert!(harness.server.refresh().await.unwrap().is_empty());
        }
        let times = *documents.times.lock().unwrap();
        assert_eq!((documents.names().len(), times), (1, 1), "{tagged}");
    }
}

/// How the server answers a request for its document.
#[derive(Clone, Copy)]
struct Answer {
    status: u16,
    etag: &'static str,
}

#[tokio::test]
async fn an_openapi_document_is_asked_for_by_what_came_with_it_last() {
    let whole = |etag| Answer { status: 200, etag };
    let same = |etag| Answer { status: 304, etag };
    let now = Arc::new(Mutex::new(whole("\"1\"")));
    let answer = now.clone();
    let http_server = TestHttpServer::start(move |_| {
        let Answer { status, etag } = *answer.lock().unwrap();
        let headers = match etag {
            "" => Vec::new(),
            etag => vec![("etag", etag.to_owned())],
        };
        let body = match status {
            304 => String::new(),
            _ => document(&["/a"]).to_string(),
        };
        Reply::Whole(status, headers, body)
    })
    .await;
    let documents = Arc::new(MemoryDocuments::default());
    let harness = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
    // What it answers, what it was asked by, what is kept then and how often anything was.
    for (answer, asked, kept, times) in [
        // It is sent again, as it was: it is written only where it has another tag.
        (whole("\"1\""), "\"1\"", "\"1\"", 1),
        (whole("\"2\""), "\"1\"", "\"2\"", 2),
        (whole("\"2\""), "\"2\"", "\"2\"", 2),
        // It is not sent, so that there is nothing to write.
        (same("\"3\""), "\"2\"", "\"2\"", 2),
        (same(""), "\"3\"", "\"2\"", 2),
        (same("\"3\""), "\"3\"", "\"2\"", 2),
        // It has none any more.
        (whole(""), "\"3\"", "", 3),
        (whole(""), "", "", 3),
    ] {
        *now.lock().unwrap() = answer;
        assert!(harness.server.refresh().await.unwrap().is_empty());
        let last = http_server.seen.lock().unwrap().last().unwrap().clone();
        let held = documents.kept.lock().unwrap()[0].clone();
        assert_eq!(held.body, document(&["/a"]).to_string().into_bytes());
        let found = (last.header("if-none-match"), held.etag.unwrap_or_default());
        assert_eq!(found, (asked, kept.to_owned()));
        assert_eq!(*documents.times.lock().unwrap(), times);
    }
}

#[tokio::test]
async fn a_list_of_openapi_servers_that_says_the_same_is_written_once() {
    let times = AtomicUsize::new(0);
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/openapi.json" => {
            let list = json!({"openapi": "3.1.0", "info": {"title": "All", "version": "1", "description": "[a](/a/docs)"}, "paths": {}});
            // As those do that make it anew for everybody who asks.
            let tag = format!("\"{}\"", times.fetch_add(1, Ordering::SeqCst));
            Reply::Whole(200, vec![("etag", tag)], list.to_string())
        }
        _ => ok(document(&["/do"])),
    })
    .await;
    let documents = Arc::new(MemoryDocuments::default());
    let harness = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
    for _ in 0..3 {
        assert!(harness.server.refresh().await.unwrap().is_empty());
    }
    let times = *documents.times.lock().unwrap();
    assert_eq!((harness.names(), times), (vec!["a/do".to_owned()], 1));
}

#[tokio::test]
async fn openapi_tools_stay_listed_when_somebody_changes_a_key() {
    let changing = Changing::new(true, &["/a"]);
    let http_server = http_server(&changing).await;
    let documents = Arc::new(MemoryDocuments::default());
    let first = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
    // By then it is kept as well.
    first.server.refresh().await.unwrap();
    let asked = http_server.seen.lock().unwrap().len();
    // Nothing is kept for the ones that follow: what they list was handed over.
    let next = |before: &OpenapiHarness, change: &dyn Fn(&mut OpenapiConfig)| {
        let mut settings = keeping(&http_server, &Arc::default());
        change(&mut settings.config);
        settings.inherited = before.server.inherited_state();
        settings
    };
    let with_key = next(&first, &|config| {
        config.headers.insert("X-Key".into(), "new".into());
    });
    let mut second = OpenapiHarness::starting(with_key, QUICK).await;
    assert_eq!(second.names(), ["a"]);
    let mut status = second.server.status();
    assert_eq!((status.tools, status.about.is_some()), (1, true));
    second.text("a", json!({})).await;
    status = second
        .until(|status| status.state == SourceState::Ready)
        .await;
    assert_eq!((status.change, status.stale), (None, false));
    let seen = http_server.seen.lock().unwrap()[asked..].to_vec();
    assert!(seen.iter().all(|seen| seen.header("x-key") == "new"));
    assert_eq!(changing.sent(), 1, "it was not sent again");

    // Another base URL holds from the first call, and so does none.
    let moved = next(&second, &|config| {
        config.base_url = Some(http_server.url("/moved"));
    });
    let third = OpenapiHarness::starting(moved, QUICK).await;
    assert_eq!(third.names(), ["a"]);
    assert!(third.text("a", json!({})).await.contains("/moved/a"));
    let fourth = OpenapiHarness::starting(next(&third, &|_| {}), QUICK).await;
    assert_eq!(fourth.names(), ["a"]);
    assert!(!fourth.text("a", json!({})).await.contains("/moved"));

    // What one address offers is nothing that another one does.
    let elsewhere = next(&fourth, &|config| {
        let url = http_server.url("/other.json");
        config.origin = OpenapiOrigin::Url { url };
    });
    let server = OpenapiServer::with_schedule(elsewhere, QUICK);
    assert_eq!((server.tools(), server.status().tools), (Vec::new(), 0));
}

#[tokio::test]
async fn an_openapi_document_that_was_not_kept_is_kept_by_the_next_server() {
    let changing = Changing::new(true, &["/a"]);
    let http_server = http_server(&changing).await;
    let documents = Arc::new(MemoryDocuments::default());
    *documents.failures.lock().unwrap() = 1;
    let first = OpenapiHarness::ready(keeping(&http_server, &documents)).await;
    let mut settings = keeping(&http_server, &documents);
    settings.inherited = first.server.inherited_state();
    drop(first);
    let second = OpenapiHarness::ready(settings).await;
    second.server.refresh().await.unwrap();
    assert_eq!(documents.names().len(), 1);
}
