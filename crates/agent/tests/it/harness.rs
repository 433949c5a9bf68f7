//! An agent with a database in memory, a scripted model and a bench of tools.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_agent::feed::{ChatWatch, LiveUpdate, WatchEvent};
use tenon_agent::{Agent, AgentSettings, Error, TurnModel, TurnRequest};
use tenon_domain::{
    Annotations, ChatId, EntryPoint, Event, EventBody, KeyScope, ModelId, ModelRef, Prices,
    SourceId, SourceInfo, SourceKind, ToolDefinition, ToolOutput, ToolResult, TurnId, TurnOutcome,
    UserId, UserRole,
};
use tenon_llm::scripted::ScriptStep;
use tenon_llm::{Provider, Scripted};
use tenon_store::{Enrollment, NewUserRow, Store};
use tenon_tools::{
    CallContext, CallLimits, Connection, MemoryOutputStore, MemoryToolIdStore, Registry, ToolSource,
};
use tokio::sync::{Barrier, Notify};

use crate::form_tool::FormTool;

/// Longer than anything here takes; a test that waits so long has found a bug.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(20);

pub struct AgentHarness {
    pub store: Store,
    pub agent: Agent,
    pub model: Arc<Scripted>,
    pub chat: ChatId,
    pub bench: Arc<Bench>,
    pub registry: Arc<Registry>,
    pub connected: Option<Connection>,
    pub prices: Option<Prices>,
}

/// Tools to try things with.
pub struct Bench {
    info: SourceInfo,
    /// Notified whenever `hang` begins.
    pub hanging: Notify,
    /// Three calls of `meet` wait here for each other.
    meeting: Barrier,
}

impl AgentHarness {
    pub async fn new(scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self::open(
            Store::open("sqlite::memory:").await.unwrap(),
            scripts,
            |_| {},
        )
        .await
    }

    pub async fn with(
        scripts: impl IntoIterator<Item = Vec<ScriptStep>>,
        settings: impl FnOnce(&mut AgentSettings),
    ) -> Self {
        Self::open(
            Store::open("sqlite::memory:").await.unwrap(),
            scripts,
            settings,
        )
        .await
    }

    pub async fn in_file(file: &Path, scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self::open(Store::open_file(file).await.unwrap(), scripts, |_| {}).await
    }

    /// On the database at an address.
    pub async fn at(url: &str, scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self::open(Store::open(url).await.unwrap(), scripts, |_| {}).await
    }

    async fn open(
        store: Store,
        scripts: impl IntoIterator<Item = Vec<ScriptStep>>,
        adjust: impl FnOnce(&mut AgentSettings),
    ) -> Self {
        let limits = CallLimits {
            idle_timeout: TEST_TIMEOUT,
            ..CallLimits::default()
        };
        let outputs = Arc::new(MemoryOutputStore::default());
        let registry = Registry::new(Arc::new(MemoryToolIdStore::default()), outputs, limits);
        let bench = Arc::new(Bench::new());
        let connected = Some(registry.connect(bench.clone()).await.unwrap());
        let mut settings = AgentSettings::new("unused");
        adjust(&mut settings);
        let agent = Agent::new(store.clone(), registry.clone(), settings);
        let chat = store.create_chat(&ada(), "").await.unwrap().id;
        Self {
            store,
            agent,
            model: Arc::new(Scripted::new(scripts)),
            chat,
            bench,
            registry,
            connected,
            prices: None,
        }
    }

    pub async fn start(&self, text: &str) -> Result<TurnId, Error> {
        self.agent.start(self.request(text)).await
    }

    pub fn request(&self, text: &str) -> TurnRequest {
        let model = TurnModel {
            prices: self.prices.clone(),
            ..model(self.model.clone())
        };
        TurnRequest::new(ada(), self.chat.clone(), text, model)
    }

    /// Runs a turn to its end and tells how it ended.
    pub async fn turn(&self, text: &str) -> TurnOutcome {
        let mut watch = self.agent.feed().watch(&self.chat);
        self.start(text).await.unwrap();
        outcome(&mut watch).await
    }

