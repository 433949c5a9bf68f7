//! Validation of the configuration of an MCP server. An error says what would be right.

mod trust;

use std::collections::BTreeMap;

use tenon_domain::{ErrorDetail, McpClient, McpConfig, McpTransport, McpTransportKind};
use tenon_sources::import::{
    MAX_NAME_BYTES, MAX_TIMEOUT_MS, MIN_TIMEOUT_MS, command_words, is_clean, is_unprintable,
};
use tenon_sources::mcp::check_header;
use url::Url;

use super::client::{self, ClientChange};
use super::error::{SourceError, in_field};
use super::input_error::SourceInputError;
use crate::sources::requests::AddSource;

pub(super) use trust::{allowed, keeps_shared_secrets};

/// How the address of an MCP server looks.
const EXAMPLE: &str = "https://example.com/mcp";

const MAX_TITLE_CHARS: usize = 200;
const MAX_URL_BYTES: usize = 2_048;
/// Of a command, an argument, a folder, a value.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Of all of it together.
const MAX_CONFIG_BYTES: usize = 128 * 1024;
/// Arguments, variables, headers.
const MAX_ITEMS: usize = 200;
/// Tools with a time of their own.
const MAX_TIMEOUTS: usize = 1_000;

/// How long a server may be idle before it sleeps.
const MIN_SLEEP_MS: u64 = 1_000;
const MAX_SLEEP_MS: u64 = 7 * 24 * 60 * 60 * 1_000;

/// How somebody wants a server to be reached: everything that can be said, before
/// it is known to make sense.
#[derive(Default)]
pub(super) struct McpDraft {
    pub(super) transport: Option<String>,
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<String>,
    pub(super) url: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) timeout_ms: Option<u64>,
    pub(super) tool_timeouts_ms: BTreeMap<String, u64>,
    pub(super) sleep_after_ms: Option<u64>,
    pub(super) start_timeout_ms: Option<u64>,
    pub(super) exclusive: bool,
    pub(super) client: Option<McpClient>,
}

pub(super) fn name(name: &str) -> Result<&str, SourceError> {
    if is_clean(name) {
        Ok(name)
    } else {
        Err(SourceInputError::Name {
            max: MAX_NAME_BYTES,
        }
        .into())
    }
}

/// The title, or the name where there is none.
pub(super) fn title(title: Option<&str>, name: &str) -> Result<String, SourceError> {
    let title = title.map(str::trim).filter(|title| !title.is_empty());
    let title = title.unwrap_or(name);
    if title.chars().count() <= MAX_TITLE_CHARS && !title.contains(is_unprintable) {
        Ok(title.to_owned())
    } else {
        Err(SourceInputError::Title {
            max: MAX_TITLE_CHARS,
        }
        .into())
    }
}

impl McpDraft {
    pub(super) fn of(new: AddSource) -> Result<Self, SourceError> {
        for_openapi(&new.document, &new.base_url, &new.credentials)?;
        let client = ClientChange {
            id: Some(new.client_id),
            secret: Some(new.client_secret),
            moves: false,
        };
        let (command, args) = words(new.command, new.args.unwrap_or_default())?;
        Ok(Self {
            transport: new.transport,
            command,
            args,
            env: new.env.unwrap_or_default(),
            cwd: new.cwd,
            url: new.url,
            headers: new.headers.unwrap_or_default(),
            timeout_ms: new.timeout_ms,
            tool_timeouts_ms: new.tool_timeouts_ms.unwrap_or_default(),
            sleep_after_ms: new.sleep_after_ms,
            start_timeout_ms: new.start_timeout_ms,
            exclusive: new.exclusive.unwrap_or_default(),
            client: client.of(None)?,
        })
    }

    /// The configuration it means.
    pub(super) fn config(self) -> Result<McpConfig, SourceError> {
        let kind = self.transport_kind()?;
        self.check_limits()?;
        self.client.as_ref().map(client::check).transpose()?;
        let config = McpConfig {
            timeout_ms: self.timeout_ms,
            tool_timeouts_ms: self.tool_timeouts_ms.clone(),
            sleep_after_ms: self.sleep_after_ms,
            start_timeout_ms: self.start_timeout_ms,
            exclusive: self.exclusive,
            client: self.client.clone(),
            transport: match kind {
                McpTransportKind::Stdio => self.program()?,
                McpTransportKind::Http => {
                    let (url, headers) = self.remote()?;
                    McpTransport::Http { url, headers }
                }
                McpTransportKind::Sse => {
                    let (url, headers) = self.remote()?;
                    McpTransport::Sse { url, headers }
                }
            },
        };
        size(&config)?;
        Ok(config)
    }

