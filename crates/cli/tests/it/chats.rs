//! The list of chats: pages, pins, drawers, and what was deleted by mistake.

use std::time::Duration;

use serde_json::{Value, json};
use tenon_domain::{ChatId, UserId};
use tenon_llm::scripted::ScriptStep;

use crate::server::{Page, Server, answer};

async fn patch(server: &Server, chat: &str, change: Value) -> (u16, Value) {
    let request = server.request("PATCH", &format!("/api/chats/{chat}"));
    answer(request.json(&change).send().await.unwrap()).await
}

pub async fn delete(server: &Server, path: &str) -> u16 {
    let answer = server.request("DELETE", path).send().await.unwrap();
    answer.status().as_u16()
}

fn ids(chats: &Value) -> Vec<&str> {
    let chats = chats.as_array().unwrap().iter();
    chats.map(|chat| chat["id"].as_str().unwrap()).collect()
}

fn cursor(chats: &Value) -> String {
    let last = chats.as_array().unwrap().last().unwrap();
    format!("{}.{}", last["updatedAt"], last["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_list_is_read_page_by_page_while_it_changes() {
    let server = Server::start().await;
    let mut made = Vec::new();
    for _ in 0..7 {
        made.insert(0, server.new_chat().await);
    }
    let (_, first) = server.get("/api/chats?limit=3").await;
    assert_eq!(ids(&first), made[..3]);

    // One that was listed already is written to, one is made, one that was listed goes.
    patch(&server, &made[1], json!({"title": "newer"})).await;
    server.new_chat().await;
    delete(&server, &format!("/api/chats/{}", made[2])).await;
    let path = format!("/api/chats?limit=3&before={}", cursor(&first));
    let (_, second) = server.get(&path).await;
    assert_eq!(ids(&second), made[3..6]);
    let path = format!("/api/chats?limit=3&before={}", cursor(&second));
    let (_, third) = server.get(&path).await;
    assert_eq!(ids(&third), made[6..]);
    let path = format!("/api/chats?before={}", cursor(&third));
    assert_eq!(server.get(&path).await.1, json!([]));

    // More than there may be is the most there may be.
    assert_eq!(ids(&server.get("/api/chats?limit=9999").await.1).len(), 7);
    assert_eq!(ids(&server.get("/api/chats?limit=0").await.1).len(), 1);
    for bad in [
        "before=x",
        "before=5",
        "before=5.",
        "before=x.y",
        "before=5.%00",
        "limit=x",
        "limit=-1",
        "archived=perhaps",
    ] {
        let (status, body) = server.get(&format!("/api/chats?{bad}")).await;
        let code = if bad.starts_with("before") {
            "cursor_invalid"
        } else {
            "query_invalid"
        };
        assert_eq!(
            (status, &body["error"]["code"]),
            (400, &json!(code)),
            "{bad}"
        );
    }
}

#[tokio::test]
async fn pinned_chats_come_first_and_archived_ones_not_at_all() {
    let server = Server::start().await;
    let mut made = Vec::new();
    for _ in 0..4 {
        made.insert(0, server.new_chat().await);
    }
    let before = server.get(&format!("/api/chats/{}", made[2])).await.1;
    let (status, pinned) = patch(&server, &made[2], json!({"pinned": true})).await;
    assert_eq!((status, &pinned["pinned"]), (200, &json!(true)));
    assert_eq!(pinned["updatedAt"], before["updatedAt"], "it keeps its age");
    let (_, archived) = patch(&server, &made[0], json!({"archived": true})).await;
    assert_eq!(archived["archived"], true);

    let (_, first) = server.get("/api/chats?limit=1").await;
    assert_eq!(ids(&first), [&made[2], &made[1]]);
    let (_, rest) = server
        .get(&format!("/api/chats?before={}", cursor(&first)))
        .await;
    assert_eq!(ids(&rest), [&made[3]]);
    let (_, drawer) = server.get("/api/chats?archived=true").await;
    assert_eq!(ids(&drawer), [&made[0]]);

    // Who speaks in an archived chat wants it back.
    server.ask(&made[0], "hello").await;
    assert_eq!(server.get("/api/chats?archived=true").await.1, json!([]));
    let (_, all) = server.get("/api/chats").await;
    assert_eq!(ids(&all), [&made[2], &made[0], &made[1], &made[3]]);

    let (_, unpinned) = patch(&server, &made[2], json!({"pinned": false})).await;
    assert_eq!(unpinned["pinned"], false);
    assert_eq!(
        patch(&server, "nothing", json!({"pinned": true})).await.0,
        404
    );
    assert_eq!(patch(&server, "nothing", json!({})).await.0, 404);
    assert_eq!(patch(&server, &made[0], json!({"colour": 1})).await.0, 400);
    // A bad title changes nothing else either.
    let (status, _) = patch(&server, &made[0], json!({"title": " ", "pinned": true})).await;
    assert_eq!(status, 400);
    assert_eq!(
        server.get(&format!("/api/chats/{}", made[0])).await.1["pinned"],
        false
    );
}

#[tokio::test]
async fn a_deletion_can_be_undone_and_the_chat_goes_on() {
    let server = Server::scripted([
        vec![
            ScriptStep::call(0, "builtin_sleep", &json!({"seconds": 300})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Here again."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    let path = format!("/api/chats/{chat}");
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let turn = server.say(&chat, "sleep").await;
    page.until(|frame| frame["body"]["type"] == "callStarted")
        .await;

    assert_eq!(delete(&server, &path).await, 204);
    page.until(|frame| frame["type"] == "error").await;
    assert_eq!(delete(&server, &path).await, 404, "it is gone already");
    for (method, path) in [
        ("GET", path.clone()),
        ("PATCH", path.clone()),
        ("GET", format!("{path}/messages")),
        ("GET", format!("{path}/export")),
        ("GET", format!("{path}/share")),
        ("POST", format!("{path}/share")),
        ("POST", format!("{path}/turns")),
        ("POST", format!("/api/turns/{turn}/cancel")),
    ] {
        let request = server.request(method, &path).json(&json!({"text": "x"}));
        let request = if method == "PATCH" || path.ends_with("share") {
            request.json(&json!({}))
        } else {
            request
        };
        let (status, _) = answer(request.send().await.unwrap()).await;
        assert_eq!(status, 404, "{method} {path}");
    }
    assert_eq!(server.get("/api/chats").await.1, json!([]));
    assert_eq!(server.get("/api/search?q=sleep").await.1, json!([]));
    page.subscribe(&chat, 0).await;
    let refused = page.next().await.unwrap();
    assert_eq!(refused["error"]["code"], "not_found");

    let (status, restored) = server.post(&format!("{path}/restore"), json!({})).await;
    assert_eq!((status, &restored["title"]), (200, &json!("sleep")));
    let (status, _) = server.post(&format!("{path}/restore"), json!({})).await;
    assert_eq!(status, 404, "there is nothing to undo");
    server.settle(&chat).await;
    let frames = server.ask(&chat, "still there?").await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
}

#[tokio::test]
async fn what_is_removed_for_good_does_not_come_back() {
    let server = Server::start().await;
    let (kept, gone) = (server.new_chat().await, server.new_chat().await);
    delete(&server, &format!("/api/chats/{gone}")).await;
    server
        .app
        .agent
        .purge(Duration::from_secs(60))
        .await
        .unwrap();
    let restore = format!("/api/chats/{gone}/restore");
    assert_eq!(server.post(&restore, json!({})).await.0, 200, "not yet");
    delete(&server, &format!("/api/chats/{gone}")).await;
    server.app.agent.purge(Duration::ZERO).await.unwrap();
    assert_eq!(server.post(&restore, json!({})).await.0, 404);
    assert_eq!(ids(&server.get("/api/chats").await.1), [&kept]);
}

#[tokio::test]
async fn a_chat_that_waits_for_an_answer_says_so() {
    use tenon_domain::{CallId, CallRecord, EventBody, MessageId, RunsOn, ToolCall, ToolId};
    let server = Server::start().await;
    let chat = server.new_chat().await;
    server.ask(&chat, "hello").await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let call_id = CallId::new("waits");
    let message = MessageId::new(messages[1]["id"].as_str().unwrap());
    let call = ToolCall {
        id: call_id.clone(),
        tool_id: ToolId::new("t"),
        input: json!({}),
    };
    let call = CallRecord::requested(call, message, "t", RunsOn::Server);
    let store = &server.app.store;
    let happened = vec![
        EventBody::CallRequested { call },
        EventBody::CallAsked { call_id },
    ];
    store.append(&ChatId::new(&chat), happened).await.unwrap();
    let (_, chats) = server.get("/api/chats").await;
    assert_eq!(chats[0]["asking"], true);
    assert_eq!(
        server.get(&format!("/api/chats/{chat}")).await.1["asking"],
        true
    );
}

#[tokio::test]
async fn somebody_elses_chat_is_as_good_as_none() {
    let server = Server::start().await;
    let bob = UserId::new("bob");
    let chat = server
        .app
        .store
        .create_chat(&bob, "secret")
        .await
        .unwrap()
        .id;
    let path = format!("/api/chats/{chat}");
    assert_eq!(
        patch(&server, chat.as_str(), json!({"pinned": true}))
            .await
            .0,
        404
    );
    assert_eq!(
        patch(&server, chat.as_str(), json!({"title": "x"})).await.0,
        404
    );
    assert_eq!(delete(&server, &path).await, 404);
    for format in ["json", "markdown"] {
        assert_eq!(
            server
                .get(&format!("{path}/export?format={format}"))
                .await
                .0,
            404
        );
    }
    assert_eq!(server.get(&format!("{path}/share")).await.0, 404);
    assert_eq!(
        server.post(&format!("{path}/share"), json!({})).await.0,
        404
    );
    assert_eq!(delete(&server, &format!("{path}/share")).await, 404);
    assert_eq!(server.get("/api/chats").await.1, json!([]));
    assert_eq!(server.get("/api/search?q=secret").await.1, json!([]));
    server.app.agent.delete(&bob, &chat).await.unwrap();
    assert_eq!(
        server.post(&format!("{path}/restore"), json!({})).await.0,
        404
    );
    let title = server
        .app
        .store
        .restore_chat(&bob, &chat)
        .await
        .unwrap()
        .title;
    assert_eq!(title, "secret");
}
