//! Chats, turns and tools over HTTP.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenon_domain::{CallId, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{Blob, LOCAL};

use crate::server::{Page, Server, TEST_TIMEOUT, events};

#[tokio::test]
async fn a_question_is_answered_with_a_tool() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let frames = server.ask(&chat, "what time is it in Tokyo?").await;
    let called = events(&frames).iter().any(|event| {
        event["body"]["type"] == "callRequested"
            && event["body"]["call"]["toolId"] == "builtin_current_time"
    });
    assert!(called, "{frames:#?}");

    let (status, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(status, 200);
    assert_eq!(messages[0]["role"], "user");
    assert_eq!(messages[0]["text"], "what time is it in Tokyo?");
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(call["status"], "done");
    assert_eq!(call["displayName"], "Time/Current time");
    assert!(call["durationMs"].is_u64());
    let last = messages.as_array().unwrap().last().unwrap();
    assert!(last["text"].as_str().unwrap().contains("Tokyo"), "{last}");

    let (_, chats) = server.get("/api/chats").await;
    assert_eq!(chats[0]["title"], "what time is it in Tokyo?");
    assert!(chats[0]["running"].is_null());
}

#[tokio::test]
async fn the_first_words_are_in_the_script_of_the_page() {
    let server = Server::start().await;
    let check = async |language: Value, expected: &str| {
        let chat = server.new_chat().await;
        let turn = json!({"text": "你好", "language": language});
        let (status, _) = server.post(&format!("/api/chats/{chat}/turns"), turn).await;
        assert_eq!(status, 202);
        server.settle(&chat).await;
        let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
        let answer = messages[1]["text"].as_str().unwrap();
        assert!(answer.contains(expected), "{answer}");
    };
    check(json!("zh-Hant"), "內建助手").await;
    check(json!("zh-Hans"), "内置助手").await;
    check(Value::Null, "内置助手").await;
}

#[tokio::test]
async fn chats_are_made_named_and_deleted() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}");
    let renamed = server
        .request("PATCH", &path)
        .json(&json!({"title": " 东京 "}))
        .send()
        .await
        .unwrap();
    assert_eq!(renamed.status(), 200);
    assert_eq!(server.get(&path).await.1["title"], "东京");
    let refused = server
        .request("PATCH", &path)
        .json(&json!({"title": "  "}))
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 400);

    assert_eq!(
        server
            .request("DELETE", &path)
            .send()
            .await
            .unwrap()
            .status(),
        204
    );
    let (status, body) = server.get(&path).await;
    assert_eq!(status, 404);
    assert_eq!(body["error"]["code"], "not_found");
}

#[tokio::test]
async fn a_chat_takes_its_files_along_when_it_goes() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    server.ask(&chat, "write 'hello' to a.txt").await;
    let folder = server
        .app
        .agent
        .workspace(&tenon_domain::ChatId::new(&chat));
    assert_eq!(
        std::fs::read_to_string(folder.join("a.txt")).unwrap(),
        "hello"
    );
    server
        .request("DELETE", &format!("/api/chats/{chat}"))
        .send()
        .await
        .unwrap();
    assert!(folder.exists(), "the deletion may be undone");
    server
        .app
        .agent
        .purge(std::time::Duration::ZERO)
        .await
        .unwrap();
    assert!(!folder.exists());
}

#[tokio::test]
async fn tools_are_listed_as_scripts_expect_them() {
    let server = Server::start().await;
    let (status, tools) = server.get("/api/tools").await;
    assert_eq!(status, 200);
    let tools = tools.as_array().unwrap();
    let time = tools
        .iter()
        .find(|tool| tool["toolId"] == "builtin_current_time")
        .unwrap();
    assert_eq!(time["displayName"], "Time/Current time");
    assert_eq!(time["toolName"], "current_time");
    assert_eq!(time["runsOn"], "server");
    assert_eq!(time["enabled"], true);
    assert_eq!(time["policy"], "allow");
    assert_eq!(time["source"]["kind"], "builtin");
    assert_eq!(time["source"]["state"], "ready");
    assert_eq!(time["parameters"]["type"], "object");
}

