//! Calls of the tools of skills, by a person and by a model.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::{Value, json};

use super::{Asks, ObedientModel, SkillFiles, data_of, id_of, path_of};
use crate::server::{Page, Server};

fn odd() -> SkillFiles {
    SkillFiles::new("odd")
        .with("title: Odd Things 怪事")
        .python("prints", "print('three words here')")
        .python("nothing", "")
        .python(
            "fails",
            "import sys\nprint('out')\nprint('first', file=sys.stderr)\nprint('no such city', file=sys.stderr)\nsys.exit(3)",
        )
        .python(
            "steps",
            r#"import sys
print('{"progress": 1, "total": 2, "message": "half"}', file=sys.stderr)
print('nearly', file=sys.stderr)
print('[1, 2]')"#,
        )
        .node(
            "echo",
            "const text = await new Response(process.stdin).text(); console.log(text);",
        )
}

#[tokio::test]
async fn what_a_script_prints_is_json_or_text_and_its_failure_is_told() {
    let server = Server::start().await;
    let skill = server.install(&odd()).await;
    let data = async |tool: &str| server.result(&id_of(&skill, tool), json!({"a": [1]})).await;
    assert_eq!(data("prints").await, "three words here");
    assert_eq!(data("nothing").await, "");
    assert_eq!(data("steps").await, json!([1, 2]));
    assert_eq!(data("echo").await, json!({"a": [1]}));

    let answer = server.call(&id_of(&skill, "fails"), json!({})).await;
    let said = "The script failed with exit code 3: first\nno such city";
    assert_eq!(
        (
            &answer["ok"],
            &answer["error"]["code"],
            &answer["error"]["message"]
        ),
        (&json!(false), &json!("skill_exited"), &json!(said)),
        "{answer}"
    );
}

#[tokio::test]
async fn tools_of_skills_are_listed_with_the_names_of_both() {
    let server = Server::start().await;
    let skill = server.install(&odd()).await;
    let (_, tools) = server.get("/api/tools").await;
    let tools = tools.as_array().unwrap().iter();
    let of_skill: Vec<&Value> = tools
        .filter(|tool| tool["source"]["id"] == skill["id"])
        .collect();
    let prints = of_skill
        .iter()
        .find(|tool| tool["toolName"] == "prints")
        .unwrap();
    let fields = ["toolId", "displayName", "skillName", "toolName", "title"];
    let id = id_of(&skill, "prints");
    assert_eq!(
        fields.map(|field| prints[field].as_str().unwrap()),
        [
            &id,
            "Odd Things 怪事/prints",
            "Odd Things 怪事",
            "prints",
            "prints"
        ],
        "{prints}"
    );
    assert!(id.starts_with("prints"), "{id}");
    assert_eq!(of_skill.len(), 5);
}

/// A model server that calls the tool which the user names, and remembers what it was asked.
#[derive(Clone, Default)]
struct ModelServer(Arc<Mutex<Vec<Value>>>);

impl ModelServer {
    async fn start(&self) -> String {
        let router = axum::Router::new()
            .route("/v1/chat/completions", post(Self::complete))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/v1")
    }

