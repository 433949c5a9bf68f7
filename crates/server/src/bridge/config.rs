//! The configuration of mcpo: `mcpServers` as JSON, with its own additions.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use tenon_domain::{McpConfig, McpTransport};

use super::header_forwarding::HeaderForwarding;
use super::oauth::BridgeOAuthConfig;

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub struct BridgeServerConfig {
    /// The first part of its paths.
    pub name: String,
    pub config: McpConfig,
    /// Tools that are not offered, by name.
    pub disabled_tools: HashSet<String>,
    pub forwarding: HeaderForwarding,
    /// Somebody logs in there.
    pub oauth: Option<BridgeOAuthConfig>,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeConfigError {
    #[error("it is not JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    #[error("there are no servers in it; write them below `mcpServers`")]
    NoServers,
    #[error("the server `{server}` cannot be read: {cause}")]
    Entry {
        server: String,
        cause: serde_json::Error,
    },
    #[error("the server `{0}` needs `command`, or `url`")]
    NoCommandOrUrl(String),
    #[error(
        "the server `{server}` has the type `{kind}`, which is none of stdio, sse and streamable-http"
    )]
    UnknownType { server: String, kind: String },
    #[error("the server name `{0}` cannot be part of a path; leave out slashes")]
    Name(String),
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeServerType {
    Stdio,
    Sse,
    StreamableHttp,
}

