//! A source whose tools fill in forms with a person, and tell how far they are.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Value, json};
use tenon_domain::{
    Annotations, FormAnswer, FormRequest, SourceId, SourceInfo, SourceKind, ToolDefinition,
    ToolOutput, ToolResult,
};
use tenon_tools::{CallContext, Connection, ProgressUpdate, Registry, ToolSource};
use tokio::sync::Notify;

/// Longer than any test.
const DEADLINE: Duration = Duration::from_secs(60);

const QUESTION: &str = "Who are you?";

pub struct FormTool {
    info: SourceInfo,
    /// What people answered, in order.
    pub got: Arc<Mutex<Vec<FormAnswer>>>,
    /// Notified when `late` waits to be stopped, and when it has its answer.
    pub late: Arc<Notify>,
    /// Ends `work`.
    pub enough: Notify,
}

impl FormTool {
    pub async fn connect(registry: &Arc<Registry>) -> (Arc<Self>, Connection) {
        let info = SourceInfo {
            id: SourceId::new("clerk"),
            kind: SourceKind::Mcp,
            name: "clerk".into(),
            title: "Clerk".into(),
            owner: None,
        };
        let form_tool = Arc::new(Self {
            info,
            got: Arc::default(),
            late: Arc::default(),
            enough: Notify::new(),
        });
        let connected = registry.connect(form_tool.clone()).await.unwrap();
        (form_tool, connected)
    }

    async fn ask(&self, context: &CallContext, request: FormRequest) -> String {
        let answer = context.ask(QUESTION.into(), request).await;
        let outcome = format!("{:?}", answer.outcome());
        self.got.lock().unwrap().push(answer);
        outcome
    }
}

pub fn person() -> FormRequest {
    FormRequest::Fields {
        schema: json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Your name"},
                "age": {"type": "integer", "minimum": 18},
            },
            "required": ["name"],
        }),
    }
}

fn contact() -> FormRequest {
    FormRequest::Fields {
        schema: json!({
            "type": "object",
            "properties": {"email": {"type": "string", "format": "email"}},
            "required": ["email"],
        }),
    }
}

pub fn visit(url: &str) -> FormRequest {
    FormRequest::Visit { url: url.into() }
}

#[async_trait]
impl ToolSource for FormTool {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            title: None,
            description: String::new(),
            input_schema: json!({"type": "object"}).into(),
            annotations: Annotations {
                read_only: true,
                ..Annotations::default()
            },
        };
        let names = [
            "form", "contact", "twice", "five", "odd", "detached", "late", "hurry", "begin", "work",
        ];
        names.map(tool).into()
    }

    fn deadline(&self, _tool: &str) -> Option<Duration> {
        Some(DEADLINE)
    }

    fn has_trusted_hints(&self) -> bool {
        true
    }

    async fn call(&self, tool: &str, _input: Value, context: &CallContext) -> ToolResult {
        let tell = |progress| {
            context.progress(ProgressUpdate {
                progress,
                total: Some(1000.0),
                message: Some(format!("at {progress}")),
            });
        };
        let answered = match tool {
            "form" => vec![self.ask(context, person()).await],
            "contact" => vec![self.ask(context, contact()).await],
            "twice" => vec![
                self.ask(context, person()).await,
                self.ask(context, visit("https://example.org/log-in")).await,
            ],
            "five" => join_all((0..5).map(|_| self.ask(context, person()))).await,
            "odd" => {
                let nested = json!({"properties": {"a": {"type": "object"}}});
                let long = json!({"properties": {}, "x": "y".repeat(70_000)});
                vec![
                    self.ask(context, visit("javascript:alert(1)")).await,
                    self.ask(context, visit("https://a b")).await,
                    self.ask(context, FormRequest::Fields { schema: nested })
                        .await,
                    self.ask(context, FormRequest::Fields { schema: long })
                        .await,
                ]
            }
            "detached" => {
                // As a connection does that has tasks of its own.
                let of_another = context.clone();
                tokio::spawn(async move { of_another.ask(QUESTION.into(), person()).await });
                self.late.notified().await;
                Vec::new()
            }
            "late" => {
                let (context, got) = (context.clone(), self.got.clone());
                let late = self.late.clone();
                tokio::spawn(async move {
                    late.notify_one();
                    context.cancel.cancelled().await;
                    let answer = context.ask(QUESTION.into(), person()).await;
                    got.lock().unwrap().push(answer);
                    late.notify_one();
                });
                std::future::pending().await
            }
            "hurry" => {
                (0..=1000).for_each(|step| tell(f64::from(step)));
                tell(f64::NAN);
                Vec::new()
            }
            "begin" => {
                tell(1.0);
                std::future::pending().await
            }
            "work" => {
                context.progress(ProgressUpdate {
                    progress: 1.0,
                    total: Some(3.0),
                    message: Some("reading".into()),
                });
                self.enough.notified().await;
                vec!["enough".to_owned()]
            }
            other => panic!("{other}"),
        };
        Ok(ToolOutput::text(answered.join(" ")))
    }
}
