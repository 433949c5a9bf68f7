//! Sources as one person may see them.

use std::sync::Arc;

use tenon_domain::{
    CodedError, ErrorDetail, McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig,
    SourceId, SourceState, UserId,
};
use tenon_sources::variables::SubstitutionError;
use tenon_sources::{Cause, ServerStatus, SupervisedServer, how_it_ended};
use tenon_store::StoredSource;

use super::entry::SourceEntry;
use super::error::SourceError;
use super::input_error::{SourceDenied, SourceFault};
use super::instance::Instance;
use super::plan::is_forbidden;
use super::rights::may_edit;
use super::secrets::secret_name;
use super::time::millis;
use super::trust::Trust;
use super::{Inner, Sources, SourcesSnapshot, mask, openapi};
use crate::auth::CurrentUser;
use crate::sources::document_view::DocumentView;
use crate::sources::read_model::{
    LogLine, LoginState, ServerAbout, SourceDetail, SourceLimits, SourceOrigin, SourceReach,
    SourceUpdate,
};
use crate::sources::status_view::{CauseView, StartupView, public_state};

impl Sources {
    /// All that somebody has tools from, by name.
    pub fn list(&self, user: &CurrentUser) -> Vec<SourceDetail> {
        let snapshot = self.0.snapshot();
        let visible = snapshot.entries.values();
        let visible = visible.filter(|entry| entry.is_seen_by(&user.id));
        let mut details: Vec<_> = visible
            .map(|entry| detail(&snapshot, user, entry))
            .collect();
        details.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        details
    }

    pub fn show(&self, user: &CurrentUser, id: &SourceId) -> Result<SourceDetail, SourceError> {
        let entry = self.visible(user, id)?;
        Ok(detail(&self.0.snapshot(), user, &entry))
    }

    /// A server as it is written down, whether it has been snapshot to or not.
    pub(super) fn show_row(&self, user: &CurrentUser, row: &StoredSource) -> SourceDetail {
        let entry = SourceEntry::of_row(row, &self.0.vault);
        detail(&self.0.snapshot(), user, &entry)
    }

    /// What a server wrote and what was noticed about it.
    pub async fn logs(
        &self,
        user: &CurrentUser,
        id: &SourceId,
    ) -> Result<Vec<LogLine>, SourceError> {
        let entry = self.visible(user, id)?;
        let snapshot = self.0.snapshot();
        let Some(instance) = snapshot.of(id, &user.id) else {
            return Ok(Vec::new());
        };
        if !may_read(&snapshot, user, &entry) {
            return Err(SourceDenied::ReadLog.into());
        }
        let lines = instance.server.log_lines().await.into_iter();
        let lines = lines.map(|line| LogLine {
            at: millis(line.at),
            ours: line.ours,
            text: line.text,
        });
        Ok(lines.collect())
    }

    /// An update as somebody may see it who sees the source.
    pub(crate) fn redacted_update(&self, user: &CurrentUser, update: SourceUpdate) -> SourceUpdate {
        redacted(&self.0.snapshot(), user, update)
    }
}

/// Whether the user may read the log. A shared server's log may contain other users' data.
fn may_read(snapshot: &SourcesSnapshot, user: &CurrentUser, entry: &SourceEntry) -> bool {
    let instance = snapshot.of(&entry.id, &user.id);
    let is_theirs = |instance: Arc<Instance>| instance.wanted.user.as_ref() == Some(&user.id);
    instance.is_some_and(is_theirs) || may_edit(user, entry)
}

fn redacted(snapshot: &SourcesSnapshot, user: &CurrentUser, update: SourceUpdate) -> SourceUpdate {
    let entry = snapshot.entries.get(&update.source_id);
    if entry.is_some_and(|entry| may_read(snapshot, user, entry)) {
        update
    } else {
        SourceUpdate {
            state: public_state(update.state),
            startup: update.startup.map(StartupView::without_line),
            ..update
        }
    }
}