impl BridgeServerType {
    /// By any of mcpo's spellings.
    pub fn parse(kind: &str) -> Option<Self> {
        match kind {
            "stdio" => Some(Self::Stdio),
            "sse" => Some(Self::Sse),
            "streamable-http" | "streamable_http" | "streamablehttp" | "http" => {
                Some(Self::StreamableHttp)
            }
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct ConfigFile {
    #[serde(rename = "mcpServers", default)]
    servers: Map<String, Value>,
}

/// Unknown keys are ignored, as in mcpo.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BridgeServerEntry {
    r#type: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    cwd: Option<String>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    #[serde(rename = "disabledTools")]
    disabled_tools: Option<HashSet<String>>,
    #[serde(rename = "disabled_tools")]
    disabled_tools_alias: Option<HashSet<String>>,
    client_header_forwarding: Option<HeaderForwarding>,
    /// Of ours: how long a call may take without a sign of life.
    #[serde(rename = "timeoutMs")]
    timeout_ms: Option<u64>,
    oauth: Option<BridgeOAuthConfig>,
}

/// All servers of a text, in their order. Programs get `env` under what they are given themselves.
pub fn read(
    text: &str,
    env: &BTreeMap<String, String>,
) -> Result<Vec<BridgeServerConfig>, BridgeConfigError> {
    let file: ConfigFile = serde_json::from_str(text)?;
    if file.servers.is_empty() {
        return Err(BridgeConfigError::NoServers);
    }
    let servers = file.servers.into_iter();
    let servers = servers.map(|(name, entry)| {
        let entry = serde_json::from_value(entry).map_err(|cause| BridgeConfigError::Entry {
            server: name.clone(),
            cause,
        })?;
        server(name, entry, env)
    });
    servers.collect()
}

/// A server by the words of a command line: a program, or an address.
pub fn single(
    kind: BridgeServerType,
    words: Vec<String>,
    env: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
) -> Result<BridgeServerConfig, BridgeConfigError> {
    let mut words = words.into_iter();
    let first = words.next();
    let mut entry = BridgeServerEntry::default();
    match kind {
        BridgeServerType::Stdio => {
            entry.command = first;
            entry.args = Some(words.collect());
            entry.env = Some(env);
        }
        BridgeServerType::Sse | BridgeServerType::StreamableHttp => {
            entry.url = first;
            entry.headers = Some(headers);
        }
    }
    server(SINGLE_SERVER.to_owned(), entry, &BTreeMap::new())
}

/// The name of a server that has no configuration, and so no path of its own.
pub(super) const SINGLE_SERVER: &str = "tools";

fn server(
    name: String,
    entry: BridgeServerEntry,
    env: &BTreeMap<String, String>,
) -> Result<BridgeServerConfig, BridgeConfigError> {
    if name.is_empty() || name.contains('/') {
        return Err(BridgeConfigError::Name(name));
    }
    let kind = match &entry.r#type {
        None => None,
        Some(kind) => match BridgeServerType::parse(kind) {
            Some(kind) => Some(kind),
            None => {
                let (server, kind) = (name, kind.clone());
                return Err(BridgeConfigError::UnknownType { server, kind });
            }
        },
    };
    let headers = entry.headers.unwrap_or_default();
    let transport = match (kind, entry.command, entry.url) {
        (None | Some(BridgeServerType::Stdio), Some(command), _) => {
            let mut all = env.clone();
            all.extend(entry.env.unwrap_or_default());
            McpTransport::Stdio {
                command,
                args: entry.args.unwrap_or_default(),
                env: all,
                cwd: entry.cwd,
            }
        }
        (Some(BridgeServerType::Sse), _, Some(url)) => McpTransport::Sse { url, headers },
        // Without a type mcpo means SSE; this finds out which of the two it is.
        (None | Some(BridgeServerType::StreamableHttp), _, Some(url)) => {
            McpTransport::Http { url, headers }
        }
        _ => return Err(BridgeConfigError::NoCommandOrUrl(name)),
    };
    Ok(BridgeServerConfig {
        name,
        config: McpConfig {
            transport,
            timeout_ms: entry.timeout_ms,
            tool_timeouts_ms: BTreeMap::new(),
            sleep_after_ms: None,
            start_timeout_ms: None,
            exclusive: false,
            client: None,
        },
        disabled_tools: entry
            .disabled_tools
            .or(entry.disabled_tools_alias)
            .unwrap_or_default(),
        forwarding: entry.client_header_forwarding.unwrap_or_default(),
        oauth: entry.oauth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_mcpo_is_read() {
        let text = r#"{ "mcpServers": {
            "time": { "command": "mcp-server-time", "args": ["--local-timezone=UTC"], "env": { "TZ": "UTC" }, "cwd": "/tmp", "unknown": 1 },
            "remote": { "type": "streamable_http", "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer x" } },
            "old": { "type": "sse", "url": "http://127.0.0.1:1/sse", "disabled_tools": ["danger"] },
            "older": { "url": "http://127.0.0.1:1/sse", "disabledTools": ["danger"],
                "oauth": { "server_url": "http://127.0.0.1:1", "storage_type": "memory", "client_metadata": {} } }
        } }"#;
        let shared =
            BTreeMap::from([("TZ", "CET"), ("A", "b")].map(|(k, v)| (k.to_owned(), v.to_owned())));
        let servers = read(text, &shared).unwrap();
        let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["time", "remote", "old", "older"]);
        let McpTransport::Stdio { env, cwd, .. } = &servers[0].config.transport else {
            panic!("{servers:?}");
        };
        assert_eq!((env["TZ"].as_str(), env["A"].as_str()), ("UTC", "b"));
        assert_eq!(cwd.as_deref(), Some("/tmp"));
        assert!(
            matches!(&servers[1].config.transport, McpTransport::Http { headers, .. } if headers.len() == 1)
        );
        assert!(matches!(
            &servers[2].config.transport,
            McpTransport::Sse { .. }
        ));
        assert!(servers[2].disabled_tools.contains("danger"));
        assert!(servers[3].disabled_tools.contains("danger"));
        let logs_in = servers.iter().map(|server| server.oauth.is_some());
        assert!(logs_in.eq([false, false, false, true]));
    }

    #[test]
    fn what_is_wrong_is_said_of_the_server() {
        let check = |entry: &str, expected: &str| {
            let text = format!(r#"{{ "mcpServers": {{ "x": {entry} }} }}"#);
            let error = read(&text, &BTreeMap::new()).unwrap_err().to_string();
            assert_eq!(error, expected);
        };
        check("{}", "the server `x` needs `command`, or `url`");
        check(
            r#"{ "type": "sse" }"#,
            "the server `x` needs `command`, or `url`",
        );
        check(
            r#"{ "type": "carrier", "url": "x" }"#,
            "the server `x` has the type `carrier`, which is none of stdio, sse and streamable-http",
        );
        check(
            r#"{ "url": "a", "oauth": { "storage_type": "cloud" } }"#,
            "the server `x` cannot be read: unknown variant `cloud`, expected `file` or `memory`",
        );
        check(
            r#"{ "command": "a", "disabledTools": "b" }"#,
            "the server `x` cannot be read: invalid type: string \"b\", expected a sequence",
        );
        let none = read(r#"{ "mcpServers": {} }"#, &BTreeMap::new());
        assert!(matches!(none, Err(BridgeConfigError::NoServers)));
    }
}
