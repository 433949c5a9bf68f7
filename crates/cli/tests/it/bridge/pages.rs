//! What a browser on another origin may ask, and the pages of the bridge itself.

use reqwest::Method;
use serde_json::json;

use super::{BridgeProcess, odd};

/// A preflight request, as Chromium sends it before it reaches into a private network.
fn preflight(bridge: &BridgeProcess, origin: &str) -> reqwest::RequestBuilder {
    let request = bridge
        .client
        .request(Method::OPTIONS, bridge.url("/raw/echo"));
    request
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type",
        )
        .header("access-control-request-private-network", "true")
}

#[tokio::test]
async fn a_page_of_any_origin_may_ask_and_none_may_send_cookies() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "raw": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &["--api-key", "top"]);
    let allowed = preflight(&bridge, "https://app.example")
        .send()
        .await
        .unwrap();
    assert_eq!(allowed.status(), 200);
    let header = |name: &str| {
        allowed
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap())
    };
    assert_eq!(header("access-control-allow-origin"), Some("*"));
    assert_eq!(header("access-control-allow-credentials"), None);
    assert_eq!(
        header("access-control-allow-headers"),
        Some("authorization,content-type")
    );
    assert_eq!(header("access-control-allow-private-network"), Some("true"));
    let call = bridge.client.post(bridge.url("/raw/echo"));
    let call = call
        .header("origin", "https://app.example")
        .json(&json!({}));
    let refused = call.send().await.unwrap();
    assert_eq!(refused.status(), 401);
    // A page has to be able to read why.
    assert_eq!(refused.headers()["access-control-allow-origin"], "*");
}

#[tokio::test]
async fn named_origins_are_the_only_ones() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "raw": odd("") });
    let flags = ["--cors-allow-origins", "https://app.example"];
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &flags);
    let allowed = preflight(&bridge, "https://app.example")
        .send()
        .await
        .unwrap();
    assert_eq!(
        allowed.headers()["access-control-allow-origin"],
        "https://app.example"
    );
    assert_eq!(allowed.headers()["vary"], "Origin");
    let foreign = preflight(&bridge, "https://evil.example")
        .send()
        .await
        .unwrap();
    assert_eq!(foreign.status(), 400);
    assert_eq!(foreign.headers().get("access-control-allow-origin"), None);
    // Also what a browser sends without asking first does nothing.
    let call = bridge.client.post(bridge.url("/raw/echo"));
    let call = call.header("origin", "https://evil.example");
    assert_eq!(call.send().await.unwrap().status(), 403);
    assert_eq!(bridge.post("/raw/echo", json!({})).await.0, 200);
}

#[tokio::test]
async fn the_documents_have_a_page_that_loads_nothing_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "raw": odd("") });
    let bridge = BridgeProcess::with_servers(folder.path(), &servers, &[]);
    for (path, document) in [
        ("/docs", r#"data-document="/openapi.json""#),
        ("/raw/docs", r#"data-document="/raw/openapi.json""#),
    ] {
        let response = bridge.client.get(bridge.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';"),
            "{policy}"
        );
        let page = response.text().await.unwrap();
        assert!(page.contains(document), "{page}");
        assert!(!page.contains("http"), "{page}");
    }
    for file in [
        "swagger-ui-bundle.js",
        "swagger-ui.css",
        "docs.js",
        "docs.css",
    ] {
        let (status, _) = bridge.get(&format!("/swagger/{file}")).await;
        assert_eq!(status, 200, "{file}: `make web` builds it");
    }
    assert_eq!(bridge.get("/nobody/docs").await.0, 404);
}
