//! What the pages of a user hear of their own things, and nobody else of them.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_app::auth::{AuthMethod, CurrentUser};
use tenon_app::user_feed::{UserEvent, UserTopic};
use tenon_domain::{
    Annotations, ChatId, EventBody, KeyScope, SourceId, SourceInfo, SourceKind, TitledBy,
    ToolDefinition, ToolResult, UserId, UserRole,
};
use tenon_llm::scripted::ScriptStep;
use tenon_tools::{CallContext, ToolSource};
use tokio::sync::Notify;

use crate::local::registration;
use crate::people::Person;
use crate::server::{Page, Server};

const CALCULATE: &str = "builtin_calculate";

/// A page that has read everything there was.
async fn followed(person: &Person<'_>) -> Page {
    let mut page = person.socket().await.unwrap();
    page.send(&json!({"type": "subscribe:user"}).to_string())
        .await;
    page.until(|frame| frame["type"] == "resync").await;
    page
}

/// The next frame about a chat that passes.
async fn next_chat(page: &mut Page, passes: impl Fn(&Value) -> bool) -> Value {
    let is_it = |frame: &Value| frame["type"] == "chat:changed" && passes(&frame["chat"]);
    page.until(is_it).await.pop().unwrap()["chat"].clone()
}

async fn gone(page: &mut Page, chat: &str) {
    page.until(|frame| frame["type"] == "chat:gone" && frame["chatId"] == chat)
        .await;
}

/// Waits for a topic, and tells everything that came before it.
async fn changed(page: &mut Page, topic: &str) -> Vec<Value> {
    page.until(|frame| frame["type"] == "changed" && frame["topic"] == topic)
        .await
}

async fn new_chat(person: &Person<'_>, title: &str) -> String {
    let (status, chat) = person.post("/api/chats", json!({"title": title})).await;
    assert_eq!(status, 201, "{chat}");
    chat["id"].as_str().unwrap().to_owned()
}

/// Two frames say the same, whoever hears them.
async fn both(pages: &mut [Page; 2], passes: impl Fn(&Value) -> bool) -> Value {
    let [one, other] = pages;
    let heard = next_chat(one, &passes).await;
    assert_eq!(next_chat(other, &passes).await, heard);
    heard
}

#[tokio::test]
async fn a_ping_is_answered_and_nothing_is_to_be_read_again() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = followed(&ada).await;
    page.send(&json!({"type": "ping"}).to_string()).await;
    let heard = page.until(|frame| frame["type"] == "pong").await;
    let resync = heard.iter().filter(|frame| frame["type"] == "resync");
    assert_eq!(resync.count(), 0, "{heard:?}");
}

#[tokio::test]
async fn all_pages_of_a_user_hear_what_becomes_of_a_chat_and_nobody_else_does() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let mut hers = [followed(&ada).await, followed(&ada).await];
    let mut bobs = followed(&bob).await;

    // A program makes it.
    let chat = new_chat(&ada.key("full").await, "Tides").await;
    let path = format!("/api/chats/{chat}");
    let heard = both(&mut hers, |heard| heard["id"] == *chat).await;
    assert_eq!(heard, ada.get(&path).await.1, "as the list shows it");
    ada.patch(&path, json!({"title": "Tides of today"})).await;
    both(&mut hers, |heard| heard["title"] == "Tides of today").await;
    ada.patch(&path, json!({"archived": true})).await;
    both(&mut hers, |heard| heard["archived"] == true).await;
    ada.patch(&path, json!({"archived": false, "pinned": true}))
        .await;
    both(&mut hers, |heard| heard["pinned"] == true).await;
    assert_eq!(ada.delete(&path).await, 204);
    for page in &mut hers {
        gone(page, &chat).await;
    }
    ada.post(&format!("{path}/restore"), json!({})).await;
    let heard = both(&mut hers, |heard| heard["id"] == *chat).await;
    assert_eq!(heard["title"], "Tides of today");

    // Had he heard of hers, it would be before his own.
    let own = new_chat(&bob, "Own").await;
    let heard = bobs
        .until(|frame| frame["chat"]["id"] == *own)
        .await
        .into_iter()
        .filter(|frame| frame["type"].as_str().unwrap().starts_with("chat:"));
    assert_eq!(heard.count(), 1);
}

