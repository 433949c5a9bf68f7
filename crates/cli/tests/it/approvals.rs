//! Calls that wait for a person: on the page, in a shell, over a restart.

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_app::config::Config;
use tenon_domain::{
    CallId, ChatId, EntryPoint, EventBody, Layer, MessageId, MessageRecord, ModelId, ModelRef,
    Policy, Role, ToolId, TurnId, UserId,
};
use tenon_llm::scripted::ScriptStep;
use tenon_store::{LOCAL, Store, ToolSettingChange};

use crate::program::{Served, at_a_terminal, ended, run, stdout, tenon};
use crate::server::{Page, Server};

const CALCULATE: &str = "builtin_calculate";

fn calculates(expression: &str) -> Vec<ScriptStep> {
    let input = json!({"expression": expression});
    vec![ScriptStep::call(0, CALCULATE, &input), ScriptStep::stop()]
}

/// Everybody is asked before anything is calculated.
async fn ask_before_calculating(server: &Server) {
    let ask = json!({
        "layer": "organisation",
        "tools": [{"toolId": CALCULATE, "policy": "ask"}],
    });
    assert_eq!(server.patch("/api/tools", ask).await.0, 204);
}

/// Says something and tells which call that made wait.
async fn say_and_be_asked(server: &Server, page: &mut Page, chat: &str) -> String {
    page.subscribe(chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    server.say(chat, "what is 6*7?").await;
    let frames = page
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    let asked = frames.last().unwrap()["body"]["callId"].clone();
    asked.as_str().unwrap().to_owned()
}

async fn answer(server: &Server, call: &str, verdict: &str) -> (u16, Value) {
    let path = format!("/api/calls/{call}/answer");
    server.post(&path, json!({"verdict": verdict})).await
}

#[tokio::test]
async fn a_call_that_waits_is_answered_once_from_any_tab() {
    let said = vec![ScriptStep::text("42."), ScriptStep::stop()];
    let server = Server::scripted([calculates("6*7"), said]).await;
    ask_before_calculating(&server).await;
    let chat = server.new_chat().await;
    let (mut page, mut other_tab) = (Page::open(&server).await, Page::open(&server).await);
    let call = say_and_be_asked(&server, &mut page, &chat).await;

    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let waiting = &messages[1]["toolCalls"][0];
    assert_eq!(waiting["asked"], true, "{waiting}");
    assert_eq!(waiting["status"], "pending");

    other_tab.subscribe(&chat, 0).await;
    other_tab
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    assert_eq!(answer(&server, &call, "perhaps").await.0, 400);
    assert_eq!(answer(&server, "nothing", "once").await.0, 404);
    assert_eq!(answer(&server, "a%00b", "once").await.0, 404);
    let answers = tokio::join!(
        answer(&server, &call, "once"),
        answer(&server, &call, "once")
    );
    let mut statuses = [answers.0.0, answers.1.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 409]);

    let frames = page.until_finished().await;
    let answered = frames
        .iter()
        .filter(|frame| frame["body"]["type"] == "callAnswered");
    assert_eq!(answered.count(), 1);
    other_tab.until_finished().await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(call["status"], "done");
    assert_eq!(call["asked"], false);
    assert_eq!(call["verdict"], "once");
    let (_, noted) = server.get("/api/audit?action=call.answered").await;
    assert_eq!(noted.as_array().unwrap().len(), 1, "{noted:#}");
    assert_eq!(noted[0]["subject"], CALCULATE);
    assert_eq!(noted[0]["detail"]["verdict"], "once");
}

#[tokio::test]
async fn for_this_chat_is_remembered_and_shown() {
    let said = || vec![ScriptStep::text("42."), ScriptStep::stop()];
    let scripts = [calculates("6*7"), said(), calculates("1+1"), said()];
    let server = Server::scripted(scripts).await;
    ask_before_calculating(&server).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    let call = say_and_be_asked(&server, &mut page, &chat).await;
    assert_eq!(answer(&server, &call, "chat").await.0, 204);
    page.until_finished().await;

    let (_, tools) = server.get(&format!("/api/tools?chatId={chat}")).await;
    let tools = tools.as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["toolId"] == CALCULATE);
    let tool = tool.unwrap();
    assert_eq!(
        (&tool["policy"], &tool["policyBy"]),
        (&json!("allow"), &json!("chat"))
    );

    server.say(&chat, "and 1+1?").await;
    let frames = page.until_finished().await;
    assert!(
        !frames
            .iter()
            .any(|frame| frame["body"]["type"] == "callAsked"),
        "{frames:#?}"
    );
}

