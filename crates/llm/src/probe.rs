//! Trying a model out: does it answer, and can it call tools?

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::json;
use tenon_domain::{
    Annotations, CallId, Message, Part, RunsOn, ToolId, ToolSpec, ToolUse, WireFormat,
};

use crate::remote::{RemoteProvider, is_text_call};
use crate::{
    Assembler, Error, ModelDelta, ModelFault, ModelReply, ModelRequest, Provider, Remote, chat_span,
};

/// A model that is slower than this is of little use; a large one may still be loading.
const PROBE_TIMEOUT: Duration = Duration::from_secs(90);

const PROBE_TOOL: &str = "open_door";

/// What happens while a model is tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeStep {
    /// A piece of its short answer.
    Text(String),
    /// Its calls are tried in this way.
    Trying(ToolUse),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeResult {
    /// The first way in which a call came; `None`: no call came in any.
    pub tools: ToolUse,
    /// The server left the call in the text, where Tenon read it.
    pub is_in_text: bool,
    pub first_word: Duration,
}

/// The modes that a wire format has, the preferred one first.
pub fn modes_of(format: WireFormat) -> &'static [ToolUse] {
    match format {
        WireFormat::Openai => &[ToolUse::Native, ToolUse::Constrained, ToolUse::Text],
        WireFormat::Responses | WireFormat::Anthropic => &[ToolUse::Native],
    }
}

/// Asks for a short answer, then for a call: natively, and where that fails, constrained, and then
/// as text.
pub async fn run(
    remote: &Remote,
    mut on_step: impl FnMut(ProbeStep),
) -> Result<ProbeResult, Error> {
    let first_word = answer(remote, &mut on_step).await?;
    for mode in modes_of(remote.format) {
        on_step(ProbeStep::Trying(*mode));
        match call(remote, *mode).await {
            Ok(Some(seen)) => {
                return Ok(ProbeResult {
                    tools: *mode,
                    is_in_text: seen == CallPlace::Text,
                    first_word,
                });
            }
            // Failing in one mode does not rule out the others.
            Ok(None) | Err(Error::Refused(_)) => {}
            // A server in trouble says nothing about its model.
            Err(error) => return Err(error),
        }
    }
    Ok(ProbeResult {
        tools: ToolUse::None,
        is_in_text: false,
        first_word,
    })
}

pub(crate) async fn answer(
    remote: &Remote,
    on_step: &mut impl FnMut(ProbeStep),
) -> Result<Duration, Error> {
    let asked = Instant::now();
    let mut first_word = None;
    let request = ModelRequest {
        system: "You are being tried out. Answer in one short sentence.".into(),
        language: None,
        messages: vec![Message::user("Say hello.")],
        ..ModelRequest::default()
    };
    let provider = RemoteProvider::new(Remote {
        tools: ToolUse::None,
        ..remote.clone()
    });
    let reply = ask(&provider, request, |delta| match delta {
        ModelDelta::Text(text) => {
            first_word.get_or_insert_with(|| asked.elapsed());
            on_step(ProbeStep::Text(text.clone()));
        }
        ModelDelta::Thinking(_) => {
            first_word.get_or_insert_with(|| asked.elapsed());
        }
        _ => {}
    });
    reply.await?;
    first_word.ok_or_else(|| {
        let name = (&remote.name).into();
        ModelFault::ProbeSilent { name }.into()
    })
}

/// Where a call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallPlace {
    /// As the server's own field.
    Field,
    Text,
}

/// Where the call came, if it is the one asked for.
async fn call(remote: &Remote, tools: ToolUse) -> Result<Option<CallPlace>, Error> {
    let provider = RemoteProvider::new(Remote {
        tools,
        ..remote.clone()
    });
    let request = ModelRequest {
        system: "Use the tool that does what the user asks.".into(),
        language: None,
        messages: vec![Message::user("Open the door number 7, with the tool.")],
        tools: vec![Arc::new(probe_tool())],
        ..ModelRequest::default()
    };
    let mut place = CallPlace::Field;
    let reply = ask(&provider, request, |delta| {
        if let ModelDelta::Call(fragment) = delta
            && is_text_call(fragment)
        {
            place = CallPlace::Text;
        }
    });
    let reply = reply.await?;
    if tools == ToolUse::Native && !provider.takes_tools() {
        // The provider fell back to describing tools in the prompt, which is probed separately.
        return Ok(None);
    }
    let call = reply.parts.iter().find_map(Part::as_call);
    let is_right = call.is_some_and(|call| {
        call.tool_id.as_str() == PROBE_TOOL
            // A number or its digits: both are understood.
            && matches!(call.input["number"].to_string().as_str(), "7" | "\"7\"" | "7.0")
    });
    Ok(is_right.then_some(place))
}

async fn ask(
    provider: &RemoteProvider,
    request: ModelRequest,
    mut on_delta: impl FnMut(&ModelDelta),
) -> Result<ModelReply, Error> {
    let read = async {
        let mut assembler = Assembler::default();
        let mut deltas = chat_span::stream(provider, request).await?;
        while let Some(delta) = deltas.next().await {
            let delta = delta?;
            on_delta(&delta);
            assembler.push(delta);
        }
        Ok(assembler.finish(|| CallId::new("trial")))
    };
    let reply = tokio::time::timeout(PROBE_TIMEOUT, read).await;
    reply.unwrap_or_else(|_| {
        let fault = ModelFault::ProbeTimeout {
            name: provider.name().into(),
            seconds: PROBE_TIMEOUT.as_secs().into(),
        };
        Err(Error::Busy(fault.into()))
    })
}

fn probe_tool() -> ToolSpec {
    ToolSpec {
        id: ToolId::new(PROBE_TOOL),
        name: PROBE_TOOL.into(),
        title: "Open door".into(),
        display_name: "Trial/Open door".into(),
        description: "Opens the door with the given number.".into(),
        input_schema: json!({
            "type": "object",
            "properties": {"number": {"type": "integer", "description": "The number of the door"}},
            "required": ["number"],
        })
        .into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    }
}
