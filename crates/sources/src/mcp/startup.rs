//! How far a start is, reported while it is under way.

use std::convert::Infallible;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tenon_domain::{McpConfig, McpTransport, text};

use super::shared::McpShared;
use crate::supervisor::{Startup, StartupStep};

/// How often the last line of a program is read.
const REPORT_INTERVAL: Duration = Duration::from_secs(2);

/// An installer that has everything already has started the server within this.
const INSTALLED_WITHIN: Duration = Duration::from_secs(5);

/// What of a line is shown beside a server.
const MAX_LINE_CHARS: usize = 200;

/// It waits for a start slot.
pub(super) fn queued(server: &McpShared) {
    server.core.status.startup(Startup {
        since: SystemTime::now(),
        step: StartupStep::Queued,
        line: None,
    });
}

/// Reports how far it is, until this is dropped.
pub(super) async fn report(server: &McpShared) -> Infallible {
    let installs = is_installer(&server.settings.config);
    let since = SystemTime::now();
    loop {
        let is_long = since.elapsed().unwrap_or_default() >= INSTALLED_WITHIN;
        let line = server.core.logs.last_line();
        server.core.status.startup(Startup {
            since,
            step: if installs && is_long {
                StartupStep::Installing
            } else {
                StartupStep::Starting
            },
            line: line.map(|line| text::line(&line, MAX_LINE_CHARS)),
        });
        tokio::time::sleep(REPORT_INTERVAL).await;
    }
}

/// Whether its command fetches what it runs. It may be started by a shell, or be one word of several.
fn is_installer(config: &McpConfig) -> bool {
    const INSTALLERS: &[&str] = &[
        "bunx", "dlx", "dnx", "docker", "npx", "pipx", "pnpx", "podman", "uv", "uvx",
    ];
    let McpTransport::Stdio { command, args, .. } = &config.transport else {
        return false;
    };
    let words = std::iter::once(command).chain(args.iter().take(2));
    let mut words = words.flat_map(|word| word.split_whitespace().take(2));
    words.any(|word| {
        let name = Path::new(word).file_stem().and_then(|name| name.to_str());
        name.is_some_and(|name| INSTALLERS.contains(&name))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn programs_that_fetch_what_they_run_are_known() {
        let check = |command: &str, args: &[&str], expected: bool| {
            let config = McpConfig {
                transport: McpTransport::Stdio {
                    command: command.into(),
                    args: args.iter().map(ToString::to_string).collect(),
                    env: BTreeMap::new(),
                    cwd: None,
                },
                timeout_ms: None,
                tool_timeouts_ms: BTreeMap::new(),
                sleep_after_ms: None,
                start_timeout_ms: None,
                exclusive: false,
                client: None,
            };
            assert_eq!(is_installer(&config), expected, "{command} {args:?}");
        };
        check("npx", &["-y", "a-server"], true);
        check("/usr/local/bin/uvx", &["a-server"], true);
        check("npx.cmd", &[], true);
        check("pnpm", &["dlx", "a-server"], true);
        check("cmd", &["/c", "npx -y a-server"], true);
        check("docker", &["run", "-i", "image"], true);
        check("node", &["server.js"], false);
        check("python3", &["-m", "a_server"], false);
    }
}
