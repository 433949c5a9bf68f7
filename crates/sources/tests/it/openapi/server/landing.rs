//! Bare addresses that say where their description is.

use serde_json::json;

use super::desk::{Desk, at, settings};
use super::site::{Reply, Site, document, ok, status};
use crate::openapi::express::express;

fn page(body: &str) -> Reply {
    let html = vec![("content-type", "text/html".into())];
    Reply::Whole(200, html, body.to_owned())
}

#[tokio::test]
async fn a_bare_address_of_express_leads_to_its_description() {
    let peer = express();
    let desk = Desk::ready(settings(at(&peer.url))).await;
    assert!(desk.names().contains(&"echo".to_owned()));
}

#[tokio::test]
async fn a_link_to_the_description_is_followed() {
    for way in ["header", "page", "json", "failing"] {
        let site = Site::start(move |seen| match (seen.path.as_str(), way) {
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
        let desk = Desk::ready(settings(at(&site.url("")))).await;
        assert_eq!(desk.names(), ["yes"], "{way}");
        assert_eq!(site.seen.lock().unwrap().len(), 2, "{way}");
        // And once more, by what is known of it.
        desk.server.refresh().await.unwrap();
        assert_eq!(site.count("/v7/api"), 2, "{way}");
    }
}

#[tokio::test]
async fn a_link_that_leads_nowhere_spoils_nothing_and_another_site_is_told_no_key() {
    let other = Site::start(|_| status(404)).await;
    let there = other.url("/openapi");
    let gone = Site::start(|_| status(404)).await;
    let nowhere = gone.url("/openapi");
    drop(gone);
    let site = Site::start(move |seen| match seen.path.as_str() {
        "/" => ok(json!({ "links": [
            { "rel": "service-desc", "href": nowhere },
            { "rel": "service-desc", "href": there },
            { "rel": "service-desc", "href": "/" },
        ] })),
        "/swagger/v1/swagger.json" => ok(document(&["/yes"])),
        _ => status(404),
    })
    .await;
    let mut config = at(&site.url(""));
    config.headers.insert("x-key".into(), "secret".into());
    let desk = Desk::ready(settings(config)).await;
    assert_eq!(desk.names(), ["yes"]);
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
        let site = Site::start(move |seen| match seen.path == place {
            true => ok(document(&["/yes"])),
            false => status(404),
        })
        .await;
        let desk = Desk::ready(settings(at(&site.url("")))).await;
        assert_eq!(desk.names(), ["yes"], "{place}");
    }
}
