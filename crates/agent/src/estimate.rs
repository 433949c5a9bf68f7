//! Estimates the request that a message would cause, before it is sent.

use tenon_domain::{Caller, ChatId, Message, PageLanguage, ToolAccess, UserId};
use tenon_llm::{GenerationOptions, RequestEstimate};
use tenon_store::Result as StoreResult;
use tenon_tools::RequestTools;

use crate::prompt::PictureData;
use crate::request::{ModelTools, TurnModel, TurnProfile};
use crate::step_request::{StepKind, StepRequest};
use crate::{Agent, prompt};

/// A message that somebody is about to send.
#[derive(Debug)]
pub struct DraftMessage {
    pub user: UserId,
    /// None: it begins a chat.
    pub chat: Option<ChatId>,
    pub model: TurnModel,
    pub profile: TurnProfile,
    pub language: Option<PageLanguage>,
    pub text: String,
    /// The computer it is written at.
    pub device: Option<String>,
}

impl Agent {
    /// About how many tokens the next request takes, and which tools it has beside those that find others.
    pub async fn estimate(&self, draft: &DraftMessage) -> StoreResult<RequestEstimate> {
        let allow = [].as_slice().into();
        let access = ToolAccess::all(&draft.user, Caller::ChatModel { allow });
        let access = access.from_device(draft.device.clone());
        let chat = draft.chat.as_ref();
        let none = RequestTools::default();
        let toolset = self.toolset(&access, &draft.profile, chat, &none);
        let toolset = toolset.await?;
        let mut messages = match chat {
            Some(chat) => match self.store.branches(chat).await?.shown().last() {
                Some(turn) => {
                    let pictures = PictureData::Absent;
                    prompt::history(&self.store, (chat, turn), pictures).await?
                }
                None => Vec::new(),
            },
            None => Vec::new(),
        };
        messages.push(Message::user(&draft.text));
        let tools = ModelTools::default();
        let request = StepRequest {
            model: &draft.model,
            profile: &draft.profile,
            system: None,
            language: draft.language,
            tools: &tools,
        };
        let options = (StepKind::Open, GenerationOptions::default());
        let request = request.build(&toolset, &messages, messages.clone(), options);
        let mut estimate = draft.model.provider.estimate(&request).await;
        let finders = &request.deferred.finders;
        estimate.tools.retain(|tool| !finders.contains(tool));
        Ok(estimate)
    }
}
