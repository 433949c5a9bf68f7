//! Servers that only the client reaches, pictures, and chats that keep a conversation on record.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::Message;
use tenon_llm::scripted::{ScriptStep, Scripted};

use crate::peer::{installed, ours};
use crate::people::Person;
use crate::server::{Server, TEST_TIMEOUT};

const READ: &str = "local_Diary_read";

const PIXEL: &str = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

fn diary() -> Value {
    let day = json!({"name": "day", "in": "path", "required": true, "schema": {"type": "string"}});
    json!({"url": "http://localhost:9/diary", "openapi": {
        "openapi": "3.1.0", "info": {"title": "Diary", "version": "1"},
        "paths": {"/days/{day}": {"get": {"operationId": "read", "parameters": [day]}}},
    }})
}

fn read_monday() -> ScriptStep {
    ScriptStep::call(1, READ, &json!({"day": "Monday"}))
}

fn says(text: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(text), ScriptStep::stop()]
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn result(call: &Value, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": call["id"], "content": content})
}

#[tokio::test]
async fn official_clients_show_pictures_run_their_own_tools_and_keep_chats() {
    let script = || {
        [
            says("A pixel."),
            vec![read_monday(), ScriptStep::stop()],
            says("It rained."),
            vec![read_monday(), ScriptStep::stop()],
            says("I will."),
        ]
    };
    let server = Server::with_accounts(script().into_iter().chain(script())).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (_, shown) = ada.key("use").await.shows.unwrap();
    let key = shown.strip_prefix("Bearer ").unwrap();
    let base = format!("http://{}/v1", server.address);
    let mut python = tokio::process::Command::new(installed("venv/bin/python"));
    python.arg(ours("openai/doors.py"));
    let mut node = tokio::process::Command::new("node");
    node.arg(ours("openai/doors.mjs"))
        .arg(installed("node/node_modules"));
    for mut client in [python, node] {
        let (_, chat) = ada.post("/api/chats", json!({})).await;
        let chat = chat["id"].as_str().unwrap();
        let output = client.args([&base, key, chat]).kill_on_drop(true).output();
        let output = tokio::time::timeout(TEST_TIMEOUT * 3, output);
        let output = output.await.unwrap().unwrap();
        let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
        let expected = json!({
            "picture": "A pixel.",
            "call": ["tool_calls", READ, {"day": "Monday"}],
            "request": ["read", "http://localhost:9/diary/days/Monday"],
            "answer": "It rained.",
            "streamed": [READ, "tool_calls"],
            "recorded": "I will.",
            "foreign": [404, "chat_id"],
        });
        assert_eq!(saw, expected);
        let (_, messages) = ada.get(&format!("/api/chats/{chat}/messages")).await;
        let texts = messages.as_array().unwrap().iter();
        let texts: Vec<&Value> = texts.map(|message| &message["parts"][0]["text"]).collect();
        assert_eq!(texts, ["Remember me.", "I will."]);
    }
}

#[tokio::test]
async fn what_tenon_called_before_is_known_when_the_client_comes_back() {
    let sum = || ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"}));
    let invalid = ScriptStep::call(0, READ, &json!({}));
    let model = Arc::new(Scripted::new([
        vec![sum(), ScriptStep::stop()],
        // What does not fit goes back to the model, and not to the client.
        vec![invalid, ScriptStep::stop()],
        vec![sum(), read_monday(), ScriptStep::stop()],
        says("42 drops."),
    ]));
    let server = Server::with_model(model.clone()).await;
    let ask = |messages: Value| json!({"messages": messages, "tool_servers": [diary()]});
    let said = user("How many drops on Monday?");
    let (status, answer) = server
        .post("/v1/chat/completions", ask(json!([said])))
        .await;
    assert_eq!(status, 200, "{answer}");
    let message = &answer["choices"][0]["message"];
    let calls = message["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "{answer}");
    let rest = json!([said, message, result(&calls[0], "many")]);
    let (_, answer) = server.post("/v1/chat/completions", ask(rest)).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "42 drops.");
    let told = &model.requests()[3].messages;
    let calls: Vec<String> = told
        .iter()
        .filter_map(|message| match message {
            Message::Tools { answers } => Some(answers),
            Message::User { .. } | Message::Assistant { .. } => None,
        })
        .flatten()
        .map(|answer| match &answer.result {
            Ok(output) => output.to_text(),
            Err(error) => format!("{:?}", error.kind),
        })
        .collect();
    assert_eq!(calls, ["42", "InvalidInput", "42", "many"]);
}

