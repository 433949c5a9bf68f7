//! Tools on people's own machines, as pages and scripts see them.

use serde_json::{Value, json};

use crate::mcp_door::{message, stateless};
use crate::people::Person;
use crate::server::{Page, Server, answer};

const URL: &str = "http://localhost:8000/mcp";

/// What a page says that found a server with one tool.
pub fn registration(device: &str, page: &str) -> Value {
    let tool = json!({"name": "look", "inputSchema": {
        "type": "object", "properties": {"at": {"type": "string"}},
    }});
    json!({
        "type": "tools:register",
        "device": {"id": device, "name": "Chrome on Linux"},
        "page": page,
        "servers": [{
            "url": URL, "name": "", "title": "notes", "via": "mcp", "hash": "1",
            "offered": {"type": "mcp", "tools": [tool]},
        }],
    })
}

async fn seated(person: &Person<'_>, device: &str) -> Page {
    let mut page = person.socket().await.unwrap();
    let said = registration(device, &format!("page-of-{device}"));
    page.send(&said.to_string()).await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;
    page
}

fn local(tools: &Value) -> Vec<&Value> {
    let all = tools.as_array().unwrap().iter();
    all.filter(|tool| tool["runsOn"] == "browser").collect()
}

#[tokio::test]
async fn a_page_makes_the_calls_of_its_owner_and_of_nobody_else() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut hers = seated(&ada, "device-of-ada").await;
    let mut his = seated(&bob, "device-of-bob").await;

    let (_, tools) = bob.get("/api/tools").await;
    let tool = local(&tools)[0].clone();
    assert_eq!(local(&tools).len(), 1, "an admin's are as much her own");
    assert_eq!(tool["source"]["local"]["deviceName"], "Chrome on Linux");
    assert_eq!(tool["source"]["local"]["via"], "mcp");
    assert_eq!(tool["source"]["state"], "ready");

    let path = format!("/api/tools/{}/call", tool["toolId"].as_str().unwrap());
    let calling = bob.post(&path, json!({"arguments": {"at": "this"}}));
    let working = async {
        let heard = his.until(|frame| frame["type"] == "execute:tool").await;
        let order = heard.last().unwrap();
        assert_eq!(order["tool_name"], "look");
        assert_eq!(order["tool_args"], json!({"at": "this"}));
        assert_eq!(order["server_url"], URL);
        assert!(order["deadline_ms"].as_u64().unwrap() > 0);
        // What another says of it is not heard.
        let call = &order["call_id"];
        let stolen = json!({"type": "tool:result", "call_id": call,
            "result": {"content": [{"type": "text", "text": "stolen"}]}});
        hers.send(&stolen.to_string()).await;
        hers.send(&registration("device-of-bob", "page-of-device-of-bob").to_string())
            .await;
        hers.send(&stolen.to_string()).await;
        hers.until(|frame| frame["type"] == "tools:registered")
            .await;
        let answer = json!({"type": "tool:result", "call_id": call,
            "result": {"content": [{"type": "text", "text": "mine"}]}});
        his.send(&answer.to_string()).await;
    };
    let ((status, answer), ()) = tokio::join!(calling, working);
    assert_eq!(status, 200);
    assert_eq!(answer["content"][0]["text"], "mine", "{answer}");
}

