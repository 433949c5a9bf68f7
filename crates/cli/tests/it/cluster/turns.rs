//! Turns at one server that are seen, stopped, answered and taken over at another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tenon_domain::FormAnswer;
use tenon_llm::scripted::ScriptStep;
use tokio::sync::Notify;

use super::{TestCluster, asked_call, follow, is_delta, new_chat, say, until};
use crate::form_tool::FormTool;
use crate::people::Person;

#[tokio::test]
async fn an_answer_is_seen_live_and_stopped_at_another_server() {
    let (first, second) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let cluster = TestCluster::start();
    let (a, b) = cluster
        .pair(
            vec![vec![
                ScriptStep::text("One, "),
                ScriptStep::WaitFor(first.clone()),
                ScriptStep::text("two, "),
                ScriptStep::WaitFor(second.clone()),
                ScriptStep::text("three."),
                ScriptStep::stop(),
            ]],
            Vec::new(),
        )
        .await;
    // A link from one may lead to the page of another.
    assert!(b.app.auth.setup.fits(&a.app.auth.setup.current()));
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    let turn = say(&ada, &chat).await;
    page.until(|frame| is_delta(frame, "One, ")).await;
    let (_, seen) = at_b.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(seen["running"], turn.as_str(), "{seen}");
    // In the middle: the text so far, then what follows.
    let mut late = at_b.socket().await.unwrap();
    late.subscribe(&chat, 0).await;
    late.until(|frame| is_delta(frame, "One, ")).await;
    first.notify_one();
    for page in [&mut page, &mut late] {
        page.until(|frame| is_delta(frame, "two, ")).await;
    }
    let (status, busy) = at_b
        .post(&format!("/api/chats/{chat}/turns"), json!({"text": "too"}))
        .await;
    assert_eq!(status, 409, "{busy}");

    let (status, _) = at_b
        .post(&format!("/api/turns/{turn}/cancel"), json!({}))
        .await;
    assert_eq!(status, 202);
    for page in [&mut page, &mut late] {
        let frames = page.until_finished().await;
        let end = frames.last().unwrap();
        assert_eq!(end["body"]["outcome"]["kind"], "stopped", "{end}");
    }
    let (_, messages) = at_b.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[1]["text"], "One, two, ");
    // The chat goes on anywhere.
    assert!(at_b.get(&format!("/api/chats/{chat}")).await.1["running"].is_null());
}

#[tokio::test]
async fn calls_are_allowed_and_forms_answered_at_another_server() {
    let cluster = TestCluster::start();
    let calculate = json!({"expression": "6*7"});
    let (a, b) = cluster
        .pair(
            vec![
                vec![
                    ScriptStep::call(0, "builtin_calculate", &calculate),
                    ScriptStep::stop(),
                ],
                vec![
                    ScriptStep::call(0, "mcp_clerk_contact", &json!({})),
                    ScriptStep::stop(),
                ],
                vec![ScriptStep::text("Fine."), ScriptStep::stop()],
            ],
            Vec::new(),
        )
        .await;
    let (form_tool, _connection) = FormTool::connect(&a.app.registry).await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let ask = json!({
        "layer": "organisation",
        "tools": [{"toolId": "builtin_calculate", "policy": "ask"},
                  {"toolId": "mcp_clerk_contact", "policy": "allow"}],
    });
    assert_eq!(ada.patch("/api/tools", ask).await.0, 204);
    let chat = new_chat(&ada).await;
    let mut page = follow(&at_b, &chat).await;
    say(&ada, &chat).await;

    let call = asked_call(&mut page).await;
    let begun = Instant::now();
    let path = format!("/api/calls/{call}/answer");
    let (status, _) = at_b.post(&path, json!({"verdict": "once"})).await;
    assert_eq!(status, 204);
    page.until(|frame| frame["body"]["type"] == "callFinished")
        .await;
    let took = begun.elapsed();
    assert!(
        took < Duration::from_millis(1900),
        "nobody polled: {took:?}"
    );

    let shown = page
        .until(|frame| frame["body"]["type"] == "formShown")
        .await;
    let shown = &shown.last().unwrap()["body"];
    let path = format!("/api/calls/{}/form", shown["callId"].as_str().unwrap());
    let id = &shown["form"]["id"];
    let wrong = json!({"formId": id, "action": "accept", "content": {"email": "ada"}});
    let (status, error) = at_b.post(&path, wrong).await;
    assert_eq!(
        (status, error["error"]["code"].as_str()),
        (422, Some("form_not_email"))
    );
    let decline = json!({"formId": id, "action": "decline"});
    assert_eq!(at_b.post(&path, decline.clone()).await.0, 204);
    page.until_finished().await;
    assert_eq!(*form_tool.got.lock().unwrap(), [FormAnswer::Decline]);
    assert_eq!(at_b.post(&path, decline).await.0, 409);
}

#[tokio::test]
async fn what_waits_for_a_person_moves_when_its_server_ends() {
    let cluster = TestCluster::start();
    let calculate = json!({"expression": "6*7"});
    let call = ScriptStep::call(0, "builtin_calculate", &calculate);
    let answer = vec![ScriptStep::text("42."), ScriptStep::stop()];
    let (a, b) = cluster
        .pair(vec![vec![call, ScriptStep::stop()]], vec![answer])
        .await;
    let ada = Person::set_up(&a, "Ada").await;
    let at_b = ada.at(&b);
    let ask = json!({
        "layer": "organisation",
        "tools": [{"toolId": "builtin_calculate", "policy": "ask"}],
    });
    assert_eq!(ada.patch("/api/tools", ask).await.0, 204);
    let (chat, other) = (new_chat(&ada).await, new_chat(&ada).await);
    let mut page = follow(&at_b, &chat).await;
    say(&ada, &chat).await;
    let call = asked_call(&mut page).await;

    // As after SIGTERM.
    a.app.agent.drain(Duration::from_secs(1)).await;
    let path = format!("/api/chats/{other}/turns");
    let (status, error) = ada.post(&path, json!({"text": "go"})).await;
    assert_eq!(status, 503, "{error}");
    a.app.closing.cancel();
    let store = &b.app.store;
    until(async || {
        let open = store.open_turns().await.unwrap();
        (open[0].owner.runner == store.runner_name()).then_some(())
    })
    .await;

    let path = format!("/api/calls/{call}/answer");
    assert_eq!(at_b.post(&path, json!({"verdict": "once"})).await.0, 204);
    let frames = page.until_finished().await;
    assert_eq!(frames.last().unwrap()["body"]["outcome"]["kind"], "done");
    let (_, messages) = at_b.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[2]["text"], "42.", "{messages}");
}
