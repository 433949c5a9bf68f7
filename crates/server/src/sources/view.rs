//! How servers look to somebody.

use std::sync::Arc;

use tenon_domain::{
    McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig, SourceId, SourceState,
    UserId,
};
use tenon_sources::Cause;
use tenon_sources::mcp::{Startup, Status, public_part};
use tenon_sources::variables::Gap;
use tenon_store::StoredSource;

use super::edit::{Refusal, looks_after};
use super::entry::Entry;
use super::instance::Instance;
use super::plan::is_forbidden;
use super::secrets::secret_name;
use super::time::millis;
use super::{Inner, Seen, Sources, Told, mask, openapi};
use crate::api::wire::{
    AdviceView, CauseView, DocumentView, LogLine, LoginState, ServerAbout, SourceDetail,
    SourceLimits, SourceNews, SourceOrigin, SourceReach, StartupView,
};
use crate::auth::CurrentUser;

impl Sources {
    /// All that somebody has tools from, by name.
    pub fn list(&self, user: &CurrentUser) -> Vec<SourceDetail> {
        let seen = self.0.seen();
        let visible = seen.entries.values();
        let visible = visible.filter(|entry| entry.is_seen_by(&user.id));
        let mut details: Vec<_> = visible.map(|entry| detail(&seen, user, entry)).collect();
        details.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        details
    }

    pub fn show(&self, user: &CurrentUser, id: &SourceId) -> Result<SourceDetail, Refusal> {
        let entry = self.visible(user, id)?;
        Ok(detail(&self.0.seen(), user, &entry))
    }

    /// A server as it is written down, whether it has been seen to or not.
    pub(super) fn show_row(&self, user: &CurrentUser, row: &StoredSource) -> SourceDetail {
        let entry = Entry::of_row(row, &self.0.vault);
        detail(&self.0.seen(), user, &entry)
    }

    /// What a server wrote and what was noticed about it.
    pub fn logs(&self, user: &CurrentUser, id: &SourceId) -> Result<Vec<LogLine>, Refusal> {
        let entry = self.visible(user, id)?;
        let seen = self.0.seen();
        let Some(instance) = seen.of(id, &user.id) else {
            return Ok(Vec::new());
        };
        if !may_read(&seen, user, &entry) {
            return Err(super::edit::forbidden(
                "This server is everybody's: only an admin may read what it writes.",
            ));
        }
        let lines = instance.server.logs().lines().into_iter();
        let lines = lines.map(|line| LogLine {
            at: millis(line.at),
            ours: line.ours,
            text: line.text,
        });
        Ok(lines.collect())
    }

    /// How everything is that somebody sees, for a page that missed too much.
    pub fn all_news(&self, user: &CurrentUser) -> Vec<SourceNews> {
        let seen = self.0.seen();
        let visible = seen.entries.values();
        let visible = visible.filter(|entry| entry.is_seen_by(&user.id));
        let news = visible.map(|entry| news(&self.0, &seen, entry, &user.id));
        news.map(|news| heard(&seen, user, news)).collect()
    }

    /// What somebody's page hears of it. None: it is not for them.
    pub fn heard(&self, user: &CurrentUser, told: Told) -> Option<SourceNews> {
        let is_for_them = told.to.as_ref().is_none_or(|to| *to == user.id);
        is_for_them.then(|| heard(&self.0.seen(), user, told.news))
    }
}

/// A state as everybody may see it: without what the server wrote.
pub(super) fn in_public(state: SourceState) -> SourceState {
    let cut = |why: String| public_part(&why).to_owned();
    match state {
        SourceState::Degraded { why } => SourceState::Degraded { why: cut(why) },
        SourceState::Failed { why } => SourceState::Failed { why: cut(why) },
        state @ (SourceState::Starting
        | SourceState::Ready
        | SourceState::Sleeping
        | SourceState::Off
        | SourceState::Offline) => state,
    }
}

/// Whether they may read what it writes. What everybody's writes may hold what is
/// not for everybody.
fn may_read(seen: &Seen, user: &CurrentUser, entry: &Entry) -> bool {
    let instance = seen.of(&entry.id, &user.id);
    let is_theirs = |instance: Arc<Instance>| instance.wanted.user.as_ref() == Some(&user.id);
    instance.is_some_and(is_theirs) || looks_after(user, entry)
}

