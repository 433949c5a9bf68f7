//! The name of a chat: the beginning of its first message, until a model has
//! thought of a better one or a person has.

use std::time::Duration;

use tenon_domain::{ChatId, EventBody, Message, MessageRecord, Part, Role, TitledBy, TurnId, text};
use tenon_llm::{ModelRequest, complete};
use tenon_store::{Error as StoreError, Result as StoreResult};

use crate::{Agent, TurnModel};

/// A title is a line in a side bar.
const MAX_TITLE_CHARS: usize = 60;

/// A longer reply is not a title.
const MAX_REPLY_CHARS: usize = 200;

/// How much of what was said is enough to see what it is about.
const EXCERPT: usize = 2000;

/// Nobody waits for it, but a model that thinks longer is not worth it.
const DEADLINE: Duration = Duration::from_secs(30);

const SYSTEM: &str = "You name conversations. You are given the beginning of one. \
Answer with its title alone: a few words in the language of the user, no quotes, no full stop.";

impl Agent {
    /// After the first turn of a chat: lets its model name the chat, unless
    /// somebody has done so. A shutdown does not wait for it.
    pub(crate) async fn set_title(&self, chat: &ChatId, turn: &TurnId, model: &TurnModel) {
        if !self.settings.model_titles || !model.makes_titles {
            return;
        }
        let named = tokio::select! {
            () = self.running.closing.cancelled() => return,
            named = self.try_entitle(chat, turn, model) => named,
        };
        match named {
            // A person was faster, or deleted the chat.
            Ok(()) | Err(StoreError::TooLate(_) | StoreError::NotFound(_)) => {}
            Err(error) => tracing::warn!(%error, %chat, "the title of a chat could not be kept"),
        }
    }

    async fn try_entitle(
        &self,
        chat: &ChatId,
        turn: &TurnId,
        model: &TurnModel,
    ) -> StoreResult<()> {
        let branches = self.store.branches(chat).await?;
        let is_first = branches.place(turn).is_some_and(|at| at.parent.is_none());
        if !is_first || self.store.titled_by(chat).await? != TitledBy::Cut {
            return Ok(());
        }
        let turn = std::slice::from_ref(turn);
        let messages = self.store.messages_of(chat, turn).await?;
        let asked = complete(&*model.provider, request(&messages));
        let reply = match tokio::time::timeout(DEADLINE, asked).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => {
                tracing::info!(%error, %chat, "the model gave no title");
                return Ok(());
            }
            Err(_elapsed) => {
                tracing::info!(%chat, "the model took too long over a title");
                return Ok(());
            }
        };
        let reply_text: String = reply.parts.iter().filter_map(Part::as_text).collect();
        let Some(title) = tidy(&reply_text) else {
            return Ok(());
        };
        let by = TitledBy::Model;
        self.feed
            .emit(chat, vec![EventBody::ChatTitled { title, by }])
            .await
    }
}

/// The first line of a message, cut between characters, never inside one.
pub(crate) fn cut(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    shorten(line.unwrap_or_default())
}

fn request(messages: &[MessageRecord]) -> ModelRequest {
    let excerpt = |message: &MessageRecord| {
        let who = match message.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
        };
        let text = message.text();
        let text = text::shorten(&text, EXCERPT);
        format!("{who}: {text}")
    };
    let with_text = messages.iter().filter(|message| !message.text().is_empty());
    let excerpts: Vec<String> = with_text.take(4).map(excerpt).collect();
    let text = format!(
        "{}\n\nA title for this conversation:",
        excerpts.join("\n\n")
    );
    ModelRequest {
        system: SYSTEM.into(),
        language: None,
        messages: vec![Message::user(text)],
        ..ModelRequest::default()
    }
}

/// What a model meant as a title. None: nothing that could be one.
fn tidy(reply: &str) -> Option<String> {
    if reply.chars().count() > MAX_REPLY_CHARS {
        return None;
    }
    let mut title = reply.split_whitespace().collect::<Vec<_>>().join(" ");
    for label in ["title:", "标题：", "标题:", "titel:", "titre :"] {
        let begins = title.get(..label.len());
        if begins.is_some_and(|begins| begins.to_lowercase() == label) {
            title.drain(..label.len());
        }
    }
    let marks: &[char] = &[
        '"', '\'', '`', '*', '#', '“', '”', '„', '‘', '’', '«', '»', '「', '」', '《', '》', ' ',
    ];
    let title = title.trim_matches(marks).trim_end_matches(['.', '。']);
    let title = title.trim_matches(marks);
    title
        .contains(char::is_alphanumeric)
        .then(|| shorten(title))
}

fn shorten(line: &str) -> String {
    text::shorten(line.trim(), MAX_TITLE_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_what_the_model_meant_and_never_cut_inside_a_character() {
        let check = |said: &str, expected: Option<&str>| {
            assert_eq!(tidy(said).as_deref(), expected, "{said:?}");
        };
        check("Trains to Tokyo", Some("Trains to Tokyo"));
        check("\"Trains to Tokyo\"\n", Some("Trains to Tokyo"));
        check("Title: “Trains to Tokyo”.", Some("Trains to Tokyo"));
        check("TITLE: Trains\nto Tokyo", Some("Trains to Tokyo"));
        check("**Trains to Tokyo**", Some("Trains to Tokyo"));
        check("标题：去东京的火车。", Some("去东京的火车"));
        check("「去东京的火车」", Some("去东京的火车"));
        check("", None);
        check(" \n\"\" ", None);
        check("…?!", None);
        check(&"a whole answer ".repeat(20), None);
        check(&"火".repeat(70), Some(&format!("{}…", "火".repeat(60))));
    }
}