#[tokio::test]
async fn an_mcp_client_calls_the_tools_of_an_open_page() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = seated(&ada, "device-of-ada").await;
    let scope = json!({"access": "use", "allow": ["local_*"]});
    let new = json!({"name": "client", "scope": scope});
    let (_, key) = ada.post("/api/keys", new).await;
    let mut client = ada.clone();
    let key = key["key"].as_str().unwrap();
    client.shows = Some(("authorization", format!("Bearer {key}")));
    let send = async |message: Value| {
        let request = stateless(client.request("POST", "/mcp"), &message);
        answer(request.send().await.unwrap()).await.1
    };
    let listed = send(message("tools/list", json!({}))).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let mut names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    let name = names.find(|name| name.starts_with("local_")).unwrap();
    let arguments = json!({"at": "this"});
    let calling = send(message(
        "tools/call",
        json!({"name": name, "arguments": arguments}),
    ));
    let working = async {
        let heard = page.until(|frame| frame["type"] == "execute:tool").await;
        let call = &heard.last().unwrap()["call_id"];
        let result = json!({"content": [{"type": "text", "text": "mine"}]});
        let done = json!({"type": "tool:result", "call_id": call, "result": result});
        page.send(&done.to_string()).await;
    };
    let (called, ()) = tokio::join!(calling, working);
    assert_eq!(called["result"]["content"][0]["text"], "mine", "{called}");
}

#[tokio::test]
async fn who_is_deleted_leaves_no_tools_behind() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let _page = seated(&bob, "device-of-bob").await;
    assert_eq!(bob.get("/api/devices").await.1.as_array().unwrap().len(), 1);
    let status = ada.delete(&format!("/api/users/{}", bob.id)).await;
    assert_eq!(status, 204);
    let devices = &server.app.devices;
    assert!(
        devices
            .devices(&tenon_domain::UserId::new(&bob.id))
            .is_empty()
    );
    assert!(server.app.store.local_servers().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_device_is_forgotten_and_says_it_again() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = seated(&ada, "device-of-ada").await;
    let status = ada.delete("/api/devices/device-of-ada").await;
    assert_eq!(status, 204);
    assert_eq!(ada.delete("/api/devices/device-of-ada").await, 404);
    assert!(local(&ada.get("/api/tools").await.1).is_empty());
    let said = registration("device-of-ada", "page-of-device-of-ada");
    page.send(&said.to_string()).await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;
    assert_eq!(local(&ada.get("/api/tools").await.1).len(), 1);
}

#[tokio::test]
async fn addresses_are_kept_in_the_account_and_keys_are_not() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let endpoint = |url: &str| json!([{"url": url, "name": "", "kind": "auto", "enabled": true}]);
    assert_eq!(ada.get("/api/devices/endpoints").await.1, Value::Null);
    let kept = endpoint("http://localhost:8000");
    let (status, _) = ada
        .send("PUT", "/api/devices/endpoints", Some(kept.clone()))
        .await;
    assert_eq!(status, 204);
    assert_eq!(ada.get("/api/devices/endpoints").await.1, kept);
    for url in [
        "http://me:secret@localhost:8000",
        "http://localhost:8000/?key=secret",
        "file:///etc/passwd",
        "localhost",
    ] {
        let (status, body) = ada
            .send("PUT", "/api/devices/endpoints", Some(endpoint(url)))
            .await;
        assert_eq!(status, 400, "{url}: {body}");
    }
    let with_key =
        json!([{"url": "http://localhost:1", "kind": "auto", "enabled": true, "key": "x"}]);
    let (status, _) = ada
        .send("PUT", "/api/devices/endpoints", Some(with_key))
        .await;
    assert!((400..500).contains(&status));
    assert_eq!(ada.get("/api/devices/endpoints").await.1, kept);
}

#[tokio::test]
async fn what_a_page_says_wrongly_costs_it_nothing_else() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = ada.socket().await.unwrap();
    let nameless = json!({"type": "tools:register", "device": {"id": "x", "name": "y"}, "page": "z", "servers": []});
    page.send(&nameless.to_string()).await;
    let heard = page
        .until(|frame| frame["type"] == "tools:registered")
        .await;
    assert!(
        heard.last().unwrap()["problem"]["code"].is_string(),
        "{heard:?}"
    );
    for wrong in [
        json!({"type": "tools:register"}),
        json!({"type": "tool:result", "call_id": "nobody-waits", "surprise": 1}),
    ] {
        page.send(&wrong.to_string()).await;
        page.until(|frame| frame["type"] == "error").await;
    }
    let said = registration("device-of-ada", "page-of-ada");
    page.send(&said.to_string()).await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;
}