    fn transport_kind(&self) -> Result<McpTransportKind, SourceError> {
        let kind = match (self.transport.as_deref(), &self.command, &self.url) {
            (Some("stdio"), ..) => McpTransportKind::Stdio,
            (Some("http"), ..) => McpTransportKind::Http,
            (Some("sse"), ..) => McpTransportKind::Sse,
            (Some(_), ..) => {
                return Err(SourceInputError::Transport.into());
            }
            (None, Some(_), None) => McpTransportKind::Stdio,
            (None, None, Some(_)) => McpTransportKind::Http,
            (None, Some(_), Some(_)) => {
                return Err(SourceInputError::CommandOrUrl.into());
            }
            (None, None, None) => {
                return Err(SourceInputError::NeitherCommandNorUrl.into());
            }
        };
        let is_remote = kind != McpTransportKind::Stdio;
        let strange = if is_remote {
            [
                ("command", self.command.is_some()),
                ("args", !self.args.is_empty()),
                ("env", !self.env.is_empty()),
                ("cwd", self.cwd.is_some()),
            ]
            .to_vec()
        } else {
            [
                ("url", self.url.is_some()),
                ("headers", !self.headers.is_empty()),
                ("clientId", self.client.is_some()),
            ]
            .to_vec()
        };
        match strange.iter().find(|(_, is_given)| *is_given) {
            None => Ok(kind),
            Some((name, _)) => {
                let field = (*name).into();
                let error = if is_remote {
                    SourceInputError::ForProgram { field }
                } else {
                    SourceInputError::ForAddress { field }
                };
                Err(in_field(name, error))
            }
        }
    }

    fn check_limits(&self) -> Result<(), SourceError> {
        times(self.timeout_ms, &self.tool_timeouts_ms)?;
        time(self.start_timeout_ms.as_ref(), "startTimeoutMs")?;
        match self.sleep_after_ms {
            Some(idle) if !(MIN_SLEEP_MS..=MAX_SLEEP_MS).contains(&idle) => {
                Err(SourceInputError::SleepTime {
                    min: MIN_SLEEP_MS,
                    max: MAX_SLEEP_MS,
                }
                .into())
            }
            _ => Ok(()),
        }
    }

    fn program(self) -> Result<McpTransport, SourceError> {
        let command = self.command.as_deref().map(str::trim).unwrap_or_default();
        if command.is_empty() {
            return Err(SourceInputError::NoCommand.into());
        }
        // Programs take several lines as an argument; nothing takes NUL.
        let fits = |text: &String| text.len() <= MAX_TEXT_BYTES && !text.contains('\0');
        let is_line = |text: &str| text.len() <= MAX_TEXT_BYTES && !has_control(text);
        let fields = [
            ("command", is_line(command)),
            ("args", self.args.iter().all(fits)),
            ("env", self.env.values().all(fits)),
            ("cwd", self.cwd.as_deref().is_none_or(is_line)),
        ];
        if let Some((field, _)) = fields.iter().find(|(_, fits)| !fits) {
            let error = SourceInputError::Text {
                field: (*field).into(),
            };
            return Err(in_field(field, error));
        }
        let is_name = |name: &String| {
            let is_short = (1..=256).contains(&name.len());
            is_short && !name.contains('=') && !has_control(name)
        };
        if !self.env.keys().all(is_name) {
            return Err(SourceInputError::VariableName.into());
        }
        for (field, count) in [("args", self.args.len()), ("env", self.env.len())] {
            if count > MAX_ITEMS {
                return Err(too_many(field));
            }
        }
        Ok(McpTransport::Stdio {
            command: command.to_owned(),
            args: self.args,
            env: self.env,
            cwd: self.cwd.filter(|cwd| !cwd.is_empty()),
        })
    }

    fn remote(self) -> Result<(String, BTreeMap<String, String>), SourceError> {
        let url = url("url", self.url.as_deref().unwrap_or_default(), EXAMPLE)?;
        headers(&self.headers, |name, value| Ok(check_header(name, value)?))?;
        Ok((url, self.headers))
    }
}

/// A command that is a whole line, taken apart where its arguments stand nowhere else.
fn words(
    command: Option<String>,
    args: Vec<String>,
) -> Result<(Option<String>, Vec<String>), SourceError> {
    let line = command.as_deref().filter(|_| args.is_empty());
    let Some(words) = line.and_then(command_words) else {
        return Ok((command, args));
    };
    let mut words = words
        .map_err(|error| SourceInputError::CommandQuotes {
            why: ErrorDetail::from(error).into(),
        })?
        .into_iter();
    Ok((words.next(), words.collect()))
}

