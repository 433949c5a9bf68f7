//! Models as data: added, chosen, tried and asked, over the API.

mod connection;
mod evaluation;
mod fake;
mod pictures;
mod private;
mod server_facts;
mod title;
mod trial;

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_app::config::Environment;

use crate::server::{Server, answer, events};
use fake::Fake;

const KEY: &str = "sk-very-secret-0123456789";

async fn add(server: &Server, url: &str, model: &str) -> Value {
    let new = json!({"provider": "openai", "baseUrl": url, "model": model, "key": KEY});
    let (status, added) = server.post("/api/models", new).await;
    assert_eq!(status, 201, "{added}");
    added
}

async fn send(server: &Server, method: &str, path: &str, body: Value) -> (u16, Value) {
    answer(
        server
            .request(method, path)
            .json(&body)
            .send()
            .await
            .unwrap(),
    )
    .await
}

#[tokio::test]
async fn a_model_is_added_asked_changed_and_forgotten() {
    let (server, fake) = (Server::start().await, Fake::default());
    let url = fake.start().await;
    let added = add(&server, &url, "small").await;
    assert_eq!(added["name"], "small");
    assert_eq!(added["hasKey"], true);
    assert_eq!(added["isDefault"], false);
    let id = added["id"].as_str().unwrap();
    let path = format!("/api/models/{id}");

    let change = json!({
        "name": "My model",
        "parameters": {"temperature": 0.5},
        "prices": {"currency": "USD", "input": 2, "output": 10, "cacheRead": 1},
        "isDefault": true,
    });
    let (status, changed) = send(&server, "PATCH", &path, change).await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!(changed["name"], "My model");
    assert_eq!(changed["isDefault"], true);
    let (_, info) = server.get("/api/info").await;
    assert_eq!(
        info["model"],
        json!({"id": id, "name": "My model", "builtin": false})
    );

    let chat = server.new_chat().await;
    let frames = server.ask(&chat, "hi").await;
    let events = events(&frames);
    assert_eq!(
        events[0]["body"]["model"],
        json!({"id": id, "name": "My model"})
    );
    let end = &events.last().unwrap()["body"];
    assert_eq!(end["outcome"]["kind"], "done");
    let usage = json!({
        "inputTokens": 1000, "outputTokens": 10, "cacheReadTokens": 400, "cacheWriteTokens": 0,
    });
    assert_eq!(end["usage"], usage);
    assert_eq!(
        end["cost"],
        json!({"currency": "USD", "micros": 600 * 2 + 400 + 100})
    );
    let (headers, body) = &fake.asked()[0];
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["temperature"], 0.5);
    assert_eq!(body["tools"][0]["type"], "function");

    let gone = server.request("DELETE", &path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    let (status, _) = server.get(&path).await;
    assert_eq!(status, 404);
    let (_, info) = server.get("/api/info").await;
    assert_eq!(info["model"]["builtin"], true);
}

#[tokio::test]
async fn a_key_is_told_to_nobody_and_lies_sealed() {
    let (server, fake) = (Server::start().await, Fake::default());
    let url = fake.start().await;
    let added = add(&server, &url, "small").await;
    let (_, list) = server.get("/api/models").await;
    assert!(!added.to_string().contains(KEY) && !list.to_string().contains(KEY));
    for file in std::fs::read_dir(server.data()).unwrap() {
        let file = file.unwrap().path();
        if file.is_file() {
            let bytes = std::fs::read(&file).unwrap();
            let found = bytes
                .windows(KEY.len())
                .any(|window| window == KEY.as_bytes());
            assert!(!found, "{}", file.display());
        }
    }

    // Kept when nothing is said about it, used to look around, and gone when taken away.
    let id = added["id"].as_str().unwrap();
    let path = format!("/api/models/{id}");
    let (_, renamed) = send(&server, "PATCH", &path, json!({"name": "x"})).await;
    assert_eq!(renamed["hasKey"], true);
    let wish = json!({"baseUrl": url, "modelId": id});
    let (status, offer) = server.post("/api/models/discover", wish).await;
    assert_eq!(status, 200, "{offer}");
    // It does not move to another server by itself.
    let moved = json!({"baseUrl": "http://elsewhere.example/v1"});
    let (status, error) = send(&server, "PATCH", &path, moved).await;
    assert_eq!(status, 400, "{error}");
    let (_, without) = send(&server, "PATCH", &path, json!({"key": ""})).await;
    assert_eq!(without["hasKey"], false);
}

