//! Clients that were made for OpenAI.

mod client_tools;
mod options;

use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::ToolId;
use tenon_llm::ToolChoice;
use tenon_llm::scripted::{ScriptStep, Scripted};

use crate::peer::{installed, ours};
use crate::people::Person;
use crate::program::{Served, run, stdout};
use crate::server::Server;

#[tokio::test]
async fn the_official_client_is_at_home() {
    let sum = || ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"}));
    let multiply = || ScriptStep::call(0, "multiply", &json!({"a": 6, "b": 7}));
    let server = Server::with_accounts([
        vec![sum(), ScriptStep::stop()],
        vec![ScriptStep::text("It is 42."), ScriptStep::stop()],
        vec![ScriptStep::text("Let me see. "), sum(), ScriptStep::stop()],
        vec![
            ScriptStep::text("It is "),
            ScriptStep::text("42."),
            ScriptStep::stop(),
        ],
        vec![sum(), ScriptStep::stop()],
        vec![ScriptStep::text("I cannot."), ScriptStep::stop()],
        vec![multiply(), ScriptStep::stop()],
        vec![
            ScriptStep::text("Think.\nObs"),
            ScriptStep::text("ervation: made up"),
            ScriptStep::stop(),
        ],
        vec![multiply(), ScriptStep::stop()],
        vec![
            ScriptStep::text("Half of"),
            ScriptStep::Fail("Out of order.".into()),
        ],
        vec![
            ScriptStep::text("Half of"),
            ScriptStep::Fail("Still so.".into()),
        ],
    ])
    .await;
    let ada = Person::set_up(&server, "Ada").await;
    let (_, shown) = ada.key("use").await.shows.unwrap();
    let key = shown.strip_prefix("Bearer ").unwrap();
    let client = tokio::process::Command::new(installed("venv/bin/python"))
        .arg(ours("openai/client.py"))
        .args([&format!("http://{}/v1", server.address), key])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(crate::server::TEST_TIMEOUT * 3, client)
        .await
        .unwrap()
        .unwrap();
    let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(saw["models"][0], "builtin", "{saw}");
    assert_eq!(saw["answer"], "It is 42.", "{saw}");
    assert_eq!(saw["streamed"], "Let me see. \n\nIt is 42.", "{saw}");
    assert_eq!(
        (&saw["finish"], &saw["streamed_finish"]),
        (&json!("stop"), &json!("stop"))
    );
    assert_eq!(saw["counted"], true, "{saw}");
    assert_eq!(saw["without_tools"], "I cannot.", "{saw}");
    assert_eq!(saw["their_finish"], "tool_calls", "{saw}");
    assert_eq!(saw["their_call"], json!({"a": 6, "b": 7}), "{saw}");
    let picture = saw["picture"].as_str().unwrap();
    assert!(picture.contains("from elsewhere"), "{picture}");
    assert_eq!(
        (&saw["wrong_key"], &saw["wrong_key_type"]),
        (&json!(401), &json!("authentication_error"))
    );
    assert_eq!(saw["cut"], "Think.", "{saw}");
    assert_eq!(
        saw["their_stream"],
        json!(["multiply", {"a": 6, "b": 7}, "tool_calls"]),
        "{saw}"
    );
    assert_eq!(
        (&saw["failed"][0], &saw["failed"][1]),
        (&json!(502), &json!("server_error")),
        "{saw}"
    );
    let failed = saw["failed"][2].as_str().unwrap();
    assert!(failed.contains("Out of order."), "{saw}");
    // The second of them would have been asked for by somebody who tries again.
    let failed = saw["failed_stream"].as_str().unwrap();
    assert!(failed.contains("Still so."), "{saw}");
    assert_eq!(
        saw["no_model"],
        json!(["invalid_request_error", "model_unknown"]),
        "{saw}"
    );
    // What Tenon called is on record; what the client called is the client's affair.
    let (_, noted) = ada.get("/api/audit?action=tool.called").await;
    let noted: Vec<(&Value, &Value)> = noted
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| (&entry["subject"], &entry["detail"]["status"]))
        .collect();
    let (sum, done, failed) = (json!("builtin_calculate"), json!("done"), json!("failed"));
    // The newest was called without having been offered.
    assert_eq!(noted, [(&sum, &failed), (&sum, &done), (&sum, &done)]);
}

