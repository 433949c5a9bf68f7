//! Requests about turns that another server runs: stop, and answers to forms.
//!
//! Ownership was checked by the sender, and servers trust each other.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenon_bus::BusError;
use tenon_domain::{CallId, ChatId, ErrorDetail, FormAnswer, FormId, TurnId};
use tenon_store::TurnOwner;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::approvals::Approvals;
use crate::{Agent, Error};

/// Topics on the bus.
const STOP: &str = "agent.stop";
const ANSWER_FORM: &str = "agent.form";

/// The owner answers at once: neither stopping a turn nor passing on a form waits for anything.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(8);

/// The answer to a form, on its way to the call that asked.
#[derive(Serialize, Deserialize)]
struct RoutedFormAnswer {
    call: CallId,
    form: FormId,
    answer: FormAnswer,
}

#[derive(Serialize, Deserialize)]
enum FormReply {
    Taken,
    Closed,
    Misfit(ErrorDetail),
}

impl Agent {
    /// Answers other servers.
    pub(crate) fn serve_others(&self) {
        let running = self.running.clone();
        self.bus.serve(STOP, move |request| {
            let turn = serde_json::from_slice::<TurnId>(&request.body);
            let stopped = turn.is_ok_and(|turn| running.cancel(&turn));
            async move { serde_json::to_vec(&stopped).unwrap_or_default() }
        });
        let forms = self.forms.clone();
        self.bus.serve(ANSWER_FORM, move |request| {
            let routed = serde_json::from_slice::<RoutedFormAnswer>(&request.body);
            let taken = match routed {
                Ok(routed) => forms.answer(&routed.call, &routed.form, routed.answer),
                Err(_) => Err(Error::FormClosed),
            };
            let reply = match taken {
                Ok(()) => FormReply::Taken,
                Err(Error::Misfit(why)) => FormReply::Misfit(why),
                Err(_) => FormReply::Closed,
            };
            async move { serde_json::to_vec(&reply).unwrap_or_default() }
        });
    }

    /// Stops a turn wherever it runs. False: it runs nowhere.
    pub async fn stop(&self, turn: &TurnId) -> Result<bool, Error> {
        if self.cancel(turn) {
            return Ok(true);
        }
        let Some(owner) = self.other_owner(self.store.owner_of(turn).await?) else {
            return Ok(false);
        };
        let body = serde_json::to_vec(turn).unwrap_or_default();
        let reply = self.ask(&owner, STOP, body).await?;
        Ok(serde_json::from_slice(&reply).unwrap_or(false))
    }

    /// The same for the turn of a chat that is being deleted; whoever cannot be reached ends it later.
    pub(crate) async fn stop_elsewhere(&self, chat: &ChatId) {
        let ids = std::slice::from_ref(chat);
        let turns = self.store.turns_elsewhere(ids).await.unwrap_or_default();
        for turn in turns.values() {
            if let Err(error) = self.stop(turn).await {
                tracing::warn!(%chat, %error, "a turn of a deleted chat goes on at another server");
            }
        }
    }

    pub(crate) async fn answer_form_elsewhere(
        &self,
        call: &CallId,
        form: &FormId,
        answer: FormAnswer,
    ) -> Result<(), Error> {
        let owner = self.store.owner_of_call(call).await?;
        let owner = self.other_owner(owner).ok_or(Error::FormClosed)?;
        let routed = RoutedFormAnswer {
            call: call.clone(),
            form: form.clone(),
            answer,
        };
        let body = serde_json::to_vec(&routed).unwrap_or_default();
        let reply = self.ask(&owner, ANSWER_FORM, body).await?;
        match serde_json::from_slice(&reply) {
            Ok(FormReply::Taken) => Ok(()),
            Ok(FormReply::Misfit(why)) => Err(Error::Misfit(why)),
            Ok(FormReply::Closed) | Err(_) => Err(Error::FormClosed),
        }
    }

    fn other_owner(&self, owner: Option<TurnOwner>) -> Option<String> {
        let owner = owner.map(|owner| owner.runner);
        owner.filter(|owner| owner != self.store.runner_name())
    }

    async fn ask(
        &self,
        server: &str,
        topic: &'static str,
        body: Vec<u8>,
    ) -> Result<Vec<u8>, Error> {
        let reply = self.bus.request(server, topic, body, REQUEST_TIMEOUT).await;
        match reply {
            Ok(reply) => Ok(reply.to_vec()),
            Err(
                BusError::Away
                | BusError::Gone
                | BusError::Refused
                | BusError::TimedOut
                | BusError::TooLong,
            ) => Err(Error::Unreachable),
        }
    }
}

/// Has calls look for their answers when another process wrote to their chat.
pub(crate) async fn wake_approvals(
    mut chats: broadcast::Receiver<Option<ChatId>>,
    approvals: Approvals,
) {
    loop {
        match chats.recv().await {
            Ok(chat) => approvals.wake_in(chat.as_ref()),
            Err(RecvError::Lagged(_)) => approvals.wake_in(None),
            Err(RecvError::Closed) => return,
        }
    }
}