    async fn complete(State(server): State<Self>, Json(body): Json<Value>) -> impl IntoResponse {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let mut asked = server.0.lock().unwrap();
        let id = format!("call-{}", asked.len());
        let delta = if last["role"] == "tool" {
            json!({"content": "Done."})
        } else {
            let call = json!({"name": last["content"], "arguments": "{}"});
            json!({"tool_calls": [{"index": 0, "id": id, "function": call}]})
        };
        asked.push(body);
        let said = json!({"choices": [{"delta": delta}]});
        let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        let stream = format!("data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        ([("content-type", "text/event-stream")], stream)
    }

    /// The message with the result of the last call.
    fn result(&self) -> Value {
        let asked = self.0.lock().unwrap();
        let messages = asked.last().unwrap()["messages"].as_array().unwrap();
        messages.last().unwrap().clone()
    }
}

#[tokio::test]
async fn a_model_gets_success_and_data_or_the_error_under_the_id_of_its_call() {
    let model = ModelServer::default();
    let server = Server::start().await;
    let skill = server.install(&odd()).await;
    let new =
        json!({"name": "M", "provider": "openai", "baseUrl": model.start().await, "model": "m"});
    let (status, added) = server.post("/api/models", new).await;
    assert_eq!(status, 201, "{added}");
    let chat = server.new_chat().await;
    let ask = async |tool: &str| {
        let mut page = Page::open(&server).await;
        page.subscribe(&chat, 0).await;
        page.until(|frame| frame["type"] == "caughtUp").await;
        let turn = json!({"text": tool, "modelId": added["id"]});
        let (status, started) = server.post(&format!("/api/chats/{chat}/turns"), turn).await;
        assert_eq!(status, 202, "{started}");
        page.until_finished().await
    };

    let steps = id_of(&skill, "steps");
    let frames = ask(&steps).await;
    let of_progress = frames
        .iter()
        .filter(|frame| frame["type"] == "progress" || frame["body"]["type"] == "callProgress");
    let said: Vec<String> = of_progress.map(Value::to_string).collect();
    assert!(said.iter().any(|said| said.contains("half")), "{frames:#?}");
    let check = |call: &str, tool: &str, content: Value| {
        let message = model.result();
        let told: Value = serde_json::from_str(message["content"].as_str().unwrap()).unwrap();
        assert_eq!(
            (
                &message["role"],
                &message["tool_call_id"],
                &message["name"],
                told
            ),
            (&json!("tool"), &json!(call), &json!(tool), content),
            "{message}"
        );
    };
    check("call-0", &steps, json!({"success": true, "data": [1, 2]}));
    let fails = id_of(&skill, "fails");
    ask(&fails).await;
    let why = "The script failed with exit code 3: first\nno such city";
    check("call-2", &fails, json!({"success": false, "error": why}));
}

#[tokio::test]
async fn the_page_sees_who_was_called_and_what_came_of_it() {
    let server = Server::with_model(Arc::new(ObedientModel::default())).await;
    let skill = server.install(&odd()).await;
    let chat = server.new_chat().await;
    server.ask(&chat, &id_of(&skill, "prints")).await;
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let call = &messages[1]["toolCalls"][0];
    assert_eq!(
        (&call["displayName"], &call["status"]),
        (&json!("Odd Things 怪事/prints"), &json!("done")),
        "{call:#}"
    );
    assert_eq!(data_of(&messages), ["three words here"]);
}

#[tokio::test]
async fn instructions_come_when_the_skill_is_used_and_further_files_when_they_are_asked_for() {
    let server = Server::start().await;
    let skill = SkillFiles::new("minutes")
        .body("# Minutes\n\nFollow references/format.md.\n")
        .file("references/format.md", "One page.")
        .file(
            "scripts/hello.py",
            "import sys\nprint('hello', sys.argv[1:], sys.stdin.read())",
        )
        .file("scripts/data.bin", "no script");
    let skill = server.install(&skill).await;
    let uses = skill["useToolId"].as_str().unwrap();
    let read = async |arguments: Value| {
        let answer = server.call(uses, arguments).await;
        assert_eq!(answer["ok"], true, "{answer}");
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let whole = read(json!({})).await;
    assert!(
        whole.starts_with("# Minutes\n\nFollow references/format.md."),
        "{whole}"
    );
    assert!(
        whole.contains("[Scripts of this skill: scripts/hello.py."),
        "{whole}"
    );
    assert!(
        whole.contains("references/format.md, scripts/data.bin]"),
        "{whole}"
    );
    assert_eq!(
        read(json!({"file": "references/format.md"})).await,
        "One page."
    );
    for outside in ["../SKILL.md", "/etc/passwd", "references/../../x"] {
        let refused = server.failure(uses, json!({"file": outside})).await;
        assert!(
            refused.starts_with(&format!("The skill has no file `{outside}`.")),
            "{refused}"
        );
    }

    let runs = id_of(&skill, "run_minutes");
    let input = json!({"script": "scripts/hello.py", "arguments": ["a b"], "input": "there"});
    assert_eq!(server.result(&runs, input).await, "hello ['a b'] there");
    let refused = server.failure(&runs, json!({"script": "SKILL.md"})).await;
    assert!(refused.contains("scripts/hello.py"), "{refused}");

    let (_, detail) = server.get(&path_of(&skill)).await;
    assert_eq!(
        detail["instructions"],
        "# Minutes\n\nFollow references/format.md."
    );
    let file = format!("{}/file?path=references/format.md", path_of(&skill));
    let (_, file) = server.get(&file).await;
    assert_eq!(
        file,
        json!({"path": "references/format.md", "text": "One page.", "bytes": 9})
    );
}

#[tokio::test]
async fn a_builtin_tool_of_a_skill_has_the_arguments_that_it_fixes() {
    let server = Server::start().await;
    let tool = "type: builtin, tool: calculate, arguments: {expression: 6*7}, \
                parameters: {type: object}";
    let skill = server
        .install(&SkillFiles::new("sums").tool("answer", tool))
        .await;
    let answer = id_of(&skill, "answer");
    assert_eq!(
        server.result(&answer, json!({"expression": "1"})).await,
        json!("42")
    );
    let unknown = SkillFiles::new("none").tool("x", &tool.replace("calculate", "fly"));
    let (status, refused) = server.post("/api/skills", unknown.upload()).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (400, &json!("skill_no_such_builtin")),
        "{refused}"
    );
}

#[tokio::test]
async fn a_builtin_tool_that_is_denied_is_denied_through_a_skill_as_well() {
    let model = Arc::new(ObedientModel::default());
    let server = Server::with_model(model.clone()).await;
    let tool = "type: builtin, tool: calculate, arguments: {expression: 6*7}, \
                parameters: {type: object}";
    let skill = server
        .install(&SkillFiles::new("sums").tool("answer", tool))
        .await;
    let answer = id_of(&skill, "answer");
    let set = async |layer: &str, policy: Value, enabled: Value| {
        let tool = json!({"toolId": "builtin_calculate", "policy": policy, "enabled": enabled});
        let change = json!({"layer": layer, "tools": [tool]});
        assert_eq!(server.patch("/api/tools", change).await.0, 204);
    };
    let why = async || {
        let path = format!("/api/tools/{answer}/call");
        let body = json!({"arguments": {}});
        let (_, answer) = server.post(&path, body).await;
        answer["error"]["code"].as_str().map(str::to_owned)
    };
    let denied = Some("call_denied_by_you".to_owned());
    for (layer, policy, enabled, expected) in [
        ("user", json!("deny"), Value::Null, denied),
        (
            "organisation",
            json!("deny"),
            Value::Null,
            Some("call_denied_for_all".to_owned()),
        ),
        (
            "user",
            Value::Null,
            json!(false),
            Some("call_off".to_owned()),
        ),
    ] {
        assert_eq!(why().await, None);
        set(layer, policy, enabled).await;
        assert_eq!(why().await, expected, "{layer}");
        // No model is offered it, and one that calls it all the same gets nothing.
        let chat = server.new_chat().await;
        let before = model.requests().len();
        server.ask(&chat, &answer).await;
        let asked = model.requests().split_off(before);
        let offered = asked[0].tools.iter().any(|tool| tool.id.as_str() == answer);
        assert!(!offered, "{layer}");
        let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
        let status = &messages[1]["toolCalls"][0]["status"];
        assert_eq!(status, "failed", "{layer}: {messages:#}");
        set(layer, Value::Null, Value::Null).await;
    }
    assert_eq!(why().await, None);
}

#[tokio::test]
async fn two_calls_of_one_chat_share_its_folder_and_no_other_chat_does() {
    let writes = "import json, os, sys\nopen('seen', 'a').write('x')\nprint(json.dumps([open('seen').read(), os.listdir('.')]))";
    let server = Server::with_model(Arc::new(ObedientModel::default())).await;
    let skill = SkillFiles::new("notes").python("write", writes);
    let write = id_of(&server.install(&skill).await, "write");
    let (one, two) = (server.new_chat().await, server.new_chat().await);
    let mut seen = Vec::new();
    for chat in [&one, &one, &two] {
        server.ask(chat, &write).await;
        let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
        seen.extend(data_of(&messages));
    }
    assert_eq!(
        seen,
        [
            json!(["x", ["seen"]]),
            json!(["xx", ["seen"]]),
            json!(["x", ["seen"]])
        ]
    );
}