#[tokio::test]
async fn a_tool_is_called_by_hand() {
    let server = Server::start().await;
    let call = |tool: &str, arguments: Value| {
        let path = format!("/api/tools/{tool}/call");
        let server = &server;
        async move { server.post(&path, json!({"arguments": arguments})).await }
    };
    let (status, answer) = call("builtin_calculate", json!({"expression": "6*7"})).await;
    assert_eq!(status, 200);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["content"], json!([{"type": "text", "text": "42"}]));
    assert!(answer["durationMs"].is_u64());

    let (status, answer) = call("builtin_calculate", json!({})).await;
    assert_eq!(status, 200, "a failed tool is an answer");
    assert_eq!(answer["ok"], false);
    // What Tenon itself says has a code.
    let expected = json!({
        "kind": "invalid_input",
        "code": "call_input_invalid",
        "message": "The input does not fit the tool's schema: `expression` is missing.",
        "params": {"problems": [{
            "code": "input_missing",
            "message": "`expression` is missing",
            "params": {"field": "`expression`"},
        }]},
    });
    assert_eq!(answer["error"], expected);

    let (_, answer) = call("builtin_calculate", json!({"expression": "6*"})).await;
    assert_eq!(
        answer["error"]["code"],
        Value::Null,
        "a tool says it: {answer}"
    );

    let (status, answer) = call("nothing_like_it", json!({})).await;
    assert_eq!(status, 404);
    assert_eq!(answer["error"]["code"], "tool_not_found");
}

