//! One server as some product writes it down.
//!
//! What is understood is taken out of its map; what is left is not ours, and is named.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tenon_domain::{McpClient, McpConfig, McpTransport, SourceConfig};
use url::Url;

use super::Taken;
use super::fields::{Fields, unfinished};
use super::shape::Input;
use super::shell_line::{Unfinished, split};
use crate::mcp::check_header;
use crate::text::line;

/// No call takes longer, whatever a file says.
pub const MAX_TIMEOUT_MS: u64 = 60 * 60 * 1000;

/// What no call can keep is not meant.
pub const MIN_TIMEOUT_MS: u64 = 100;

/// What means nothing here and is missed by nobody.
const SILENT: [&str; 6] = [
    "description",
    "cache_tools_list",
    "gallery",
    "version",
    "$schema",
    "source",
];

pub(super) fn take(body: &Value, inputs: &[Input]) -> Taken {
    let Value::Object(map) = body else {
        return Taken::refused("It is not an object with a `command` or a `url`.");
    };
    let mut fields = Fields::new(flat(map), inputs);
    let name = fields.text(&["name", "title"]).unwrap_or_default();
    let enabled = !fields.flag("disabled").unwrap_or(false)
        && fields.flag("enabled").unwrap_or(true)
        && fields.flag("isActive").unwrap_or(true);
    let config = config(&mut fields);
    let mut left: Vec<String> = fields.left();
    left.retain(|key| !SILENT.contains(&key.as_str()));
    let mut notes = fields.notes;
    if config.is_ok() && !left.is_empty() {
        let left: Vec<String> = left.iter().map(|key| format!("`{key}`")).collect();
        let left = line(&left.join(", "), 300);
        notes.push(format!("Not taken over: {left}."));
    }
    Taken {
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

fn config(fields: &mut Fields<'_>) -> Result<McpConfig, String> {
    let transport = transport(fields)?;
    Ok(McpConfig {
        transport,
        timeout_ms: timeout(fields),
        tool_timeouts_ms: BTreeMap::new(),
        sleep_after_ms: None,
        start_timeout_ms: start_timeout(fields),
        client: client(fields)?,
    })
}

/// Who its users are introduced as where they log in: Claude Code's `oauth`, Cursor's `auth`.
fn client(fields: &mut Fields<'_>) -> Result<Option<McpClient>, String> {
    let mut known = fields.inner(&["oauth", "auth"]);
    let id = known.text(&["clientId", "client_id", "CLIENT_ID"])?;
    let secret = known.text(&["clientSecret", "client_secret", "CLIENT_SECRET"])?;
    Ok(id.map(|id| McpClient { id, secret }))
}

enum Kind {
    Stdio,
    Http,
    Sse,
}

fn transport(fields: &mut Fields<'_>) -> Result<McpTransport, String> {
    let said = fields.text(&["type", "transport", "transportType"])?;
    let kind = said.as_deref().map(kind).transpose()?;
    let command = fields.words("command")?;
    let url = fields.text(&["url", "serverUrl", "httpUrl"])?;
    match (kind, command.is_empty(), url) {
        (Some(Kind::Stdio) | None, false, url) => {
            if url.is_some() {
                fields.note("It has a command and a url; the command is taken.");
            }
            program(command, fields)
        }
        (Some(Kind::Stdio), true, _) => Err("It has no `command`.".into()),
        (None, true, None) => Err("It has neither a `command` nor a `url`.".into()),
        (Some(_), _, None) => Err("It has no `url`.".into()),
        (kind, _, Some(url)) => {
            let url = address(&url)?;
            let headers = fields.map(&["headers", "requestHeaders"])?;
            for (name, value) in &headers {
                check_header(name, value)?;
            }
            Ok(match kind {
                Some(Kind::Sse) => McpTransport::Sse { url, headers },
                _ => McpTransport::Http { url, headers },
            })
        }
    }
}

fn kind(said: &str) -> Result<Kind, String> {
    let plain: String = said.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_lowercase().as_str() {
        "stdio" | "local" => Ok(Kind::Stdio),
        "sse" => Ok(Kind::Sse),
        "http" | "streamablehttp" | "httpstream" | "remote" => Ok(Kind::Http),
        _ => Err(format!(
            "Its transport “{}” is not one of stdio, http and sse.",
            line(said, 40)
        )),
    }
}

fn program(mut command: Vec<String>, fields: &mut Fields<'_>) -> Result<McpTransport, String> {
    if let [line] = command.as_slice()
        && let Some(words) = command_words(line)
    {
        command = words?;
        fields.note("The command was a whole line; its words are the arguments now.");
    }
    command.extend(fields.line("args")?);
    if cfg!(unix) && unwrap(&mut command) {
        fields.note("What is only needed on Windows (`cmd /c`) was taken away.");
    }
    let mut words = command.into_iter();
    let command = words.next().unwrap_or_default();
    if command.trim().is_empty() {
        return Err("Its `command` is empty.".into());
    }
    let env = fields.map(&["env", "environment"])?;
    if let Some(name) = env
        .keys()
        .find(|name| name.is_empty() || name.contains('='))
    {
        return Err(format!(
            "`{name}` cannot be the name of an environment variable."
        ));
    }
    Ok(McpTransport::Stdio {
        command,
        args: words.collect(),
        env,
        cwd: fields.text(&["cwd", "workingDirectory"])?,
    })
}

/// The words of a command that is a whole line: "npx -y package", but not
/// "/Applications/My App/server". The error is a sentence.
pub fn command_words(command: &str) -> Option<Result<Vec<String>, String>> {
    is_line(command).then(|| split(command).map_err(|Unfinished| unfinished("command")))
}

fn is_line(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let first = words.next().unwrap_or_default();
    let Some(second) = words.next() else {
        return false;
    };
    // A path of Windows, in which a backslash is no sign for the shell.
    if first.contains('\\') {
        return false;
    }
    // The spaces of a path are its own, unless a quote says so or something follows
    // that the rest of a path does not begin with.
    let is_path = first.contains('/') && !first.starts_with(['"', '\'']);
    !is_path || second.starts_with(['-', '/', '.', '@', '"', '\'', '$'])
}

/// `cmd /c npx.cmd …` is `npx …` where there is no cmd.
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

pub(super) fn address(url: &str) -> Result<String, String> {
    let url = url.trim();
    if url.contains("${") {
        return Ok(url.to_owned());
    }
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {
            Ok(url.to_owned())
        }
        _ => Err("Its `url` is not an address that begins with http:// or https://.".into()),
    }
}

/// Some count in seconds, some in milliseconds; nobody waits a thousand seconds by habit.
fn timeout(fields: &mut Fields<'_>) -> Option<u64> {
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
    time(fields, seconds.or(plain)?, "timeout")
}

/// How long it may take to come up. Codex has such a field; ours is `startTimeoutMs`.
fn start_timeout(fields: &mut Fields<'_>) -> Option<u64> {
    let seconds = fields.number(&["startup_timeout_sec"], |_, number| number * 1000.0);
    let plain = fields.number(
        &["startTimeoutMs", "start_timeout_ms", "startup_timeout_ms"],
        |_, number| number,
    );
    time(fields, seconds.or(plain)?, "start timeout")
}

fn time(fields: &mut Fields<'_>, wanted: f64, name: &str) -> Option<u64> {
    if wanted.is_nan() || wanted < MIN_TIMEOUT_MS as f64 {
        fields.note(&format!("Its {name} is not a time and was left out."));
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
