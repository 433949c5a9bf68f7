//! `GET /api/tools` where there are hundreds: pages, filters, entity tags, and schemas on demand.

use serde_json::Value;

use crate::server::Server;
use crate::tool_search::add_office;

fn ids(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().unwrap().iter();
    tools.map(|tool| tool["toolId"].as_str().unwrap()).collect()
}

async fn with_office() -> (Server, String) {
    let server = Server::start().await;
    add_office(&server).await;
    let (_, tools) = server.get("/api/tools?q=garage&limit=1").await;
    let source = tools[0]["source"]["id"].as_str().unwrap().to_owned();
    (server, source)
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let (server, source) = with_office().await;
    let (_, whole) = server.get("/api/tools").await;
    let mut path = "/api/tools?limit=100&schemas=false".to_owned();
    let mut read = Vec::new();
    loop {
        let response = server.request("GET", &path).send().await.unwrap();
        let next = response.headers().get("link").cloned();
        let page: Value = response.json().await.unwrap();
        assert!(page.as_array().unwrap().len() <= 100);
        assert!(page[0].get("parameters").is_none());
        read.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(next) = next else { break };
        let next = next.to_str().unwrap().strip_prefix('<').unwrap().to_owned();
        path = next.split_once(">; rel=\"next\"").unwrap().0.to_owned();
        assert!(path.contains("schemas=false"), "{path}");
    }
    assert_eq!(read, ids(&whole));

    let (_, of_source) = server.get(&format!("/api/tools?source={source}")).await;
    assert_eq!(of_source.as_array().unwrap().len(), 300);
    let after = "after=api_office_open_garage";
    let (_, rest) = server
        .get(&format!("/api/tools?source={source}&{after}"))
        .await;
    assert_eq!(ids(&rest), ["api_office_water_plants"]);
    let (_, found) = server.get("/api/tools?q=water+the+plants&limit=2").await;
    assert_eq!(ids(&found)[0], "api_office_water_plants");
    assert_eq!(server.get("/api/tools?limit=few").await.0, 400);
}

#[tokio::test]
async fn a_list_that_has_not_changed_is_not_sent_again() {
    let (server, _) = with_office().await;
    let read = async |tag: Option<&str>| {
        let request = server.request("GET", "/api/tools?schemas=false");
        let request = match tag {
            Some(tag) => request.header("if-none-match", tag),
            None => request,
        };
        let response = request.send().await.unwrap();
        let tag = response.headers()["etag"].to_str().unwrap().to_owned();
        (response.status().as_u16(), tag)
    };
    let (status, tag) = read(None).await;
    assert_eq!(status, 200);
    assert_eq!(read(Some(&tag)).await, (304, tag.clone()));
    let weak = format!("\"other\", W/{tag}");
    assert_eq!(read(Some(&weak)).await.0, 304);
    let off = serde_json::json!({
        "layer": "user", "tools": [{"toolId": "api_office_open_garage", "enabled": false}],
    });
    assert_eq!(server.patch("/api/tools", off).await.0, 204);
    let (status, other) = read(Some(&tag)).await;
    assert_eq!(status, 200);
    assert_ne!(other, tag);
}

#[tokio::test]
async fn one_tool_comes_with_its_schema() {
    let (server, _) = with_office().await;
    let (status, tool) = server.get("/api/tools/api_office_open_garage").await;
    assert_eq!(status, 200, "{tool}");
    assert_eq!(tool["parameters"]["properties"]["note"]["type"], "string");
    assert_eq!(server.get("/api/tools/api_office_nothing").await.0, 404);
    // It is no tool of the list: models and clients get it where they need it.
    assert_eq!(server.get("/api/tools/tool_search").await.0, 404);
}
