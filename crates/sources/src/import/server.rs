//! Parses one server in the format of some product.
//!
//! Understood fields are taken out of the map; the rest is reported as not imported.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tenon_domain::{McpClient, McpConfig, McpTransport, McpTransportKind, SourceConfig};
use url::Url;

use super::ServerDraft;
use super::entry_fields::EntryFields;
use super::error::ServerEntryError;
use super::note::ImportNote;
use super::shell_line::{UnclosedQuote, split};
use super::vscode_input::VscodeInput;
use crate::mcp::check_header;
use tenon_domain::text::line;

/// No call takes longer, whatever a file says.
pub const MAX_TIMEOUT_MS: u64 = 60 * 60 * 1000;

/// A shorter timeout would fail every call, so it is treated as a mistake.
pub const MIN_TIMEOUT_MS: u64 = 100;

/// Fields that mean nothing here, and need no note.
const IGNORED: [&str; 6] = [
    "description",
    "cache_tools_list",
    "gallery",
    "version",
    "$schema",
    "source",
];

pub(super) fn read(body: &Value, inputs: &[VscodeInput]) -> ServerDraft {
    let Value::Object(map) = body else {
        return ServerDraft::refused(ServerEntryError::NotAServer);
    };
    let mut fields = EntryFields::new(flat(map), inputs);
    let name = fields.text(&["name", "title"]).unwrap_or_default();
    let enabled = !fields.flag("disabled").unwrap_or(false)
        && fields.flag("enabled").unwrap_or(true)
        && fields.flag("isActive").unwrap_or(true);
    let config = config(&mut fields);
    let mut unread: Vec<String> = fields.unread();
    unread.retain(|key| !IGNORED.contains(&key.as_str()));
    let mut notes = fields.notes;
    if config.is_ok() && !unread.is_empty() {
        let unread: Vec<String> = unread.iter().map(|key| format!("`{key}`")).collect();
        let unread = line(&unread.join(", "), 300);
        let fields = unread.into();
        notes.push(ImportNote::NotTakenOver { fields }.into());
    }
    ServerDraft {
        name,
        title: None,
        config: config.map(SourceConfig::Mcp),
        document: None,
        enabled,
        notes,
    }
}

/// Toolathlon keeps how a server is reached in `params`, apart from the rest.
fn flat(map: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = map.clone();
    if let Some(Value::Object(params)) = map.get("params") {
        flat.remove("params");
        for (key, value) in params {
            let key = match key.as_str() {
                "timeout" => "timeout_seconds",
                other => other,
            };
            flat.insert(key.to_owned(), value.clone());
        }
    }
    flat
}

fn config(fields: &mut EntryFields<'_>) -> Result<McpConfig, ServerEntryError> {
    let transport = transport(fields)?;
    Ok(McpConfig {
        transport,
        timeout_ms: timeout(fields),
        tool_timeouts_ms: BTreeMap::new(),
        sleep_after_ms: None,
        start_timeout_ms: start_timeout(fields),
        exclusive: fields.flag("exclusive").unwrap_or_default(),
        client: client(fields)?,
    })
}

/// The OAuth client of Tenon at the server: Claude Code's `oauth`, Cursor's `auth`.
fn client(fields: &mut EntryFields<'_>) -> Result<Option<McpClient>, ServerEntryError> {
    let mut known = fields.inner(&["oauth", "auth"]);
    let id = known.text(&["clientId", "client_id", "CLIENT_ID"])?;
    let secret = known.text(&["clientSecret", "client_secret", "CLIENT_SECRET"])?;
    Ok(id.map(|id| McpClient { id, secret }))
}

fn transport(fields: &mut EntryFields<'_>) -> Result<McpTransport, ServerEntryError> {
    let transport = fields.text(&["type", "transport", "transportType"])?;
    let kind = transport.as_deref().map(kind).transpose()?;
    let command = fields.words("command")?;
    let url = fields.text(&["url", "serverUrl", "httpUrl"])?;
    match (kind, command.is_empty(), url) {
        (Some(McpTransportKind::Stdio) | None, false, url) => {
            if url.is_some() {
                fields.note(ImportNote::CommandAndUrl);
            }
            program(command, fields)
        }
        (Some(McpTransportKind::Stdio), true, _) => Err(ServerEntryError::NoCommand),
        (None, true, None) => Err(ServerEntryError::NoCommandOrUrl),
        (Some(_), _, None) => Err(ServerEntryError::NoUrl),
        (kind, _, Some(url)) => {
            let url = address(&url)?;
            let headers = fields.map(&["headers", "requestHeaders"])?;
            for (name, value) in &headers {
                check_header(name, value).map_err(|error| ServerEntryError::Other(error.into()))?;
            }
            Ok(match kind {
                Some(McpTransportKind::Sse) => McpTransport::Sse { url, headers },
                _ => McpTransport::Http { url, headers },
            })
        }
    }
}

fn kind(transport: &str) -> Result<McpTransportKind, ServerEntryError> {
    let plain: String = transport
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    match plain.to_ascii_lowercase().as_str() {
        "stdio" | "local" => Ok(McpTransportKind::Stdio),
        "sse" => Ok(McpTransportKind::Sse),
        "http" | "streamablehttp" | "httpstream" | "remote" => Ok(McpTransportKind::Http),
        _ => Err(ServerEntryError::UnknownTransport {
            transport: line(transport, 40).into(),
        }),
    }
}

