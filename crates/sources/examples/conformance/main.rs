//! What the official conformance suite tests: an MCP server in a registry, and
//! calls that go down the one road. `conformance URL`, run by the suite.
//!
//! Which scenario it is, and what the scenario wants to be called with, is in
//! the environment. Nothing here knows the protocol; what passes is Tenon's own.

#![expect(clippy::print_stderr, reason = "the suite shows what it says")]

mod accepting_client;
mod visitor;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenon_domain::{
    CallId, Caller, McpConfig, McpTransport, SourceId, SourceInfo, SourceKind, SourceState,
    ToolAccess, ToolCall, ToolSpec, UserId,
};
use tenon_sources::mcp::{McpServer, McpSettings, StartMode};
use tenon_sources::variables::LiteralConfig;
use tenon_sources::{Network, SupervisedServer};
use tenon_tools::{
    CallContext, CallLimits, CallOrigin, CallTimer, MemoryOutputStore, MemoryToolIdStore, Registry,
    Toolset,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use accepting_client::AcceptingClient;
use visitor::Visitor;

/// Shorter than the suite's own patience, so that it is us who say what happened.
const TEST_TIMEOUT: Duration = Duration::from_secs(50);

/// Within this it shows that a call failed for want of a log-in.
const MOMENT: Duration = Duration::from_secs(2);

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    match play(&scenario).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The suite looks at the wire alone; whoever runs it looks for these lines.
            eprintln!("conformance {scenario}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(scenario: &str) -> Outcome {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "somebody was first to install it")?;
    let url = env::args().nth(1).ok_or("usage: conformance URL")?;
    let wanted = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let wanted: Value = serde_json::from_str(&wanted)?;

    let visitor = Visitor::new(&url, &wanted)?;
    let server = server(&url, &visitor);
    let suite = Suite {
        server: server.clone(),
        visitor,
        registry: Registry::new(
            Arc::new(MemoryToolIdStore::default()),
            Arc::new(MemoryOutputStore::default()),
            CallLimits::default(),
        ),
    };
    let ran = tokio::time::timeout(TEST_TIMEOUT, suite.run(scenario, &wanted)).await;
    for line in server.logs().lines() {
        eprintln!("log: {}", line.text);
    }
    server.stop().await;
    ran.map_err(|_| "it took too long")?
}

fn server(url: &str, visitor: &Visitor) -> Arc<McpServer> {
    let transport = McpTransport::Http {
        url: url.to_owned(),
        headers: Default::default(),
    };
    McpServer::new(McpSettings {
        info: SourceInfo {
            id: SourceId::new("suite"),
            kind: SourceKind::Mcp,
            name: "suite".into(),
            title: "Suite".into(),
            owner: None,
        },
        config: McpConfig {
            transport,
            timeout_ms: None,
            tool_timeouts_ms: Default::default(),
            sleep_after_ms: None,
            start_timeout_ms: None,
            exclusive: false,
            client: None,
        },
        fill: Arc::new(LiteralConfig),
        tokens: Some(Arc::new(visitor.tokens.clone())),
        network: Network::Anywhere,
        known: Vec::new(),
        start: StartMode::Now,
        starts: Arc::new(Semaphore::new(1)),
        viewers: tokio::sync::watch::channel(0).1,
    })
}

struct Suite {
    server: Arc<McpServer>,
    visitor: Visitor,
    registry: Arc<Registry>,
}

impl Suite {
    async fn run(&self, scenario: &str, wanted: &Value) -> Outcome {
        self.ready().await?;
        let _connected = self.registry.connect(self.server.clone()).await?;
        let toolset = self
            .registry
            .toolset(ToolAccess::all(&user(), Caller::Person));
        // Side by side, as a model would have them: what belongs to one call must not get into another.
        let calls = calls(&toolset, scenario, wanted)?;
        let calls = calls.iter().map(|call| self.made(&toolset, call));
        futures::future::try_join_all(calls).await?;
        Ok(())
    }

    /// Waits until the server can be called, and logs in where it wants that.
    async fn ready(&self) -> Outcome {
        let mut changes = self.server.changes();
        loop {
            changes.borrow_and_update();
            if self.visitor.log_in(&self.server).await? {
                // Until it has looked again, it says what it said before.
                changes.changed().await?;
                continue;
            }
            match self.server.status().state {
                SourceState::Ready => return Ok(()),
                SourceState::Failed { why } => return Err(why.into()),
                _ => changes.changed().await?,
            }
        }
    }

    /// Whether that was what a call lacked. It shows a moment later.
    async fn asks_login(&self) -> bool {
        let mut changes = self.server.changes();
        let asks = async {
            while self.server.status().asks_login.is_none() {
                changes.changed().await.ok();
            }
        };
        tokio::time::timeout(MOMENT, asks).await.is_ok()
    }

    /// Makes a call, and once more where it takes another log-in first.
    async fn made(&self, toolset: &Toolset, call: &ToolCall) -> Outcome {
        let mut answer = toolset.call(call, &context(call)).await;
        if answer.is_err() && self.asks_login().await {
            self.ready().await?;
            answer = toolset.call(call, &context(call)).await;
        }
        let answer = answer.map_err(|error| format!("{}: {}", call.tool_id, error.message))?;
        eprintln!("{}: {}", call.tool_id, answer.to_text());
        Ok(())
    }
}

/// What the scenario asks for, or else every tool once.
fn calls(toolset: &Toolset, scenario: &str, wanted: &Value) -> Outcome<Vec<ToolCall>> {
    let specs = toolset.specs();
    let named = |name: &str| {
        let spec = specs.iter().find(|spec| spec.name == name);
        spec.ok_or_else(|| format!("there is no tool {name}"))
    };
    // All it wants to see is that nobody follows the references in its list.
    if scenario == "json-schema-ref-no-deref" {
        return Ok(Vec::new());
    }
    if scenario == "json-schema-2020-12-preservation" {
        let schema = &named("json_schema_2020_12_tool")?.input_schema;
        let input = json!({ "schema": schema });
        return Ok(vec![call(named("json_schema_echo")?, input)]);
    }
    let Some(asked) = wanted["toolCalls"].as_array() else {
        let fitting = |spec: &Arc<ToolSpec>| call(spec, fitting(&spec.input_schema.value()));
        return Ok(specs.iter().map(fitting).collect());
    };
    let asked = asked.iter().map(|asked| {
        let spec = named(asked["name"].as_str().unwrap_or_default())?;
        let mut input = asked["arguments"].as_object().cloned().unwrap_or_default();
        // Nothing leaves that does not fit the schema: what is null is left out.
        input.retain(|_, value| !value.is_null());
        Ok(call(spec, Value::Object(input)))
    });
    asked.collect()
}

fn call(spec: &ToolSpec, input: Value) -> ToolCall {
    ToolCall {
        id: CallId::new(spec.id.as_str()),
        tool_id: spec.id.clone(),
        input,
    }
}

/// The least input that fits a schema.
fn fitting(schema: &Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let names = required.iter().filter_map(Value::as_str);
    let fields = names.map(|name| {
        let value = match schema["properties"][name]["type"].as_str() {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            Some("null") => json!(null),
            _ => json!("test"),
        };
        (name.to_owned(), value)
    });
    Value::Object(fields.collect::<Map<_, _>>())
}

fn context(call: &ToolCall) -> CallContext {
    CallContext {
        call_id: call.id.clone(),
        origin: CallOrigin::default(),
        user: user(),
        workspace: None,
        cancel: CancellationToken::new(),
        client: Arc::new(AcceptingClient),
        timer: CallTimer::default(),
    }
}

fn user() -> UserId {
    UserId::new("suite")
}