#[tokio::test]
async fn a_tool_of_the_client_is_called_by_the_client() {
    let call = ScriptStep::call(0, "open_door", &json!({"number": 7}));
    let server = Server::scripted([
        vec![ScriptStep::text("Let me see."), call, ScriptStep::stop()],
        vec![ScriptStep::text("It is open."), ScriptStep::stop()],
    ])
    .await;
    let tool = json!({"type": "function", "function": {"name": "open_door", "parameters": {"type": "object"}}});
    let said = json!({"role": "user", "content": "open 7"});
    let first = json!({"messages": [said], "tools": [tool]});
    let (status, answer) = server.post("/v1/chat/completions", first).await;
    assert_eq!(status, 200, "{answer}");
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{answer}");
    let made = &choice["message"]["tool_calls"][0];
    assert_eq!(made["function"]["name"], "open_door");
    assert_eq!(made["function"]["arguments"], r#"{"number":7}"#);

    let result = json!({"role": "tool", "tool_call_id": made["id"], "content": "opened"});
    let again = json!({"messages": [said, choice["message"], result], "tools": [tool]});
    let (status, answer) = server.post("/api/chat/completions", again).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], "It is open.");
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_in_words() {
    let server = Server::scripted([vec![ScriptStep::Fail("Out of order.".into())]]).await;
    let user = json!({"role": "user", "content": "hi"});
    let check = async |body: Value, status: u16, words: &str| {
        let (found, answer) = server.post("/v1/chat/completions", body.clone()).await;
        assert_eq!(found, status, "{body}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{body}: {message}");
    };
    check(json!({"messages": []}), 400, "last message").await;
    check(
        json!({"messages": [{"role": "assistant", "content": "hi"}]}),
        400,
        "last message",
    )
    .await;
    let stray = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    check(json!({"messages": [user, stray]}), 400, "did not call").await;
    let tool = json!({"type": "function", "function": {"name": "a b"}});
    check(
        json!({"messages": [user], "tools": [tool]}),
        400,
        "name of a function",
    )
    .await;
    let tool = json!({"type": "function", "function": {"name": "a"}});
    check(
        json!({"messages": [user], "tools": [tool], "tool_ids": []}),
        400,
        "Send either",
    )
    .await;
    check(
        json!({"messages": [user], "model": "no-such"}),
        404,
        "no-such",
    )
    .await;
    let long = json!({"role": "user", "content": "x".repeat(9 * 1024 * 1024)});
    check(json!({"messages": [long]}), 413, "longer than any model").await;
    check(json!({"messages": [user]}), 502, "Out of order.").await;
    let (found, _) = server.get("/v1/nothing").await;
    assert_eq!(found, 404);
}

#[tokio::test]
async fn what_clients_write_differently_is_understood() {
    let answer = || vec![ScriptStep::text("Yes."), ScriptStep::stop()];
    let model = Arc::new(Scripted::new([answer(), answer(), answer(), answer()]));
    let server = Server::with_model(model.clone()).await;
    let ask = async |body: Value| {
        let (status, answer) = server.post("/v1/chat/completions", body).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["choices"][0]["message"]["content"], "Yes.");
        assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    };
    let user = json!({"role": "user", "content": "hi"});
    // Nothing, written out.
    ask(json!({
        "messages": [user], "stream": null, "stream_options": null, "tools": null, "stop": null,
        "n": 1, "response_format": {"type": "text"}, "metadata": {"trace": "7"},
        "temperature": 0, "max_tokens": 5, "tool_choice": "none",
    }))
    .await;
    assert_eq!(model.requests()[0].tools.len(), 0);
    // Instructions alone.
    ask(json!({"messages": [{"role": "developer", "content": "Say yes."}]})).await;
    // One of the client's tools and no other.
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "description": null, "parameters": null}});
    ask(json!({
        "messages": [user], "tools": [tool("a"), tool("b")],
        "tool_choice": {"type": "function", "function": {"name": "b"}},
    }))
    .await;
    let choice = model.requests()[2].options.tool_choice.clone();
    assert_eq!(choice, Some(ToolChoice::Tool(ToolId::new("b"))));
    // Arguments that are no text, and answers in another order than the calls, or none.
    let call = |id: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": "a", "arguments": arguments}});
    ask(json!({
        "messages": [
            user,
            {"role": "assistant", "content": null, "tool_calls": [call("1", json!({"x": 1})), call("2", json!(null))]},
            {"role": "tool", "tool_call_id": "2", "content": null},
            {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "one"}]},
        ],
        "tools": [tool("a")],
    }))
    .await;
    let told = format!("{:?}", model.requests()[3].messages.last());
    assert!(told.contains("one"), "{told}");
}

