//! Tools whose schemas are made to keep a server busy for ever, from all places that tools come
//! from.

use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Client;
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::listening;
use crate::server::{Page, Server, answer};
use crate::sources::fixtures::{ready, tools, until};

/// How long `/health` may take on a busy machine. It takes a few milliseconds.
const HEALTH_BOUND: Duration = Duration::from_secs(1);

/// All of it: a server that hangs is noticed, too.
const BOUND: Duration = Duration::from_secs(150);

const INPUTS: usize = 20;

#[test]
fn health_answers_while_inputs_are_validated_that_take_for_ever() {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    // Those who ask have threads of their own: they ask whatever the server is busy with.
    let (theirs, ours) = (runtime(cores), runtime(2));
    let server = theirs.block_on(Server::start());
    let asked = ours.block_on(async { tokio::time::timeout(BOUND, story(&server)).await });
    // Where it hangs, it does so for ever.
    theirs.shutdown_background();
    asked.expect("the server answers");
}

async fn story(server: &Server) {
    let page = offer_local_tools(server).await;
    add_mcp_server(server).await;
    add_openapi_server(server).await;
    let calls = hostile_calls(server).await;
    let page = tokio::spawn(answer_calls(page));
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let health = tokio::spawn(watch_health(server.address.to_string(), stopped));

    let began = Instant::now();
    let hostile = join_all(calls.into_iter().map(|(tool, input)| async move {
        let (status, answer) = call(server, &tool, input).await;
        (tool, status, answer)
    }));
    let ordinary = async {
        let sum = json!({"expression": "6*7"});
        call(server, "builtin_calculate", sum).await
    };
    let (hostile, (status, sum)) = tokio::join!(hostile, ordinary);
    assert_eq!((status, &sum["ok"]), (200, &json!(true)), "{sum}");
    for (tool, status, answer) in hostile {
        assert_eq!(status, 200, "{tool}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        let is_clear = message.contains("too complex to be checked")
            || message.contains("Too many inputs are being checked")
            || message.contains("does not fit the tool's schema");
        assert!(answer["ok"] == true || is_clear, "{tool}: {answer}");
    }
    let took = began.elapsed();
    stop.send(()).unwrap();
    let (count, slowest) = health.await.unwrap();
    assert!(slowest < HEALTH_BOUND, "/health took {slowest:?}");
    // Every 10 ms, if the machine has time for that.
    assert!(count >= 10, "/health was asked {count} times in {took:?}");
    page.abort();
}

fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(workers)
        .enable_all()
        .build()
        .unwrap()
}

async fn call(server: &Server, tool: &str, input: Value) -> (u16, Value) {
    let request = server.request("POST", &format!("/api/tools/{tool}/call"));
    let request = request.timeout(BOUND).json(&json!({"arguments": input}));
    answer(request.send().await.unwrap()).await
}

/// How often it answered, and how long it took at most.
async fn watch_health(
    address: String,
    mut stopped: tokio::sync::oneshot::Receiver<()>,
) -> (usize, Duration) {
    let client = Client::builder().timeout(BOUND).build().unwrap();
    let (mut count, mut slowest) = (0, Duration::ZERO);
    while stopped.try_recv().is_err() {
        let began = Instant::now();
        let health = client.get(format!("http://{address}/health")).send().await;
        assert_eq!(health.unwrap().status(), 200);
        slowest = slowest.max(began.elapsed());
        count += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (count, slowest)
}

/// Definitions that each apply the next one four times to the same value: 4^30 schemas.
fn fan_out(at: &str) -> Map<String, Value> {
    let mut definitions = Map::new();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/{at}/d{}", level + 1)});
        definitions.insert(
            format!("d{level}"),
            json!({"allOf": [next, next, next, next]}),
        );
    }
    definitions.insert("d30".into(), json!({}));
    definitions
}

