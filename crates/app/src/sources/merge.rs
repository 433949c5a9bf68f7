//! Merging a change into the configuration of an MCP server.

use tenon_domain::{McpConfig, McpTransport};

use super::check::{self, McpDraft};
use super::client::ClientChange;
use super::error::{SourceError, in_field};
use super::input_error::SourceInputError;
use super::mask::{self, UnknownValue};
use crate::sources::read_model::MaskedValues;
use crate::sources::requests::SourceChange;

/// Whether a change touches how the server is reached or called, and not only its title, switch or
/// trust.
pub(super) fn changes_connection(change: &SourceChange) -> bool {
    let SourceChange {
        title: _,
        enabled: _,
        trust_hints: _,
        transport,
        command,
        args,
        env,
        cwd,
        url,
        headers,
        timeout_ms,
        tool_timeouts_ms,
        sleep_after_ms,
        start_timeout_ms,
        exclusive,
        client_id,
        client_secret,
        document,
        base_url,
        credentials,
    } = change;
    transport.is_some()
        || command.is_some()
        || args.is_some()
        || env.is_some()
        || cwd.is_some()
        || url.is_some()
        || headers.is_some()
        || timeout_ms.is_some()
        || tool_timeouts_ms.is_some()
        || sleep_after_ms.is_some()
        || start_timeout_ms.is_some()
        || exclusive.is_some()
        || client_id.is_some()
        || client_secret.is_some()
        || document.is_some()
        || base_url.is_some()
        || credentials.is_some()
}

/// How it is reached from now on. What is left out stays, unless a program becomes
/// an address or the other way round.
pub(super) fn merge(old: &McpConfig, change: SourceChange) -> Result<McpDraft, SourceError> {
    check::for_openapi(&change.document, &change.base_url, &change.credentials)?;
    let kept = to_draft(old);
    let is_program = kept.command.is_some();
    let becomes_program = match change.transport.as_deref() {
        Some(way) => way == "stdio",
        None => change.command.is_some() || (is_program && change.url.is_none()),
    };
    let kept = if becomes_program == is_program {
        kept
    } else {
        limits(old)
    };
    let url = match (change.url, &kept.url) {
        (None, url) => url.clone(),
        (Some(given), None) => Some(given),
        (Some(given), Some(old)) => Some(mask::unmask_url(&given, old).ok_or_else(elsewhere)?),
    };
    let moves = match (&url, &kept.url) {
        (Some(new), Some(old)) => !mask::same_origin(new, old),
        (_, None) | (None, _) => false,
    };
    // A secret that was given to one server is not sent to another.
    let given = change.headers.unwrap_or_else(|| mask::mask(&kept.headers));
    if moves && given.values().any(Option::is_none) {
        return Err(elsewhere());
    }
    let env = change.env.unwrap_or_else(|| mask::mask(&kept.env));
    let command = change.command.or_else(|| kept.command.clone());
    let args = change.args.unwrap_or_else(|| kept.args.clone());
    let is_other = kept.command.is_some() && (&command, &args) != (&kept.command, &kept.args);
    if is_other && env.values().any(Option::is_none) {
        return Err(SourceInputError::EnvElsewhere.into());
    }
    let client = ClientChange {
        id: change.client_id,
        secret: change.client_secret,
        moves,
    };
    Ok(McpDraft {
        client: client.of(kept.client)?,
        transport: change.transport.or(kept.transport),
        command,
        args,
        env: unmask("env", env, &kept.env)?,
        cwd: change.cwd.unwrap_or(kept.cwd),
        url,
        headers: unmask("headers", given, &kept.headers)?,
        timeout_ms: change.timeout_ms.unwrap_or(kept.timeout_ms),
        tool_timeouts_ms: change.tool_timeouts_ms.unwrap_or(kept.tool_timeouts_ms),
        sleep_after_ms: change.sleep_after_ms.unwrap_or(kept.sleep_after_ms),
        start_timeout_ms: change.start_timeout_ms.unwrap_or(kept.start_timeout_ms),
        exclusive: change.exclusive.unwrap_or(kept.exclusive),
    })
}

/// A stored configuration as the draft that would create it.
pub(super) fn to_draft(config: &McpConfig) -> McpDraft {
    let draft = McpDraft {
        client: config.client.clone(),
        ..limits(config)
    };
    match config.transport.clone() {
        McpTransport::Stdio {
            command,
            args,
            env,
            cwd,
        } => McpDraft {
            transport: Some("stdio".into()),
            command: Some(command),
            args,
            env,
            cwd,
            ..draft
        },
        McpTransport::Http { url, headers } => McpDraft {
            transport: Some("http".into()),
            url: Some(url),
            headers,
            ..draft
        },
        McpTransport::Sse { url, headers } => McpDraft {
            transport: Some("sse".into()),
            url: Some(url),
            headers,
            ..draft
        },
    }
}

/// The settings that do not depend on the transport.
fn limits(config: &McpConfig) -> McpDraft {
    McpDraft {
        timeout_ms: config.timeout_ms,
        tool_timeouts_ms: config.tool_timeouts_ms.clone(),
        sleep_after_ms: config.sleep_after_ms,
        start_timeout_ms: config.start_timeout_ms,
        exclusive: config.exclusive,
        ..McpDraft::default()
    }
}

pub(super) fn unmask(
    field: &str,
    given: MaskedValues,
    old: &std::collections::BTreeMap<String, String>,
) -> Result<std::collections::BTreeMap<String, String>, SourceError> {
    let unmasked = mask::unmask(given, old);
    unmasked.map_err(|UnknownValue { name }| {
        let name = name.into();
        in_field(field, SourceInputError::NotKept { name })
    })
}