    /// The same, where it is a key with one that counts.
    pub async fn with_real_key(&self, door: EntryPoint) -> EntryPoint {
        match door {
            EntryPoint::Key(_) => {
                let new = NewUserRow {
                    email: "ada@x.org",
                    name: "Ada",
                    role: UserRole::Admin,
                    password_hash: None,
                    oidc_subject: None,
                };
                let owner = self.store.create_user(new, Enrollment::First).await;
                let (owner, scope) = (owner.unwrap().id, KeyScope::default());
                let made = self.store.create_key(&owner, "script", &scope).await;
                EntryPoint::Key(made.unwrap().1.id)
            }
            EntryPoint::Page | EntryPoint::Shell => door,
        }
    }

    pub async fn events(&self) -> Vec<Event> {
        self.store.events(&self.chat, 0, 10_000).await.unwrap()
    }

    /// In place of the bench.
    pub async fn join_form_tool(&mut self) -> Arc<FormTool> {
        let (form_tool, connected) = FormTool::connect(&self.registry).await;
        self.connected = Some(connected);
        form_tool
    }
}

/// A model without prices, under the name of the scripted one.
pub fn model(provider: Arc<dyn Provider>) -> TurnModel {
    TurnModel {
        provider,
        shown: ModelRef {
            id: ModelId::new("scripted"),
            name: "Scripted model".into(),
        },
        prices: None,
        makes_titles: false,
    }
}

pub fn ada() -> UserId {
    UserId::new("ada")
}

pub async fn next(watch: &mut ChatWatch) -> LiveUpdate {
    loop {
        let next = tokio::time::timeout(TEST_TIMEOUT, watch.next()).await;
        match next.expect("something happens in time") {
            WatchEvent::Live(live) => return live,
            // Another process wrote to the chat. What this one does comes all the same.
            WatchEvent::Behind => {}
            WatchEvent::Closed => panic!("the chat is gone"),
        }
    }
}

/// Waits for an event that passes and returns it.
pub async fn until(watch: &mut ChatWatch, passes: impl Fn(&EventBody) -> bool) -> EventBody {
    loop {
        if let LiveUpdate::Event(event) = next(watch).await
            && passes(&event.body)
        {
            return event.body.clone();
        }
    }
}

pub async fn outcome(watch: &mut ChatWatch) -> TurnOutcome {
    match until(watch, |body| matches!(body, EventBody::TurnFinished { .. })).await {
        EventBody::TurnFinished { outcome, .. } => outcome,
        other => panic!("{other:?}"),
    }
}

impl Bench {
    fn new() -> Self {
        let info = SourceInfo {
            id: SourceId::new("bench"),
            kind: SourceKind::Mcp,
            name: "bench".into(),
            title: "Bench".into(),
            owner: None,
        };
        Self {
            info,
            hanging: Notify::new(),
            meeting: Barrier::new(3),
        }
    }
}

#[async_trait]
impl ToolSource for Bench {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str| {
            ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object", "properties": {"text": {"type": "string"}, "ms": {"type": "integer"}}}).into(),
            annotations: Annotations {
                ends_turn: name == "done",
                // What only reads may be used without asking.
                read_only: !name.starts_with("ask"),
                ..Annotations::default()
            },
        }
        };
        let names = ["echo", "meet", "hang", "panic", "done", "ask", "ask_hang"];
        names.map(tool).into()
    }

    fn has_trusted_hints(&self) -> bool {
        true
    }

    async fn call(&self, tool: &str, input: Value, _context: &CallContext) -> ToolResult {
        match tool {
            "meet" => {
                self.meeting.wait().await;
                tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().unwrap())).await;
            }
            "hang" | "ask_hang" => {
                self.hanging.notify_one();
                std::future::pending().await
            }
            "panic" => panic!("on purpose"),
            _ => {}
        }
        Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
    }
}
