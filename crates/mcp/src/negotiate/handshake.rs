//! `server/discover` and `initialize`. Neither has a timeout: whoever connects has one for
//! all of it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_text as text;

use super::NegotiatedSession;
use crate::error::{Error, ProtocolError, json_reason};
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::message::{initialize_params, stateless_meta};
use crate::peer::{ClientInfo, McpServerInfo, ProtocolEra, STATELESS_VERSION};
use crate::session::{RpcRequest, Session};
use crate::transport::Transport;

/// More than this nobody reads.
const MAX_INSTRUCTIONS_CHARS: usize = 20_000;

/// The result of both requests.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ServerIntroduction {
    supported_versions: Vec<String>,
    protocol_version: String,
    capabilities: Value,
    server_info: Option<Implementation>,
    instructions: Option<String>,
    #[serde(rename = "_meta")]
    meta: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Implementation {
    name: String,
    version: String,
}

/// `server/discover` of the stateless era.
pub(crate) async fn discover(
    session: &Session,
    client: &ClientInfo,
) -> Result<ServerIntroduction, Error> {
    let meta = stateless_meta(client);
    let meta: Value = serde_json::from_str(&format!("{{{meta}}}"))
        .expect("what is written for every request is JSON");
    let request = || {
        let params = ParamsBuilder::new().with("_meta", &meta);
        session.request_without_timeout(RpcRequest::new("server/discover", params))
    };
    let response = match request().await {
        // There may be several servers behind one address, of which some are older.
        Err(Error::Rpc(error))
            if supported_versions(&error)
                .iter()
                .any(|v| v == STATELESS_VERSION) =>
        {
            request().await?
        }
        other => other?,
    };
    let introduction = introduction(&response)?;
    let versions = &introduction.supported_versions;
    if versions.iter().any(|version| version == STATELESS_VERSION) {
        Ok(introduction)
    } else {
        Err(unsupported(versions))
    }
}

/// `initialize` to a server that has refused `server/discover` with this error.
pub(crate) async fn initialize_after(
    session: &Session,
    client: &ClientInfo,
    discover_error: Error,
) -> Result<ServerIntroduction, Error> {
    let initialized = initialize(session, client).await;
    initialized.map_err(|error| match (&discover_error, &error) {
        // It is of the stateless era and has said what it lacks.
        (Error::Rpc(refusal), Error::Rpc(_) | Error::HttpStatus { .. } | Error::Protocol(_)) => {
            match refusal.code {
                RpcError::UNSUPPORTED_VERSION => unsupported(&supported_versions(refusal)),
                RpcError::MISSING_CAPABILITY | RpcError::HEADER_MISMATCH => discover_error.clone(),
                _ => error,
            }
        }
        _ => error,
    })
}

/// The handshake: `initialize`, then `notifications/initialized`.
pub(crate) async fn initialize(
    session: &Session,
    client: &ClientInfo,
) -> Result<ServerIntroduction, Error> {
    let params = || initialize_params(client);
    let request = RpcRequest::new("initialize", params());
    let introduction = introduction(&session.request_without_timeout(request).await?)?;
    if introduction.protocol_version.is_empty() {
        return Err(ProtocolError::NoVersion.into());
    }
    session
        .transport
        .set_version(&introduction.protocol_version);
    session
        .notify("notifications/initialized", ParamsBuilder::new())
        .await?;
    if let Transport::Http(http) = &session.transport {
        http.on_initialized(params().finish(""));
    }
    Ok(introduction)
}

pub(crate) fn stateless_session(
    mut session: Session,
    introduction: ServerIntroduction,
    client: &ClientInfo,
) -> NegotiatedSession {
    session.meta = stateless_meta(client);
    let info = introduction
        .meta
        .get("io.modelcontextprotocol/serverInfo")
        .and_then(|info| Implementation::deserialize(info).ok());
    let introduction = ServerIntroduction {
        server_info: info.or(introduction.server_info),
        protocol_version: STATELESS_VERSION.to_owned(),
        ..introduction
    };
    handshake_session(session, ProtocolEra::Stateless, introduction)
}

pub(crate) fn handshake_session(
    session: Session,
    era: ProtocolEra,
    introduction: ServerIntroduction,
) -> NegotiatedSession {
    let info = introduction.server_info.unwrap_or_default();
    let instructions = introduction.instructions.unwrap_or_default();
    let instructions =
        text::without_controls(&text::shorten(&instructions, MAX_INSTRUCTIONS_CHARS));
    NegotiatedSession {
        session,
        era,
        server_info: McpServerInfo {
            name: text::line(&info.name, 100),
            version: text::line(&info.version, 50),
            protocol: text::line(&introduction.protocol_version, 20),
            instructions: Some(instructions).filter(|text| !text.trim().is_empty()),
        },
        capabilities: introduction.capabilities,
    }
}

fn introduction(raw: &RawValue) -> Result<ServerIntroduction, Error> {
    serde_json::from_str(raw.get())
        .map_err(|error| ProtocolError::InvalidIntroduction(json_reason(&error)).into())
}

/// The versions a server says it speaks when it refuses ours.
fn supported_versions(error: &RpcError) -> Vec<String> {
    let data = error.data.as_ref();
    let versions = data.and_then(|data| data.get("supported")).cloned();
    let versions = versions.filter(|_| error.code == RpcError::UNSUPPORTED_VERSION);
    let versions = versions.and_then(|versions| serde_json::from_value(versions).ok());
    versions.unwrap_or_default()
}

fn unsupported(versions: &[String]) -> Error {
    let versions = versions.iter().take(10);
    let versions = versions.map(|version| text::line(version, 20)).collect();
    ProtocolError::UnsupportedVersions(versions).into()
}
