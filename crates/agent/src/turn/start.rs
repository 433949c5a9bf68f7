//! The start of a turn: its message is stored, then it runs on a task of its own.
//!
//! A client may choose the turn's id. Then starting is idempotent: the id is the primary key of the
//! turn's row, so of any number of requests with it, at once or across a restart, one starts a turn
//! and the others find it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenon_domain::{
    AttachedFile, Branch, Caller, ChatId, EventBody, MessageId, MessageRecord, Part, Role,
    TitledBy, ToolAccess, TurnId, UserImage,
};
use tenon_net::TraceContext;
use tenon_store::{Error as StoreError, fresh_id};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{ClientSession, Turn, TurnStart};
use crate::agent_loop::UsageMeter;
use crate::request::{TurnMessage, TurnRequest};
use crate::running_turns::TurnSlot;
use crate::store_backoff::StoreBackoff;
use crate::{Agent, Error, title};

/// Longer texts belong into a file of the chat.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// Of the pictures of one message, as Base64: the chat keeps them, and every page that opens it reads them.
const MAX_IMAGE_BYTES: usize = 8 * 1024 * 1024;

/// How long whoever sent a message waits to hear whether it is stored.
const START_TIMEOUT: Duration = Duration::from_secs(60);

impl Agent {
    /// Puts the message on record and sets off the turn, which runs on its own
    /// whether anybody watches or not.
    pub async fn start(&self, request: TurnRequest) -> Result<TurnId, Error> {
        self.start_turn(request, None).await
    }