/// How long calls may take.
pub(super) fn times(limit: Option<u64>, tools: &BTreeMap<String, u64>) -> Result<(), SourceError> {
    time(limit.as_ref(), "timeoutMs")?;
    time(tools.values(), "toolTimeoutsMs")?;
    let odd = |name: &String| name.is_empty() || name.len() > 300 || has_control(name);
    if tools.len() > MAX_TIMEOUTS || tools.keys().any(odd) {
        Err(SourceInputError::ToolTimes.into())
    } else {
        Ok(())
    }
}

fn time<'a>(limits: impl IntoIterator<Item = &'a u64>, field: &str) -> Result<(), SourceError> {
    let is_time = |limit: &u64| (MIN_TIMEOUT_MS..=MAX_TIMEOUT_MS).contains(limit);
    if limits.into_iter().all(is_time) {
        Ok(())
    } else {
        let error = SourceInputError::Time {
            field: field.into(),
            min: MIN_TIMEOUT_MS,
            max: MAX_TIMEOUT_MS,
        };
        Err(in_field(field, error))
    }
}

/// `sendable` says whether one can be sent to such a server.
pub(super) fn headers(
    headers: &BTreeMap<String, String>,
    sendable: fn(&str, &str) -> Result<(), ErrorDetail>,
) -> Result<(), SourceError> {
    if headers.len() > MAX_ITEMS {
        return Err(too_many("headers"));
    }
    for (name, value) in headers {
        sendable(name, value).map_err(|error| SourceError::Invalid(error.in_field("headers")))?;
        if value.len() > MAX_TEXT_BYTES {
            let name = name.into();
            return Err(SourceInputError::HeaderTooLong { name }.into());
        }
    }
    Ok(())
}

/// What only an OpenAPI server has.
pub(super) fn for_openapi<A, B, C>(
    document: &Option<A>,
    base_url: &Option<B>,
    credentials: &Option<C>,
) -> Result<(), SourceError> {
    let fields = [
        ("document", document.is_some()),
        ("baseUrl", base_url.is_some()),
        ("credentials", credentials.is_some()),
    ];
    match fields.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((name, _)) => {
            let field = (*name).into();
            Err(in_field(name, SourceInputError::ForOpenapi { field }))
        }
    }
}

/// `field` is one that only an MCP server has, where one is said.
pub(super) fn for_mcp(field: Option<&str>) -> Result<(), SourceError> {
    match field {
        None => Ok(()),
        Some(name) => {
            let field = name.into();
            Err(in_field(name, SourceInputError::ForMcp { field }))
        }
    }
}

pub(super) fn size(config: &impl serde::Serialize) -> Result<(), SourceError> {
    let length = serde_json::to_string(config).map_or(usize::MAX, |text| text.len());
    if length <= MAX_CONFIG_BYTES {
        Ok(())
    } else {
        Err(SourceInputError::TooLong.into())
    }
}

/// Whether it is an address, of which there is an example for those who wrote another thing.
pub(super) fn url(field: &str, url: &str, example: &'static str) -> Result<String, SourceError> {
    let url = url.trim();
    let refused = || {
        let error = SourceInputError::Url {
            field: field.into(),
            example,
        };
        in_field(field, error)
    };
    // Some parsers read `\` as `/`, and drop invisible characters.
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || c == '\\';
    if url.is_empty() || url.len() > MAX_URL_BYTES || url.contains(is_odd) {
        return Err(refused());
    }
    // Placeholders stand in for values that are filled in later.
    let parsed = Url::parse(&without_variables(url)).map_err(|_| refused())?;
    let is_web = matches!(parsed.scheme(), "http" | "https");
    if is_web && parsed.has_host() {
        Ok(url.to_owned())
    } else {
        Err(refused())
    }
}

fn without_variables(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, variable)) = rest.split_once("${") {
        plain.push_str(before);
        plain.push('1');
        rest = variable.split_once('}').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

fn too_many(field: &str) -> SourceError {
    let error = SourceInputError::TooManyItems {
        field: field.into(),
        max: MAX_ITEMS,
    };
    in_field(field, error)
}

fn has_control(text: &str) -> bool {
    text.contains(char::is_control)
}

#[cfg(test)]
mod tests;
