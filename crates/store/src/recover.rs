//! Recovery: the open ends of a turn, and the turns of processes that are gone.

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Statement};
use tenon_domain::{
    CallRecord, ChatId, EntryPoint, MessageRecord, ModelId, ToolId, TurnId, Usage, UserId,
};
use tokio::sync::watch;

use crate::entity::{chats, messages, turns};
use crate::events::uncommitted;
use crate::history::message;
use crate::lease::{self, LeaseState, OtherServers, ServerRole, TurnOwner};
use crate::runner::Claim;
use crate::{Error, Result, Store, enum_column, to_column};

/// A turn without an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub owner: TurnOwner,
}

/// An open turn that can go on where it stands: a call of it was asked about
/// and has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedTurn {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub user: UserId,
    /// Who was asked. Turns of the first tables do not know.
    pub model: Option<ModelId>,
    /// These tools alone.
    pub tools: Option<Vec<ToolId>>,
    pub door: EntryPoint,
    /// What it took so far.
    pub usage: Usage,
}

/// The open turns of a process that is gone. Nobody else tidies up after it
/// while this is held.
#[derive(Debug)]
pub struct AbandonedTurns {
    pub turns: Vec<OpenTurn>,
    _claim: Claim,
}

impl Store {
    /// Whether another process may have left something open since the last look.
    pub fn may_have_other_runners(&self) -> bool {
        self.runner.may_have_others()
    }

    /// The name of this process, by which others reach it.
    pub fn runner_name(&self) -> &str {
        &self.runner.name
    }

    /// What the servers on this database have in common, and no others.
    pub async fn cluster_id(&self) -> Result<String> {
        let ask = Statement::from_string(
            self.read.get_database_backend(),
            "SELECT id FROM cluster LIMIT 1",
        );
        let row = self.read.query_one_raw(ask).await?;
        let id = row.map(|row| row.try_get_by_index(0)).transpose()?;
        id.ok_or(Error::NotFound("cluster"))
    }

    /// Whether other processes learn by a lease that this one is gone.
    pub fn has_leases(&self) -> bool {
        self.runner.lease().is_some()
    }

    /// Whether this process may write what happens in its turns.
    pub fn watch_lease(&self) -> watch::Receiver<LeaseState> {
        match self.runner.lease() {
            Some(lease) => lease.watch(),
            None => watch::channel(LeaseState::Held { fence: 0 }).1,
        }
    }

    /// Tells other processes what this one is.
    pub fn set_role(&self, role: ServerRole) {
        if let Some(lease) = self.runner.lease() {
            lease.set_role(role);
        }
    }

    /// The other processes that serve from this database, where there are leases.
    pub async fn other_servers(&self) -> Result<OtherServers> {
        match self.runner.lease() {
            Some(_) => lease::other_servers(&self.read, &self.runner.name).await,
            None => Ok(OtherServers::default()),
        }
    }

    /// Gives back the lease of this process, which writes nothing more: what waits for a person
    /// goes on elsewhere at once.
    pub async fn release(&self) -> Result<()> {
        self.runner.release().await
    }

    /// Whether a process with a lease is gone that has open turns; one query.
    pub async fn has_abandoned_turns(&self) -> Result<bool> {
        match self.runner.lease() {
            Some(_) => lease::has_abandoned(&self.read).await,
            None => Ok(false),
        }
    }

