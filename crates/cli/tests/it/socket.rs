//! A socket that comes back misses nothing and sees nothing twice.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{ChatId, EventBody, TitledBy};
use tenon_llm::scripted::ScriptStep;
use tenon_store::Store;
use tokio::sync::Notify;

use crate::server::{Page, Server, events};

#[tokio::test]
async fn a_page_that_disconnects_in_the_middle_sees_all_of_it_when_it_comes_back() {
    let back = Arc::new(Notify::new());
    let server = Server::scripted([
        vec![
            ScriptStep::text("Before "),
            ScriptStep::WaitFor(back.clone()),
            ScriptStep::text("after."),
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "1+1"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("Two."), ScriptStep::stop()],
    ])
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    server.say(&chat, "go").await;
    let seen = page.until(|frame| frame["type"] == "delta").await;
    let last = events(&seen).last().unwrap()["seq"].as_i64().unwrap();
    drop(page);

    let mut page = Page::open(&server).await;
    page.subscribe(&chat, last).await;
    let mut rest = page.until(|frame| frame["type"] == "caughtUp").await;
    back.notify_one();
    rest.extend(page.until_finished().await);
    assert_eq!(
        rest[0]["type"], "delta",
        "nothing new yet but the text so far: {rest:#?}"
    );
    assert_eq!(
        (rest[0]["offset"].as_i64(), rest[0]["text"].as_str()),
        (Some(0), Some("Before "))
    );

    let numbers: Vec<i64> = events(&seen)
        .into_iter()
        .chain(events(&rest))
        .map(|event| event["seq"].as_i64().unwrap())
        .collect();
    let expected: Vec<i64> = (1..=numbers.len() as i64).collect();
    assert_eq!(numbers, expected, "each number once, none missing");

    // And a page that never saw any of it gets the same.
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let whole = page.until(|frame| frame["type"] == "caughtUp").await;
    assert_eq!(events(&whole).len(), numbers.len());
    assert_eq!(whole.last().unwrap()["seq"], *numbers.last().unwrap());
}

#[tokio::test]
async fn a_turn_nobody_watches_goes_on_to_its_end() {
    let gone = Arc::new(Notify::new());
    let server = Server::scripted([vec![
        ScriptStep::text("One"),
        ScriptStep::WaitFor(gone.clone()),
        ScriptStep::text(" two."),
        ScriptStep::stop(),
    ]])
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    server.say(&chat, "go").await;
    page.until(|frame| frame["type"] == "delta").await;
    drop(page);
    gone.notify_one();
    server.app.agent.drain(crate::server::TEST_TIMEOUT).await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    assert_eq!(messages[1]["text"], "One two.");
}

#[tokio::test]
async fn two_pages_see_the_same() {
    let server = Server::scripted([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let chat = server.new_chat().await;
    let (mut one, mut two) = (Page::open(&server).await, Page::open(&server).await);
    one.subscribe(&chat, 0).await;
    two.subscribe(&chat, 0).await;
    one.until(|frame| frame["type"] == "caughtUp").await;
    two.until(|frame| frame["type"] == "caughtUp").await;
    server.say(&chat, "go").await;
    assert_eq!(one.until_finished().await, two.until_finished().await);
}

#[tokio::test]
async fn nonsense_is_answered_and_the_socket_stays() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    for nonsense in [
        "",
        "{",
        "[]",
        "{\"type\":\"dance\"}",
        "{\"type\":\"subscribe\"}",
    ] {
        page.send(nonsense).await;
        assert_eq!(
            page.next().await.unwrap()["error"]["code"],
            "frame_invalid",
            "{nonsense}"
        );
    }
    page.subscribe("nothing", 0).await;
    let refused = page.next().await.unwrap();
    assert_eq!(refused["error"]["code"], "not_found");
    assert_eq!(refused["chatId"], "nothing");
    page.subscribe(&chat, 0).await;
    assert_eq!(page.next().await.unwrap()["type"], "caughtUp");
}

#[tokio::test]
async fn after_unsubscribing_nothing_more_comes() {
    let server = Server::start().await;
    let (chat, other) = (server.new_chat().await, server.new_chat().await);
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    page.send(&json!({"type": "unsubscribe", "chatId": chat}).to_string())
        .await;
    page.subscribe(&other, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    for id in [&chat, &other] {
        let path = format!("/api/chats/{id}");
        server
            .request("PATCH", &path)
            .json(&json!({"title": "x"}))
            .send()
            .await
            .unwrap();
    }
    assert_eq!(page.next().await.unwrap()["chatId"], *other);
}

#[tokio::test]
async fn a_server_that_closes_says_goodbye() {
    let server = Server::start().await;
    let mut page = Page::open(&server).await;
    server.app.closing.cancel();
    assert_eq!(page.next().await, None);
}

#[tokio::test]
async fn a_number_from_another_time_does_not_mean_silence() {
    let server = Server::scripted([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 1_000_000).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    server.say(&chat, "go").await;
    page.until_finished().await;
}

#[tokio::test]
async fn a_page_follows_what_another_process_writes_to_its_chat() {
    let server = Server::start().await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    let theirs = Store::open_file(&server.data().join("tenon.db")).await;
    let title = EventBody::ChatTitled {
        title: "Tides".into(),
        by: TitledBy::Person,
    };
    let appended = theirs.unwrap().append(&ChatId(chat), vec![title]).await;
    appended.unwrap();
    let frames = page.until(|frame| frame["type"] == "event").await;
    assert_eq!(events(&frames)[0]["body"]["title"], "Tides", "{frames:#?}");
}

#[tokio::test]
async fn a_page_that_takes_several_events_at_once_gets_the_same_in_fewer_frames() {
    let server = Server::scripted([vec![ScriptStep::text("hi"), ScriptStep::stop()]]).await;
    let chat = server.new_chat().await;
    // More than are read at once, and some that are longer than what is sent at once.
    let long = "x".repeat(200 * 1024);
    let titles = (0..600).map(|n| match n % 100 {
        50 | 51 => format!("{n} {long}"),
        _ => n.to_string(),
    });
    let bodies = titles.map(|title| EventBody::ChatTitled {
        title,
        by: TitledBy::Person,
    });
    let chat_id = ChatId(chat.clone());
    let written = server.app.store.append(&chat_id, bodies.collect()).await;
    written.unwrap();

    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    let single = page.until(|frame| frame["type"] == "caughtUp").await;
    let mut page = Page::open(&server).await;
    let subscribe = json!({"type": "subscribe", "chatId": chat, "after": 0, "batched": true});
    page.send(&subscribe.to_string()).await;
    let batched = page.until(|frame| frame["type"] == "caughtUp").await;

    let mut single: Vec<Value> = events(&single).into_iter().cloned().collect();
    for event in &mut single {
        event.as_object_mut().unwrap().remove("type");
    }
    let unpacked: Vec<Value> = batched
        .iter()
        .filter(|frame| frame["type"] == "events")
        .flat_map(|frame| frame["events"].as_array().unwrap().clone())
        .collect();
    assert!(batched.len() < 20, "{} frames", batched.len());
    assert!(unpacked == single, "{} events", unpacked.len());

    // What happens from then on comes as it happens.
    server.say(&chat, "go").await;
    let live = page.until_finished().await;
    assert_eq!(events(&live)[0]["body"]["type"], "turnStarted", "{live:#?}");
}
