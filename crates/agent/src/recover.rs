//! After a restart: turns that wait for a person go on, and what else was left
//! loose is tied, so that every chat can go on.

use std::sync::Mutex;

use tenon_domain::{Caller, ErrorDetail, ToolAccess, TurnOutcome, Usage};
use tenon_store::{PausedTurn, Result};

use crate::agent_loop::UsageMeter;
use crate::request::{TurnOverrides, TurnProfile};
use crate::turn::{Turn, TurnStart};
use crate::turn_end::TurnEnd;
use crate::{Agent, Error, TurnFault, TurnModel};

impl Agent {
    /// Ends the turns of processes that are gone: their text up to the last
    /// checkpoint stays, their calls are lost. Turns of living processes are
    /// left alone, and so are those that wait for a person.
    pub async fn recover(&self) -> Result<usize> {
        let mut count = 0;
        for runner in self.store.runners().await? {
            let Some(abandoned) = self.store.abandoned(&runner).await? else {
                continue;
            };
            for turn in &abandoned.turns {
                if self.store.paused(&turn.id).await?.is_some() {
                    continue;
                }
                tracing::info!(chat = %turn.chat_id, turn = %turn.id, "turn was interrupted by a restart");
                let end = interrupted(TurnFault::Restarted, Usage::default());
                self.try_end(&turn.chat_id, &turn.id, end).await?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Takes over the turns of processes that are gone and that wait for a
    /// person. Whoever does so owes each of them [`Agent::resume`] or
    /// [`Agent::give_up`].
    pub async fn take_over(&self) -> Result<Vec<PausedTurn>> {
        let mut taken = Vec::new();
        for runner in self.store.runners().await? {
            let Some(abandoned) = self.store.abandoned(&runner).await? else {
                continue;
            };
            for turn in &abandoned.turns {
                if let Some(paused) = self.store.paused(&turn.id).await? {
                    self.store.adopt(&turn.id).await?;
                    taken.push(paused);
                }
            }
        }
        Ok(taken)
    }

    /// Goes on with a turn in the middle of its step. What was granted for the
    /// turn alone is not remembered: it is asked about.
    pub fn resume(
        &self,
        paused: PausedTurn,
        model: TurnModel,
        profile: TurnProfile,
    ) -> std::result::Result<(), Error> {
        let slot = self.running.take(&paused.chat_id, &paused.id)?;
        let access = ToolAccess::all(&paused.user, Caller::chat_model());
        let turn = Turn {
            agent: self.clone(),
            id: paused.id,
            chat: paused.chat_id,
            access: match paused.tools {
                None => access,
                Some(tools) => access.only(tools),
            },
            door: paused.door,
            // Somebody was there to be asked, or it would not wait.
            can_ask: true,
            model,
            language: None,
            omitted_tools: Mutex::default(),
            client: None,
            usage: UsageMeter::new(paused.usage),
            profile,
            overrides: TurnOverrides::default(),
            slot,
        };
        self.running.tasks.spawn(turn.run(TurnStart::Resumed));
        Ok(())
    }

    /// Ends a turn that cannot go on.
    pub async fn give_up(&self, paused: &PausedTurn, why: ErrorDetail) -> Result<()> {
        let fault = TurnFault::CannotResume { why: why.into() };
        let end = interrupted(fault, paused.usage);
        self.try_end(&paused.chat_id, &paused.id, end).await
    }
}

fn interrupted(fault: TurnFault, usage: Usage) -> TurnEnd {
    TurnEnd {
        outcome: TurnOutcome::Interrupted(fault.into()),
        usage,
        cost: None,
    }
}
