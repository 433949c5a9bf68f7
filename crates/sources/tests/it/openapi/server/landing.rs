//! Bare addresses that say where their description is.

use serde_json::json;

use super::harness::{OpenapiHarness, at, settings};
use super::http_server::{Reply, TestHttpServer, document, ok, status};
use crate::openapi::express::express;

fn page(body: &str) -> Reply {
    let html = vec![("content-type", "text/html".into())];
    Reply::Whole(200, html, body.to_owned())
}

#[tokio::test]
async fn a_bare_address_of_express_leads_to_its_description() {
    let peer = express();
    let harness = OpenapiHarness::ready(settings(at(&peer.url))).await;
    assert!(harness.names().contains(&"echo".to_owned()));
}

#[tokio::test]
async fn a_link_to_the_description_is_followed() {
    for way in ["header", "page", "json", "failing"] {
        let http_server = TestHttpServer::start(move |seen| match (seen.path.as_str(), way) {
            ("/", "header" | "failing") => {
                let link = "<docs>; rel=service-doc, <v7/api>; rel=\"service-desc\"".to_owned();
                let status = if way == "failing" { 404 } else { 200 };
                Reply::Whole(status, vec![("link", link)], "hello".into())
            }
            ("/", "page") => {
                page("<!doctype html><head><link rel=\"service-desc\" href=\"/v7/api\"></head>")
            }
            ("/", _) => ok(json!({ "title": "Landing", "links": [
                { "rel": "self", "href": "/" }, { "rel": "service-desc", "href": "/v7/api" },
            ] })),
            ("/v7/api", _) => ok(document(&["/yes"])),
            _ => status(404),
        })
        .await;
        let harness = OpenapiHarness::ready(settings(at(&http_server.url("")))).await;
        assert_eq!(harness.names(), ["yes"], "{way}");
        assert_eq!(http_server.seen.lock().unwrap().len(), 2, "{way}");
        // And once more, by what is known of it.
        harness.server.refresh().await.unwrap();
        assert_eq!(http_server.count("/v7/api"), 2, "{way}");
    }
}

#[tokio::test]
async fn a_link_that_leads_nowhere_spoils_nothing_and_another_site_is_told_no_key() {
    let other = TestHttpServer::start(|_| status(404)).await;
    let there = other.url("/openapi");
    let gone = TestHttpServer::start(|_| status(404)).await;
    let nowhere = gone.url("/openapi");
    drop(gone);
    let http_server = TestHttpServer::start(move |seen| match seen.path.as_str() {
        "/" => ok(json!({ "links": [
            { "rel": "service-desc", "href": nowhere },
            { "rel": "service-desc", "href": there },
            { "rel": "service-desc", "href": "/" },
        ] })),
        "/swagger/v1/swagger.json" => ok(document(&["/yes"])),
        _ => status(404),
    })
    .await;
    let mut config = at(&http_server.url(""));
    config.headers.insert("x-key".into(), "secret".into());
    let harness = OpenapiHarness::ready(settings(config)).await;
    assert_eq!(harness.names(), ["yes"]);
    let seen = other.seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("x-key"), "");
}

#[tokio::test]
async fn the_usual_places_are_looked_at() {
    for place in [
        "/api-docs",
        "/docs/openapi.json",
        "/swagger/v1/swagger.json",
        "/openapi",
        "/v2/api-docs",
        "/api/v1/openapi.json",
        "/q/openapi",
    ] {
        let http_server = TestHttpServer::start(move |seen| match seen.path == place {
            true => ok(document(&["/yes"])),
            false => status(404),
        })
        .await;
        let harness = OpenapiHarness::ready(settings(at(&http_server.url("")))).await;
        assert_eq!(harness.names(), ["yes"], "{place}");
    }
}
