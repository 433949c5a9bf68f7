//! Saying something else in the place of an earlier message, and going back
//! to what was said before.

use tenon_domain::{Branch, ChatId, EventBody, MessageRecord, Role, TurnId, UserId};
use tenon_store::Error as StoreError;

use crate::{Agent, Error};

impl Agent {
    /// Shows the branch a turn is on, up to its newest turn.
    pub async fn choose_branch(
        &self,
        user: &UserId,
        chat: &ChatId,
        turn: &TurnId,
    ) -> Result<(), Error> {
        self.store.chat(user, chat).await?;
        // Holding the chat's slot ensures that no turn starts meanwhile on another branch.
        let _place = self.running.take(chat, turn)?;
        let branches = self.store.branches(chat).await?;
        let place = branches.place(turn).ok_or(StoreError::NotFound("turn"))?;
        let turn_id = branches.newest_leaf(&place.id);
        if branches.head() == Some(&turn_id) {
            return Ok(());
        }
        let chosen = EventBody::BranchChosen { turn_id };
        Ok(self.feed.emit(chat, vec![chosen]).await?)
    }

    /// The place beside a turn of this chat, and what the person said in that turn.
    pub(crate) async fn beside(
        &self,
        chat: &ChatId,
        turn: &TurnId,
    ) -> Result<(Branch, Option<MessageRecord>), Error> {
        let branches = self.store.branches(chat).await?;
        let place = branches.place(turn).ok_or(StoreError::NotFound("turn"))?;
        let turn = std::slice::from_ref(turn);
        let messages = self.store.messages_of(chat, turn).await?;
        let mut messages = messages.into_iter();
        let user_message = messages.find(|message| message.role == Role::User);
        let branch = Branch {
            after: place.parent.clone(),
        };
        Ok((branch, user_message))
    }
}
