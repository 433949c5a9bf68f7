//! Calls outside of chats: the audit log has how and where they were made, and whoever made them
//! reads what they were given and gave.

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_llm::scripted::ScriptStep;

use crate::local;
use crate::mcp_door::{message, stateless};
use crate::people::Person;
use crate::server::{Page, Server, answer};

const SUM: &str = "builtin_calculate";
const MAX_TEXT_BYTES: usize = 4 * 1024;

fn call_message(tool: &str, arguments: &Value) -> Value {
    let mut call = message("tools/call", json!({"name": tool, "arguments": arguments}));
    let client = json!({"name": "Inspector\n\u{202e}", "version": "2.1"});
    call["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
    call
}

async fn over_mcp(client: &Person<'_>, tool: &str, arguments: Value) -> Value {
    let request = client.request("POST", "/mcp");
    let request = stateless(request, &call_message(tool, &arguments));
    answer(request.send().await.unwrap()).await.1
}

/// The calls that an admin sees, the newest first.
async fn logged(admin: &Person<'_>) -> Vec<Value> {
    let (status, entries) = admin.get("/api/audit?action=tool.called").await;
    assert_eq!(status, 200, "{entries}");
    entries.as_array().unwrap().clone()
}

fn path_of(entry: &Value) -> String {
    format!("/api/calls/{}", entry["detail"]["callId"].as_str().unwrap())
}

#[tokio::test]
async fn a_call_by_any_interface_has_a_trace_for_whoever_made_it() {
    let server = Server::with_accounts([
        vec![
            ScriptStep::call(0, SUM, &json!({"expression": "6*7"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("42"), ScriptStep::stop()],
    ])
    .await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let key = bob.key("use").await;
    let by_hand = format!("/api/tools/{SUM}/call");
    let sum = json!({"expression": "6*7"});
    let arguments = json!({"arguments": sum});
    assert_eq!(bob.post(&by_hand, arguments.clone()).await.0, 200);
    assert_eq!(key.post(&by_hand, arguments).await.0, 200);
    over_mcp(&key, SUM, sum.clone()).await;
    assert_eq!(key.post("/mcpo/math/calculate", sum).await.0, 200);
    let ask = json!({"messages": [{"role": "user", "content": "what is 6*7"}]});
    assert_eq!(key.post("/v1/chat/completions", ask).await.0, 200);

    let entries = logged(&ada).await;
    let interfaces: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["detail"]["interface"])
        .collect();
    assert_eq!(interfaces, ["v1", "mcpo", "mcp", "api", "page"]);
    assert_eq!(entries[2]["detail"]["client"], "Inspector 2.1");
    for entry in &entries {
        assert_eq!(entry["detail"]["runsOn"], "server", "{entry:#}");
        // What was said in a call is nobody's but its maker's.
        assert!(!entry.to_string().contains("6*7"), "{entry:#}");
        assert_eq!(ada.get(&path_of(entry)).await.0, 404);
    }
    // The conversation of a completion is its client's.
    assert_eq!(bob.get(&path_of(&entries[0])).await.0, 404);
    for entry in &entries[1..] {
        let (status, trace) = bob.get(&path_of(entry)).await;
        assert_eq!(status, 200, "{trace}");
        assert_eq!(trace["toolId"], SUM);
        assert_eq!(trace["runsOn"], "server");
        assert_eq!(trace["status"], "done");
        assert!(trace["input"].as_str().unwrap().contains("6*7"), "{trace}");
        assert_eq!(trace["output"], "42");
        assert_eq!(trace["outputBytes"], 2);
        assert_eq!(trace["durationMs"], entry["detail"]["durationMs"]);
        assert_eq!(trace["forms"], json!([]));
    }
}

#[tokio::test]
async fn a_call_that_fails_says_why_and_long_texts_are_cut() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let long = "1+".repeat(MAX_TEXT_BYTES);
    let wrong = json!({"expression": long});
    over_mcp(&ada.key("use").await, SUM, wrong).await;
    let by_hand = format!("/api/tools/{SUM}/call");
    ada.post(&by_hand, json!({"arguments": {}})).await;

    let entries = logged(&ada).await;
    let codes: Vec<&Value> = entries
        .iter()
        .map(|entry| &entry["detail"]["error"])
        .collect();
    for (entry, code) in entries.iter().zip(&codes) {
        let (status, trace) = ada.get(&path_of(entry)).await;
        assert_eq!((status, &trace["status"]), (200, &json!("failed")));
        let error = &trace["error"];
        let known = error.get("code").unwrap_or(&error["kind"]);
        assert_eq!(known, *code, "{trace:#}");
        assert!(error["message"].as_str().unwrap().len() <= MAX_TEXT_BYTES + 3);
        assert!(trace.get("output").is_none(), "{trace:#}");
    }
    let (_, trace) = ada.get(&path_of(&entries[1])).await;
    let input = trace["input"].as_str().unwrap();
    assert!(input.ends_with('…'), "{input}");
    assert!(input.len() <= MAX_TEXT_BYTES + 3, "{}", input.len());
}

#[tokio::test]
async fn a_call_that_ran_on_a_computer_says_on_which() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let mut page = ada.socket().await.unwrap();
    let registration = local::registration("device-of-ada", "page-of-device-of-ada");
    page.send(&registration.to_string()).await;
    page.until(|frame| frame["type"] == "tools:registered")
        .await;
    let scope = json!({"access": "use", "allow": ["local_*"]});
    let new = json!({"name": "client", "scope": scope});
    let (_, key) = ada.post("/api/keys", new).await;
    let mut client = ada.clone();
    let key = key["key"].as_str().unwrap();
    client.shows = Some(("authorization", format!("Bearer {key}")));
    let (_, tools) = ada.get("/api/tools").await;
    let mut tools = tools.as_array().unwrap().iter();
    let tool = tools.find(|tool| tool["runsOn"] == "browser").unwrap();
    let calling = over_mcp(
        &client,
        tool["toolId"].as_str().unwrap(),
        json!({"at": "x"}),
    );
    let (called, ()) = tokio::join!(calling, answer_call(&mut page));
    assert_eq!(called["result"]["content"][0]["text"], "mine", "{called}");

    let entry = logged(&ada).await.remove(0);
    let told = |of: &Value| (of["runsOn"].clone(), of["device"].clone());
    let expected = (json!("browser"), json!("Chrome on Linux"));
    assert_eq!(told(&entry["detail"]), expected);
    let (_, trace) = ada.get(&path_of(&entry)).await;
    assert_eq!(told(&trace), expected, "{trace:#}");
    assert_eq!(trace["output"], "mine");
}

/// The page makes the call that it is sent.
async fn answer_call(page: &mut Page) {
    let heard = page.until(|frame| frame["type"] == "execute:tool").await;
    let call = &heard.last().unwrap()["call_id"];
    let result = json!({"content": [{"type": "text", "text": "mine"}]});
    let done = json!({"type": "tool:result", "call_id": call, "result": result});
    page.send(&done.to_string()).await;
}

#[tokio::test]
async fn a_call_in_a_chat_has_the_trace_that_its_turn_has() {
    let server = Server::with_accounts([
        vec![
            ScriptStep::call(0, SUM, &json!({"expression": "6*"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text("?"), ScriptStep::stop()],
    ])
    .await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (_, turn) = bob.ask("what is 6*").await;
    let entry = logged(&ada).await.remove(0);
    let detail = &entry["detail"];
    assert_eq!(detail["runsOn"], "server");
    assert!(detail["error"].is_string(), "{entry:#}");
    let turn = format!("/api/turns/{}/trace", turn.as_str().unwrap());
    let (_, of_turn) = bob.get(&turn).await;
    let (status, trace) = bob.get(&path_of(&entry)).await;
    assert_eq!((status, &trace), (200, &of_turn["toolCalls"][0]));
    assert_eq!(ada.get(&path_of(&entry)).await.0, 404);
}

#[tokio::test]
async fn an_operator_who_has_no_request_kept_has_no_input_kept() {
    let server = Server::with_config(Config {
        keep_model_requests: Some(false),
        ..Config::default()
    })
    .await;
    let by_hand = format!("/api/tools/{SUM}/call");
    let sum = json!({"arguments": {"expression": "6*7"}});
    assert_eq!(server.post(&by_hand, sum).await.0, 200);
    let (_, entries) = server.get("/api/audit?action=tool.called").await;
    assert_eq!(entries[0]["detail"]["status"], "done");
    assert_eq!(server.get(&path_of(&entries[0])).await.0, 404);
}