#[tokio::test]
async fn a_page_hears_when_an_answer_begins_and_ends() {
    let enough = Arc::new(Notify::new());
    let server = Server::scripted([vec![
        ScriptStep::text("High "),
        ScriptStep::WaitFor(enough.clone()),
        ScriptStep::text("tide."),
        ScriptStep::stop(),
    ]])
    .await;
    let mut page = followed(&Person::alone(&server)).await;
    let chat = server.new_chat().await;
    let turn = server.say(&chat, "When is it?").await;
    let heard = next_chat(&mut page, |heard| heard["running"] == *turn).await;
    assert_eq!(heard["id"], *chat);
    enough.notify_one();
    let heard = next_chat(&mut page, |heard| heard["running"].is_null()).await;
    assert_eq!(heard["title"], "When is it?");
    assert_eq!(
        server.get(&format!("/api/chats/{chat}")).await.1,
        heard,
        "nothing is left to be told"
    );
}

#[tokio::test]
async fn a_question_appears_on_all_pages_and_disappears_when_it_is_answered() {
    let input = json!({"expression": "6*7"});
    let calculates = vec![ScriptStep::call(0, CALCULATE, &input), ScriptStep::stop()];
    let says = vec![ScriptStep::text("42."), ScriptStep::stop()];
    let server = Server::scripted([calculates, says]).await;
    let person = Person::alone(&server);
    let ask = json!({"layer": "user", "tools": [{"toolId": CALCULATE, "policy": "ask"}]});
    assert_eq!(server.patch("/api/tools", ask).await.0, 204);
    let mut pages = [followed(&person).await, followed(&person).await];
    let chat = server.new_chat().await;
    server.say(&chat, "what is 6*7?").await;
    both(&mut pages, |heard| heard["asking"] == true).await;

    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let call = messages[1]["toolCalls"][0]["id"].as_str().unwrap();
    let path = format!("/api/calls/{call}/answer");
    let (status, _) = server.post(&path, json!({"verdict": "always"})).await;
    assert_eq!(status, 204);
    for page in &mut pages {
        next_chat(page, |heard| heard["asking"] == false).await;
    }
    // It is allowed from now on, which is a setting.
    let (_, tools) = server.get("/api/tools").await;
    let tools = tools.as_array().unwrap();
    let set = tools.iter().find(|tool| tool["toolId"] == CALCULATE);
    assert_eq!(set.unwrap()["policy"], "allow");
}

/// Tools that somebody, or everybody, has.
struct TestSource(SourceInfo);

impl TestSource {
    fn of(owner: Option<&Person<'_>>) -> Arc<dyn ToolSource> {
        Arc::new(Self(SourceInfo {
            id: SourceId::new("shelf"),
            kind: SourceKind::Mcp,
            name: "shelf".into(),
            title: "Shelf".into(),
            owner: owner.map(|person| UserId::new(&person.id)),
        }))
    }
}

#[async_trait]
impl ToolSource for TestSource {
    fn info(&self) -> &SourceInfo {
        &self.0
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        vec![ToolDefinition {
            name: "look".into(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}).into(),
            annotations: Annotations::default(),
        }]
    }

    async fn call(&self, _: &str, _: Value, _: &CallContext) -> ToolResult {
        unreachable!("nobody calls it")
    }
}

