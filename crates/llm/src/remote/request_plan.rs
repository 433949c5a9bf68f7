//! One request, before it is put into a provider's words.

use std::sync::Arc;

use serde_json::value::RawValue;
use tenon_domain::{Content, ErrorDetail, Message, OmittedTool, ToolSpec, ToolUse, WireFormat};

use super::compiled_tool::CompiledTool;
use super::model_size::is_small;
use super::{Capabilities, CompileCount, Remote, ToolCompiler};
use crate::history::{self, fit, tokens, weight};
use crate::remote::provider_error::ProviderError;
use crate::remote::text_calls::CallScope;
use crate::remote::{constrained, deferral, http, result_request, text_calls};
use crate::{ExclusionReason, GenerationOptions, ModelFault, ModelRequest, RequestEstimate};

/// What a model needs for its own words where its settings do not say.
const DEFAULT_ANSWER_TOKENS: u64 = 4_096;

/// Servers on people's own machines sample with 0.7 or more where nobody says otherwise, which is
/// for prose: their models then choose other tools, and write other arguments, than they think
/// best.
const LOCAL_TOOL_TEMPERATURE: f64 = 0.2;

/// The part of a context that is kept free for the answer at most: one in so many tokens.
const ANSWER_SHARE: u64 = 4;

/// One request, ready to be written in either wire format.
#[derive(Debug)]
pub(crate) struct RequestPlan {
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Arc<CompiledTool>>,
    /// Those that its server finds for it.
    pub deferred: Vec<Box<RawValue>>,
    /// How they are put before the model.
    pub tool_use: ToolUse,
    pub capabilities: Capabilities,
    pub options: GenerationOptions,
}

impl Remote {
    /// The way in which this server can be told of tools. One that takes none is told of them in
    /// the prompt.
    fn tool_use(&self, capabilities: &Capabilities) -> ToolUse {
        match (self.format, self.tools) {
            (_, ToolUse::None) => ToolUse::None,
            (WireFormat::Openai, ToolUse::Native) if !capabilities.takes_tools => ToolUse::Text,
            (WireFormat::Openai, tools) => tools,
            (WireFormat::Responses | WireFormat::Anthropic, _) if !capabilities.takes_tools => {
                ToolUse::None
            }
            (WireFormat::Responses | WireFormat::Anthropic, _) => ToolUse::Native,
        }
    }

    /// How many tokens the conversation itself may take.
    fn budget(&self, plan: &RequestPlan) -> Option<usize> {
        let set = || {
            ["max_tokens", "max_completion_tokens", "max_output_tokens"]
                .iter()
                .find_map(|name| self.parameters.get(*name)?.as_u64())
        };
        let asked = plan.options.max_tokens.or_else(set);
        let contexts = [self.context_tokens, plan.capabilities.context_tokens];
        let context = contexts.into_iter().flatten().min()?;
        let longest = context / ANSWER_SHARE;
        let answer = asked.unwrap_or(DEFAULT_ANSWER_TOKENS).min(longest);
        let tools: usize = plan.tools.iter().map(|tool| tokens(tool.entry.get())).sum();
        let rest = context.saturating_sub(answer) as usize;
        Some(rest.saturating_sub(tools + tokens(&plan.system)))
    }
}

impl RequestPlan {
    /// The tools as they are written into a request.
    pub(crate) fn entries(&self) -> Vec<&RawValue> {
        let tools = self.tools.iter().map(|tool| &*tool.entry);
        tools
            .chain(self.deferred.iter().map(|entry| &**entry))
            .collect()
    }

    /// Plans a request: its body, and the tools that had to be left out.
    pub(crate) fn new(
        remote: &Remote,
        compiler: &ToolCompiler,
        capabilities: Capabilities,
        request: &ModelRequest,
    ) -> Result<(Self, Vec<OmittedTool>), ProviderError> {
        let mut messages = request.messages.clone();
        if !capabilities.sees_images && history::asks_about_images(&messages) {
            let name = (&remote.name).into();
            let fault = ModelFault::NoImages { name };
            return Err(ProviderError::Refused { fault });
        }
        // Images in earlier messages must not prevent the use of another model.
        if !capabilities.sees_images {
            history::describe_images(&mut messages);
        }
        let options = request.options.clone();
        let mut offered = request.tools.clone();
        offered.retain(|tool| options.allows(&tool.id));
        let tool_use = remote.tool_use(&capabilities);
        let deferred = match tool_use {
            ToolUse::Native => {
                deferral::entries(remote, compiler, &capabilities, &request.deferred)
            }
            ToolUse::None | ToolUse::Constrained | ToolUse::Text => None,
        };
        if deferred.is_some() {
            offered.retain(|tool| !request.deferred.finders.contains(&tool.id));
        }
        let (tools, left_out) = match tool_use {
            ToolUse::None => (Vec::new(), exclude_all(&offered)),
            ToolUse::Native | ToolUse::Constrained | ToolUse::Text => {
                compile_tools(remote, compiler, &capabilities, &offered)
            }
        };
        let mut plan = Self {
            system: request.system.clone(),
            messages: history::repair(messages),
            tools,
            deferred: deferred.unwrap_or_default(),
            tool_use,
            capabilities,
            options,
        };
        let budget = match (
            plan.capabilities.budget(plan.weight()),
            remote.budget(&plan),
        ) {
            (Some(learned), Some(set)) => Some(learned.min(set)),
            (learned, set) => learned.or(set),
        };
        if let Some(budget) = budget {
            fit(&mut plan.messages, budget);
            // A message may have nothing left to say.
            plan.messages = history::repair(plan.messages);
        }
        history::inline_files(&mut plan.messages);
        if is_small(remote) {
            result_request::add(&mut plan.messages, tool_use);
        }
        plan.messages = match tool_use {
            ToolUse::Constrained if !plan.tools.is_empty() => {
                let requires_call = plan.options.requires_call();
                let prompt = constrained::prompt(&plan.tools, requires_call);
                plan.system.push_str(&prompt);
                constrained::calls_as_envelopes(plan.messages, &plan.tools)
            }
            ToolUse::None | ToolUse::Constrained => constrained::calls_as_text(plan.messages),
            ToolUse::Text => {
                if !plan.tools.is_empty() {
                    plan.system.push_str(&text_calls::prompt(&plan.tools));
                }
                text_calls::calls_as_text(plan.messages, &remote.maker(), CallScope::All)
            }
            ToolUse::Native => {
                text_calls::calls_as_text(plan.messages, &remote.maker(), CallScope::OwnText)
            }
        };
        // `repair` makes it so; should it ever not, better a clear word than a provider's riddle.
        history::check(&plan.messages).map_err(|why| ProviderError::Refused {
            fault: ModelFault::InvalidChat {
                why: why.to_string().into(),
            },
        })?;
        Ok((plan, left_out))
    }

