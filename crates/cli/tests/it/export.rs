//! Chats as files, and back.

use futures::StreamExt;
use serde_json::{Value, json};
use tenon_domain::{ChatId, ToolSettings, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::LOCAL;

use crate::attachments::{send_message, upload};
use crate::server::{Server, answer};

async fn import(server: &Server, file: &Value) -> (u16, Value) {
    server.post("/api/chats/import", file.clone()).await
}

/// The same under ids that count from one.
fn renumbered(chat: &Value) -> Value {
    let mut text = chat.to_string();
    let mut ids: Vec<String> = Vec::new();
    for turn in chat["turns"].as_array().unwrap() {
        ids.push(turn["id"].to_string());
        for message in turn["messages"].as_array().unwrap() {
            ids.push(message["id"].to_string());
            let calls = message["toolCalls"].as_array().unwrap();
            ids.extend(calls.iter().map(|call| call["id"].to_string()));
        }
    }
    for (number, id) in ids.iter().enumerate() {
        text = text.replace(id, &format!("\"id-{number}\""));
    }
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn an_exported_chat_comes_back_as_it_was() {
    let server = Server::scripted([
        vec![
            ScriptStep::text("I shall count."),
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"})),
            ScriptStep::call(1, "builtin_calculate", &json!({"expression": "6*"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("东京：42"), ScriptStep::stop()],
        vec![ScriptStep::text("And on."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    server.ask(&chat, "数到 42?").await;
    let path = format!("/api/chats/{chat}/export");
    let response = server.request("GET", &path).send().await.unwrap();
    assert_eq!(
        response.headers()["content-disposition"],
        "attachment; filename=\"__ 42.json\"; filename*=UTF-8''%E6%95%B0%E5%88%B0%2042.json"
    );
    let (_, exported) = answer(response).await;
    assert_eq!(exported["format"], "tenon.chat");

    let (status, imported) = import(&server, &exported).await;
    assert_eq!(status, 201, "{imported}");
    let copy = imported["id"].as_str().unwrap();
    assert_ne!(copy, chat);
    assert_eq!(imported["title"], "数到 42?");
    assert_eq!(imported["createdAt"], exported["createdAt"]);
    let (_, again) = server
        .get(&format!("/api/chats/{copy}/export?format=json"))
        .await;
    assert_eq!(renumbered(&again), renumbered(&exported));
    assert_ne!(again["turns"][0]["id"], exported["turns"][0]["id"]);

    // It is found, and goes on.
    let (_, hits) = server.get("/api/search?q=东京").await;
    assert_eq!(hits.as_array().unwrap().len(), 2);
    let frames = server.ask(copy, "and then?").await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
    let (_, went_on) = server.get(&format!("/api/chats/{copy}/export")).await;
    assert_eq!(went_on["turns"][1]["parent"], again["turns"][0]["id"]);

    let markdown = server
        .request("GET", &format!("{path}?format=markdown"))
        .send()
        .await
        .unwrap();
    let text = markdown.text().await.unwrap();
    assert!(text.contains("> **Math/Calculate** (done, "), "{text}");
    assert_eq!(server.get(&format!("{path}?format=pdf")).await.0, 400);
}

fn file(turns: Value) -> Value {
    json!({"format": "tenon.chat", "version": 1, "title": "x", "createdAt": 5, "turns": turns})
}

fn turn(id: &str) -> Value {
    json!({"id": id, "messages": [
        {"id": format!("{id}-1"), "role": "user", "createdAt": 6, "parts": [{"type": "text", "text": "hi"}]},
        {"id": format!("{id}-2"), "role": "assistant", "createdAt": 7, "parts": [
            {"type": "text", "text": "ho", "kept": {"maker": "m", "block": {"signature": "s"}}},
            {"type": "opaque", "kept": {"maker": "m", "block": 1}},
            {"type": "call", "id": format!("{id}-c"), "toolId": "a b", "input": {}}],
         "toolCalls": [{"id": format!("{id}-c"), "messageId": format!("{id}-2"), "toolId": "a b",
            "displayName": "A\0", "runsOn": "server", "input": {}, "status": "running"}]},
    ]})
}

fn changed(mut value: Value, pointer: &str, to: Value) -> Value {
    *value.pointer_mut(pointer).unwrap() = to;
    value
}

#[tokio::test]
async fn branches_come_along_and_what_was_open_is_ended() {
    let server = Server::start().await;
    let mut second = turn("b");
    second["parent"] = json!("a");
    let mut beside = turn("c");
    beside["parent"] = json!("a");
    let mut whole = file(json!([turn("a"), second, beside]));
    whole["head"] = json!("b");
    whole["createdAt"] = json!(i64::MAX);
    let blob = json!({"content": [{"type": "blob", "blobId": "x", "mediaType": "text/plain", "bytes": 9}]});
    let call = "/turns/2/messages/1/toolCalls/0";
    whole.pointer_mut(call).unwrap()["output"] = blob;
    let whole = changed(whole, &format!("{call}/status"), json!("done"));

    let (status, imported) = import(&server, &whole).await;
    assert_eq!(status, 201, "{imported}");
    let chat = imported["id"].as_str().unwrap();
    let (_, back) = server.get(&format!("/api/chats/{chat}/export")).await;
    let turns = back["turns"].as_array().unwrap();
    assert_eq!(back["head"], turns[1]["id"]);
    assert_eq!(
        (&turns[1]["parent"], &turns[2]["parent"]),
        (&turns[0]["id"], &turns[0]["id"])
    );
    assert_eq!(turns[0]["outcome"]["kind"], "interrupted");
    let answer = &turns[0]["messages"][1];
    assert_eq!(answer["toolCalls"][0]["status"], "lost");
    assert_eq!(answer["toolCalls"][0]["toolId"], "a_b");
    assert_eq!(answer["toolCalls"][0]["displayName"], "A\u{FFFD}");
    assert_eq!(answer["parts"].as_array().unwrap().len(), 2);
    assert_eq!(answer["createdAt"], 7);
    assert!(!back.to_string().contains("signature"));
    assert_eq!(
        turns[2]["messages"][1]["toolCalls"][0]["output"]["content"][0]["text"],
        "[9 bytes of text/plain did not come along with this chat]"
    );
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let on_show: Vec<&Value> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["turnId"])
        .collect();
    assert_eq!(
        on_show,
        [
            &turns[0]["id"],
            &turns[0]["id"],
            &turns[1]["id"],
            &turns[1]["id"]
        ]
    );
    assert!(server.app.store.open_turns().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_broken_file_is_refused_and_leaves_nothing_behind() {
    let server = Server::start().await;
    let good = file(json!([turn("a")]));
    let with_parent = |parent: &str| {
        let mut turn = turn("b");
        turn["parent"] = json!(parent);
        turn
    };
    let mut headless = good.clone();
    headless["head"] = json!("nobody");
    let broken = [
        json!(null),
        json!([]),
        json!({}),
        json!({"format": "tenon.chat"}),
        changed(good.clone(), "/format", json!("other")),
        changed(good.clone(), "/version", json!(2)),
        changed(good.clone(), "/version", json!(-1)),
        changed(good.clone(), "/turns", json!({})),
        changed(good.clone(), "/turns/0/messages", json!([])),
        changed(good.clone(), "/turns/0/messages/0/role", json!("assistant")),
        changed(good.clone(), "/turns/0/messages/1/role", json!("user")),
        changed(good.clone(), "/turns/0/messages/1/role", json!("system")),
        changed(good.clone(), "/turns/0/messages/1/id", json!("a-1")),
        changed(good.clone(), "/turns/0/messages/1/createdAt", json!(1e99)),
        changed(
            good.clone(),
            "/turns/0/messages/1/parts/2/id",
            json!("other"),
        ),
        changed(
            good.clone(),
            "/turns/0/messages/1/parts/2",
            json!({"type": "text", "text": ""}),
        ),
        changed(
            good.clone(),
            "/turns/0/messages/1/parts/0",
            json!({"type": "call", "id": "a-c", "toolId": "t", "input": 1}),
        ),
        changed(good.clone(), "/turns/0/messages/1/toolCalls", json!([])),
        changed(
            good.clone(),
            "/turns/0/messages/1/toolCalls/0/messageId",
            json!("a-1"),
        ),
        changed(
            good.clone(),
            "/turns/0/messages/1/toolCalls/0/status",
            json!("gone"),
        ),
        changed(
            good.clone(),
            "/turns/0/messages/0/parts",
            json!([{"type": "thinking", "text": ""}]),
        ),
        headless,
        file(json!([turn("a"), turn("a")])),
        file(json!([with_parent("b")])),
        file(json!([with_parent("a"), turn("a")])),
    ];
    for file in broken {
        let (status, refused) = import(&server, &file).await;
        assert_eq!(status, 400, "{file:#}\n{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("This file cannot be imported. ") && message.ends_with('.'),
            "{message}"
        );
    }
    let message = &turn("a")["messages"][0];
    let mut many = turn("a");
    many["messages"] = vec![message.clone(); 10_001].into();
    let many = file(json!([many])).to_string();
    let values = format!("[{}0]", "0,".repeat(1_200_000));
    for (text, words) in [(many, "10001 messages"), (values, "more values")] {
        let request = server.request("POST", "/api/chats/import").body(text);
        let (status, refused) = answer(request.send().await.unwrap()).await;
        assert_eq!(status, 400);
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for text in ["", "{", "\u{0}", &deep] {
        let request = server
            .request("POST", "/api/chats/import")
            .body(text.to_owned());
        assert_eq!(
            answer(request.send().await.unwrap()).await.0,
            400,
            "{:.20}",
            text
        );
    }
    let (_, later) = import(&server, &changed(good.clone(), "/version", json!(2))).await;
    let message = later["error"]["message"].as_str().unwrap();
    assert!(message.contains("version 2"), "{message}");
    assert_eq!(server.get("/api/chats").await.1, json!([]));

    // A file longer than other requests may be is taken, one beyond the bound is not.
    let long = changed(
        good.clone(),
        "/turns/0/messages/0/parts/0/text",
        json!("字".repeat(1_500_000)),
    );
    assert_eq!(import(&server, &long).await.0, 201);
    let request = server
        .request("POST", "/api/chats/import")
        .body(vec![b' '; 49 * 1024 * 1024]);
    match request.send().await {
        Ok(refused) => {
            assert_eq!(refused.status(), 413);
            let told = refused.text().await.unwrap();
            assert!(told.contains("chat_import_too_large"), "{told}");
        }
        // It hung up while we were still talking.
        Err(error) => assert!(error.is_request() || error.is_body(), "{error}"),
    }
}

#[tokio::test]
async fn what_is_set_for_a_chat_comes_along_by_name() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let (_, folder) = server.post("/api/folders", json!({"name": "Launch"})).await;
    let (status, expert) = server
        .post("/api/experts", json!({"name": "tides", "title": "Tides"}))
        .await;
    assert_eq!(status, 201, "{expert}");
    let change = json!({"folderId": folder["id"], "expertId": expert["id"], "pinned": true, "archived": true});
    let path = format!("/api/chats/{chat}");
    let (status, summary) = server.patch(&path, change).await;
    assert_eq!(status, 200, "{summary}");
    let set = json!({"instructions": "Be brief.", "parameters": {"temperature": 0.5}});
    let setting = server
        .request("PUT", &format!("{path}/settings"))
        .json(&set);
    assert_eq!(answer(setting.send().await.unwrap()).await.0, 200);

    let (_, exported) = server.get(&format!("{path}/export")).await;
    let settings = json!({
        "instructions": "Be brief.", "parameters": {"temperature": 0.5},
        "expert": "tides", "folder": "Launch", "pinned": true, "archived": true,
    });
    assert_eq!(exported["settings"], settings);
    let (_, imported) = import(&server, &exported).await;
    let copy = imported["id"].as_str().unwrap();
    let (_, again) = server.get(&format!("/api/chats/{copy}/export")).await;
    assert_eq!(again["settings"], settings);
    assert_eq!(imported["folderId"], folder["id"]);

    // Elsewhere the folder is made, and an expert that is not there is left out.
    let elsewhere = Server::start().await;
    let (status, imported) = import(&elsewhere, &exported).await;
    assert_eq!(status, 201, "{imported}");
    import(&elsewhere, &exported).await;
    let (_, folders) = elsewhere.get("/api/folders").await;
    assert_eq!(folders.as_array().unwrap().len(), 1, "{folders}");
    assert_eq!(
        (&folders[0]["name"], &folders[0]["id"]),
        (&json!("Launch"), &imported["folderId"])
    );
    assert_eq!(imported["expertId"], Value::Null);

    let refused = [
        (
            "/settings/instructions",
            json!("x".repeat(8_001)),
            "instructions_too_long",
        ),
        (
            "/settings/parameters",
            json!({"temperature": 99}),
            "expert_temperature",
        ),
        ("/settings/folder", json!("two\nlines"), "folder_name"),
    ];
    for (pointer, to, code) in refused {
        let (status, refused) = import(&elsewhere, &changed(exported.clone(), pointer, to)).await;
        let why = &refused["error"]["params"]["why"];
        assert_eq!(
            (status, &why["code"]),
            (400, &json!("chat_import_settings"))
        );
        assert_eq!(why["params"]["why"]["code"], code, "{refused}");
    }
}

#[tokio::test]
async fn the_largest_chat_that_is_exported_with_its_files_comes_back() {
    let server = Server::scripted([vec![ScriptStep::text("Done."), ScriptStep::stop()]]).await;
    let chat = server.new_chat().await;
    // Bytes that are no text.
    let (_, file) = upload(&server, "data.bin", &vec![0; 20 * 1024 * 1024]).await;
    let message = json!({"text": "Keep this.", "fileIds": [file["id"]]});
    send_message(&server, &chat, message).await;
    let (status, mut exported) = server
        .get(&format!("/api/chats/{chat}/export?files=true"))
        .await;
    assert_eq!(status, 200);
    exported["turns"][0]["messages"][1]["parts"][0]["text"] = json!("word ".repeat(1_200_000));
    let (status, imported) = import(&server, &exported).await;
    assert_eq!(status, 201, "{imported}");
}

#[tokio::test]
async fn nobody_waits_for_a_file_that_somebody_else_sends_slowly() {
    let server = Server::start().await;
    let beginning = futures::stream::iter([Ok::<_, std::io::Error>("{")]);
    let slow = reqwest::Body::wrap_stream(beginning.chain(futures::stream::pending()));
    let request = server.request("POST", "/api/chats/import").body(slow);
    let sending = tokio::spawn(request.send());
    for _ in 0..5 {
        let (status, imported) = import(&server, &file(json!([turn("a")]))).await;
        assert_eq!(status, 201, "{imported}");
    }
    assert!(!sending.is_finished());
    sending.abort();
}

#[tokio::test]
async fn a_file_allows_no_tool_and_forges_no_entry_of_the_log() {
    let server = Server::start().await;
    for verdict in ["once", "chat", "always", "denied"] {
        let mut whole = file(json!([turn("a")]));
        let call = whole.pointer_mut("/turns/0/messages/1/toolCalls/0");
        let call = call.unwrap();
        call["verdict"] = json!(verdict);
        call["status"] = json!("done");
        let (status, imported) = import(&server, &whole).await;
        assert_eq!(status, 201, "{imported}");
        let chat = ChatId::new(imported["id"].as_str().unwrap());
        let user = UserId::new(LOCAL);
        let settings = server.app.store.tool_settings(&user, None, Some(&chat));
        let settings = settings.await.unwrap();
        assert_eq!(settings, ToolSettings::default().into(), "{verdict}");
        let (_, noted) = server.get("/api/audit?limit=1").await;
        assert_eq!(noted[0]["action"], "chat.imported");
        assert_eq!(noted[0]["subject"], imported["id"]);
    }
    let (_, called) = server.get("/api/audit?action=tool.").await;
    assert_eq!(called, json!([]));
}
