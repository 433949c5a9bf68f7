//! Questions about a configuration, whatever kind of server it is for.

use tenon_domain::{
    McpConfig, McpTransport, OpenapiOrigin, SourceConfig, SourceCredential, SourceKind,
};
use tenon_sources::CallTimeouts;

/// Whether it is a program on this machine.
pub(super) fn is_program(config: &SourceConfig) -> bool {
    match config {
        SourceConfig::Mcp(config) => matches!(config.transport, McpTransport::Stdio { .. }),
        SourceConfig::Openapi(_) => false,
    }
}

/// Where people log in, if they do.
pub(super) fn login_address(config: &SourceConfig) -> Option<&str> {
    match config {
        SourceConfig::Mcp(config) => address(config),
        SourceConfig::Openapi(_) => None,
    }
}

pub(super) fn address(config: &McpConfig) -> Option<&str> {
    match &config.transport {
        McpTransport::Stdio { .. } => None,
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => Some(url),
    }
}

/// Whether its last list is kept. Tools of an OpenAPI server are made of its documents,
/// which are.
pub(super) fn remembers_tools(config: &SourceConfig) -> bool {
    match config {
        SourceConfig::Mcp(_) => true,
        SourceConfig::Openapi(_) => false,
    }
}

/// Everywhere it leads by its own words.
pub(super) fn addresses(config: &SourceConfig) -> Vec<&str> {
    match config {
        SourceConfig::Mcp(config) => address(config).into_iter().collect(),
        SourceConfig::Openapi(config) => {
            let document = match &config.origin {
                OpenapiOrigin::Url { url } => Some(url),
                OpenapiOrigin::Uploaded { .. } => None,
            };
            let tokens = config
                .credentials
                .values()
                .filter_map(SourceCredential::token_url);
            let all = document.into_iter().chain(&config.base_url).chain(tokens);
            all.map(String::as_str).collect()
        }
    }
}

/// How long calls may take, where that is said.
pub(super) fn timeouts(config: &SourceConfig) -> CallTimeouts {
    let (by_tool, all) = match config {
        SourceConfig::Mcp(config) => (&config.tool_timeouts_ms, config.timeout_ms),
        SourceConfig::Openapi(config) => (&config.tool_timeouts_ms, config.timeout_ms),
    };
    CallTimeouts::from_millis(all, by_tool)
}

/// The same server, with the time limits of another configuration.
pub(super) fn with_limits_of(config: &SourceConfig, other: &SourceConfig) -> SourceConfig {
    let mut config = config.clone();
    match (&mut config, other) {
        (SourceConfig::Mcp(config), SourceConfig::Mcp(other)) => {
            config.timeout_ms = other.timeout_ms;
            config.tool_timeouts_ms.clone_from(&other.tool_timeouts_ms);
        }
        (SourceConfig::Openapi(config), SourceConfig::Openapi(other)) => {
            config.timeout_ms = other.timeout_ms;
            config.tool_timeouts_ms.clone_from(&other.tool_timeouts_ms);
        }
        (SourceConfig::Mcp(_), _) | (SourceConfig::Openapi(_), _) => {}
    }
    config
}

/// Whether it is the same program, address or document, with other settings.
pub(super) fn is_same(old: &SourceConfig, new: &SourceConfig) -> bool {
    use McpTransport::{Http, Sse, Stdio};
    let (old, new) = match (old, new) {
        (SourceConfig::Mcp(old), SourceConfig::Mcp(new)) => (&old.transport, &new.transport),
        (SourceConfig::Openapi(old), SourceConfig::Openapi(new)) => {
            return old.origin == new.origin;
        }
        (SourceConfig::Mcp(_), _) | (SourceConfig::Openapi(_), _) => return false,
    };
    match (old, new) {
        (
            Stdio { command, args, .. },
            Stdio {
                command: new_command,
                args: new_args,
                ..
            },
        ) => (command, args) == (new_command, new_args),
        (Http { url, .. } | Sse { url, .. }, Http { url: new, .. } | Sse { url: new, .. }) => {
            url == new
        }
        (Stdio { .. }, _) | (_, Stdio { .. }) => false,
    }
}

/// Whether what a server asked for before, it would ask for again.
pub(super) fn has_same_endpoint(old: &SourceConfig, new: &SourceConfig) -> bool {
    match (old, new) {
        (SourceConfig::Mcp(old), SourceConfig::Mcp(new)) => old.transport == new.transport,
        (SourceConfig::Openapi(_), SourceConfig::Openapi(_)) => true,
        (SourceConfig::Mcp(_), _) | (SourceConfig::Openapi(_), _) => false,
    }
}

/// As a row keeps it, beside its kind.
pub(super) fn write(config: &SourceConfig) -> serde_json::Result<String> {
    match config {
        SourceConfig::Mcp(config) => serde_json::to_string(config),
        SourceConfig::Openapi(config) => serde_json::to_string(config),
    }
}

/// None: it was written by another version of Tenon.
pub(super) fn read(kind: SourceKind, text: &str) -> Option<SourceConfig> {
    match kind {
        SourceKind::Mcp => Some(SourceConfig::Mcp(serde_json::from_str(text).ok()?)),
        SourceKind::Openapi => Some(SourceConfig::Openapi(serde_json::from_str(text).ok()?)),
        SourceKind::Builtin | SourceKind::Skill | SourceKind::Browser => None,
    }
}