fn heard(seen: &Seen, user: &CurrentUser, news: SourceNews) -> SourceNews {
    let entry = seen.entries.get(&news.source_id);
    match entry.is_some_and(|entry| may_read(seen, user, entry)) {
        true => news,
        false => SourceNews {
            state: in_public(news.state),
            startup: news.startup.map(without_line),
            ..news
        },
    }
}

/// Tells those who look on which entries came, went or are other ones. What
/// servers themselves say, they are listened to for.
pub(super) fn tell_changes(inner: &Arc<Inner>, before: &Seen, after: &Seen) {
    for (id, old) in &before.entries {
        if !after.entries.contains_key(id) {
            inner.news.gone(old.owner.clone(), id.clone());
        }
    }
    for (id, entry) in &after.entries {
        let is_same = before.entries.get(id) == Some(entry);
        for user in after.facts.people.keys() {
            let changed = !is_same || is_there(before, id, user) != is_there(after, id, user);
            if changed && entry.is_seen_by(user) {
                let news = news(inner, after, entry, user);
                inner.news.tell(Some(user.clone()), news);
            }
        }
    }
}

fn is_there(seen: &Seen, id: &SourceId, user: &UserId) -> bool {
    seen.of(id, user).is_some()
}

fn news(inner: &Inner, seen: &Seen, entry: &Entry, user: &UserId) -> SourceNews {
    let status = status(seen, entry, user);
    SourceNews {
        source_id: entry.id.clone(),
        gone: false,
        state: status.state,
        startup: status.startup.map(shown_startup),
        tools: status.tools,
        revision: inner.news.next_revision(),
    }
}

fn detail(seen: &Seen, user: &CurrentUser, entry: &Entry) -> SourceDetail {
    let looks_after = looks_after(user, entry);
    let is_added = entry.origin == SourceOrigin::Added;
    let mut status = status(seen, entry, &user.id);
    let mut startup = status.startup.take().map(shown_startup);
    let may_read = may_read(seen, user, entry);
    if !may_read {
        status.state = in_public(status.state);
        startup = startup.map(without_line);
        for problem in &mut status.problems {
            *problem = public_part(problem).to_owned();
        }
    }
    let cause = status.cause.take().filter(|_| may_read);
    let cause = cause.and_then(|cause| shown_cause(cause, &status.state));
    let reach = entry.config.as_ref().ok();
    let unset = seen.facts.unset(entry, &user.id);
    SourceDetail {
        id: entry.id.clone(),
        kind: entry.kind,
        name: entry.name.clone(),
        title: entry.title.clone(),
        origin: entry.origin.clone(),
        mine: entry.owner.is_some(),
        editable: looks_after && is_added,
        enabled: entry.enabled,
        login: login(seen, entry, &user.id, &status),
        state: status.state,
        tools: status.tools,
        stale: status.stale,
        problems: entry.notes.iter().cloned().chain(status.problems).collect(),
        reach: reach.filter(|_| looks_after && is_added).map(shown),
        server: status.about.map(|about| ServerAbout {
            name: about.name,
            version: about.version,
            protocol: about.protocol,
        }),
        missing: seen.facts.missing(entry, &user.id),
        unset: unset.iter().map(secret_name).collect(),
        restarts: status.restarts,
        pid: status.pid.filter(|_| looks_after),
        startup,
        cause,
        document: document(seen, entry, &user.id),
    }
}

/// What its program wrote about why it is not up.
fn shown_cause(cause: Cause, state: &SourceState) -> Option<CauseView> {
    let (SourceState::Failed { why } | SourceState::Degraded { why }) = state else {
        return None;
    };
    let advice = cause.advice.map(|advice| AdviceView {
        code: advice.code().to_owned(),
        params: advice
            .params()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        message: advice.to_string(),
    });
    let why = public_part(why);
    let said = advice.as_ref().map_or("", |advice| advice.message.as_str());
    Some(CauseView {
        how: why.strip_suffix(said).unwrap_or(why).trim_end().to_owned(),
        lines: cause.lines,
        advice,
    })
}