fn elsewhere() -> SourceError {
    SourceInputError::Elsewhere.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(old: Value, change: Value, expected: Result<Value, &str>) {
        let config: McpConfig = serde_json::from_value(old).unwrap();
        let parsed: SourceChange = serde_json::from_value(change.clone()).unwrap();
        assert!(changes_connection(&parsed));
        let merged = merge(&config, parsed).and_then(McpDraft::config);
        match (merged, expected) {
            (Ok(merged), Ok(expected)) => {
                assert_eq!(serde_json::to_value(merged).unwrap(), expected, "{change}");
            }
            (Err(why), Err(expected)) => assert!(why.to_string().contains(expected), "{why}"),
            (merged, expected) => panic!("{change}: {merged:?}, not {expected:?}"),
        }
    }

    #[test]
    fn what_is_left_out_stays() {
        let old = || {
            json!({"transport": "stdio", "command": "run", "args": ["-v"],
                "env": {"KEY": "sk-1", "MODE": "a"}, "timeoutMs": 500})
        };
        let with = |set: &dyn Fn(&mut Value)| {
            let mut new = old();
            set(&mut new);
            Ok(new)
        };
        check(
            old(),
            json!({"timeoutMs": 700}),
            with(&|new| new["timeoutMs"] = json!(700)),
        );
        check(
            old(),
            json!({"timeoutMs": null, "sleepAfterMs": 5000}),
            with(&|new| {
                new.as_object_mut().unwrap().remove("timeoutMs");
                new["sleepAfterMs"] = json!(5000);
            }),
        );
        check(
            old(),
            json!({"env": {"KEY": null, "NEW": "1"}}),
            with(&|new| new["env"] = json!({"KEY": "sk-1", "NEW": "1"})),
        );
        check(old(), json!({"env": {"OTHER": null}}), Err("`OTHER`"));
        check(
            old(),
            json!({"cwd": "/tmp"}),
            with(&|new| new["cwd"] = json!("/tmp")),
        );
        // Nothing of a program is sent to an address.
        let url = "https://a.example/";
        check(
            old(),
            json!({"url": url}),
            Ok(json!({"transport": "http", "url": url, "headers": {}, "timeoutMs": 500})),
        );
        check(old(), json!({"transport": "http"}), Err("not the address"));
    }

    #[test]
    fn what_was_kept_for_one_program_is_not_given_to_another() {
        let old = || {
            json!({"transport": "stdio", "command": "run", "args": ["-v"],
                "env": {"KEY": "sk-1", "NAME": "${NAME}"}})
        };
        let with = |command: &str, args: Value, env: Value| {
            Ok(json!({"transport": "stdio", "command": command, "args": args, "env": env}))
        };
        let all = || json!({"KEY": "sk-1", "NAME": "${NAME}"});
        check(old(), json!({"command": "env"}), Err("`env`"));
        check(old(), json!({"args": []}), Err("`env`"));
        let kept = json!({"command": "env", "env": {"KEY": null}});
        check(old(), kept, Err("`env`"));
        // The same one, said again.
        check(
            old(),
            json!({"command": "run", "args": ["-v"], "env": {"KEY": null, "NAME": "${NAME}"}}),
            with("run", json!(["-v"]), all()),
        );
        check(
            old(),
            json!({"command": "env", "args": [], "env": {"NAME": "${NAME}"}}),
            with("env", json!([]), json!({"NAME": "${NAME}"})),
        );
        check(
            old(),
            json!({"args": [], "env": {"KEY": "sk-1", "NAME": "${NAME}"}}),
            with("run", json!([]), all()),
        );
        let open = json!({"transport": "stdio", "command": "run", "args": [],
            "env": {"NAME": "${NAME}"}});
        check(
            open,
            json!({"command": "walk"}),
            with("walk", json!([]), json!({"NAME": "${NAME}"})),
        );
    }

    #[test]
    fn what_was_kept_for_one_address_is_not_sent_to_another() {
        let old = || {
            json!({"transport": "http", "url": "https://a.example/mcp?k=1",
                "headers": {"X-Key": "sk-1", "X-Name": "${NAME}"}})
        };
        let headers = || json!({"X-Key": "sk-1", "X-Name": "${NAME}"});
        check(
            old(),
            json!({"url": "https://a.example/v2?k=***"}),
            Ok(
                json!({"transport": "http", "url": "https://a.example/v2?k=1", "headers": headers()}),
            ),
        );
        check(
            old(),
            json!({"transport": "sse"}),
            Ok(
                json!({"transport": "sse", "url": "https://a.example/mcp?k=1", "headers": headers()}),
            ),
        );
        check(
            old(),
            json!({"url": "https://b.example/mcp"}),
            Err("another address"),
        );
        check(
            old(),
            json!({"url": "https://b.example/", "headers": {"X-Key": null}}),
            Err("another address"),
        );
        check(
            old(),
            json!({"url": "https://b.example/?k=***", "headers": {}}),
            Err("another address"),
        );
        check(
            old(),
            json!({"url": "https://b.example/", "headers": {"X-Name": "${NAME}"}}),
            Ok(
                json!({"transport": "http", "url": "https://b.example/", "headers": {"X-Name": "${NAME}"}}),
            ),
        );
        check(
            old(),
            json!({"command": "run"}),
            Ok(json!({"transport": "stdio", "command": "run", "args": [], "env": {}})),
        );
        let known = json!({"transport": "http", "url": "https://a.example/", "headers": {},
            "client": {"id": "tenon", "secret": "hidden"}});
        check(
            known,
            json!({"url": "https://b.example/"}),
            Ok(
                json!({"transport": "http", "url": "https://b.example/", "headers": {},
                "client": {"id": "tenon"}}),
            ),
        );
    }
}
