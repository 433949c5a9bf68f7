//! Hundreds of tools: what a model is told of, how it finds and calls the others, and the same for
//! clients over MCP.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Json;
use axum::extract::Path;
use axum::routing::post;
use serde_json::{Map, Value, json};
use tenon_domain::ToolId;
use tenon_llm::scripted::ScriptStep;
use tenon_llm::{Error, ModelRequest, ModelStream, Provider, Scripted};

use crate::login;
use crate::mcp_door::{message, stateless};
use crate::people::Person;
use crate::server::{Page, Server, answer};
use crate::sources::fixtures::source;

const GARAGE: &str = "api_office_open_garage";

/// A scripted model that can be told of little.
struct NarrowModel(Arc<Scripted>);

#[async_trait]
impl Provider for NarrowModel {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn tool_budget(&self) -> Option<usize> {
        Some(6_000)
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error> {
        self.0.stream(request).await
    }
}

/// An OpenAPI server with three hundred operations, as it is added. Each answers with what it was
/// asked.
async fn office() -> Value {
    let echo = |Path(name): Path<String>, Json(input): Json<Value>| async move {
        Json(json!({"did": name, "with": input}))
    };
    let router = axum::Router::new().route("/{name}", post(echo));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let numbered = (0..298).map(|number| {
        let name = format!("file_form_{number:03}");
        (
            name,
            format!("Files form number {number} with the registry"),
        )
    });
    let named = [
        (
            "open_garage".to_owned(),
            "Opens the door of the garage".to_owned(),
        ),
        (
            "water_plants".to_owned(),
            "Waters the plants on the balcony".to_owned(),
        ),
    ];
    let paths: Map<String, Value> = numbered
        .chain(named)
        .map(|(name, summary)| {
            let schema = json!({"type": "object", "properties": {
                "note": {"type": "string", "description": "What to write down."},
            }});
            let operation = json!({"post": {
                "operationId": name, "summary": summary, "responses": {},
                "requestBody": {"content": {"application/json": {"schema": schema}}},
            }});
            (format!("/{name}"), operation)
        })
        .collect();
    json!({"kind": "openapi", "name": "office", "document": {
        "openapi": "3.1.0", "info": {"title": "Office", "version": "1"},
        "servers": [{"url": url}], "paths": paths,
    }})
}

/// The same, added and ready.
pub async fn add_office(server: &Server) {
    let (status, added) = server.post("/api/sources", office().await).await;
    assert_eq!(status, 201, "{added}");
    source(server, added["id"].as_str().unwrap(), |source| {
        source["state"] == "ready"
    })
    .await;
}

fn ids(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.id.as_str()).collect()
}