    /// Where the turn begins: the last message of the user. Thinking goes back within the turn it
    /// belongs to; older thoughts are only weight.
    pub(crate) fn turn_start(&self) -> usize {
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        self.messages.iter().rposition(is_user).unwrap_or(0)
    }

    /// The temperature of a model that may call tools, where nobody set one.
    pub(crate) fn tool_temperature(&self, remote: &Remote) -> Option<f64> {
        let is_wanted = self.capabilities.takes_temperature && !self.tools.is_empty();
        (is_wanted && http::is_local(&remote.base_url)).then_some(LOCAL_TOOL_TEMPERATURE)
    }

    /// Whether a model sees pictures in it.
    pub(crate) fn shows_images(&self) -> bool {
        let answers = self.messages.iter().flat_map(|message| match message {
            Message::Tools { answers } => answers.as_slice(),
            Message::User { .. } | Message::Assistant { .. } => &[],
        });
        let mut outputs = answers.flat_map(|answer| &answer.result);
        let is_image = |content: &Content| matches!(content, Content::Image { .. });
        self.capabilities.shows_images()
            && outputs.any(|output| output.content.iter().any(is_image))
    }

    /// Whether the user shows it pictures, now or before.
    pub(crate) fn has_user_images(&self) -> bool {
        let mut messages = self.messages.iter();
        messages
            .any(|message| matches!(message, Message::User { images, .. } if !images.is_empty()))
    }

    /// About what `request` takes, of which this is the plan.
    pub(crate) fn estimate(
        &self,
        request: &ModelRequest,
        omitted: Vec<OmittedTool>,
    ) -> RequestEstimate {
        let tools = self.tools.iter();
        let searches = self.tool_use != ToolUse::None;
        RequestEstimate {
            system_tokens: tokens(&self.system),
            tool_tokens: tools.clone().map(|tool| tokens(tool.entry.get())).sum(),
            message_tokens: self.weight(),
            tools: tools.map(|tool| tool.id.clone()).collect(),
            omitted,
            deferred: if searches {
                request.deferred.tools.len()
            } else {
                0
            },
        }
    }

    /// By the measure that [`fit`] shortens by, so that less is less.
    pub(crate) fn weight(&self) -> usize {
        self.messages.iter().map(weight).sum()
    }
}

/// A model that cannot call tools is not told of any; a person is.
fn exclude_all(tools: &[Arc<ToolSpec>]) -> Vec<OmittedTool> {
    let why = ErrorDetail::from(ExclusionReason::NoToolUse);
    tools
        .iter()
        .map(|tool| left_out(tool, why.clone()))
        .collect()
}

fn left_out(tool: &ToolSpec, why: ErrorDetail) -> OmittedTool {
    OmittedTool {
        tool_id: tool.id.clone(),
        display_name: tool.display_name.clone(),
        why,
    }
}

fn compile_tools(
    remote: &Remote,
    compiler: &ToolCompiler,
    capabilities: &Capabilities,
    tools: &[Arc<ToolSpec>],
) -> (Vec<Arc<CompiledTool>>, Vec<OmittedTool>) {
    let (mut compiled, mut missing) = (Vec::new(), Vec::new());
    let mut count = CompileCount::default();
    for tool in tools {
        match compile_tool(remote, compiler, capabilities, tool, &mut count) {
            Ok(tool) => compiled.push(tool),
            Err(why) => missing.push(left_out(tool, why)),
        }
    }
    (compiled, missing)
}

/// The tool as the provider takes it.
fn compile_tool(
    remote: &Remote,
    compiler: &ToolCompiler,
    capabilities: &Capabilities,
    tool: &Arc<ToolSpec>,
    count: &mut CompileCount,
) -> Result<Arc<CompiledTool>, ErrorDetail> {
    if let Some(why) = count.limit() {
        return Err(why.into());
    }
    let compiled = compiler
        .compile(tool, remote)
        .inspect_err(|_| count.failed += 1)?;
    if let Some(why) = capabilities.refusal(&compiled.id, &compiled.schema) {
        return Err(why.clone().into());
    }
    count.compiled += 1;
    Ok(compiled)
}