async fn offer_local_tools(server: &Server) -> Page {
    let again = json!({"$ref": "#"});
    let schemas = [
        (
            "fans_out",
            json!({"$defs": fan_out("$defs"), "$ref": "#/$defs/d0"}),
        ),
        (
            "recurses",
            json!({"properties": {"a": {"anyOf": [again, again]}, "end": false}}),
        ),
        (
            "backtracks",
            json!({"properties": {"a": {"items": {
                "pattern": r"^(?:(?:(a|a)(?=\1|a|$))*b|a*)$",
            }}}}),
        ),
    ];
    let offered = schemas.map(|(name, mut schema)| {
        schema["type"] = "object".into();
        json!({"name": name, "inputSchema": schema})
    });
    let mut page = Page::open(server).await;
    let registration = json!({
        "type": "tools:register",
        "device": {"id": "device-of-somebody", "name": "Chrome on Linux"},
        "page": "page-of-somebody",
        "servers": [{
            "url": "http://localhost:8000/mcp", "name": "", "title": "hostile", "via": "mcp",
            "hash": "1", "offered": {"type": "mcp", "tools": offered},
        }],
    });
    page.send(&registration.to_string()).await;
    let heard = page.until(|frame| frame["type"] == "tools:registered");
    let heard = heard.await;
    let servers = &heard.last().unwrap()["servers"];
    assert_eq!(servers[0]["tools"], 3, "{servers}");
    page
}

/// The page makes the calls that fit.
async fn answer_calls(mut page: Page) {
    while let Some(frame) = page.next().await {
        if frame["type"] == "execute:tool" {
            let text = json!([{"type": "text", "text": "done"}]);
            let done = json!({
                "type": "tool:result", "call_id": frame["call_id"], "result": {"content": text},
            });
            page.send(&done.to_string()).await;
        }
    }
}

async fn add_mcp_server(server: &Server) {
    let (python, script) = listening::raw();
    let new = json!({
        "kind": "mcp", "name": "hostile", "command": python, "args": [script, "fans-out"],
    });
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    ready(server, "mcp-hostile").await;
}

async fn add_openapi_server(server: &Server) {
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Hostile", "version": "1"},
        "servers": [{"url": format!("http://{}", server.address)}],
        "paths": {
            "/health": {"get": {"operationId": "fans_out", "parameters": [{
                "name": "a", "in": "query", "schema": {"$ref": "#/components/schemas/d0"},
            }]}},
        },
        "components": {"schemas": fan_out("components/schemas")},
    });
    let new = json!({"kind": "openapi", "name": "hostileapi", "document": document});
    let (status, added) = server.post("/api/sources", new).await;
    assert_eq!(status, 201, "{added}");
    ready(server, "api-hostileapi").await;
}

async fn hostile_calls(server: &Server) -> Vec<(String, Value)> {
    let of = async |prefix: &'static str, count: usize| {
        until(|| async move {
            let ids = tools(server, prefix).await;
            (ids.len() >= count)
                .then_some(ids.clone())
                .ok_or(json!(ids))
        })
        .await
    };
    let local = of("local_hostile_", 3).await;
    let all = [
        local,
        of("mcp_hostile_", 2).await,
        of("api_hostileapi_", 1).await,
    ]
    .concat();
    let mut deep = json!({"end": 1});
    for _ in 0..100 {
        deep = json!({"a": deep});
    }
    let texts = json!({"a": vec!["a".repeat(30) + "c"; 40_000]});
    let input = |tool: &str| match tool {
        _ if tool.ends_with("recurses") => Some(deep.clone()),
        _ if tool.ends_with("backtracks") => Some(texts.clone()),
        _ if tool.contains("fans_out") => Some(json!({})),
        _ => None,
    };
    let calls = all
        .iter()
        .filter_map(|tool| Some((tool.clone(), input(tool)?)));
    let calls: Vec<_> = calls.collect();
    assert!(calls.len() >= 5, "{all:?}");
    calls.into_iter().cycle().take(INPUTS).collect()
}