#[tokio::test]
async fn a_model_finds_a_tool_and_its_call_is_asked_about_like_any_other() {
    let by_id = json!({"id": GARAGE, "arguments": {"note": "left door"}});
    let model = Arc::new(Scripted::new([
        vec![
            ScriptStep::call(0, "tool_search", &json!({"query": "garage door"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::call(0, "tool_call", &by_id), ScriptStep::stop()],
        vec![ScriptStep::text("It is open."), ScriptStep::stop()],
        vec![ScriptStep::text("You are welcome."), ScriptStep::stop()],
    ]));
    let server = Server::with_model(Arc::new(NarrowModel(model.clone()))).await;
    add_office(&server).await;
    let chat = server.new_chat().await;
    let mut page = Page::open(&server).await;
    page.subscribe(&chat, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    server.say(&chat, "I want to drive out").await;

    // The approval names the tool itself, with what it is going to get.
    let frames = page
        .until(|frame| frame["body"]["type"] == "callAsked")
        .await;
    let call = frames.last().unwrap()["body"]["callId"].as_str().unwrap();
    let (_, messages) = server.get(&format!("/api/chats/{chat}/messages")).await;
    let calls = messages.as_array().unwrap().iter();
    let mut calls = calls.flat_map(|message| message["toolCalls"].as_array().into_iter().flatten());
    let asked = calls.find(|record| record["id"] == call).unwrap();
    assert_eq!(asked["toolId"], GARAGE, "{asked}");
    assert_eq!(asked["displayName"], "office/Opens the door of the garage");
    assert_eq!(asked["input"], json!({"note": "left door"}));
    let verdict = json!({"verdict": "once"});
    let path = format!("/api/calls/{call}/answer");
    assert_eq!(server.post(&path, verdict).await.0, 204);
    page.until_finished().await;
    server.ask(&chat, "Thank you").await;

    let requests = model.requests();
    let first = ids(&requests[0]);
    assert_eq!(
        first[..3],
        ["tool_call", "tool_describe", "tool_search"],
        "{first:?}"
    );
    assert!(first.len() < 100 && !first.contains(&GARAGE), "{first:?}");
    let search = requests[0]
        .tools
        .iter()
        .find(|tool| tool.id.as_str() == "tool_search");
    assert!(search.unwrap().description.contains("from: office."));
    // What was found is there from the next step on, behind what was there; nothing else moved.
    let second = ids(&requests[1]);
    assert_eq!(second[..first.len()], first);
    assert!(second.contains(&GARAGE), "{second:?}");
    let last = ids(&requests[3]);
    assert_eq!(last[..second.len()], second);
    let told = format!("{:?}", requests[2].messages);
    assert!(
        told.contains("open_garage") && told.contains("left door"),
        "{told}"
    );
}

#[tokio::test]
async fn the_estimate_says_that_the_rest_is_searched_for() {
    let server = Server::with_model(Arc::new(NarrowModel(Arc::default()))).await;
    add_office(&server).await;
    let draft = json!({"text": "Water the plants, please"});
    let (status, context) = server.post("/api/context", draft).await;
    assert_eq!(status, 200, "{context}");
    let tools: Vec<ToolId> = serde_json::from_value(context["tools"].clone()).unwrap();
    let has = |id: &str| tools.iter().any(|tool| tool.as_str() == id);
    // What finds the others is no tool of the person's.
    assert!(
        has("api_office_water_plants") && !has("tool_search"),
        "{tools:?}"
    );
    assert!(context["deferred"].as_u64().unwrap() > 0, "{context}");
    assert!(
        context["toolTokens"].as_u64().unwrap() <= 3_000,
        "{context}"
    );
}

#[tokio::test]
async fn a_client_over_mcp_gets_them_for_the_price_of_three() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (_, added) = ada.post("/api/sources", office().await).await;
    let id = added["id"].as_str().unwrap();
    login::until(&ada, id, |source| source["state"] == "ready").await;
    let key = |allow: Value| {
        let scope = json!({"access": "use", "allow": allow});
        ada.post("/api/keys", json!({"name": "client", "scope": scope}))
    };
    let (_, all) = key(json!(["api_office_*"])).await;
    let (_, none) = key(json!([])).await;
    let send = async |key: &Value, method: &str, params: Value| {
        let request = server.anonymous("POST", "/mcp?mode=search");
        let request = request.bearer_auth(key["key"].as_str().unwrap());
        let response = stateless(request, &message(method, params)).send().await;
        answer(response.unwrap()).await.1["result"].clone()
    };
    let call = async |key: &Value, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        send(key, "tools/call", params).await
    };
    let listed = send(&all, "tools/list", json!({})).await;
    let names = listed["tools"].as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["tool_search", "tool_describe", "tool_call"]);

    let found = call(&all, "tool_search", json!({"query": "plants"})).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("api_office_water_plants ("), "{text}");
    let by_id = json!({"id": "api_office_water_plants", "arguments": {"note": "two liters"}});
    let called = call(&all, "tool_call", by_id.clone()).await;
    assert!(called.to_string().contains("two liters"), "{called}");
    let (_, noted) = ada.get("/api/audit?action=tool.called").await;
    assert!(
        noted.to_string().contains("api_office_water_plants"),
        "{noted}"
    );

    // A key that may not call a tool neither finds it nor calls it by its id.
    let found = call(&none, "tool_search", json!({"query": "plants"})).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains("water_plants"), "{text}");
    let refused = call(&none, "tool_call", by_id).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let wrong = server.anonymous("POST", "/mcp?mode=riddle");
    let wrong = wrong.bearer_auth(all["key"].as_str().unwrap());
    assert_eq!(wrong.send().await.unwrap().status(), 400);
}
