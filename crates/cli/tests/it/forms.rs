//! Tools that ask a person something while they run, and tell how far they are.

mod real;

use serde_json::{Value, json};
use tenon_domain::FormAnswer;
use tenon_llm::scripted::ScriptStep;

use crate::form_tool::FormTool;
use crate::people::Person;
use crate::server::{Page, Server};

const FORM: &str = "mcp_clerk_contact";
const WORK: &str = "mcp_clerk_work";

fn calls(tool: &str) -> Vec<Vec<ScriptStep>> {
    vec![
        vec![ScriptStep::call(0, tool, &json!({})), ScriptStep::stop()],
        vec![ScriptStep::text("Fine."), ScriptStep::stop()],
    ]
}

/// Says something and tells which call showed which form.
async fn say_and_be_shown(server: &Server, page: &mut Page, chat: &str) -> (String, Value) {
    page.subscribe(chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    server.say(chat, "go").await;
    let frames = page
        .until(|frame| frame["body"]["type"] == "formShown")
        .await;
    let shown = &frames.last().unwrap()["body"];
    let path = format!("/api/calls/{}/form", shown["callId"].as_str().unwrap());
    (path, shown["form"].clone())
}

#[tokio::test]
async fn a_form_is_answered_from_the_page_and_a_wrong_field_is_named() {
    let server = Server::scripted(calls(FORM)).await;
    let (form_tool, _connected) = FormTool::connect(&server.app.registry).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    let (path, form) = say_and_be_shown(&server, &mut page, &chat).await;
    assert_eq!(form["message"], "Who are you?");
    assert_eq!(form["wants"]["kind"], "fields");
    let (_, chats) = server.get("/api/chats").await;
    assert_eq!(chats[0]["asking"], true, "{chats}");
    let (_, summary) = server.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(summary["asking"], true);

    let id = &form["id"];
    let check = async |body: Value, status: u16, code: &str, message: &str| {
        let (found, error) = server.post(&path, body).await;
        let error = &error["error"];
        assert_eq!((found, error["code"].as_str()), (status, Some(code)));
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{error}"
        );
    };
    check(
        json!({"formId": id, "action": "perhaps"}),
        400,
        "body_invalid",
        "",
    )
    .await;
    check(json!({"action": "decline"}), 400, "body_invalid", "formId").await;
    let nothing = json!({"formId": id, "action": "accept"});
    check(
        nothing,
        422,
        "form_field_missing",
        "“email” is missing; fill it in.",
    )
    .await;
    let wrong = json!({"formId": id, "action": "accept", "content": {"email": "ada"}});
    let message = "“email” must be an e-mail address, like ada@example.org.";
    check(wrong, 422, "form_not_email", message).await;
    let other = json!({"formId": "other", "action": "decline"});
    check(other, 409, "form_closed", "This form is no longer waiting").await;
    let decline = json!({"formId": id, "action": "decline"});
    let nobodys = server
        .post("/api/calls/nothing/form", decline.clone())
        .await;
    assert_eq!(nobodys.0, 404);
    // What is waited for is no permission.
    let approve = path.replace("/form", "/answer");
    let (status, _) = server.post(&approve, json!({"verdict": "once"})).await;
    assert_eq!(status, 409);

    let content = json!({"email": "ada@example.org"});
    let right = json!({"formId": id, "action": "accept", "content": content});
    assert_eq!(server.post(&path, right.clone()).await.0, 204);
    check(right, 409, "form_closed", "").await;
    let frames = page.until_finished().await;
    let answered = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "formAnswered");
    let answered = &answered.unwrap()["body"];
    assert_eq!(answered["formId"], *id);
    assert_eq!(answered["outcome"], "accepted");
    let told = serde_json::to_string(&frames).unwrap();
    assert!(!told.contains("ada@example.org"), "{told}");
    assert_eq!(
        *form_tool.got.lock().unwrap(),
        [FormAnswer::Accept { content }]
    );
    let (_, summary) = server.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(summary["asking"], false);
    let (_, noted) = server.get("/api/audit?action=form.answered").await;
    assert_eq!(noted.as_array().unwrap().len(), 1, "{noted:#}");
    assert_eq!(noted[0]["subject"], FORM);
    assert_eq!(noted[0]["detail"]["outcome"], "accepted");
    assert!(!noted.to_string().contains("ada@example.org"));
}