    pub(super) async fn start_turn(
        &self,
        mut request: TurnRequest,
        client: Option<Arc<ClientSession>>,
    ) -> Result<TurnId, Error> {
        let chat = self.store.chat(&request.user, &request.chat).await?;
        let (said, branch) = self.user_message(request.message()).await?;
        let UserTurnMessage {
            text,
            images,
            files,
        } = said;
        let (id, slot) = match &request.id {
            None => {
                let id = TurnId(fresh_id());
                let slot = self.running.take(&chat.id, &id)?;
                (id, slot)
            }
            Some(id) => match self.claim(&request, id, &text).await? {
                Some(slot) => (id.clone(), slot),
                None => return Ok(id.clone()),
            },
        };
        self.settings.free_space.check()?;

        let allow = request.granted.as_slice().into();
        let caller = if request.can_ask {
            Caller::ChatModel { allow }
        } else {
            let entry = request.door.clone();
            Caller::UnattendedModel { entry, allow }
        };
        let access = ToolAccess::all(&request.user, caller).from_device(request.device.take());
        let turn = Turn {
            agent: self.clone(),
            id: id.clone(),
            chat: chat.id,
            access: match &request.tools {
                None => access,
                Some(tools) => access.only(tools.clone()),
            },
            door: request.door.clone(),
            can_ask: request.can_ask,
            model: request.model.clone(),
            language: request.language,
            omitted_tools: Mutex::default(),
            client,
            usage: UsageMeter::default(),
            profile: std::mem::take(&mut request.profile),
            overrides: std::mem::take(&mut request.overrides),
            trace: TraceContext::current(),
            slot,
        };
        let words = (!text.trim().is_empty()).then(|| Part::text(&text));
        let images = images.into_iter().map(Part::Image);
        let files = files.into_iter().map(|file| Part::File { file });
        let parts = words.into_iter().chain(images).chain(files).collect();
        let message = turn.message(MessageId(fresh_id()), Role::User, parts);
        let title = chat.title.is_empty().then(|| match text.trim() {
            "" => message
                .files()
                .next()
                .map_or_else(String::new, |file| file.name.clone()),
            text => title::cut(text),
        });
        let begin = EventBody::TurnStarted {
            turn_id: id.clone(),
            message,
            branch,
            tools: request.tools.clone(),
            door: request.door.clone(),
            model: Some(turn.model.shown.clone()),
        };
        // On a task of its own: a client that hangs up now must not leave a
        // turn that is on record and never runs.
        let (begun, beginning) = oneshot::channel();
        self.running.tasks.spawn(turn.begin(begin, title, begun));
        // The sender is only ever dropped unused by a runtime that is going away.
        let begun = match timeout(START_TIMEOUT, beginning).await {
            Ok(begun) => begun.map_err(|_| Error::Closing)?,
            // The task goes on: to send the message again finds what became of it.
            Err(_late) => {
                let seconds = START_TIMEOUT.as_secs();
                Err(StoreError::NoAnswer(format!(
                    "it was not stored within {seconds} s"
                )))
            }
        };
        match begun {
            Ok(()) => Ok(id),
            // Another process was faster: with this turn, or with another one in this chat.
            Err(StoreError::TooLate(_)) => self.found(&request, id, &text, Error::Busy).await,
            Err(StoreError::Taken(_)) => self.found(&request, id, &text, Error::TurnIdTaken).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a message with this id has started its turn already. Another message with it is an
    /// error.
    pub async fn has_started(&self, id: &TurnId, message: TurnMessage<'_>) -> Result<bool, Error> {
        self.store.chat(message.user, message.chat).await?;
        let (said, _) = self.user_message(message).await?;
        self.is_started(message, id, &said.text).await
    }

    /// What is said, and on which branch.
    async fn user_message(
        &self,
        message: TurnMessage<'_>,
    ) -> Result<(UserTurnMessage, Option<Branch>), Error> {
        let mut said = UserTurnMessage {
            text: message.text.unwrap_or_default().to_owned(),
            images: message.images.to_vec(),
            files: message.files.to_vec(),
        };
        let mut branch = None;
        if let Some(replaced) = message.replaces {
            let (beside, former) = self.beside(message.chat, replaced).await?;
            branch = Some(beside);
            if let Some(former) = former {
                if message.text.is_none() {
                    said.text = former.text();
                }
                if message.images.is_empty() {
                    said.images = former.images();
                }
                // A message with a new text names its files itself; one without keeps the old
                // files.
                if message.text.is_none() && message.files.is_empty() {
                    said.files = former.files().cloned().collect();
                }
            }
        }
        said.check()?;
        Ok((said, branch))
    }

    /// The slot for a turn whose id the client chose. None: the turn is there already.
    async fn claim(
        &self,
        request: &TurnRequest,
        id: &TurnId,
        text: &str,
    ) -> Result<Option<TurnSlot>, Error> {
        loop {
            if self.is_started(request.message(), id, text).await? {
                return Ok(None);
            }
            match self.running.take(&request.chat, id) {
                Ok(slot) => return Ok(Some(slot)),
                // The same request, a moment earlier: it is stored next time, or its slot is free.
                Err(Error::Busy) if self.running.settled(&request.chat, id).await => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The turn, where it is stored; else the error.
    async fn found(
        &self,
        request: &TurnRequest,
        id: TurnId,
        text: &str,
        error: Error,
    ) -> Result<TurnId, Error> {
        let is_started = self.is_started(request.message(), &id, text).await?;
        is_started.then_some(id).ok_or(error)
    }

    /// Whether this very turn is stored. Another turn under its id is an error.
    async fn is_started(
        &self,
        message: TurnMessage<'_>,
        id: &TurnId,
        text: &str,
    ) -> Result<bool, Error> {
        let chat: ChatId = match self.store.chat_of_turn(message.user, id).await {
            Ok(chat) => chat,
            // Somebody else's looks the same; its row is in the way when this one is stored.
            Err(StoreError::NotFound(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        if chat != *message.chat {
            return Err(Error::TurnIdTaken);
        }
        let turn = std::slice::from_ref(id);
        let messages = self.store.messages_of(&chat, turn).await?;
        let user_message = messages.iter().find(|message| message.role == Role::User);
        if user_message.map(MessageRecord::text).as_deref() == Some(text) {
            Ok(true)
        } else {
            Err(Error::TurnIdTaken)
        }
    }
}

/// Whether the database has looked, and will not have it.
fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Taken(_)
            | StoreError::TooLate(_)
            | StoreError::NotFound(_)
            | StoreError::LeaseLost
    )
}

/// What a person says and shows at the beginning of a turn.
struct UserTurnMessage {
    text: String,
    images: Vec<UserImage>,
    files: Vec<AttachedFile>,
}

impl UserTurnMessage {
    fn check(&self) -> Result<(), Error> {
        if self.text.trim().is_empty() && self.images.is_empty() && self.files.is_empty() {
            return Err(Error::Empty);
        }
        if self.text.len() > MAX_MESSAGE_BYTES {
            return Err(Error::TooLong {
                max: MAX_MESSAGE_BYTES,
            });
        }
        let images = self.images.iter().map(|image| image.data.len());
        if images.sum::<usize>() > MAX_IMAGE_BYTES {
            return Err(Error::ImagesTooLong {
                max: MAX_IMAGE_BYTES,
            });
        }
        Ok(())
    }
}

impl Turn {
    async fn begin(
        self,
        begin: EventBody,
        title: Option<String>,
        begun: oneshot::Sender<tenon_store::Result<()>>,
    ) {
        let written = self.store_start(begin).await;
        let is_written = written.is_ok();
        if is_written {
            if let Some(client) = &self.client {
                let clients = &self.agent.clients;
                clients.insert(&self.chat, client.clone());
            }
            self.slot.stored.cancel();
        }
        if let (true, Some(title)) = (is_written, title) {
            self.set_title(title).await;
        }
        let _ = begun.send(written);
        if is_written {
            self.run(TurnStart::New).await;
        }
    }

    /// A start that the database did not answer may be on record, and then it must run: it is stored
    /// again until that is known. The turn's id is a primary key, and the row of the chat stays
    /// locked for as long as the former try may still be committed.
    async fn store_start(&self, begin: EventBody) -> tenon_store::Result<()> {
        let mut is_unknown = false;
        let mut backoff = StoreBackoff::new();
        loop {
            let error = match self.emit(vec![begin.clone()]).await {
                Ok(()) => return Ok(()),
                Err(error @ StoreError::NoAnswer(_)) => {
                    is_unknown = true;
                    error
                }
                Err(error) if is_unknown => match self.agent.store.is_own(&self.id).await {
                    Ok(true) => return Ok(()),
                    Ok(false) if is_refusal(&error) => return Err(error),
                    Ok(false) => error,
                    // Another process will take over the stored turn.
                    Err(StoreError::LeaseLost) => return Err(StoreError::LeaseLost),
                    Err(error) => error,
                },
                Err(error) => return Err(error),
            };
            tracing::warn!(%error, chat = %self.chat, turn = %self.id, "whether a message is stored is not known yet");
            let closing = &self.agent.running.closing;
            if backoff.wait(closing).await.is_break() {
                return Err(error);
            }
        }
    }

    /// The beginning of the message is the chat's name, unless somebody gave it
    /// one meanwhile. Without a name the turn goes on all the same.
    async fn set_title(&self, title: String) {
        let by = TitledBy::Cut;
        match self.emit(vec![EventBody::ChatTitled { title, by }]).await {
            Ok(()) | Err(StoreError::TooLate(_)) => {}
            Err(error) => tracing::warn!(%error, chat = %self.chat, "a chat could not be named"),
        }
    }
}