#[tokio::test]
async fn a_call_by_hand_is_noted_when_the_client_has_hung_up() {
    let server = Server::start().await;
    let request = server
        .request("POST", "/api/tools/builtin_sleep/call")
        .json(&json!({"arguments": {"seconds": 2}}));
    let hung_up = request.timeout(Duration::from_millis(500)).send().await;
    assert!(hung_up.is_err_and(|error| error.is_timeout()));
    let started = Instant::now();
    loop {
        let (_, noted) = server.get("/api/audit?action=tool.called").await;
        if noted[0]["detail"]["status"] == "cancelled" {
            break;
        }
        assert!(started.elapsed() < TEST_TIMEOUT, "{noted}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn an_output_that_is_too_long_can_be_read_whole() {
    let write = |index, name: &str, size| {
        ScriptStep::call(
            index,
            "builtin_write_file",
            &json!({"path": name, "content": "字".repeat(size)}),
        )
    };
    let server = Server::scripted([
        vec![write(0, "big.txt", 400_000), ScriptStep::stop()],
        vec![
            ScriptStep::call(0, "builtin_read_file", &json!({"path": "big.txt"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Long."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    server.ask(&chat, "go").await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let output = &messages[2]["toolCalls"][0]["output"]["content"];
    let blob = output[1]["blobId"]
        .as_str()
        .unwrap_or_else(|| panic!("{messages:#}"));
    assert!(output[0]["text"].as_str().unwrap().len() < 20_000);

    let whole = server
        .request("GET", &format!("/api/blobs/{blob}"))
        .send()
        .await
        .unwrap();
    assert_eq!(whole.headers()["content-type"], "text/plain; charset=utf-8");
    assert!(whole.text().await.unwrap().contains(&"字".repeat(400_000)));
    assert_eq!(server.get("/api/blobs/nothing").await.0, 404);

    // The model's own way to it.
    let (_, page) = server
        .post(
            "/api/tools/builtin_read_result/call",
            json!({"arguments": {"blob_id": blob}}),
        )
        .await;
    assert_eq!(page["ok"], true, "{page}");
}

#[tokio::test]
async fn what_a_tool_gave_is_never_a_page_of_ours() {
    let server = Server::scripted([]).await;
    let owner = UserId::new(LOCAL);
    let check = async |media_type: &str, shown: &str, disposition: &str| {
        let blob = Blob {
            media_type: media_type.into(),
            data: b"<script>".to_vec(),
        };
        let by = CallId::new(media_type);
        let id = server.app.store.put_blob(&owner, &by, blob).await.unwrap();
        let answer = server.request("GET", &format!("/api/blobs/{id}"));
        let answer = answer.send().await.unwrap();
        let headers = answer.headers();
        assert_eq!(headers["content-type"], shown, "{media_type}");
        let disposed = headers["content-disposition"].to_str().unwrap();
        assert!(
            disposed.starts_with(disposition),
            "{media_type}: {disposed}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff");
    };
    check("text/html", "text/plain; charset=utf-8", "inline").await;
    check("image/svg+xml", "application/octet-stream", "attachment").await;
    check("image/png", "image/png", "inline").await;
    check("audio/wav", "audio/wav", "inline").await;
    check(
        "application/xhtml+xml",
        "application/octet-stream",
        "attachment",
    )
    .await;
    check(
        "image/png\r\nx-evil: 1",
        "application/octet-stream",
        "attachment",
    )
    .await;
}

#[tokio::test]
async fn what_is_wrong_is_said_in_one_shape() {
    let server = Server::scripted([vec![ScriptStep::Hang]]).await;
    let chat = server.new_chat().await;
    let turns = format!("/api/chats/{chat}/turns");
    let check = |answer: (u16, Value), status: u16, code: &str| {
        assert_eq!(answer.0, status, "{}", answer.1);
        assert_eq!(answer.1["error"]["code"], code);
        assert!(
            answer.1["error"]["message"]
                .as_str()
                .unwrap()
                .ends_with('.'),
            "{}",
            answer.1
        );
    };
    check(server.get("/api/nothing").await, 404, "no_such_address");
    check(server.get("/api/chats/nothing").await, 404, "not_found");
    check(server.get("/api/chats/%00").await, 404, "not_found");
    check(server.get("/api/chats/%FF").await, 404, "not_found");
    check(server.get("/api/ws").await, 426, "websocket_only");
    check(server.post("/health", json!({})).await, 405, "wrong_method");
    check(server.post("/", json!({})).await, 405, "wrong_method");
    check(
        server.post("/api/info", json!({})).await,
        405,
        "wrong_method",
    );
    check(
        server.post(&turns, json!({"text": "  "})).await,
        400,
        "message_empty",
    );
    check(
        server.post(&turns, json!({"txt": "x"})).await,
        400,
        "body_invalid",
    );
    check(
        server
            .post(&turns, json!({"text": "x", "modelId": "gpt"}))
            .await,
        404,
        "model_unknown",
    );
    check(
        server
            .post(&turns, json!({"text": "x".repeat(1_500_000)}))
            .await,
        413,
        "message_too_long",
    );
    check(
        server
            .post(&turns, json!({"text": "x".repeat(3_000_000)}))
            .await,
        413,
        "too_long",
    );
    check(
        server.post("/api/turns/nothing/cancel", json!({})).await,
        404,
        "not_found",
    );
    let plain = server
        .request("POST", &turns)
        .body("{")
        .send()
        .await
        .unwrap();
    check(crate::server::answer(plain).await, 400, "not_json");

    assert_eq!(server.post(&turns, json!({"text": "x"})).await.0, 202);
    check(server.post(&turns, json!({"text": "y"})).await, 409, "busy");
}

#[tokio::test]
async fn a_turn_is_stopped_and_the_chat_goes_on() {
    let server = Server::scripted([
        vec![
            ScriptStep::call(0, "builtin_sleep", &json!({"seconds": 300})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Awake."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turn = server.say(&chat, "sleep").await;
    page.until(|frame| frame["body"]["type"] == "callStarted")
        .await;
    assert_eq!(
        server
            .post(&format!("/api/turns/{turn}/cancel"), json!({}))
            .await
            .0,
        202
    );
    let frames = page.until_finished().await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "stopped");
    assert!(
        events(&frames)
            .iter()
            .any(|event| event["body"]["status"] == "cancelled")
    );

    let frames = server.ask(&chat, "still there?").await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
    assert!(
        events(&frames)
            .iter()
            .any(|event| event["body"]["parts"][0]["text"] == "Awake.")
    );
}

#[tokio::test]
async fn only_the_tools_that_are_on_are_offered() {
    let server = Server::scripted([
        vec![
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "1"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("ok"), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turn = json!({"text": "go", "toolIds": ["builtin_current_time"]});
    assert_eq!(
        server
            .post(&format!("/api/chats/{chat}/turns"), turn)
            .await
            .0,
        202
    );
    let frames = page.until_finished().await;
    let ended = events(&frames)
        .into_iter()
        .find(|e| e["body"]["type"] == "callFinished")
        .unwrap();
    assert_eq!(ended["body"]["error"]["kind"], "unknown_tool");
}

#[tokio::test]
async fn health_readiness_and_info_are_there() {
    let server = Server::start().await;
    assert_eq!(server.get("/health").await.1["status"], "ok");
    let (status, ready) = server.get("/ready").await;
    assert_eq!((status, ready["status"].as_str()), (200, Some("ready")));
    assert_eq!(ready["storage"], "ok");
    let (_, info) = server.get("/api/info").await;
    assert_eq!(info["model"]["builtin"], true);
    assert_eq!(info["model"]["name"], "Built-in assistant");
}

#[tokio::test]
async fn a_chat_that_is_being_answered_can_be_deleted() {
    let server = Server::scripted([vec![
        ScriptStep::text("Half a word"),
        ScriptStep::call(0, "builtin_sleep", &json!({"seconds": 300})),
        ScriptStep::stop(),
    ]])
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    server.say(&chat, "go").await;
    page.until(|frame| frame["body"]["type"] == "callStarted")
        .await;
    let deleted = server
        .request("DELETE", &format!("/api/chats/{chat}"))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 204);
    let last = page.until(|frame| frame["type"] == "error").await;
    assert_eq!(
        last.last().unwrap()["error"]["code"],
        "not_found",
        "pages that watch it are told"
    );
    assert_eq!(
        server.app.agent.feed().open_channels(),
        0,
        "nothing of it stays in memory"
    );
    assert!(
        server
            .app
            .agent
            .running(&tenon_domain::ChatId::new(&chat))
            .is_none()
    );
}