/// Publishes which entries were added, removed or changed. Changes of the servers themselves are
/// published by their watchers.
pub(super) fn publish_changes(
    inner: &Arc<Inner>,
    before: &SourcesSnapshot,
    after: &SourcesSnapshot,
) {
    for (id, old) in &before.entries {
        if !after.entries.contains_key(id) {
            inner.updates.publish_removed(old.owner.clone(), id.clone());
        }
    }
    for (id, entry) in &after.entries {
        let is_same = before.entries.get(id) == Some(entry);
        for user in after.facts.people.keys() {
            let changed = !is_same || is_there(before, id, user) != is_there(after, id, user);
            if changed && entry.is_seen_by(user) {
                let update = update_of(inner, after, entry, user);
                inner.updates.publish(Some(user.clone()), update);
            }
        }
    }
}

fn is_there(snapshot: &SourcesSnapshot, id: &SourceId, user: &UserId) -> bool {
    snapshot.of(id, user).is_some()
}

fn update_of(
    inner: &Inner,
    snapshot: &SourcesSnapshot,
    entry: &SourceEntry,
    user: &UserId,
) -> SourceUpdate {
    let status = status(snapshot, entry, user);
    SourceUpdate {
        source_id: entry.id.clone(),
        gone: false,
        state: status.state,
        startup: status.startup.map(StartupView::from),
        tools: status.tools,
        revision: inner.updates.next_revision(),
    }
}

fn detail(snapshot: &SourcesSnapshot, user: &CurrentUser, entry: &SourceEntry) -> SourceDetail {
    let may_edit = may_edit(user, entry);
    let is_added = entry.origin == SourceOrigin::Added;
    let mut status = status(snapshot, entry, &user.id);
    let mut startup = status.startup.take().map(StartupView::from);
    let may_read = may_read(snapshot, user, entry);
    if !may_read {
        status.state = public_state(status.state);
        startup = startup.map(StartupView::without_line);
    }
    let cause = status.cause.take().filter(|_| may_read);
    let cause = cause.and_then(|cause| shown_cause(cause, &status.state));
    let reach = entry.config.as_ref().ok();
    let unset = snapshot.facts.unset(entry, &user.id);
    SourceDetail {
        id: entry.id.clone(),
        kind: entry.kind,
        name: entry.name.clone(),
        title: entry.title.clone(),
        origin: entry.origin.clone(),
        mine: entry.owner.is_some(),
        editable: may_edit && is_added,
        enabled: entry.enabled,
        trust_hints: entry.trust_hints && snapshot.facts.trust(entry) == Trust::Full,
        login: login(snapshot, entry, &user.id, &status),
        state: status.state,
        tools: status.tools,
        stale: status.stale,
        problems: entry.notes.iter().cloned().chain(status.problems).collect(),
        reach: reach.filter(|_| may_edit && is_added).map(shown),
        server: status.about.map(|about| ServerAbout {
            name: about.name,
            version: about.version,
            protocol: about.protocol,
        }),
        missing: snapshot.facts.missing(entry, &user.id),
        unset: unset.iter().map(secret_name).collect(),
        restarts: status.restarts,
        pid: status.pid.filter(|_| may_edit),
        startup,
        cause,
        document: document(snapshot, entry, &user.id),
    }
}

/// What its program wrote about why it is not up.
fn shown_cause(cause: Cause, state: &SourceState) -> Option<CauseView> {
    let (SourceState::Failed { why } | SourceState::Degraded { why }) = state else {
        return None;
    };
    Some(CauseView {
        how: how_it_ended(why),
        lines: cause.lines,
        advice: cause.advice.map(Into::into),
    })
}

fn document(
    snapshot: &SourcesSnapshot,
    entry: &SourceEntry,
    user: &UserId,
) -> Option<DocumentView> {
    let instance = snapshot.of(&entry.id, user)?;
    let status = instance.openapi.as_ref()?.status();
    let about = status.document.unwrap_or_default();
    Some(DocumentView {
        skipped: about.skipped.iter().cloned().map(Into::into).collect(),
        schemes: about.schemes.iter().cloned().map(Into::into).collect(),
        servers: about.servers.clone(),
        read_at: status.read_at.map(millis),
        change: status.change.map(|change| change.as_ref().clone().into()),
    })
}

