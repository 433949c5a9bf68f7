//! `/mcpo` of `tenon serve`: the tools of a user for clients of mcpo.

use serde_json::{Value, json};

use crate::people::Person;
use crate::server::Server;

#[tokio::test]
async fn the_hub_answers_as_an_mcpo_with_a_server_for_each_source() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let key = ada.key("use").await;
    let (status, main) = key.send("GET", "/mcpo/openapi.json", None).await;
    assert_eq!(status, 200);
    let description = main["info"]["description"].as_str().unwrap();
    let links = description.split("\u{ff1a}\n").nth(1).unwrap().lines();
    let links: Vec<&str> = links.map(str::trim).collect();
    assert!(links.contains(&"- [math](/mcpo/math/docs)"), "{links:?}");

    let (_, document) = key.send("GET", "/mcpo/math/openapi.json", None).await;
    assert_eq!(document["servers"], json!([{ "url": "/mcpo/math" }]));
    let operation = &document["paths"]["/calculate"]["post"];
    assert_eq!(operation["operationId"], "tool_calculate_post");
    assert_eq!(operation["security"], json!([{ "HTTPBearer": [] }]));

    let page = server
        .request("GET", "/mcpo/math/docs")
        .header("authorization", &key.shows.clone().unwrap().1);
    let page = page.send().await.unwrap();
    assert_eq!(page.status(), 200);
    let page = page.text().await.unwrap();
    assert!(
        page.contains(r#"data-document="/mcpo/math/openapi.json""#),
        "{page}"
    );

    let call = async |path: &str, body: Value| key.send("POST", path, Some(body)).await;
    let sum = json!({ "expression": "6*7" });
    let (status, answer) = call("/mcpo/math/calculate", sum.clone()).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer.to_string().contains("42"), "{answer}");
    let (status, missing) = call("/mcpo/math/calculate", json!({})).await;
    let expected = json!({ "detail": [{
        "type": "missing", "loc": ["body", "expression"], "msg": "Field required", "input": {},
    }] });
    assert_eq!((status, missing), (422, expected));
    let (status, failed) = call("/mcpo/math/calculate", json!({ "expression": "6*" })).await;
    assert_eq!(status, 422, "{failed}");
    assert!(failed["detail"][0]["msg"].is_string(), "{failed}");

    let unknown = json!({ "detail": "Not Found" });
    for path in [
        "/mcpo/math/nothing",
        "/mcpo/nobody/calculate",
        "/mcpo/nothing",
    ] {
        assert_eq!(
            call(path, json!({})).await,
            (404, unknown.clone()),
            "{path}"
        );
    }
    let stranger = server.anonymous("POST", "/mcpo/math/calculate").json(&sum);
    let stranger = stranger.send().await.unwrap();
    assert_eq!(stranger.status(), 401);
    assert_eq!(stranger.headers()["www-authenticate"], "Bearer");
    let said: Value = stranger.json().await.unwrap();
    assert!(said["detail"].is_string(), "{said}");
    let reader = ada.key("read").await;
    let refused = reader.send("POST", "/mcpo/math/calculate", Some(sum)).await;
    assert_eq!(refused.0, 403);
}