#[tokio::test]
async fn who_is_no_admin_brings_no_more_along_than_they_may() {
    let server = Server::with_accounts([vec![ScriptStep::text("Done."), ScriptStep::stop()]]).await;
    let ada = Person::set_up(&server, "Ada").await.key("use").await;
    let ask = |description: usize| {
        let paths =
            json!({"/a": {"get": {"operationId": "a", "description": "x".repeat(description)}}});
        let document = json!({
            "openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": paths,
            "servers": [{"url": "https://t.example"}],
        });
        json!({"messages": [{"role": "user", "content": "hi"}], "tool_servers": [document]})
    };
    // An admin's key that may not administer is nobody's special.
    let (status, refused) = ada.post("/v1/chat/completions", ask(9 << 20)).await;
    assert_eq!(status, 413, "{refused}");
    assert_eq!(
        refused["error"]["type"], "invalid_request_error",
        "{refused}"
    );
    let (status, answer) = ada.post("/v1/chat/completions", ask(1 << 20)).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn a_server_that_comes_along_is_there_for_that_answer_alone() {
    let mut command = std::process::Command::new(installed("venv-fastapi/bin/python"));
    command.arg(ours("openapi/fast.py"));
    let peer = crate::peer::Peer::start(command);
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "Brought along", "version": "1"},
        "paths": {"/query": {"get": {
            "operationId": "ask",
            "parameters": [{"name": "text", "in": "query", "schema": {"type": "string"}}],
        }}},
    });
    let call = || ScriptStep::call(0, "api_Brought-along_ask", &json!({"text": "你好"}));
    let model = Arc::new(Scripted::new([
        vec![call(), ScriptStep::stop()],
        vec![ScriptStep::text("Done."), ScriptStep::stop()],
        vec![call(), ScriptStep::stop()],
        vec![ScriptStep::text("Not there."), ScriptStep::stop()],
    ]));
    let server = Server::with_model(model.clone()).await;
    let ask = |servers: Value| {
        json!({
            "messages": [{"role": "user", "content": "ask"}],
            "tool_ids": [], "tool_servers": servers,
        })
    };
    // Tenon reaches this machine as well as its client does.
    let with = ask(json!([{"url": peer.url, "openapi": document, "info": {}, "direct": false}]));
    let (status, answer) = server.post("/v1/chat/completions", with).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], "Done.");
    let (_, answer) = server.post("/v1/chat/completions", ask(json!([]))).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "Not there.");
    // What the model was told each time.
    let told = |step: usize| format!("{:?}", model.requests()[step].messages.last());
    assert!(
        told(1).contains("你好") && told(1).contains("Ok("),
        "{}",
        told(1)
    );
    assert!(told(3).contains("UnknownTool"), "{}", told(3));
    assert_eq!(model.requests()[2].tools.len(), 0);
    let (_, tools) = server.get("/api/tools").await;
    assert!(!tools.to_string().contains("Brought-along"));
    let check = async |server_along: Value, words: &str| {
        let along = ask(json!([server_along]));
        let (status, refused) = server.post("/v1/chat/completions", along).await;
        assert_eq!(status, 400, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("`tool_servers[0]`"), "{message}");
        assert!(message.contains(words), "{message}");
    };
    check(json!({"openapi": {"hello": 1}}), "`openapi`").await;
    check(json!({"url": peer.url}), "`openapi` is missing").await;
    // The main document of an mcpo only lists others.
    let main = json!({"openapi": "3.1.0", "info": {"title": "MCP", "version": "1"}, "paths": {}});
    check(main, "the documents of those").await;
}

#[tokio::test]
async fn the_official_clients_get_in_where_there_are_no_accounts() {
    let data = tempfile::tempdir().unwrap();
    let key = stdout(&run(
        &data,
        &["user", "key", "--name", "sdk", "--access", "use"],
    ));
    let served = Served::start(&data);
    let base = format!("{}/v1", served.address);
    let mut python = tokio::process::Command::new(installed("venv/bin/python"));
    python.arg(ours("openai/alone.py"));
    let mut node = tokio::process::Command::new("node");
    node.arg(ours("openai/client.mjs"))
        .arg(installed("node/node_modules"));
    for mut client in [python, node] {
        let output = client.args([&base, key.trim()]).kill_on_drop(true).output();
        let output = tokio::time::timeout(crate::server::TEST_TIMEOUT * 3, output);
        let output = output.await.unwrap().unwrap();
        let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = saw["answer"].as_str().unwrap();
        assert!(answer.contains("42"), "{saw}");
        let expected = json!({
            "models": ["builtin", "expert/general", "expert/files-data", "expert/web-research"],
            "answer": answer, "finish": "stop", "counted": true,
            "streamed": answer, "streamedFinish": "stop",
            "cut": ["length", 4],
            "two": [400, "unsupported_parameter", "n"],
            "format": [400, "model_option_unsupported", "response_format"],
            "wrongKey": 401,
        });
        assert_eq!(saw, expected);
    }
}
