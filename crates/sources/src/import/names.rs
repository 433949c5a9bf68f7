//! Names that can be part of a tool's id.

use std::collections::HashSet;

use super::note::ImportNote;
use tenon_domain::{
    ErrorDetail, McpConfig, McpTransport, OpenapiConfig, OpenapiOrigin, SourceConfig,
};
use url::Url;

use tenon_domain::text::line;

/// Leaves room for a tool's name in an id of 64 characters.
pub const MAX_NAME_BYTES: usize = 40;

/// Whether a server can be called this.
pub fn is_clean(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(is_allowed)
}

/// The name with only what is allowed in it. Empty where nothing is.
pub fn clean(name: &str) -> String {
    let mut clean = String::new();
    for c in name.chars() {
        if is_allowed(c) {
            clean.push(c);
        } else if !clean.ends_with('-') {
            clean.push('-');
        }
        if clean.len() == MAX_NAME_BYTES {
            break;
        }
    }
    clean.trim_matches('-').to_owned()
}

/// A name for a server that has none.
pub(super) fn derive(config: &SourceConfig) -> String {
    match config {
        SourceConfig::Mcp(config) => of_mcp(config),
        SourceConfig::Openapi(OpenapiConfig {
            origin: OpenapiOrigin::Url { url },
            ..
        }) => host(url),
        SourceConfig::Openapi(config) => config.base_url.as_deref().map(host).unwrap_or_default(),
    }
}

/// The host of an address. Empty where there is none yet.
pub(super) fn host(address: &str) -> String {
    let url = Url::parse(address).ok();
    let host = url.and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_default()
}

/// The same with the port, where one is said: many servers may be on one machine.
pub(super) fn site(address: &str) -> String {
    let port = Url::parse(address).ok().and_then(|url| url.port());
    match port {
        Some(port) => format!("{}:{port}", host(address)),
        None => host(address),
    }
}

fn of_mcp(config: &McpConfig) -> String {
    match &config.transport {
        McpTransport::Stdio { command, args, .. } => {
            let runner = [
                "npx", "bunx", "uvx", "pnpm", "uv", "node", "python", "python3", "docker",
            ];
            let words = |arg: &&String| !arg.starts_with('-') && !arg.contains("${");
            let word = match runner.contains(&last_part(command)) {
                // "docker run -i image" is named by its last word, "npx -y package folder" by its first.
                true if last_part(command) == "docker" => args.iter().rev().find(words),
                true => args
                    .iter()
                    .filter(words)
                    .find(|arg| *arg != "run" && *arg != "dlx"),
                false => None,
            };
            let name = last_part(word.unwrap_or(command));
            // Without a version: "server-memory@1.2".
            let name = name.split(['@', ':']).next().unwrap_or(name);
            let name = name.trim_start_matches("mcp-server-");
            name.trim_start_matches("server-").to_owned()
        }
        McpTransport::Http { url, .. } | McpTransport::Sse { url, .. } => host(url),
    }
}

/// The names of one text: no two are the same.
#[derive(Default)]
pub(super) struct UniqueNames(HashSet<String>);

impl UniqueNames {
    pub(super) fn assign(
        &mut self,
        written: &str,
        config: Option<&SourceConfig>,
        notes: &mut Vec<ErrorDetail>,
    ) -> String {
        let mut name = clean(written);
        if name.is_empty() {
            name = config
                .map(|config| clean(&derive(config)))
                .unwrap_or_default();
        }
        if name.is_empty() {
            name = "server".into();
        }
        if name != written && !written.is_empty() {
            let renamed = ImportNote::Renamed {
                written: line(written, 60).into(),
                name: (&name).into(),
                max: MAX_NAME_BYTES,
            };
            notes.push(renamed.into());
        }
        if self.0.insert(name.to_ascii_lowercase()) {
            return name;
        }
        let free = numbered(&name, |name| !self.0.contains(&name.to_ascii_lowercase()));
        let numbered = ImportNote::Numbered {
            name: name.into(),
            free: (&free).into(),
        };
        notes.push(numbered.into());
        self.0.insert(free.to_ascii_lowercase());
        free
    }
}

/// The first of `name-2`, `name-3`, … that is free.
pub fn numbered(name: &str, is_free: impl Fn(&str) -> bool) -> String {
    let mut number = 2_u64;
    loop {
        let suffix = format!("-{number}");
        let kept = name.len().min(MAX_NAME_BYTES - suffix.len());
        // Clean names are ASCII.
        let candidate = format!("{}{suffix}", &name[..kept]);
        if is_free(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