/// How a server is for somebody, whether it runs for them or not.
fn status(snapshot: &SourcesSnapshot, entry: &SourceEntry, user: &UserId) -> ServerStatus {
    let failed = |why: ErrorDetail| SourceState::Failed { why };
    if let Some(instance) = snapshot.of(&entry.id, user) {
        let mut status = instance.status();
        // A shell has not tried to start it, and a call would not wake it.
        if status.state == SourceState::Sleeping
            && let Some(missing @ SubstitutionError::Missing(_)) =
                snapshot.facts.missing_variables(entry, user)
        {
            status.state = failed(missing.detail());
        }
        return status;
    }
    let missing = snapshot.facts.missing(entry, user);
    let state = match &entry.config {
        _ if !entry.enabled => SourceState::Off,
        Err(why) => failed(why.clone()),
        Ok(_) if is_forbidden(entry, &snapshot.facts) => failed(SourceFault::ProgramDenied.into()),
        Ok(_) if !missing.is_empty() => {
            let names = missing.join(", ").into();
            failed(SourceFault::SecretsMissing { names }.into())
        }
        Ok(_) if entry.wants_login && !snapshot.facts.is_logged_in(entry, user) => {
            failed(SourceFault::LogInFirst.into())
        }
        Ok(_) => SourceState::Starting,
    };
    ServerStatus::new(state)
}

fn login(
    snapshot: &SourcesSnapshot,
    entry: &SourceEntry,
    user: &UserId,
    status: &ServerStatus,
) -> Option<LoginState> {
    let is_in = snapshot.facts.is_logged_in(entry, user) && status.asks_login.is_none();
    entry.wants_login.then_some(if is_in {
        LoginState::Connected
    } else {
        LoginState::Needed
    })
}

/// How it is reached, without its secrets.
fn shown(config: &SourceConfig) -> SourceReach {
    match config {
        SourceConfig::Mcp(config) => shown_mcp(config),
        SourceConfig::Openapi(config) => shown_openapi(config),
    }
}

fn shown_openapi(config: &OpenapiConfig) -> SourceReach {
    let url = match &config.origin {
        OpenapiOrigin::Url { url } => Some(mask::mask_url(url)),
        OpenapiOrigin::Uploaded { .. } => None,
    };
    SourceReach::Openapi {
        url,
        base_url: config.base_url.as_deref().map(mask::mask_url),
        headers: mask::mask(&config.headers),
        credentials: openapi::kinds(&config.credentials),
        limits: SourceLimits {
            timeout_ms: config.timeout_ms,
            tool_timeouts_ms: config.tool_timeouts_ms.clone(),
            sleep_after_ms: None,
            start_timeout_ms: None,
            exclusive: false,
        },
    }
}

fn shown_mcp(config: &McpConfig) -> SourceReach {
    let limits = SourceLimits {
        timeout_ms: config.timeout_ms,
        tool_timeouts_ms: config.tool_timeouts_ms.clone(),
        sleep_after_ms: config.sleep_after_ms,
        start_timeout_ms: config.start_timeout_ms,
        exclusive: config.exclusive,
    };
    match &config.transport {
        McpTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => SourceReach::Stdio {
            command: command.clone(),
            args: args.clone(),
            env: mask::mask(env),
            cwd: cwd.clone(),
            limits,
        },
        McpTransport::Http { url, headers } => SourceReach::Http {
            url: mask::mask_url(url),
            headers: mask::mask(headers),
            client_id: config.client.as_ref().map(|client| client.id.clone()),
            limits,
        },
        McpTransport::Sse { url, headers } => SourceReach::Sse {
            url: mask::mask_url(url),
            headers: mask::mask(headers),
            client_id: config.client.as_ref().map(|client| client.id.clone()),
            limits,
        },
    }
}
