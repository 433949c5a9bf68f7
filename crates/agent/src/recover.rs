//! After a restart: turns that wait for a person go on, and what else was left
//! loose is tied, so that every chat can go on.

use std::sync::{Arc, Mutex, MutexGuard};

use tenon_domain::{Caller, ErrorDetail, ToolAccess, TurnOutcome, Usage};
use tenon_store::{Error as StoreError, LeaseState, OpenTurn, PausedTurn, Result};
use tokio::sync::watch;

use crate::agent_loop::UsageMeter;
use crate::lock::lock;
use crate::request::{TurnOverrides, TurnProfile};
use crate::running_turns::RunningTurns;
use crate::turn::{Turn, TurnStart};
use crate::turn_end::TurnEnd;
use crate::{Agent, Error, TurnFault, TurnModel};

/// Turns that this process took over and has not ended or resumed: what could not be stored is tried
/// again.
#[derive(Debug, Clone, Default)]
pub(crate) struct AdoptedTurns(Arc<Mutex<AdoptedLists>>);

#[derive(Debug, Default)]
struct AdoptedLists {
    to_end: Vec<OpenTurn>,
    to_resume: Vec<PausedTurn>,
    /// The database did not answer whether it gave them to this process.
    unknown: Vec<OpenTurn>,
}

impl Agent {
    /// Ends the turns of lost processes: text up to the last checkpoint stays, running calls are
    /// lost. Turns of living processes and turns that wait for a person are left alone.
    pub async fn recover(&self) -> Result<usize> {
        let mut count = self.end_adopted().await?;
        while let Some(turn) = self.adopted.next_unknown() {
            if !self.adopt_unknown(&turn).await? {
                continue;
            }
            match self.store.paused(&turn.id).await {
                Ok(Some(paused)) => self.adopted.lists().to_resume.push(paused),
                Ok(None) => self.adopted.lists().to_end.push(turn),
                Err(error) => {
                    self.adopted.lists().unknown.push(turn);
                    return Err(error);
                }
            }
        }
        count += self.end_adopted().await?;
        for owner in self.store.turn_owners().await? {
            let Some(abandoned) = self.store.abandoned(&owner).await? else {
                continue;
            };
            for turn in abandoned.turns.iter() {
                if self.store.paused(&turn.id).await?.is_some() || !self.adopt(turn).await? {
                    continue;
                }
                self.adopted.lists().to_end.push(turn.clone());
                count += self.end_adopted().await?;
            }
        }
        Ok(count)
    }

    async fn adopt(&self, turn: &OpenTurn) -> Result<bool> {
        let adopted = self.store.adopt(turn).await;
        if let Err(StoreError::NoAnswer(_)) = &adopted {
            self.adopted.lists().unknown.push(turn.clone());
        }
        adopted
    }

    /// Tried again, it waits until the former try is over: then this process has it, or another one.
    async fn adopt_unknown(&self, turn: &OpenTurn) -> Result<bool> {
        let adopted = match self.store.adopt(turn).await {
            Ok(false) if self.running.turn(&turn.chat_id).as_ref() == Some(&turn.id) => Ok(false),
            Ok(false) => self.store.is_own(&turn.id).await,
            tried => tried,
        };
        if adopted.is_err() {
            self.adopted.lists().unknown.push(turn.clone());
        }
        adopted
    }

    async fn end_adopted(&self) -> Result<usize> {
        let mut count = 0;
        while let Some(turn) = self.adopted.next_to_end() {
            tracing::info!(chat = %turn.chat_id, turn = %turn.id, "turn was interrupted by a restart");
            let fault = TurnFault::server_stopped(turn.owner.fence > 0);
            let end = interrupted(fault, Usage::default());
            match self.try_end(&turn.chat_id, &turn.id, end).await {
                Ok(()) => count += 1,
                // Another process has adopted the turn and will end it.
                Err(StoreError::NotOwner | StoreError::NotFound(_)) => {}
                Err(error) => {
                    self.adopted.lists().to_end.push(turn);
                    return Err(error);
                }
            }
        }
        Ok(count)
    }

    /// Takes over the turns of processes that are gone and that wait for a
    /// person. Whoever does so owes each of them [`Agent::resume`],
    /// [`Agent::give_up`] or [`Agent::put_back`].
    pub async fn take_over(&self) -> Result<Vec<PausedTurn>> {
        for owner in self.store.turn_owners().await? {
            let Some(abandoned) = self.store.abandoned(&owner).await? else {
                continue;
            };
            for turn in &abandoned.turns {
                if let Some(paused) = self.store.paused(&turn.id).await?
                    && self.adopt(turn).await?
                {
                    self.adopted.lists().to_resume.push(paused);
                }
            }
        }
        Ok(std::mem::take(&mut self.adopted.lists().to_resume))
    }

    /// The next [`Agent::take_over`] gives it out again.
    pub fn put_back(&self, paused: PausedTurn) {
        self.adopted.lists().to_resume.push(paused);
    }

    /// Whether turns were taken over and neither ended nor resumed yet.
    pub fn has_adopted_turns(&self) -> bool {
        let adopted = self.adopted.lists();
        let is_done = adopted.to_end.is_empty() && adopted.to_resume.is_empty();
        !is_done || !adopted.unknown.is_empty()
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
            trace: None,
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

impl AdoptedTurns {
    fn lists(&self) -> MutexGuard<'_, AdoptedLists> {
        lock(&self.0)
    }

    fn next_unknown(&self) -> Option<OpenTurn> {
        self.lists().unknown.pop()
    }

    fn next_to_end(&self) -> Option<OpenTurn> {
        self.lists().to_end.pop()
    }
}

/// Stops what this process may not write down any more: others take it over.
pub(crate) async fn stop_without_lease(
    mut lease: watch::Receiver<LeaseState>,
    running: RunningTurns,
) {
    let mut held = *lease.borrow_and_update();
    while lease.changed().await.is_ok() {
        let state = *lease.borrow_and_update();
        // Another one than before was lost in between; after a loss there is nothing to stop.
        if held != LeaseState::Lost && state != held {
            running.stop_all();
        }
        held = state;
    }
}

fn interrupted(fault: TurnFault, usage: Usage) -> TurnEnd {
    TurnEnd {
        outcome: TurnOutcome::Interrupted(fault.into()),
        usage,
        cost: None,
    }
}
