//! A real server that asks for a form and tells how far it is, on the page and in a shell.

use axum::Json;
use axum::routing::post;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_llm::scripted::ScriptStep;

use super::say_and_be_shown;
use crate::program::{Served, at_a_terminal, stdout, tenon};
use crate::server::{Page, Server};
use crate::sources::fixtures::{everything, ids, tools, until, until_stored};

const ASK: &str = "mcp_everything_trigger-elicitation-request";
const WORK: &str = "mcp_everything_trigger-long-running-operation";

#[tokio::test]
async fn a_real_server_is_allowed_to_ask_and_gets_what_was_filled_in() {
    let said = vec![ScriptStep::text("Fine."), ScriptStep::stop()];
    let server = Server::scripted([
        vec![ScriptStep::call(0, ASK, &json!({})), ScriptStep::stop()],
        said,
    ])
    .await;
    let added = server
        .post("/api/sources", everything("everything", json!({})))
        .await;
    assert_eq!(added.0, 201, "{}", added.1);
    until(|| async {
        let tools = tools(&server, "mcp_everything_").await;
        tools
            .iter()
            .any(|id| id == ASK)
            .then_some(())
            .ok_or(json!(tools))
    })
    .await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;

    // It may do more than read: whether it may be called is a question of its own.
    let mut other = Page::open(&server).await;
    other.subscribe(&chat, 0).await;
    let approve = async {
        let frames = other
            .until(|frame| frame["body"]["type"] == "callAsked")
            .await;
        let call = frames.last().unwrap()["body"]["callId"].clone();
        let path = format!("/api/calls/{}/answer", call.as_str().unwrap());
        server.post(&path, json!({"verdict": "once"})).await.0
    };
    let shown = say_and_be_shown(&server, &mut page, &chat);
    let ((path, form), approved) = tokio::join!(shown, approve);
    assert_eq!(approved, 204);
    assert_eq!(
        form["message"],
        "Please provide inputs for the following fields:"
    );

    let answer =
        |content: Value| json!({"formId": form["id"], "action": "accept", "content": content});
    let (status, error) = server.post(&path, answer(json!({}))).await;
    assert_eq!(status, 422);
    assert_eq!(
        error["error"]["message"],
        "“String” is missing; fill it in."
    );
    let content = json!({
        "name": "Ada Lovelace", "check": true, "email": "ada@example.org", "integer": 7,
        "untitledMultipleSelectEnum": ["Piano", "Violin"], "titledSingleSelectEnum": "hero-3",
    });
    assert_eq!(server.post(&path, answer(content)).await.0, 204);
    let frames = page.until_finished().await;
    let finished = frames
        .iter()
        .find(|frame| frame["body"]["type"] == "callFinished");
    let output = finished.unwrap()["body"]["output"].to_string();
    for told in [
        "Name: Ada Lovelace",
        "Email: ada@example.org",
        "hero-3",
        "Violin",
    ] {
        assert!(output.contains(told), "{told}: {output}");
    }
}

/// A model that does as it is told, "call NAME ARGUMENTS", and then says what came of it.
async fn obedient() -> String {
    async fn complete(Json(body): Json<Value>) -> ([(&'static str, &'static str); 1], String) {
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap();
        let delta = match last["role"].as_str() {
            Some("tool") => json!({"content": last["content"].to_string()}),
            _ => {
                let told = last["content"].to_string().replace("\\\"", "\"");
                let told = told.split("call ").nth(1).unwrap();
                let (name, input) = told.split_once(' ').unwrap();
                let input = &input[..=input.rfind('}').unwrap()];
                json!({"tool_calls": [
                    {"index": 0, "id": "c1", "function": {"name": name, "arguments": input}},
                ]})
            }
        };
        let said = json!({"choices": [{"delta": delta}]});
        let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        let stream = format!("data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        ([("content-type", "text/event-stream")], stream)
    }
    let models = || async { Json(json!({"data": [{"id": "obedient"}]})) };
    let router = axum::Router::new()
        .route("/v1/models", axum::routing::get(models))
        .route("/v1/chat/completions", post(complete));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/v1")
}

/// A data folder that knows the server and its tools, and a model for it.
async fn folder() -> (TempDir, String) {
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&data);
    served
        .post("/api/sources", everything("everything", json!({})))
        .await;
    until(|| async {
        let tools = ids(&served.get("/api/tools").await, "mcp_everything_");
        tools
            .iter()
            .any(|id| id == ASK)
            .then_some(())
            .ok_or(json!(tools))
    })
    .await;
    until_stored(&data, "mcp-everything").await;
    (data, obedient().await)
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_person_at_a_terminal_fills_in_a_form_line_by_line() {
    let (data, model) = folder().await;
    let ask = format!("call {ASK} {{}}");
    let mut command = tenon(&data, &["run", "-m", "obedient", &ask]);
    command
        .env("OPENAI_BASE_URL", &model)
        .env("OPENAI_API_KEY", "x");
    let lines = "Ada Lovelace\ny\n\nada\nada@example.org\n\n\n7\n\n\nviolin, 2\n3\n\n\n";
    let screen = at_a_terminal(
        &command,
        &[("[n]o: ", "y\n"), ("Your full, legal name: ", lines)],
    );
    for told in [
        "asks:",
        "“String with email format” must be an e-mail address, like ada@example.org.",
        "Integer – Your favorite integer",
        "[42]: ",
        "(1 Superman, 2 Green Lantern, 3 Wonder Woman) [hero-1]: ",
        "done, ",
        "Name: Ada Lovelace",
        "Email: ada@example.org",
        "Favorite Integer: 7",
        "Favorite Number: 3.14",
    ] {
        assert!(screen.contains(told), "{told}: {screen}");
    }

    let screen = at_a_terminal(
        &command,
        &[("[n]o: ", "y\n"), ("Your full, legal name: ", "/decline\n")],
    );
    assert!(screen.contains("User declined"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shell_without_a_terminal_declines_and_tells_how_far_a_call_is_in_json_alone() {
    let (data, model) = folder().await;
    let ask = |flags: &[&str], told: String| {
        let words = [&["run", "-m", "obedient"], flags, &[&told]].concat();
        let mut command = tenon(&data, &words);
        command
            .env("OPENAI_BASE_URL", &model)
            .env("OPENAI_API_KEY", "x");
        stdout(&command.output().unwrap())
    };
    let declined = ask(&["--yes"], format!("call {ASK} {{}}"));
    assert!(declined.contains("User declined"), "{declined}");

    let work = format!(r#"call {WORK} {{"duration":1,"steps":4}}"#);
    let lines = ask(&["--yes", "--json"], work);
    let frames = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let told: Vec<Value> = frames
        .filter(|frame: &Value| frame["type"] == "progress")
        .collect();
    assert!(!told.is_empty(), "{lines}");
    assert_eq!(told.last().unwrap()["total"], json!(4.0), "{told:#?}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn how_far_a_call_is_stands_on_one_line_of_a_terminal() {
    let (data, model) = folder().await;
    let work = format!(r#"call {WORK} {{"duration":1,"steps":4}}"#);
    let mut command = tenon(&data, &["run", "--yes", "-m", "obedient", &work]);
    command
        .env("OPENAI_BASE_URL", &model)
        .env("OPENAI_API_KEY", "x");
    let screen = at_a_terminal(&command, &[]);
    assert!(screen.contains("\r\u{1b}[K  "), "{screen:?}");
    assert!(screen.contains(" 50 %"), "{screen:?}");
}
