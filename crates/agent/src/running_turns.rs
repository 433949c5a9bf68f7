//! The turns that run in this process now: one per chat.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tenon_domain::{ChatId, TurnId};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Error;
use crate::activity::ChatActivity;
use crate::lock::lock;

/// Storing a message takes milliseconds, unless the database is in trouble.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// After being told to stop, a turn only has to write down how it ended.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Default)]
pub(crate) struct RunningTurns {
    turns: Arc<Mutex<HashMap<ChatId, RunningTurn>>>,
    pub(crate) activity: ChatActivity,
    pub(crate) tasks: TaskTracker,
    /// Fires when Tenon shuts down: what only waits should wait no longer.
    pub(crate) closing: CancellationToken,
    /// Fires when it has waited long enough for what still runs.
    stopping: CancellationToken,
}

#[derive(Debug)]
struct RunningTurn {
    id: TurnId,
    cancel: CancellationToken,
    /// Fires when the turn is on record.
    stored: CancellationToken,
    /// Fires when the turn has released its slot.
    ended: CancellationToken,
    cut_off: CancellationToken,
}

/// The slot of a chat for its one running turn; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct TurnSlot {
    running: RunningTurns,
    chat: ChatId,
    pub(crate) cancel: CancellationToken,
    pub(crate) stored: CancellationToken,
    ended: CancellationToken,
    /// Fires when the process ends before the turn does, and nobody had stopped it.
    pub(crate) cut_off: CancellationToken,
}

impl RunningTurns {
    pub(crate) fn take(&self, chat: &ChatId, turn: &TurnId) -> Result<TurnSlot, Error> {
        let mut turns = self.turns();
        if self.tasks.is_closed() {
            return Err(Error::Closing);
        }
        let cancel = CancellationToken::new();
        let (stored, ended) = (CancellationToken::new(), CancellationToken::new());
        let cut_off = CancellationToken::new();
        match turns.entry(chat.clone()) {
            Entry::Occupied(_) => return Err(Error::Busy),
            Entry::Vacant(free) => {
                free.insert(RunningTurn {
                    id: turn.clone(),
                    cancel: cancel.clone(),
                    stored: stored.clone(),
                    ended: ended.clone(),
                    cut_off: cut_off.clone(),
                });
            }
        }
        Ok(TurnSlot {
            running: self.clone(),
            chat: chat.clone(),
            cancel,
            stored,
            ended,
            cut_off,
        })
    }

    /// Waits until this turn is stored or has released the chat's slot. False: the slot is
    /// another turn's, or it takes too long.
    pub(crate) async fn settled(&self, chat: &ChatId, turn: &TurnId) -> bool {
        let (stored, ended) = match self.turns().get(chat) {
            None => return true,
            Some(running) if running.id != *turn => return false,
            Some(running) => (running.stored.clone(), running.ended.clone()),
        };
        let settled = async {
            tokio::select! {
                () = stored.cancelled() => {}
                () = ended.cancelled() => {}
            }
        };
        tokio::time::timeout(STORE_TIMEOUT, settled).await.is_ok()
    }

    /// Something that runs without a chat. The token stops it.
    pub(crate) fn begin(&self) -> Result<CancellationToken, Error> {
        if self.tasks.is_closed() {
            return Err(Error::Closing);
        }
        Ok(self.stopping.child_token())
    }

    pub(crate) fn turn(&self, chat: &ChatId) -> Option<TurnId> {
        self.turns().get(chat).map(|turn| turn.id.clone())
    }

    pub(crate) fn cancel(&self, turn: &TurnId) -> bool {
        let turns = self.turns();
        let found = turns.values().find(|running| running.id == *turn);
        found.map(|running| running.cancel.cancel()).is_some()
    }

    /// Tells all turns to stop; nobody waits for them.
    pub(crate) fn stop_all(&self) {
        self.turns().values().for_each(|turn| turn.cancel.cancel());
    }

    fn cut_off_all(&self) {
        for turn in self.turns().values() {
            if !turn.cancel.is_cancelled() {
                turn.cut_off.cancel();
                turn.cancel.cancel();
            }
        }
    }

    /// Whether the process ends, whatever still runs.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Stops the turn of a chat and waits until it has let go of it.
    pub(crate) async fn stop(&self, chat: &ChatId) {
        let ended = self.turns().get(chat).map(|turn| {
            turn.cancel.cancel();
            turn.ended.clone()
        });
        if let Some(ended) = ended
            && tokio::time::timeout(STOP_TIMEOUT, ended.cancelled())
                .await
                .is_err()
        {
            tracing::warn!(%chat, "a turn did not stop in time");
        }
    }

    pub(crate) async fn drain(&self, timeout: Duration) {
        {
            // Under the same lock as `take`: turns that have a slot are waited for, and none gets
            // one later.
            let _turns = self.turns();
            self.tasks.close();
            self.closing.cancel();
        }
        if tokio::time::timeout(timeout, self.tasks.wait())
            .await
            .is_ok()
        {
            return;
        }
        self.stopping.cancel();
        self.cut_off_all();
        if tokio::time::timeout(STOP_TIMEOUT, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("some turns did not stop in time; they will be marked as interrupted");
        }
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<ChatId, RunningTurn>> {
        lock(&self.turns)
    }
}

impl Drop for TurnSlot {
    fn drop(&mut self) {
        self.running.turns().remove(&self.chat);
        self.running.activity.publish(&self.chat);
        self.ended.cancel();
    }
}