pub(super) fn shown_startup(startup: Startup) -> StartupView {
    StartupView {
        since: millis(startup.since),
        step: startup.step,
        line: startup.line,
    }
}

fn without_line(startup: StartupView) -> StartupView {
    StartupView {
        line: None,
        ..startup
    }
}

fn document(seen: &Seen, entry: &Entry, user: &UserId) -> Option<DocumentView> {
    let instance = seen.of(&entry.id, user)?;
    let status = instance.server.openapi()?.status();
    let about = status.about.unwrap_or_default();
    Some(DocumentView {
        skipped: about.skipped.iter().cloned().map(Into::into).collect(),
        schemes: about.schemes.iter().cloned().map(Into::into).collect(),
        servers: about.servers.clone(),
        read_at: status.read_at.map(millis),
        change: status.change.map(|change| change.as_ref().clone().into()),
    })
}

/// How a server is for somebody, whether it runs for them or not.
fn status(seen: &Seen, entry: &Entry, user: &UserId) -> Status {
    let failed = |why: String| SourceState::Failed { why };
    if let Some(instance) = seen.of(&entry.id, user) {
        let mut status = instance.status();
        // A shell has not tried to start it, and a call would not wake it.
        if status.state == SourceState::Sleeping
            && let Some(gap @ Gap::Missing(_)) = seen.facts.gap(entry, user)
        {
            status.state = failed(gap.to_string());
        }
        return status;
    }
    let missing = seen.facts.missing(entry, user);
    let state = match &entry.config {
        _ if !entry.enabled => SourceState::Off,
        Err(why) => failed(why.clone()),
        Ok(_) if is_forbidden(entry, &seen.facts) => {
            failed("It is a program on this machine, and only an admin may run one.".into())
        }
        Ok(_) if !missing.is_empty() => failed(format!(
            "Set {} of your own first: {}.",
            match missing.len() {
                1 => "a secret",
                _ => "these secrets",
            },
            missing.join(", ")
        )),
        Ok(_) if entry.wants_login && !seen.facts.is_logged_in(entry, user) => {
            failed("Log in there first.".into())
        }
        Ok(_) => SourceState::Starting,
    };
    Status {
        state,
        tools: 0,
        revision: 0,
        stale: false,
        problems: Vec::new(),
        about: None,
        restarts: 0,
        pid: None,
        startup: None,
        cause: None,
        asks_login: None,
    }
}

fn login(seen: &Seen, entry: &Entry, user: &UserId, status: &Status) -> Option<LoginState> {
    let is_in = seen.facts.is_logged_in(entry, user) && status.asks_login.is_none();
    entry.wants_login.then_some(match is_in {
        true => LoginState::Connected,
        false => LoginState::Needed,
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
        OpenapiOrigin::Given { .. } => None,
    };
    SourceReach::Openapi {
        url,
        base_url: config.base_url.as_deref().map(mask::mask_url),
        headers: mask::hide(&config.headers),
        credentials: openapi::kinds(&config.credentials),
        limits: SourceLimits {
            timeout_ms: config.timeout_ms,
            tool_timeouts_ms: config.tool_timeouts_ms.clone(),
            sleep_after_ms: None,
            start_timeout_ms: None,
        },
    }
}

fn shown_mcp(config: &McpConfig) -> SourceReach {
    let limits = SourceLimits {
        timeout_ms: config.timeout_ms,
        tool_timeouts_ms: config.tool_timeouts_ms.clone(),
        sleep_after_ms: config.sleep_after_ms,
        start_timeout_ms: config.start_timeout_ms,
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
            env: mask::hide(env),
            cwd: cwd.clone(),
            limits,
        },
        McpTransport::Http { url, headers } => SourceReach::Http {
            url: mask::mask_url(url),
            headers: mask::hide(headers),
            client_id: config.client.as_ref().map(|client| client.id.clone()),
            limits,
        },
        McpTransport::Sse { url, headers } => SourceReach::Sse {
            url: mask::mask_url(url),
            headers: mask::hide(headers),
            client_id: config.client.as_ref().map(|client| client.id.clone()),
            limits,
        },
    }
}