fn program(
    mut command: Vec<String>,
    fields: &mut EntryFields<'_>,
) -> Result<McpTransport, ServerEntryError> {
    if let [line] = command.as_slice()
        && let Some(words) = command_words(line)
    {
        command = words?;
        fields.note(ImportNote::CommandLine);
    }
    command.extend(fields.line("args")?);
    if cfg!(unix) && unwrap(&mut command) {
        fields.note(ImportNote::WindowsWrapper);
    }
    let mut words = command.into_iter();
    let command = words.next().unwrap_or_default();
    if command.trim().is_empty() {
        return Err(ServerEntryError::EmptyCommand);
    }
    let env = fields.map(&["env", "environment"])?;
    if let Some(name) = env
        .keys()
        .find(|name| name.is_empty() || name.contains('='))
    {
        return Err(ServerEntryError::VariableName { name: name.into() });
    }
    Ok(McpTransport::Stdio {
        command,
        args: words.collect(),
        env,
        cwd: fields.text(&["cwd", "workingDirectory"])?,
    })
}

/// The words of a command that is a whole line: "npx -y package", but not
/// "/Applications/My App/server".
pub fn command_words(command: &str) -> Option<Result<Vec<String>, ServerEntryError>> {
    is_line(command).then(|| {
        split(command).map_err(|UnclosedQuote| ServerEntryError::UnclosedQuote {
            field: "command".into(),
        })
    })
}

fn is_line(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    let Some(second) = words.next() else {
        return false;
    };
    // A Windows path: here a backslash is not an escape character.
    if first.contains('\\') {
        return false;
    }
    // The spaces of a path are its own, unless a quote says so or something follows
    // that the rest of a path does not begin with.
    let is_path = first.contains('/') && !first.starts_with(['"', '\'']);
    !is_path || second.starts_with(['-', '/', '.', '@', '"', '\'', '$'])
}

/// Unwraps `cmd /c npx.cmd …` to `npx …`, since there is no `cmd` here.
fn unwrap(command: &mut Vec<String>) -> bool {
    let is = |word: Option<&String>, texts: &[&str]| {
        word.is_some_and(|word| texts.iter().any(|text| word.eq_ignore_ascii_case(text)))
    };
    let wrapped = is(command.first(), &["cmd", "cmd.exe"])
        && is(command.get(1), &["/c", "/k"])
        && command.len() > 2;
    if wrapped {
        command.drain(..2);
    }
    let Some(program) = command
        .first_mut()
        .filter(|word| !word.contains(['/', '\\']))
    else {
        return wrapped;
    };
    let plain = [".cmd", ".exe", ".bat"].iter().find_map(|ending| {
        let at = program.len().checked_sub(ending.len())?;
        let (name, end) = program.split_at_checked(at)?;
        (end.eq_ignore_ascii_case(ending) && !name.is_empty()).then(|| name.to_owned())
    });
    match plain {
        Some(plain) => {
            *program = plain;
            true
        }
        None => wrapped,
    }
}

pub(super) fn address(url: &str) -> Result<String, ServerEntryError> {
    let url = url.trim();
    if url.contains("${") {
        return Ok(url.to_owned());
    }
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {
            Ok(url.to_owned())
        }
        _ => Err(ServerEntryError::InvalidUrl),
    }
}

/// Guesses the unit: some products use seconds, some milliseconds, and nobody configures a thousand
/// seconds.
fn timeout(fields: &mut EntryFields<'_>) -> Option<u64> {
    let plain = fields.number(
        &["timeout", "timeoutMs", "timeout_ms"],
        |key, number| match key == "timeout" && number < 1000.0 {
            true => number * 1000.0,
            false => number,
        },
    );
    let seconds = [
        "client_session_timeout_seconds",
        "timeout_seconds",
        "timeoutSeconds",
    ];
    let seconds = fields.number(&seconds, |_, number| number * 1000.0);
    time(fields, seconds.or(plain)?, ImportNote::Timeout)
}

/// How long it may take to come up. Codex has such a field; ours is `startTimeoutMs`.
fn start_timeout(fields: &mut EntryFields<'_>) -> Option<u64> {
    let seconds = fields.number(&["startup_timeout_sec"], |_, number| number * 1000.0);
    let plain = fields.number(
        &["startTimeoutMs", "start_timeout_ms", "startup_timeout_ms"],
        |_, number| number,
    );
    time(fields, seconds.or(plain)?, ImportNote::StartTimeout)
}

/// Parses a time; an invalid one adds the note `otherwise`.
fn time(fields: &mut EntryFields<'_>, wanted: f64, otherwise: ImportNote) -> Option<u64> {
    if wanted.is_nan() || wanted < MIN_TIMEOUT_MS as f64 {
        fields.note(otherwise);
        return None;
    }
    // As large as it gets, it is cut.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cut and at least 100"
    )]
    let wanted = wanted.min(MAX_TIMEOUT_MS as f64) as u64;
    Some(wanted)
}
