//! The request for a turn: message, model and profile.

use std::path::PathBuf;
use std::sync::Arc;

use tenon_domain::pattern::Pattern;
use tenon_domain::{
    AttachedFile, ChatId, EntryPoint, ExpertId, ModelRef, PageLanguage, Prices, ToolFilter, ToolId,
    ToolSpec, TurnId, UserId, UserImage,
};
use tenon_llm::{GenerationOptions, Provider};
use tenon_tools::RequestTools;

use crate::context_window::ContextWindow;

/// What somebody wants answered.
pub struct TurnRequest {
    pub user: UserId,
    pub chat: ChatId,
    /// Chosen by the client, so that sending twice is one turn. A UUID, see
    /// [`tenon_store::parse_id`].
    pub id: Option<TurnId>,
    /// None, together with `replaces`: the same again.
    pub text: Option<String>,
    /// None, together with `replaces`: the same again.
    pub images: Vec<UserImage>,
    /// Of the chat. None, together with `replaces` and without a text: the same again.
    pub files: Vec<AttachedFile>,
    /// Begins a branch beside this turn.
    pub replaces: Option<TurnId>,
    /// These tools alone. None: those that are switched on.
    pub tools: Option<Vec<ToolId>>,
    pub model: TurnModel,
    /// Language of the page that shows the answer.
    pub language: Option<PageLanguage>,
    /// How it came in: the page, a key or a shell.
    pub door: EntryPoint,
    /// Whether somebody is there who can be asked before a tool is used, and while it runs.
    pub can_ask: bool,
    /// Tools that are used without asking this time.
    pub granted: Vec<Pattern>,
    /// Its chat has it on record, and so a turn that is resumed gets it again.
    pub profile: TurnProfile,
    pub overrides: TurnOverrides,
    /// The computer it was said at. Not on record: a turn that is resumed knows none.
    pub device: Option<String>,
}

/// Additions to a turn by experts and people's instructions.
#[derive(Debug, Clone, Default)]
pub struct TurnProfile {
    /// The expert whose layer of tool settings applies.
    pub expert: Option<ExpertId>,
    /// Follows the prompt that there is without it. Empty: none.
    pub system_prompt: String,
    /// Where the request itself asks for nothing else.
    pub options: GenerationOptions,
    /// None: all tools.
    pub tools: Option<Arc<ToolFilter>>,
}

/// Overrides of the chat's and user's settings for one turn. They are not stored: a turn with
/// overrides asks nobody, so it never has to be resumed.
#[derive(Debug, Default)]
pub struct TurnOverrides {
    /// Instead of Tenon's own prompt.
    pub system: Option<String>,
    pub options: GenerationOptions,
    /// With tools that are there for this turn alone, or are the client's own.
    pub tools: ModelTools,
    pub step_limit: Option<usize>,
    /// The folder that its tools may work in.
    pub workspace: Option<PathBuf>,
    /// Lets tools drop steps from what the model is told.
    pub context: Option<Arc<ContextWindow>>,
}

/// What the model may call.
#[derive(Debug)]
pub enum ModelTools {
    /// Tools that Tenon runs: what the access sees, and sources that are there for this answer alone. Of
    /// those, the client may run some itself.
    Server(RequestTools),
    /// Tools that the client runs: their calls are handed over to it.
    Client(Vec<Arc<ToolSpec>>),
}

impl Default for ModelTools {
    fn default() -> Self {
        Self::Server(RequestTools::default())
    }
}

/// The part of a request that its turn is known by when it is sent again.
#[derive(Debug, Clone, Copy)]
pub struct TurnMessage<'a> {
    pub user: &'a UserId,
    pub chat: &'a ChatId,
    pub text: Option<&'a str>,
    pub images: &'a [UserImage],
    pub files: &'a [AttachedFile],
    pub replaces: Option<&'a TurnId>,
}

/// Who is asked, under which name, and what that costs.
#[derive(Clone)]
pub struct TurnModel {
    pub provider: Arc<dyn Provider>,
    pub shown: ModelRef,
    pub prices: Option<Prices>,
    /// Whether it can think of a name for a chat: a language model can.
    pub makes_titles: bool,
}

impl TurnRequest {
    /// Something said on the page, with all tools that are switched on.
    pub fn new(user: UserId, chat: ChatId, text: impl Into<String>, model: TurnModel) -> Self {
        Self {
            user,
            chat,
            id: None,
            text: Some(text.into()),
            images: Vec::new(),
            files: Vec::new(),
            replaces: None,
            tools: None,
            model,
            language: None,
            door: EntryPoint::Page,
            can_ask: true,
            granted: Vec::new(),
            profile: TurnProfile::default(),
            overrides: TurnOverrides::default(),
            device: None,
        }
    }

    pub(crate) fn message(&self) -> TurnMessage<'_> {
        TurnMessage {
            user: &self.user,
            chat: &self.chat,
            text: self.text.as_deref(),
            images: &self.images,
            files: &self.files,
            replaces: self.replaces.as_ref(),
        }
    }
}

impl std::fmt::Debug for TurnRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnRequest")
            .field("chat", &self.chat)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TurnModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TurnModel").field(&self.shown).finish()
    }
}