    /// The turns that have no end, whoever runs them.
    pub async fn open_turns(&self) -> Result<Vec<OpenTurn>> {
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(OpenTurn::from).collect())
    }

    /// Whether a turn has no end yet.
    pub async fn is_open(&self, turn: &TurnId) -> Result<bool> {
        let open = turns::Entity::find_by_id(&turn.0).filter(turns::Column::Outcome.is_null());
        Ok(open.one(&self.read).await?.is_some())
    }

    /// Whether a turn is open and this process runs it, with the lease that it has now.
    pub async fn is_own(&self, turn: &TurnId) -> Result<bool> {
        let mut own = turns::Entity::find_by_id(&turn.0)
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.eq(self.runner_name()));
        if let Some(lease) = self.runner.lease() {
            let fence = lease.fence().ok_or(Error::LeaseLost)?;
            own = own.filter(turns::Column::Fence.eq(fence));
        }
        Ok(own.one(&self.read).await?.is_some())
    }

    /// The processes that have open turns.
    pub async fn turn_owners(&self) -> Result<Vec<TurnOwner>> {
        let owners: Vec<(String, i64)> = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .select_only()
            .column(turns::Column::Runner)
            .column(turns::Column::Fence)
            .distinct()
            .into_tuple()
            .all(&self.read)
            .await?;
        let owners = owners.into_iter();
        Ok(owners
            .map(|(runner, fence)| TurnOwner { runner, fence })
            .collect())
    }

    /// The open turns of a process, if it is gone. One process at a time: a
    /// claim may hold a connection, and there are not many of them.
    pub async fn abandoned(&self, owner: &TurnOwner) -> Result<Option<AbandonedTurns>> {
        let Some(claim) = self.runner.claim(&self.read, owner).await? else {
            return Ok(None);
        };
        // Read under the lock: another process may have tidied up before we got it.
        let rows = turns::Entity::find()
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.eq(&owner.runner))
            .filter(turns::Column::Fence.eq(owner.fence))
            .all(&self.read)
            .await?;
        Ok(Some(AbandonedTurns {
            turns: rows.into_iter().map(OpenTurn::from).collect(),
            _claim: claim,
        }))
    }

    /// The turn as one that can go on, where it is.
    pub async fn paused(&self, turn: &TurnId) -> Result<Option<PausedTurn>> {
        let calls = self.calls_of(turn).await?;
        if !calls.iter().any(CallRecord::is_paused) {
            return Ok(None);
        }
        let found = turns::Entity::find_by_id(&turn.0)
            .filter(turns::Column::Outcome.is_null())
            .one(&self.read)
            .await?;
        let Some(row) = found else { return Ok(None) };
        let chat = chats::Entity::find_by_id(&row.chat_id)
            .one(&self.read)
            .await?;
        let Some(chat) = chat.filter(|chat| chat.deleted_at.is_none()) else {
            return Ok(None);
        };
        let usage = Usage::from(&row);
        Ok(Some(PausedTurn {
            id: turn.clone(),
            chat_id: ChatId(row.chat_id),
            user: UserId(chat.user_id),
            model: row.model_id.map(ModelId),
            tools: row
                .tool_ids
                .as_deref()
                .map(serde_json::from_str)
                .transpose()?,
            door: enum_column::read(&row.door)?,
            usage,
        }))
    }

    /// From now on this process runs the turn. False: another one was faster, or it has ended, or
    /// its process has a lease.
    pub async fn adopt(&self, turn: &OpenTurn) -> Result<bool> {
        let transaction = self.begin().await?;
        let own = self.runner.owner(&transaction).await?;
        let former = &turn.owner;
        if former.fence > 0 && lease::is_held_locked(&transaction, former).await? {
            return Ok(false);
        }
        let adopted = turns::Entity::update_many()
            .col_expr(turns::Column::Runner, Expr::value(own.runner))
            .col_expr(turns::Column::Fence, Expr::value(own.fence))
            .filter(turns::Column::Id.eq(&turn.id.0))
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.eq(&former.runner))
            .filter(turns::Column::Fence.eq(former.fence))
            .exec(&transaction)
            .await?;
        transaction.commit().await.map_err(uncommitted)?;
        Ok(adopted.rows_affected == 1)
    }

    /// Keeps what a turn of this process took so far, in case another one goes on with it.
    pub async fn keep_usage(&self, turn: &TurnId, usage: &Usage) -> Result<()> {
        let counts = [
            (turns::Column::InputTokens, usage.input_tokens),
            (turns::Column::OutputTokens, usage.output_tokens),
            (turns::Column::CacheReadTokens, usage.cache_read_tokens),
            (turns::Column::CacheWriteTokens, usage.cache_write_tokens),
        ];
        let mut kept = turns::Entity::update_many()
            .filter(turns::Column::Id.eq(&turn.0))
            .filter(turns::Column::Outcome.is_null())
            .filter(turns::Column::Runner.eq(self.runner_name()));
        if let Some(lease) = self.runner.lease() {
            let fence = lease.fence().ok_or(Error::LeaseLost)?;
            kept = kept.filter(turns::Column::Fence.eq(fence));
        }
        for (column, count) in counts {
            kept = kept.col_expr(column, Expr::value(to_column(count)));
        }
        kept.exec(&self.write).await?;
        Ok(())
    }

    /// All calls of a turn, in the order they were requested.
    pub async fn calls_of(&self, turn: &TurnId) -> Result<Vec<CallRecord>> {
        self.calls_within(std::slice::from_ref(turn)).await
    }

    /// The open items of a turn: unfinished messages with their last checkpoint, and calls without
    /// a result.
    pub async fn open_items(&self, turn: &TurnId) -> Result<(Vec<MessageRecord>, Vec<CallRecord>)> {
        let open = messages::Entity::find()
            .filter(messages::Column::TurnId.eq(&turn.0))
            .filter(messages::Column::Open.eq(true))
            .all(&self.read)
            .await?;
        let mut calls = self.calls_of(turn).await?;
        calls.retain(|call| call.status.is_open());
        Ok((open.into_iter().map(message).collect::<Result<_>>()?, calls))
    }
}

impl From<turns::Model> for OpenTurn {
    fn from(row: turns::Model) -> Self {
        Self {
            owner: owner(&row),
            id: TurnId(row.id),
            chat_id: ChatId(row.chat_id),
        }
    }
}

pub(crate) fn owner(row: &turns::Model) -> TurnOwner {
    TurnOwner {
        runner: row.runner.clone(),
        fence: row.fence,
    }
}
