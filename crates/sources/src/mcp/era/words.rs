//! What is said first, and what it is answered with. Whoever opens a link has a
//! deadline for all of it.

use rmcp::model::TASKS_EXTENSION_ID;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::super::fault::Fault;
use super::super::link::{About, Era};
use super::super::message::{Params, Refusal};
use super::super::talk::{Question, Talk, Wire};
use super::super::text;
use super::Opened;

/// The version without a handshake.
pub(in crate::mcp) const STATELESS: &str = "2026-07-28";

/// The newest version with one.
const HANDSHAKE: &str = "2025-11-25";

/// What both kinds of first words are answered with.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Introduction {
    supported_versions: Vec<String>,
    protocol_version: String,
    capabilities: Value,
    server_info: Option<Implementation>,
    #[serde(rename = "_meta")]
    meta: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Implementation {
    name: String,
    version: String,
}

/// Asks a server of the stateless era what it is.
pub(super) async fn discover(talk: &Talk) -> Result<Introduction, Fault> {
    let meta: Value = serde_json::from_str(&format!("{{{}}}", stateless_meta()))
        .expect("what is written for every request is JSON");
    let ask = || {
        let params = Params::new().with("_meta", &meta);
        talk.keep_asking(Question::new("server/discover", params))
    };
    let answer = match ask().await {
        // It may be several servers behind one address, of which some are older.
        Err(Fault::Refused(refusal)) if supported(&refusal).iter().any(|v| v == STATELESS) => {
            ask().await?
        }
        other => other?,
    };
    let introduction = introduction(&answer)?;
    let versions = &introduction.supported_versions;
    match versions.iter().any(|version| version == STATELESS) {
        true => Ok(introduction),
        false => Err(unsupported(versions)),
    }
}

/// Greets a server that did not like to be asked what it is.
pub(super) async fn greet_after(talk: &Talk, before: Fault) -> Result<Introduction, Fault> {
    handshake(talk)
        .await
        .map_err(|fault| match (&before, &fault) {
            // It is of the stateless era and told us what it lacks.
            (
                Fault::Refused(refusal),
                Fault::Refused(_) | Fault::Status(..) | Fault::Strange(_),
            ) => match refusal.code {
                Refusal::UNSUPPORTED_VERSION => unsupported(&supported(refusal)),
                Refusal::MISSING_CAPABILITY | Refusal::HEADER_MISMATCH => before.clone(),
                _ => fault,
            },
            _ => fault,
        })
}

/// The first words of the handshake era.
pub(super) async fn handshake(talk: &Talk) -> Result<Introduction, Fault> {
    let params = || {
        Params::new()
            .with("protocolVersion", HANDSHAKE)
            .with(
                "capabilities",
                &json!({ "elicitation": { "form": {}, "url": {} } }),
            )
            .with("clientInfo", &me())
    };
    let question = Question::new("initialize", params());
    let introduction = introduction(&talk.keep_asking(question).await?)?;
    if introduction.protocol_version.is_empty() {
        return Err(Fault::Strange(
            "It answers, but not as an MCP server does: it names no version.".into(),
        ));
    }
    if let Wire::Http(http) = &talk.wire {
        http.speak(&introduction.protocol_version);
    }
    talk.tell("notifications/initialized", Params::new())
        .await?;
    if let Wire::Http(http) = &talk.wire {
        http.shaken(params().finish(""));
    }
    Ok(introduction)
}

pub(super) fn stateless(mut talk: Talk, introduction: Introduction) -> Opened {
    talk.meta = stateless_meta();
    let info = introduction
        .meta
        .get("io.modelcontextprotocol/serverInfo")
        .and_then(|info| Implementation::deserialize(info).ok());
    let info = info.or(introduction.server_info);
    opened(
        talk,
        Era::Stateless,
        info,
        STATELESS,
        &introduction.capabilities,
    )
}

pub(super) fn shaken(talk: Talk, era: Era, introduction: Introduction) -> Opened {
    let version = &introduction.protocol_version;
    opened(
        talk,
        era,
        introduction.server_info,
        version,
        &introduction.capabilities,
    )
}

fn opened(
    talk: Talk,
    era: Era,
    info: Option<Implementation>,
    version: &str,
    capabilities: &Value,
) -> Opened {
    let info = info.unwrap_or_default();
    let tells_changes = capabilities
        .get("tools")
        .and_then(|tools| tools.get("listChanged"))
        .is_some_and(|tells| tells == &Value::Bool(true));
    Opened {
        talk,
        era,
        about: About {
            name: text::line(&info.name, 100),
            version: text::line(&info.version, 50),
            protocol: text::line(version, 20),
        },
        tells_changes,
    }
}

fn introduction(raw: &RawValue) -> Result<Introduction, Fault> {
    serde_json::from_str(raw.get())
        .map_err(|error| Fault::unreadable("It answers, but not as an MCP server does", &error))
}

/// The versions a server says it speaks when it refuses ours.
fn supported(refusal: &Refusal) -> Vec<String> {
    let data = refusal.data.as_ref();
    let listed = data.and_then(|data| data.get("supported")).cloned();
    let listed = listed.filter(|_| refusal.code == Refusal::UNSUPPORTED_VERSION);
    let listed = listed.and_then(|listed| serde_json::from_value(listed).ok());
    listed.unwrap_or_default()
}

fn unsupported(versions: &[String]) -> Fault {
    let versions: Vec<String> = versions
        .iter()
        .take(10)
        .map(|version| text::line(version, 20))
        .collect();
    Fault::Strange(format!(
        "It speaks only versions of MCP that Tenon does not: {}.",
        versions.join(", ")
    ))
}

/// What every request of the stateless era carries: the inside of `_meta`.
fn stateless_meta() -> String {
    let capabilities = json!({
        "elicitation": { "form": {}, "url": {} },
        "extensions": { TASKS_EXTENSION_ID: {} },
    });
    let name = "io.modelcontextprotocol";
    format!(
        r#""{name}/protocolVersion":"{STATELESS}","{name}/clientInfo":{},"{name}/clientCapabilities":{capabilities}"#,
        me()
    )
}

fn me() -> Value {
    json!({ "name": "tenon", "title": "Tenon", "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ProtocolVersion;

    #[test]
    fn our_versions_are_the_newest_of_their_eras() {
        assert_eq!(STATELESS, ProtocolVersion::LATEST.as_str());
        assert_eq!(HANDSHAKE, ProtocolVersion::LATEST_WITH_INITIALIZE.as_str());
    }
}
