//! `make bench`: what OpenAPI documents cost, and what calls cost us.
//!
//! The server that is called is a program of its own, so what it costs is not in
//! the figures: they are the time all threads of this process spent on a
//! processor. What counts is the distance to the bare client of the same run.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "shared/bench_server.rs"]
mod bench_server;
#[path = "shared/description.rs"]
mod description;
#[path = "shared/heap.rs"]
mod heap;
#[path = "shared/round.rs"]
mod round;
#[path = "shared/skill_fixture.rs"]
mod skill_fixture;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use bench_server::BenchServer;
use description::description;
use round::{measured, middle, side_by_side};
use serde_json::{Value, json};
use tenon_domain::{
    CallId, Caller, OpenapiConfig, OpenapiOrigin, SourceCredential, SourceId, SourceInfo,
    SourceKind, SourceState, ToolAccess, ToolCall, ToolId, UserId,
};
use tenon_sources::openapi::{
    DocumentRecord, DocumentStore, DocumentStoreError, OpenapiHttpClient, OpenapiServer,
    OpenapiSettings, document, parse,
};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, SupervisedServer};
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, MemoryOutputStore, MemoryToolIdStore, NoClient,
    Registry, Tool, Toolset,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 7;
const CALLS: u32 = 8_192;
/// How many calls are on their way at once.
const IN_FLIGHT: [u32; 3] = [1, 32, 256];

fn main() {
    tenon_sandbox::helper_main();
    bench_server::serve_if_asked();
    // Whoever is first wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    parsing();
    heap::done();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(calls());
}