#[tokio::test]
async fn a_question_survives_a_kill_and_a_shutdown() {
    let data = tempfile::tempdir().unwrap();
    ask_in(&data).await;
    for (signal, kind) in [("-KILL", "a kill"), ("-TERM", "a shutdown")] {
        let mut served = Served::start(&data);
        let chat = served.post("/api/chats", json!({})).await["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let turns = format!("/api/chats/{chat}/turns");
        served.post(&turns, json!({"text": "what is 6*7?"})).await;
        let asked = |messages: &Value| messages[1]["toolCalls"][0]["asked"] == true;
        let messages = served.wait(&chat, asked).await;
        let call = messages[1]["toolCalls"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        served.signal(signal);
        ended(&mut served.child);
        drop(served);

        let served = Served::start(&data);
        let again = served.get(&format!("/api/chats/{chat}")).await;
        let messages = served.get(&format!("/api/chats/{chat}/messages")).await;
        assert!(asked(&messages), "after {kind}: {messages:#}");
        assert!(again["running"].is_string(), "after {kind}: {again}");
        let path = format!("/api/calls/{call}/answer");
        assert_eq!(served.status(&path, json!({"verdict": "once"})).await, 204);
        assert_eq!(served.status(&path, json!({"verdict": "once"})).await, 409);
        let messages = served
            .wait(&chat, |messages| {
                messages[2]["text"]
                    .as_str()
                    .is_some_and(|text| text.contains("42"))
            })
            .await;
        assert_eq!(
            messages[1]["toolCalls"][0]["status"], "done",
            "after {kind}"
        );
    }
}

#[tokio::test]
async fn a_turn_whose_model_is_gone_ends_and_says_so() {
    let data = tempfile::tempdir().unwrap();
    let chat = leave_a_question(&data, "gone:gone").await;
    let config = Config {
        local_models: Some(Vec::new()),
        ..Config::default()
    };
    let server = Server::in_folder(data.path(), config).await;
    let mut page = Page::open(&server).await;
    page.subscribe(chat.as_str(), 0).await;
    let frames = page.until_finished().await;
    let outcome = &frames.last().unwrap()["body"]["outcome"];
    assert_eq!(outcome["kind"], "interrupted");
    let message = outcome["message"].as_str().unwrap();
    assert!(
        message.contains("There is no model `gone:gone`"),
        "{message}"
    );
    let ended = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "callFinished")
        .unwrap();
    assert_eq!(ended["body"]["status"], "cancelled");
    server.ask(chat.as_str(), "what is 6*7?").await;
}

/// A process that went away while it waited for a person.
async fn leave_a_question(data: &TempDir, model: &str) -> ChatId {
    let store = Store::open_file(&data.path().join("tenon.db")).await;
    let store = store.unwrap();
    let user = UserId::new(LOCAL);
    let chat = store.create_chat(&user, "x").await.unwrap().id;
    let turn = TurnId::new("turn");
    let message = |id: &str, role| MessageRecord {
        id: MessageId::new(id),
        chat_id: chat.clone(),
        turn_id: turn.clone(),
        role,
        parts: Vec::new(),
        created_at: 7,
    };
    let call = json!({
        "id": "call", "messageId": "said", "toolId": CALCULATE, "displayName": "x",
        "runsOn": "server", "input": {}, "status": "pending",
    });
    let events = vec![
        EventBody::TurnStarted {
            turn_id: turn.clone(),
            message: message("asked", Role::User),
            branch: None,
            tools: None,
            door: EntryPoint::Page,
            model: Some(ModelRef {
                id: ModelId::new(model),
                name: model.into(),
            }),
        },
        EventBody::MessageStarted {
            message: message("said", Role::Assistant),
        },
        EventBody::CallRequested {
            call: serde_json::from_value(call).unwrap(),
        },
        EventBody::CallAsked {
            call_id: CallId::new("call"),
        },
    ];
    store.append(&chat, events).await.unwrap();
    chat
}

#[tokio::test]
async fn a_shell_without_a_terminal_is_refused_unless_it_was_allowed() {
    let data = tempfile::tempdir().unwrap();
    ask_in(&data).await;
    let refused = run(&data, &["run", "what is 6*7?"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    let advice = "nobody can be asked here. `--allow builtin_calculate` or `--yes` would allow it.";
    assert!(told.contains(advice), "{told}");
    for allowed in [&["--allow", "builtin_*"][..], &["--yes"]] {
        let printed = run(&data, &[&["run", "what is 6*7?"], allowed].concat());
        assert!(stdout(&printed).contains("42"), "{printed:?}");
    }
    let printed = stdout(&run(&data, &["run", "--json", "what is 6*7?"]));
    assert!(printed.contains(r#""kind":"denied""#), "{printed}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_person_at_a_terminal_is_asked() {
    let data = tempfile::tempdir().unwrap();
    ask_in(&data).await;
    let check = |typed: &str, expected: &str| {
        let asked = tenon(&data, &["run", "what is 6*7?"]);
        let printed = at_a_terminal(&asked, &[("[n]o: ", typed)]);
        assert!(printed.contains(expected), "{typed:?}: {printed}");
    };
    check("n\n", "failed: The user refused this call.");
    check("what?\ny\n", "done, ");
    check("a\n", "done, ");
    // It was always: nobody is asked any more.
    assert!(stdout(&run(&data, &["run", "what is 6*7?"])).contains("42"));
}

/// In this data folder everybody is asked before anything is calculated.
async fn ask_in(data: &TempDir) {
    let store = Store::open_file(&data.path().join("tenon.db")).await;
    let ask = ToolSettingChange {
        target: ToolId::new(CALCULATE).into(),
        enabled: None,
        policy: Some(Some(Policy::Ask)),
    };
    store
        .unwrap()
        .set_tools(Layer::Organisation, "", [ask])
        .await
        .unwrap();
}
