//! The request to a model in one step: system prompt, tools and conversation.

use std::sync::Arc;

use tenon_domain::{ChatId, Message, PageLanguage, ToolAccess, ToolSpec};
use tenon_llm::{DeferredTools, GenerationOptions, ModelRequest, tool_tokens};
use tenon_store::Result as StoreResult;
use tenon_tools::{OfferLimits, OfferSize, RequestTools, ToolOffer, Toolset};

use crate::Agent;
use crate::prompt::SystemPrompt;
use crate::request::{ModelTools, TurnModel, TurnProfile};

/// Inputs that all steps of a run share.
#[derive(Clone, Copy)]
pub(crate) struct StepRequest<'a> {
    pub model: &'a TurnModel,
    pub profile: &'a TurnProfile,
    /// None: as the tools call for.
    pub system: Option<&'a str>,
    /// Of the page the answer is read on, where one is.
    pub language: Option<PageLanguage>,
    pub tools: &'a ModelTools,
}

/// What a model is asked for in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepKind {
    /// Whatever it wants: words, calls.
    Open,
    /// Words alone: its calls only repeated themselves.
    AnswerOnly,
}

impl StepRequest<'_> {
    /// `told` is what the model is told of `messages`, which its tools are chosen by.
    pub(crate) fn build(
        &self,
        toolset: &Toolset,
        messages: &[Message],
        told: Vec<Message>,
        (kind, options): (StepKind, GenerationOptions),
    ) -> ModelRequest {
        let ToolOffer { tools, deferred } = self.offer(toolset, messages, kind);
        let finders = toolset.search_tools().iter();
        let finders = finders.map(|tool| tool.spec.id.clone());
        ModelRequest {
            system: self.system(&tools, kind),
            language: self.language,
            messages: told,
            tools,
            deferred: DeferredTools {
                tools: deferred,
                finders: finders.collect(),
            },
            options: options.or(&self.profile.options),
            ..ModelRequest::default()
        }
    }

    /// Looks for the tools of a step beforehand, where that takes a while.
    pub(crate) async fn prepare(&self, toolset: &Toolset, messages: &[Message], kind: StepKind) {
        if let (ModelTools::Server(_), StepKind::Open) = (self.tools, kind) {
            toolset.prepare_offer(messages, self.offer_size()).await;
        }
    }

    fn offer(&self, toolset: &Toolset, messages: &[Message], kind: StepKind) -> ToolOffer {
        match (self.tools, kind) {
            (_, StepKind::AnswerOnly) => ToolOffer::default(),
            (ModelTools::Client(tools), StepKind::Open) => ToolOffer {
                tools: tools.clone(),
                ..ToolOffer::default()
            },
            (ModelTools::Server(_), StepKind::Open) => toolset.offer(messages, self.offer_size()),
        }
    }

    fn offer_size(&self) -> OfferSize {
        let provider = &self.model.provider;
        if provider.is_small() {
            return OfferSize::Compact;
        }
        OfferSize::Full(OfferLimits {
            max_tools: provider.max_tools().unwrap_or(usize::MAX),
            max_tokens: provider.tool_budget(),
            tokens: tool_tokens,
        })
    }

    /// The prompt of the request or Tenon's own, then that of the profile.
    fn system(&self, tools: &[Arc<ToolSpec>], kind: StepKind) -> String {
        let mut system = match self.system {
            Some(system) => system.to_owned(),
            None => self.system_prompt(tools, kind).text(self.language),
        };
        let prompt = &self.profile.system_prompt;
        if !prompt.is_empty() {
            system.push_str("\n\n");
            system.push_str(prompt);
        }
        system
    }

    fn system_prompt(&self, tools: &[Arc<ToolSpec>], kind: StepKind) -> SystemPrompt {
        let provider = &self.model.provider;
        match kind {
            StepKind::AnswerOnly => SystemPrompt::AnswerOnly,
            StepKind::Open if tools.is_empty() || !provider.offers_tools() => {
                SystemPrompt::WithoutTools
            }
            StepKind::Open if provider.is_small() => SystemPrompt::Short,
            StepKind::Open => SystemPrompt::Full,
        }
    }
}

impl Agent {
    /// The toolset of a step: the user's tools with chat and profile settings applied, request
    /// tools, and search tools for those that the model is not offered.
    pub(crate) async fn toolset(
        &self,
        access: &ToolAccess,
        profile: &TurnProfile,
        chat: Option<&ChatId>,
        request_tools: &RequestTools,
    ) -> StoreResult<Toolset> {
        let expert = profile.expert.as_ref();
        let settings = self.store.tool_settings(&access.user, expert, chat);
        let access = access.clone().filtered(profile.tools.clone());
        let access = access.with_settings(settings.await?);
        let toolset = self.registry.toolset(access);
        Ok(toolset.with_request_tools(request_tools).with_search())
    }
}