/// The same request with the bare client, and as a call of a tool.
async fn calls() {
    let bench_server = BenchServer::start();
    let bare = reqwest::Client::builder().pool_max_idle_per_host(256);
    let bare = bare.build().expect("a client");
    let server = start(&bench_server).await;
    let ids = Arc::new(MemoryToolIdStore::default());
    let registry = Registry::new(
        ids,
        Arc::new(MemoryOutputStore::default()),
        CallLimits::default(),
    );
    let _connected = registry.connect(server.clone()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = http_skill(&bench_server.address);
    let skill = skill_fixture::skill(folder.path(), &[("SKILL.md", &manifest)]).await;
    let _skill = registry.connect(skill).await;
    let toolset = registry.toolset(ToolAccess::all(&ada(), Caller::Person));
    for in_flight in IN_FLIGHT {
        println!("{in_flight} in flight on one server, our CPU for each call:");
        let (address, client) = (bench_server.address.clone(), bare.clone());
        let bare = move |number| bare_call(client.clone(), address.clone(), number);
        let toolset = toolset.clone();
        let of_skill = |tool: &Arc<Tool>| tool.source.info().kind == SourceKind::Skill;
        let skill_tool = toolset.listed().into_iter().find(|tool| of_skill(tool));
        let skill_tool = skill_tool.expect("its tool").spec.id.clone();
        let skills = toolset.clone();
        let skill = move |number| our_call(skills.clone(), skill_tool.clone(), number);
        let ours = move |number| {
            let tool = ToolId::new("api_things_change");
            our_call(toolset.clone(), tool, number)
        };
        let (mut floor, mut all_in, mut of_skills) = (Vec::new(), Vec::new(), Vec::new());
        let mut connections = [0, 0];
        // In turns, so that whatever else the machine does is in both.
        for _ in 0..ROUNDS {
            let before = bench_server.accepted().await;
            floor.push(measured(async || side_by_side(CALLS, in_flight, bare.clone()).await).await);
            let between = bench_server.accepted().await;
            all_in
                .push(measured(async || side_by_side(CALLS, in_flight, ours.clone()).await).await);
            // Who asked in between is counted as well.
            connections[0] += between - before - 1;
            connections[1] += bench_server.accepted().await - between - 1;
            of_skills
                .push(measured(async || side_by_side(CALLS, in_flight, skill.clone()).await).await);
        }
        let [floor, all_in, of_skills] = [floor, all_in, of_skills].map(middle);
        let all = CALLS as usize * ROUNDS;
        let [bare_made, ours_made] =
            connections.map(|made| format!("{made} connections for {all} calls"));
        floor.print("the bare client", CALLS, &bare_made);
        all_in.print("Toolset::call", CALLS, &ours_made);
        of_skills.print("Toolset::call of a skill", CALLS, "");
        let more = all_in.on_processor.saturating_sub(floor.on_processor) / CALLS;
        println!(
            "  {:<28}  {more:>12.2?}   target: at most 30 µs",
            "beyond the bare client"
        );
    }
    server.stop().await;
}

/// A server that is up, with a key to show.
async fn start(bench_server: &BenchServer) -> Arc<OpenapiServer> {
    let key = SourceCredential::Key {
        value: "abc".into(),
    };
    let server = OpenapiServer::new(OpenapiSettings {
        info: SourceInfo {
            id: SourceId::new("things"),
            kind: SourceKind::Openapi,
            name: "things".into(),
            title: "Things".into(),
            owner: None,
        },
        config: OpenapiConfig {
            origin: OpenapiOrigin::Uploaded {
                document_hash: String::new(),
            },
            base_url: None,
            headers: BTreeMap::new(),
            credentials: [("key".to_owned(), key)].into(),
            timeout_ms: Some(30_000),
            tool_timeouts_ms: BTreeMap::new(),
        },
        fill: Arc::new(LiteralConfig),
        documents: Arc::new(Given(
            bench_server::document(&bench_server.address).to_string(),
        )),
        http: OpenapiHttpClient::new(Network::Anywhere).expect("a client"),
        parses: Arc::new(Semaphore::new(1)),
        inherited: None,
    });
    assert_eq!(server.settled().await.state, SourceState::Ready);
    server
}

async fn our_call(toolset: Toolset, tool_id: ToolId, number: u32) {
    let call = ToolCall {
        id: CallId::new("c"),
        tool_id,
        input: json!({"id": number, "page": 2, "text": "somebody or something", "tags": ["a", "b"]}),
    };
    let context = CallContext {
        call_id: call.id.clone(),
        origin: CallOrigin::default(),
        user: ada(),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(NoClient),
        timer: CallTimer::default(),
    };
    let output = toolset.call(&call, &context).await.expect("an answer");
    let answer = output.structured().expect("an object");
    let answer = answer.get("data").unwrap_or(answer);
    assert_eq!(answer["text"], "somebody or something");
}

/// The same request as an http tool of a skill.
fn http_skill(address: &str) -> String {
    format!(
        "---
name: things
description: Changes things.
tools:
  - name: change
    type: http
    method: POST
    endpoint: {address}/things/{{id}}
    mapping: {{page: query}}
    headers: {{X-Key: abc}}
    parameters:
      type: object
      properties:
        id: {{type: integer}}
        page: {{type: integer}}
        text: {{type: string}}
        tags: {{type: array, items: {{type: string}}}}
      required: [id, text]
---
"
    )
}

async fn bare_call(client: reqwest::Client, address: String, number: u32) {
    let body = json!({"text": "somebody or something", "tags": ["a", "b"]});
    let answer = client
        .post(format!("{address}/things/{number}?page=2"))
        .header(
            "accept",
            "application/json, text/*;q=0.9, image/*;q=0.8, */*;q=0.5",
        )
        .header("x-key", "abc")
        .json(&body)
        .send()
        .await
        .expect("an answer");
    let answer: Value = answer.json().await.expect("an object");
    assert_eq!(answer["text"], "somebody or something");
}

fn ada() -> UserId {
    UserId::new("ada")
}

/// A document that somebody gave.
struct Given(String);

#[async_trait]
impl DocumentStore for Given {
    async fn load(&self) -> Result<Vec<DocumentRecord>, DocumentStoreError> {
        Ok(vec![DocumentRecord {
            name: String::new(),
            url: String::new(),
            body: self.0.clone().into_bytes(),
            etag: None,
            last_modified: None,
            fetched_at: SystemTime::now(),
        }])
    }

    async fn store(
        &self,
        _documents: Vec<DocumentRecord>,
        _names: Vec<String>,
    ) -> Result<(), DocumentStoreError> {
        Ok(())
    }
}

/// From bytes to tools.
fn parsing() {
    for (megabytes, operations, target) in [
        (1, 250, ""),
        (10, 2_500, "target: under 1 s"),
        (20, 5_000, ""),
    ] {
        let bytes = description(megabytes * 1024 * 1024, operations).to_string();
        let floor = median(|| serde_json::from_str::<Value>(&bytes).expect("it is JSON"));
        let value = document::read(bytes.as_bytes()).expect("it is JSON");
        let parsed = parse::parse(&value).expect("it is a document");
        assert_eq!(
            (parsed.operations.len(), parsed.skipped.len()),
            (operations, 0)
        );
        let schemas = parsed.operations.iter();
        let schemas = schemas.map(|operation| operation.input_schema.as_str().len());
        let schemas: usize = schemas.sum();
        let before = heap::in_use();
        drop(parsed);
        let kept = before - heap::in_use();
        heap::reset_peak();
        let before = heap::in_use();
        let ours = median(|| {
            let value = document::read(bytes.as_bytes()).expect("it is JSON");
            parse::parse(&value).expect("it is a document")
        });
        println!(
            "{megabytes:>2} MB, {operations} operations: {:>9.2?} to read as JSON, {:>9.2?} to tools   {target}\n  \
             {} KiB of schemas, {} KiB kept, {} KiB at most",
            floor,
            ours,
            schemas / 1024,
            kept / 1024,
            (heap::peak() - before) / 1024,
        );
    }
}

/// Of making something; what becomes of it is not in the time.
fn median<T>(mut make: impl FnMut() -> T) -> Duration {
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            let made = make();
            let took = started.elapsed();
            drop(made);
            took
        })
        .collect();
    rounds.sort();
    rounds.swap_remove(ROUNDS / 2)
}