#[tokio::test]
async fn a_stored_key_is_not_shown_to_another_server() {
    let (server, fake) = (Server::start().await, Fake::default());
    let added = add(&server, &fake.start().await, "small").await;
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let spy = seen.clone();
    let router = axum::Router::new().fallback(move |headers: HeaderMap| async move {
        spy.lock().unwrap().push(headers);
        Json(json!({"data": []}))
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (status, _) = server
        .post(
            "/api/models/discover",
            json!({"baseUrl": url, "modelId": added["id"]}),
        )
        .await;
    assert_eq!(status, 200);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].get("authorization").is_none());
}

#[tokio::test]
async fn what_an_address_offers_is_found_however_it_is_written() {
    let (server, fake) = (Server::start().await, Fake::default());
    let url = fake.start().await;
    let bare = url.trim_end_matches("/v1").trim_start_matches("http://");
    for (pasted, provider) in [
        (url.as_str(), "openai"),
        (bare, "openai"),
        (&format!("{url}/chat/completions"), "openai"),
        (&format!("{url}/responses/"), "responses"),
    ] {
        let (status, offer) = server
            .post("/api/models/discover", json!({"baseUrl": pasted}))
            .await;
        assert_eq!(status, 200, "{pasted}: {offer}");
        let expected = json!({
            "provider": provider,
            "baseUrl": url,
            // What cannot chat is not offered.
            "models": [{"model": "large/one"}, {"model": "small", "contextTokens": 8192}],
        });
        assert_eq!(offer, expected, "{pasted}");
    }
    let wrong_key = json!({"baseUrl": url, "key": "wrong"});
    let (status, error) = server.post("/api/models/discover", wrong_key).await;
    let message = error["error"]["message"].as_str().unwrap();
    assert_eq!(status, 502);
    assert!(message.contains("refused the key"), "{message}");
    let (_, error) = server
        .post(
            "/api/models/discover",
            json!({"baseUrl": "http://127.0.0.1:1"}),
        )
        .await;
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Nothing answers at"), "{message}");
}

#[tokio::test]
async fn a_chat_is_told_to_the_model_that_is_named_and_to_no_other() {
    let (far, added) = (Fake::default(), Fake::default());
    let config = Config {
        local_models: Some(Vec::new()),
        environment: Environment {
            openai_base_url: Some(far.start().await),
            openai_api_key: Some(KEY.into()),
            ..Environment::default()
        },
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let model = add(&server, &added.start().await, "small").await;
    let id = model["id"].as_str().unwrap();
    let gone = server.request("DELETE", &format!("/api/models/{id}"));
    assert_eq!(gone.send().await.unwrap().status(), 204);
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let long = format!("openai:{}", "x".repeat(300));
    for unknown in [
        id,
        "nope",
        "small",
        "",
        "\0",
        "openai:a\nb",
        "openai:",
        &long,
    ] {
        let turn = json!({"text": "private", "modelId": unknown});
        let (status, error) = server.post(&path, turn).await;
        assert_eq!(status, 404, "{unknown:?}: {error}");
    }
    let test = server.request("POST", "/api/models/nope/test").send().await;
    assert_eq!(test.unwrap().status(), 404);
    assert!(far.asked().is_empty());
}

#[tokio::test]
async fn a_model_that_cannot_be_asked_now_says_why() {
    let data = tempfile::tempdir().unwrap();
    let fake = Fake::default();
    let environment = Environment {
        openai_base_url: Some(fake.start().await),
        ..Environment::default()
    };
    let config = |environment| Config {
        local_models: Some(Vec::new()),
        environment,
        ..Config::default()
    };
    let server = Server::in_folder(data.path(), config(environment)).await;
    let path = "/api/models/openai:small";
    let (status, _) = send(&server, "PATCH", path, json!({"isDefault": true})).await;
    assert_eq!(status, 200);
    drop(server);

    let server = Server::in_folder(data.path(), config(Environment::default())).await;
    let (_, model) = server.get(path).await;
    let why = model["unusable"]["message"].as_str().unwrap();
    assert!(why.contains("is no longer set in the environment"), "{why}");
    // It stays the default, and a message is told so instead of going elsewhere.
    let (_, info) = server.get("/api/info").await;
    assert_eq!(info["model"]["id"], "openai:small");
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}/turns");
    let (status, error) = server.post(&path, json!({"text": "hi"})).await;
    assert_eq!(status, 404, "{error}");
}

