//! A trace that passes through: an MCP client asks Tenon, and Tenon an OpenAPI server.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::receiver::Receiver;
use super::{PAGE_SPAN, TRACE, check_attributes, named, only, sends_to};
use crate::mcp_door::{McpProgram, message};
use crate::program::Served;

/// A server with one operation, which remembers how it was asked.
#[derive(Clone, Default)]
struct Pets(Arc<Mutex<Vec<HeaderMap>>>);

impl Pets {
    async fn start(&self) -> String {
        let router = Router::new()
            .route("/openapi.json", get(describe))
            .route("/pets/{id}", get(find))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/openapi.json")
    }

    /// Of the requests so far.
    fn traceparents(&self) -> Vec<String> {
        let asked = self.0.lock().unwrap();
        let text = |headers: &HeaderMap| headers["traceparent"].to_str().unwrap().to_owned();
        asked.iter().map(text).collect()
    }
}

async fn describe() -> Json<Value> {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
    Json(json!({
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "paths": {"/pets/{id}": {"get": {"operationId": "find", "parameters": [id]}}},
    }))
}

async fn find(State(pets): State<Pets>, headers: HeaderMap) -> Json<Value> {
    pets.0.lock().unwrap().push(headers);
    Json(json!({"name": "Tom"}))
}

#[tokio::test]
async fn a_trace_of_an_mcp_client_goes_on_at_an_openapi_server() {
    let receiver = Receiver::start();
    let data = tempfile::tempdir().unwrap();
    let served = Served::start_with(&data, |serve| sends_to(serve, receiver.url()));
    let pets = Pets::default();
    let source = json!({"kind": "openapi", "name": "pets", "url": pets.start().await});
    served.post("/api/sources", source).await;
    served
        .until("/api/tools", |tools| {
            tools.to_string().contains("api_pets_find")
        })
        .await;

    let traceparent = format!("00-{TRACE}-{PAGE_SPAN}-01");
    let hub = served.client.post(format!("{}/mcp", served.address));
    let refused = hub.header("traceparent", &traceparent).send().await;
    assert_eq!(refused.unwrap().status(), 401);

    let ask = |id: u64, name: &str, arguments: Value| {
        let mut message = message("tools/call", json!({"name": name, "arguments": arguments}));
        message["id"] = id.into();
        message["params"]["_meta"]["traceparent"] = traceparent.as_str().into();
        message
    };
    let requests = [
        ask(1, "api_pets_find", json!({"id": "7"})),
        ask(2, "builtin_calculate", json!({"expression": "1/0"})),
    ];
    // The pets are on this thread, and the client blocks the one that it is on.
    let asking = tokio::task::spawn_blocking(move || {
        let answers = McpProgram::start(&data).answers(&requests);
        (answers, data)
    });
    let (answers, _data) = asking.await.unwrap();
    assert!(answers[0].to_string().contains("Tom"), "{:#}", answers[0]);
    assert_eq!(answers[1]["result"]["isError"], true, "{:#}", answers[1]);

    let (asked, failing) = ("tools/call api_pets_find", "tools/call builtin_calculate");
    let spans = receiver.spans(TRACE, |spans| {
        let names = [asked, failing, "POST /mcp"];
        names.iter().all(|name| !named(spans, name).is_empty())
    });
    let spans = spans.await;
    let http = only(&spans, "POST /mcp");
    assert_eq!(
        (&*http.parent, &*http.kind),
        (PAGE_SPAN, "SPAN_KIND_SERVER")
    );
    let expected = [
        ("http.route", "Str(/mcp)"),
        ("http.response.status_code", "Int(401)"),
    ];
    check_attributes(http, &expected);
    let asked = only(&spans, asked);
    assert_eq!(
        (&*asked.parent, &*asked.kind),
        (PAGE_SPAN, "SPAN_KIND_SERVER")
    );
    let expected = [
        ("mcp.method.name", "Str(tools/call)"),
        ("jsonrpc.request.id", "Str(1)"),
        ("gen_ai.tool.name", "Str(api_pets_find)"),
        ("error.type", ""),
    ];
    check_attributes(asked, &expected);
    check_attributes(only(&spans, failing), &[("error.type", "Str(tool_error)")]);
    let call = only(&spans, "execute_tool find");
    assert_eq!(call.parent, asked.id);
    let sent = only(&spans, "GET /pets/{id}");
    assert_eq!((&sent.parent, &*sent.kind), (&call.id, "SPAN_KIND_CLIENT"));
    let expected = [
        ("http.request.method", "Str(GET)"),
        ("http.response.status_code", "Int(200)"),
        ("url.template", "Str(/pets/{id})"),
        ("server.address", "Str(127.0.0.1)"),
    ];
    check_attributes(sent, &expected);
    assert_eq!(pets.traceparents(), [format!("00-{TRACE}-{}-01", sent.id)]);

    receiver
        .metrics(&[(
            "mcp.server.operation.duration",
            &[
                ("mcp.method.name", "Str(tools/call)"),
                ("error.type", "Str(tool_error)"),
            ],
        )])
        .await;
}