#[tokio::test]
async fn tools_are_told_to_have_changed_to_those_who_see_them() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let chat = new_chat(&bob, "Own").await;
    let (mut hers, mut bobs) = (followed(&ada).await, followed(&bob).await);
    let set = async |person: &Person<'_>, mut change: Value| {
        change["tools"] = json!([{"toolId": CALCULATE, "policy": "ask"}]);
        assert_eq!(person.patch("/api/tools", change).await.0, 204);
    };

    // What is his alone: a server, settings, a browser.
    let connected = server
        .app
        .registry
        .connect(TestSource::of(Some(&bob)))
        .await;
    changed(&mut bobs, "tools").await;
    drop(connected);
    changed(&mut bobs, "tools").await;
    set(&bob, json!({"layer": "user"})).await;
    changed(&mut bobs, "tools").await;
    set(&bob, json!({"layer": "chat", "chatId": chat})).await;
    changed(&mut bobs, "tools").await;
    let registration = registration("bobs-browser-0123456789", "bobs-page");
    bobs.send(&registration.to_string()).await;
    changed(&mut bobs, "tools").await;

    // What is everybody's. Had she heard of his, it would be before this.
    set(&ada, json!({"layer": "organisation"})).await;
    let heard = changed(&mut hers, "tools").await;
    assert_eq!(heard.len(), 1, "{heard:?}");
    changed(&mut bobs, "tools").await;
    let connected = server.app.registry.connect(TestSource::of(None)).await;
    changed(&mut hers, "tools").await;
    changed(&mut bobs, "tools").await;
    drop(connected);
    changed(&mut hers, "tools").await;
}

#[tokio::test]
async fn a_server_that_is_added_and_switched_off_changes_the_tools() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = followed(&ada).await;
    let added = json!({"kind": "mcp", "name": "away", "url": "https://away.invalid/mcp"});
    assert_eq!(ada.post("/api/sources", added).await.0, 201);
    let is_about = |frame: &Value| frame["sourceId"] == "mcp-away";
    page.until(is_about).await;
    page.until(|frame| frame["topic"] == "tools").await;
    ada.patch("/api/sources/mcp-away", json!({"enabled": false}))
        .await;
    page.until(|frame| is_about(frame) && frame["state"] == "off")
        .await;
    changed(&mut page, "tools").await;
    // A secret changes no server that does not mention it, and is shown in a list all the same.
    let secret = json!({"value": "abc"});
    let (status, refused) = ada.send("PUT", "/api/secrets/TOKEN", Some(secret)).await;
    assert!(status < 300, "{status} {refused}");
    changed(&mut page, "sources").await;
}

#[tokio::test]
async fn models_and_settings_are_told_to_have_changed() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (mut hers, mut bobs) = (followed(&ada).await, followed(&bob).await);
    let model =
        json!({"baseUrl": "http://127.0.0.1:9/v1", "model": "tide-1", "provider": "openai"});
    let (status, made) = ada.post("/api/models", model).await;
    assert_eq!(status, 201, "{made}");
    changed(&mut hers, "models").await;
    changed(&mut bobs, "models").await;

    // His own preferences are his alone.
    let endpoints =
        json!([{"url": "http://localhost:8000", "name": "", "kind": "auto", "enabled": true}]);
    let (status, refused) = bob
        .send("PUT", "/api/devices/endpoints", Some(endpoints))
        .await;
    assert!(status < 300, "{status} {refused}");
    changed(&mut bobs, "settings").await;
    new_chat(&ada, "After").await;
    let heard = hers.until(|frame| frame["chat"]["title"] == "After").await;
    assert!(
        heard.iter().all(|frame| frame["topic"] != "settings"),
        "{heard:?}"
    );
    let (status, refused) = ada.patch("/api/settings", json!({"signUp": true})).await;
    assert!(status < 300, "{status} {refused}");
    changed(&mut hers, "settings").await;
    changed(&mut bobs, "settings").await;
    ada.add("Cara").await;
    changed(&mut hers, "accounts").await;
}