#[tokio::test]
async fn a_program_is_not_asked_and_a_lesser_key_does_not_answer() {
    let scripts = calls(FORM).into_iter().chain(calls(FORM));
    let server = Server::with_accounts(scripts).await;
    let (_form_tool, _connected) = FormTool::connect(&server.app.registry).await;
    let ada = Person::set_up(&server, "Ada").await;
    let start = async |by: &Person<'_>| {
        let (_, chat) = by.post("/api/chats", json!({})).await;
        let chat = chat["id"].as_str().unwrap().to_owned();
        let mut page = by.socket().await.unwrap();
        page.subscribe(&chat, 0).await;
        let turns = format!("/api/chats/{chat}/turns");
        assert_eq!(by.post(&turns, json!({"text": "go"})).await.0, 202);
        page
    };
    let full = ada.key("full").await;
    let frames = start(&full).await.until_finished().await;
    let types: Vec<&str> = frames
        .iter()
        .filter_map(|frame| frame["body"]["type"].as_str())
        .collect();
    assert!(!types.contains(&"formShown"), "{types:?}");
    let finished = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "callFinished");
    let output = &finished.unwrap()["body"]["output"];
    assert!(output.to_string().contains("Declined"), "{output}");

    let mut page = start(&ada).await;
    let frames = page
        .until(|frame| frame["body"]["type"] == "formShown")
        .await;
    let shown = &frames.last().unwrap()["body"];
    let path = format!("/api/calls/{}/form", shown["callId"].as_str().unwrap());
    let decline = json!({"formId": shown["form"]["id"], "action": "decline"});
    let user = ada.key("use").await;
    assert_eq!(user.post(&path, decline.clone()).await.0, 403);
    assert_eq!(full.post(&path, decline).await.0, 204);
    page.until_finished().await;
}

#[tokio::test]
async fn a_call_made_by_hand_has_nobody_to_ask() {
    let server = Server::scripted([]).await;
    let (_form_tool, _connected) = FormTool::connect(&server.app.registry).await;
    let path = format!("/api/tools/{FORM}/call");
    let (status, answer) = server.post(&path, json!({"arguments": {}})).await;
    assert_eq!(status, 200);
    assert_eq!(answer["content"][0]["text"], "Declined", "{answer}");
}

#[tokio::test]
async fn every_page_sees_how_far_a_call_is() {
    let server = Server::scripted(calls(WORK)).await;
    let (form_tool, _connected) = FormTool::connect(&server.app.registry).await;
    let chat = server.new_chat().await;
    let is_progress = |frame: &Value| frame["type"] == "progress";
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    server.say(&chat, "go").await;
    let frames = page.until(is_progress).await;
    let told = frames.last().unwrap().clone();
    assert_eq!(told["chatId"], chat);
    assert_eq!(
        (&told["progress"], &told["total"]),
        (&json!(1.0), &json!(3.0))
    );
    assert_eq!(told["message"], "reading");

    let mut later = Page::open(&server).await;
    later.subscribe(&chat, 0).await;
    let frames = later.until(|frame| frame["type"] == "caughtUp").await;
    assert!(frames.contains(&told), "{frames:#?}");
    form_tool.enough.notify_one();
    page.until_finished().await;

    let mut last = Page::open(&server).await;
    last.subscribe(&chat, 0).await;
    let frames = last.until(|frame| frame["type"] == "caughtUp").await;
    assert!(!frames.iter().any(is_progress), "{frames:#?}");
}
