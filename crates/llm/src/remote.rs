//! A model behind an address.

mod ear;
mod halves;
mod quirks;
mod talk;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_domain::{LeftOut, Message, ToolId, ToolSpec, ToolUse, WireFormat};
use url::Url;

use crate::fault::Fault;
use crate::history::{self, fit, tokens, weight};
use crate::schema::{self, Dialect};
use crate::sse::Event;
use crate::{Delta, Deltas, Error, Provider, Request, constrained};

pub use ear::{Shape, replay};

pub(crate) use quirks::Quirks;

/// More tools than this OpenAI refuses, and no model chooses well among.
const MAX_TOOLS: usize = 128;

/// What a model needs for its own words where its settings do not say.
const ROOM_TO_ANSWER: u64 = 4_096;

/// Where a model is and how it is asked.
#[derive(Clone, PartialEq)]
pub struct Remote {
    /// For people.
    pub name: String,
    pub format: WireFormat,
    /// Up to and without `/chat/completions` or `/v1/messages`.
    pub base_url: String,
    pub key: Option<String>,
    /// What the server calls it.
    pub model: String,
    /// Sent with every request as they are.
    pub parameters: Map<String, Value>,
    pub tools: ToolUse,
    pub context_tokens: Option<u64>,
}

/// A model that can be asked.
pub fn connect(remote: Remote) -> Arc<dyn Provider> {
    Arc::new(Connected {
        remote,
        quirks: Arc::default(),
    })
}

/// Reads what one request sets off: one implementation per wire format.
pub(crate) trait Decode: Send {
    fn event(&mut self, event: &Event, out: &mut Vec<Delta>) -> Result<(), Fault>;

    /// The stream is over.
    fn end(&mut self, out: &mut Vec<Delta>);

    /// All was said: what the server still sends is of no interest.
    fn is_done(&self) -> bool;
}

struct Connected {
    remote: Remote,
    /// What was learned about this server, for as long as it is used.
    quirks: Arc<Mutex<Quirks>>,
}

/// One request, ready to be written in either wire format.
#[derive(Debug)]
pub(crate) struct Plan {
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Offered>,
    pub quirks: Quirks,
}

/// A tool as a model is told of it.
#[derive(Debug)]
pub(crate) struct Offered {
    pub id: ToolId,
    pub description: String,
    pub schema: Value,
}

#[async_trait]
impl Provider for Connected {
    fn name(&self) -> &str {
        &self.remote.name
    }

    async fn stream(&self, request: Request) -> Result<Deltas, Error> {
        let talk = talk::Talk::new(self.remote.clone(), self.quirks.clone(), request);
        Ok(talk.into_deltas())
    }
}

impl Remote {
    /// Whose words a kept block is: to another model, or elsewhere, it means nothing.
    pub(crate) fn maker(&self) -> String {
        let format = self.format.as_str();
        format!("{format} {} {}", self.base_url, self.model)
    }

    pub(crate) fn host(&self) -> String {
        let url = Url::parse(&self.base_url).ok();
        let host = url.as_ref().and_then(|url| url.host_str());
        host.unwrap_or(&self.base_url).to_owned()
    }

    /// What a person set goes out as it is, except what would break the conversation.
    pub(crate) fn add_parameters(&self, body: &mut Map<String, Value>) {
        const OURS: [&str; 4] = ["model", "messages", "stream", "tools"];
        for (name, value) in &self.parameters {
            match value {
                _ if OURS.contains(&name.as_str()) => {}
                // A way to leave out what is sent by itself.
                Value::Null => {
                    body.remove(name);
                }
                value => {
                    body.insert(name.clone(), value.clone());
                }
            }
        }
    }

    fn dialect(&self) -> Dialect {
        match self.format {
            WireFormat::Openai => Dialect::OPENAI,
            WireFormat::Anthropic => Dialect::ANTHROPIC,
        }
    }

    /// How many tokens the conversation itself may take.
    fn budget(&self, plan: &Plan) -> Option<usize> {
        let asked = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|name| self.parameters.get(*name)?.as_u64());
        let context = self.context_tokens?;
        let answer = asked.unwrap_or(ROOM_TO_ANSWER).min(context / 2);
        let tools: usize = plan
            .tools
            .iter()
            .map(|tool| tokens(&tool.description) + tokens(&tool.schema.to_string()))
            .sum();
        let rest = context.saturating_sub(answer) as usize;
        Some(rest.saturating_sub(tools + tokens(&plan.system)))
    }
}

impl Plan {
    /// What goes out, and which tools cannot.
    pub(crate) fn new(
        remote: &Remote,
        quirks: Quirks,
        request: &Request,
    ) -> Result<(Self, Vec<LeftOut>), Fault> {
        let (tools, left_out) = match remote.tools {
            ToolUse::None => (Vec::new(), Vec::new()),
            ToolUse::Native | ToolUse::Constrained => offer(remote, &quirks, &request.tools),
        };
        let mut plan = Self {
            system: request.system.clone(),
            messages: history::mend(request.messages.clone()),
            tools,
            quirks,
        };
        let budget = match (plan.quirks.budget, remote.budget(&plan)) {
            (Some(learned), Some(set)) => Some(learned.min(set)),
            (learned, set) => learned.or(set),
        };
        if let Some(budget) = budget {
            fit(&mut plan.messages, budget);
            // A message may have nothing left to say.
            plan.messages = history::mend(plan.messages);
        }
        match (remote.format, remote.tools) {
            (WireFormat::Openai, ToolUse::Constrained) => constrained::prepare(&mut plan),
            (_, ToolUse::None) => constrained::tell_plainly(&mut plan),
            (_, ToolUse::Native) | (WireFormat::Anthropic, ToolUse::Constrained) => {}
        }
        // `mend` makes it so; should it ever not, better a clear word than a provider's riddle.
        history::check(&plan.messages).map_err(|why| Fault::Refused {
            message: format!("This chat cannot be told to a model: {why}. Start a new one."),
        })?;
        Ok((plan, left_out))
    }

    /// By the measure that [`fit`] shortens by, so that less is less.
    pub(crate) fn weight(&self) -> usize {
        self.messages.iter().map(weight).sum()
    }
}

fn offer(
    remote: &Remote,
    quirks: &Quirks,
    tools: &[Arc<ToolSpec>],
) -> (Vec<Offered>, Vec<LeftOut>) {
    let dialect = remote.dialect();
    let (mut offered, mut left_out) = (Vec::new(), Vec::new());
    for tool in tools {
        let compiled = match quirks.quarantine.get(&tool.id) {
            Some(why) => Err(why.clone()),
            None if offered.len() >= MAX_TOOLS => Err(format!(
                "a model is told of {MAX_TOOLS} tools at most; switch some off"
            )),
            None => schema::compile(&tool.input_schema, dialect),
        };
        match compiled {
            Ok(schema) => offered.push(Offered {
                id: tool.id.clone(),
                description: schema::describe(&tool.description, dialect.max_description),
                schema,
            }),
            Err(why) => left_out.push(LeftOut {
                tool_id: tool.id.clone(),
                display_name: tool.display_name.clone(),
                why,
            }),
        }
    }
    (offered, left_out)
}

fn lock(quirks: &Mutex<Quirks>) -> std::sync::MutexGuard<'_, Quirks> {
    quirks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Without the key.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