#[tokio::test]
async fn what_cannot_be_a_model_is_refused_in_words() {
    let server = Server::start().await;
    let check = async |change: Value, expected: &str| {
        let mut new =
            json!({"provider": "openai", "baseUrl": "http://localhost:1/v1", "model": "m"});
        for (name, value) in change.as_object().unwrap() {
            new[name] = value.clone();
        }
        let (status, error) = server.post("/api/models", new).await;
        let message = error["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(status, 400, "{change}: {error}");
        assert!(message.contains(expected), "{change}: {message}");
    };
    check(json!({"model": " "}), "which model").await;
    check(json!({"model": "x".repeat(1_000)}), "which model").await;
    check(json!({"name": "evil \u{202e}eman"}), "on one line").await;
    check(
        json!({"baseUrl": format!("http://{}/v1", "x".repeat(3_000))}),
        "too long",
    )
    .await;
    let currency = json!({"currency": "\u{1b}[31m", "input": 1, "output": 1});
    check(json!({"prices": currency}), "currency").await;
    check(json!({"baseUrl": "ftp://x"}), "not an address").await;
    check(
        json!({"baseUrl": "http://user:pass@x/v1"}),
        "Leave the user name and password out",
    )
    .await;
    check(json!({"key": "two words"}), "not a key").await;
    check(json!({"key": "sk-\u{e9}"}), "not a key").await;
    check(json!({"name": "x".repeat(300)}), "200 characters").await;
    check(json!({"contextTokens": 3}), "tokens").await;
    check(
        json!({"parameters": {"messages": []}}),
        "`messages` is not a parameter",
    )
    .await;
    check(
        json!({"prices": {"currency": "", "input": 1, "output": 1}}),
        "currency",
    )
    .await;
    check(
        json!({"prices": {"currency": "USD", "input": -1, "output": 1}}),
        "not negative",
    )
    .await;
    check(
        json!({"provider": "anthropic", "toolMode": "constrained"}),
        "chat completions",
    )
    .await;
    check(json!({"provider": "nobody"}), "unknown variant").await;
    check(json!({"surprise": 1}), "unknown field").await;
    let (status, _) = send(
        &server,
        "PATCH",
        "/api/models/builtin",
        json!({"name": "x"}),
    )
    .await;
    assert_eq!(status, 400);
    let (status, _) = send(
        &server,
        "PATCH",
        "/api/models/nothing",
        json!({"name": "x"}),
    )
    .await;
    assert_eq!(status, 404);
    let deleted = server
        .request("DELETE", "/api/models/builtin")
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 400);
    let chat = server.new_chat().await;
    let turn = json!({"text": "hi", "modelId": "nothing"});
    let (status, error) = server.post(&format!("/api/chats/{chat}/turns"), turn).await;
    assert_eq!(status, 404);
    assert!(
        error.to_string().contains("There is no model `nothing`"),
        "{error}"
    );
}

#[tokio::test]
async fn models_of_the_environment_and_of_this_machine_are_there_by_themselves() {
    let (near, far) = (Fake::default(), Fake::default());
    let config = Config {
        local_models: Some(vec![near.start().await, "http://127.0.0.1:1".into()]),
        environment: Environment {
            openai_base_url: Some(far.start().await),
            openai_api_key: Some(KEY.into()),
            anthropic_base_url: Some("http://127.0.0.1:1".into()),
            ..Environment::default()
        },
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let (_, list) = server.get("/api/models").await;
    let found: Vec<(&str, &str)> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|model| {
            (
                model["origin"].as_str().unwrap(),
                model["name"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("builtin", "Built-in assistant"),
        ("environment", "large/one"),
        ("environment", "small"),
        ("local", "large/one"),
        ("local", "small"),
    ];
    assert_eq!(found, expected);

    // What the environment names and does not answer is said; what might run here and does not is
    // no news.
    let (_, endpoints) = server.get("/api/endpoints").await;
    let endpoints = endpoints.as_array().unwrap();
    assert_eq!(endpoints.len(), 3, "{endpoints:?}");
    assert!(
        endpoints[1]["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Nothing answers")
    );

    // One click makes it the default, with the environment's key, and nothing of it is stored.
    let path = "/api/models/openai:large%2Fone";
    let (status, chosen) = send(&server, "PATCH", path, json!({"isDefault": true})).await;
    assert_eq!(status, 200, "{chosen}");
    assert_eq!(
        (&chosen["saved"], &chosen["isDefault"]),
        (&json!(true), &json!(true))
    );
    let chat = server.new_chat().await;
    server.ask(&chat, "hi").await;
    let (headers, body) = far.asked().last().cloned().unwrap();
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(body["model"], "large/one");
    let (status, error) = send(&server, "PATCH", path, json!({"baseUrl": "http://evil/v1"})).await;
    assert_eq!(status, 400, "{error}");

    let gone = server.request("DELETE", path).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    let (_, list) = server.get("/api/models").await;
    assert_eq!(list.as_array().unwrap().len(), 5);
    assert_eq!(list[0]["isDefault"], true);
}