#[tokio::test]
async fn a_chat_waits_for_the_calls_of_its_client_and_keeps_their_results() {
    let server =
        Server::scripted([vec![read_monday(), ScriptStep::stop()], says("It rained.")]).await;
    let (_, chat) = server.post("/api/chats", json!({})).await;
    let ask = |messages: Value| json!({"messages": messages, "tool_servers": [diary()], "chat_id": chat["id"]});
    let said = user("And Monday?");
    let (status, answer) = server
        .post("/v1/chat/completions", ask(json!([said])))
        .await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    let message = &answer["choices"][0]["message"];
    // Meanwhile nothing else is said in it.
    let (status, busy) = server
        .post("/v1/chat/completions", ask(json!([said])))
        .await;
    assert_eq!((status, &busy["error"]["code"]), (409, &json!("busy")));
    let call = &message["tool_calls"][0];
    let rest = ask(json!([said, message, result(call, "rain")]));
    let (status, answer) = server.post("/v1/chat/completions", rest.clone()).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], "It rained.");
    let path = format!("/api/chats/{}/messages", chat["id"].as_str().unwrap());
    let (_, messages) = server.get(&path).await;
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(call["status"], "done", "{messages}");
    assert_eq!(call["output"]["content"][0]["text"], "rain");
    assert_eq!(messages[2]["parts"][0]["text"], "It rained.");
    let (status, late) = server.post("/v1/chat/completions", rest).await;
    let code = &late["error"]["code"];
    assert_eq!((status, code), (409, &json!("no_pending_calls")));
}

#[tokio::test]
async fn a_page_of_the_caller_makes_the_calls_where_it_is_named() {
    let server =
        Server::with_accounts([vec![read_monday(), ScriptStep::stop()], says("It rained.")]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut page = ada.socket().await.unwrap();
    let registration = crate::local::registration("device-of-ada", "page-of-ada");
    page.send(&registration.to_string()).await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;
    let ask = json!({
        "messages": [user("And Monday?")], "tool_servers": [diary()], "session_id": "page-of-ada",
    });
    let (_, devices) = ada.get("/api/devices").await;
    assert_eq!(devices[0]["pages"], json!(["page-of-ada"]));
    // It could be sent anything, so a key that only uses tools is not enough.
    let key = ada.key("use").await;
    let (status, refused) = key.post("/v1/chat/completions", ask.clone()).await;
    let code = &refused["error"]["code"];
    assert_eq!((status, code), (403, &json!("key_without_settings")));
    // A page of somebody else is none.
    let (status, refused) = bob.post("/v1/chat/completions", ask.clone()).await;
    let param = &refused["error"]["param"];
    assert_eq!((status, param), (400, &json!("session_id")), "{refused}");
    let asking = ada.post("/v1/chat/completions", ask);
    let working = async {
        let heard = page.until(|frame| frame["type"] == "execute:tool").await;
        let order = heard.last().unwrap();
        let request = json!(order["request"]["url"]);
        assert_eq!(request, "http://localhost:9/diary/days/Monday");
        assert_eq!(order["server_url"], "http://localhost:9/diary");
        let answer = json!({
            "type": "tool:result", "call_id": order["call_id"], "status": 200,
            "headers": [["content-type", "text/plain"]], "body": {"type": "text", "text": "rain"},
        });
        page.send(&answer.to_string()).await;
    };
    let ((status, answer), ()) = tokio::join!(asking, working);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], "It rained.");
}

#[tokio::test]
async fn a_chat_keeps_the_pictures_of_its_user() {
    let model = Arc::new(Scripted::new([says("A pixel."), says("Still one.")]));
    let server = Server::with_model(model.clone()).await;
    let (_, chat) = server.post("/api/chats", json!({})).await;
    let picture = json!({"type": "image_url", "image_url": {"url": PIXEL}});
    let said = json!({"role": "user", "content": [picture]});
    let (status, answer) = server
        .post(
            "/v1/chat/completions",
            json!({"messages": [said], "chat_id": chat["id"]}),
        )
        .await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = server
        .post(
            "/v1/chat/completions",
            json!({"messages": [user("And now?")], "chat_id": chat["id"]}),
        )
        .await;
    assert_eq!(status, 200, "{answer}");
    let requests = model.requests();
    let Some(Message::User { text, images, .. }) = requests[1].messages.first() else {
        panic!("the first message");
    };
    assert_eq!((text.as_str(), images.len()), ("", 1));
    let path = format!("/api/chats/{}/messages", chat["id"].as_str().unwrap());
    let (_, messages) = server.get(&path).await;
    assert_eq!(messages[0]["parts"][0]["mediaType"], "image/gif");
}

#[tokio::test]
async fn pictures_are_refused_by_name_where_they_cannot_be_shown() {
    let server = Server::start().await;
    let ask = |url: &str| {
        let picture = json!({"type": "image_url", "image_url": {"url": url}});
        json!({"messages": [{"role": "user", "content": [picture]}]})
    };
    let check = async |url: &str, code: &str, param: &str| {
        let (status, refused) = server.post("/v1/chat/completions", ask(url)).await;
        assert_eq!(status, 400, "{refused}");
        let error = &refused["error"];
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!(code), &json!(param))
        );
    };
    check(PIXEL, "model_without_images", "messages").await;
    check("https://example.com/a.png", "invalid_value", "image_url").await;
    check("data:text/plain;base64,aGk=", "invalid_value", "image_url").await;
    // One that is not this user's is as good as none.
    let (status, _) = server
        .post("/v1/chat/completions", ask("/api/blobs/no-such"))
        .await;
    assert_eq!(status, 400, "the built-in assistant sees nothing at all");
}