#[tokio::test]
async fn keys_and_log_ins_are_told_to_have_changed_to_whom_they_belong() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (mut hers, mut bobs) = (followed(&ada).await, followed(&bob).await);
    let store = &server.app.store;
    let (id, scope) = (UserId::new(&bob.id), KeyScope::default());
    let (_, key) = store.create_key(&id, "script", &scope).await.unwrap();
    changed(&mut bobs, "accounts").await;
    store.delete_key(&id, &key.id).await.unwrap();
    changed(&mut bobs, "accounts").await;
    let (_, session) = store.create_session(&id, "", "").await.unwrap();
    changed(&mut bobs, "accounts").await;
    store.delete_session(&id, &session.id).await.unwrap();
    changed(&mut bobs, "accounts").await;
    // Had she heard of his, it would be before this.
    store.set_preference(None, "last", &1).await.unwrap();
    let heard = changed(&mut hers, "settings").await;
    assert_eq!(heard.len(), 1, "{heard:?}");
}

#[tokio::test]
async fn a_socket_that_did_not_ask_hears_of_no_other_chat() {
    let server = Server::start().await;
    let mut quiet = Page::open(&server).await;
    let mut page = followed(&Person::alone(&server)).await;
    let chat = server.new_chat().await;
    next_chat(&mut page, |heard| heard["id"] == *chat).await;
    quiet.subscribe(&chat, 0).await;
    let heard = quiet.until(|frame| frame["type"] == "caughtUp").await;
    assert_eq!(heard.len(), 1, "{heard:?}");
}

/// The one person of single-user mode.
fn local() -> CurrentUser {
    CurrentUser {
        id: UserId::new(tenon_store::LOCAL),
        role: UserRole::Admin,
        credential: AuthMethod::Shell,
    }
}

#[tokio::test]
async fn a_chat_in_which_much_happens_is_told_of_a_few_times_a_second() {
    let server = Server::start().await;
    let mut events = server.app.user_feed.subscribe(&local());
    let chat = ChatId::new(server.new_chat().await);
    let started = Instant::now();
    let title = |number: usize| EventBody::ChatTitled {
        title: format!("Title {number}"),
        by: TitledBy::Person,
    };
    for number in 1..=200 {
        let written = server.app.store.append(&chat, vec![title(number)]).await;
        written.unwrap();
    }
    let mut told = 0;
    loop {
        let UserEvent::Chat(heard) = events.next().await else {
            panic!("nothing else happens");
        };
        told += 1;
        if heard.title == "Title 200" {
            break;
        }
    }
    // One at the start of each interval, and the one that ended the last.
    let intervals = started.elapsed().as_millis() / 250;
    assert!(told <= intervals + 2, "{told} in {intervals} intervals");
}

#[tokio::test]
async fn a_subscriber_that_is_too_slow_is_told_to_read_everything_again() {
    let server = Server::start().await;
    let (mut slow, mut quick) = (
        server.app.user_feed.subscribe(&local()),
        server.app.user_feed.subscribe(&local()),
    );
    for _ in 0..400 {
        server.new_chat().await;
    }
    server
        .app
        .store
        .set_preference(None, "last", &1)
        .await
        .unwrap();
    loop {
        if let UserEvent::Changed(UserTopic::Settings) = quick.next().await {
            break;
        }
    }
    assert!(matches!(slow.next().await, UserEvent::Resync));
}

#[tokio::test]
async fn without_subscribers_nothing_is_left_running() {
    let server = Server::start().await;
    let subscription = server.app.user_feed.subscribe(&local());
    assert_eq!(
        format!("{:?}", server.app.user_feed),
        "UserFeed { users: 1 }"
    );
    drop(subscription);
    assert_eq!(
        format!("{:?}", server.app.user_feed),
        "UserFeed { users: 0 }"
    );
    // And it begins again with the next one.
    let mut again = server.app.user_feed.subscribe(&local());
    let chat = server.new_chat().await;
    let UserEvent::Chat(heard) = again.next().await else {
        panic!("a chat came");
    };
    assert_eq!(heard.id.as_str(), chat);
}
