//! Parses client messages as far as needed to dispatch them.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_net::json_weight;
use tenon_text as text;

use super::client_profile::{ClientProfile, LogLevel};
use super::notification::SubscriptionFilter;
use crate::jsonrpc::RpcError;
use crate::peer::{HANDSHAKE_VERSION, STATELESS_VERSION};

/// The versions that begin with `initialize`, the newest first.
pub(super) const HANDSHAKE_VERSIONS: [&str; 4] =
    [HANDSHAKE_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// No message of a client is longer.
pub const MAX_REQUEST_BYTES: usize = 16 * 1024 * 1024;

/// No id or token is longer: both are sent back as they are.
const MAX_ID_BYTES: usize = 256;

/// What arguments may take in memory once they are parsed.
const MAX_PARSED_BYTES: usize = 64 * 1024 * 1024;

/// Shorter ones stay within [`MAX_PARSED_BYTES`] whatever they are.
const LIGHT_BYTES: usize = 64 * 1024;

#[derive(Debug, Deserialize)]
struct RawMessage<'a> {
    #[serde(default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// `null` is a value here: as an id it is invalid, and not the same as none.
fn present<'a, 'de: 'a, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// One message of a client.
#[derive(Debug)]
pub(super) enum InboundMessage<'a> {
    Request(Box<ClientRequest<'a>>),
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The answer to a request of the server.
    Response {
        id: &'a RawValue,
        answer: Result<Value, RpcError>,
    },
}

#[derive(Debug)]
pub(super) struct ClientRequest<'a> {
    pub(super) id: &'a RawValue,
    pub(super) method: Cow<'a, str>,
    /// The unparsed parameters, for fields that only some methods have.
    pub(super) raw_params: Option<&'a RawValue>,
    pub(super) params: RequestParams<'a>,
}

/// An error, and the request it answers. None: its id could not be read.
#[derive(Debug)]
pub(super) struct MessageError {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) error: RpcError,
}

/// The parameters of all methods together.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestParams<'a> {
    #[serde(borrow, default, rename = "_meta")]
    pub(super) meta: RequestMeta<'a>,
    #[serde(default)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) uri: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) cursor: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) level: Option<LogLevel>,
    #[serde(borrow, default)]
    pub(super) input_responses: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) request_state: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) notifications: Option<SubscriptionFilter>,
    // Of `initialize`.
    #[serde(default)]
    pub(super) protocol_version: Option<Cow<'a, str>>,
    #[serde(default)]
    capabilities: Option<DeclaredCapabilities>,
    #[serde(default)]
    client_info: Option<DeclaredClient>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RequestMeta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub(super) progress_token: Option<&'a RawValue>,
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) protocol_version: Option<Cow<'a, str>>,
    #[serde(default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<DeclaredCapabilities>,
    #[serde(default, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<DeclaredClient>,
    #[serde(default, rename = "io.modelcontextprotocol/logLevel")]
    pub(super) log_level: Option<LogLevel>,
    #[serde(borrow, default)]
    pub(super) traceparent: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tracestate: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct DeclaredClient {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
}

#[derive(Debug, Default, Deserialize)]
struct DeclaredCapabilities {
    #[serde(default)]
    elicitation: Option<DeclaredElicitation>,
    #[serde(default)]
    sampling: Option<IgnoredAny>,
    #[serde(default)]
    roots: Option<IgnoredAny>,
}

/// Without a mode it means forms: older versions have nothing else.
#[derive(Debug, Default, Deserialize)]
struct DeclaredElicitation {
    #[serde(default)]
    form: Option<IgnoredAny>,
    #[serde(default)]
    url: Option<IgnoredAny>,
}

impl<'a> InboundMessage<'a> {
    pub(super) fn read(text: &'a [u8]) -> Result<Self, MessageError> {
        let message: RawMessage<'a> = serde_json::from_slice(text).map_err(|error| {
            let code = match error.classify() {
                serde_json::error::Category::Data => RpcError::INVALID_REQUEST,
                _ => RpcError::PARSE_ERROR,
            };
            let error = RpcError::new(code, format!("Not a JSON-RPC message: {error}"));
            MessageError { id: None, error }
        })?;
        let invalid = |why: &str| MessageError {
            id: None,
            error: RpcError::new(RpcError::INVALID_REQUEST, why),
        };
        // An array of its members would be read as well.
        if !text.trim_ascii_start().starts_with(b"{") || message.jsonrpc.as_deref() != Some("2.0") {
            return Err(invalid("A message is an object with `jsonrpc`: \"2.0\"."));
        }
        if message.id.is_some_and(|id| !is_valid_id(id)) {
            return Err(invalid("`id` must be a short string or a number."));
        }
        match (message.method, message.id) {
            (Some(method), Some(id)) => {
                let params = RequestParams::read(message.params).map_err(|error| MessageError {
                    id: Some(id.to_owned()),
                    error,
                })?;
                Ok(Self::Request(Box::new(ClientRequest {
                    id,
                    method,
                    raw_params: message.params,
                    params,
                })))
            }
            (Some(method), None) => Ok(Self::Notification {
                method,
                params: message.params,
            }),
            (None, Some(id)) => {
                let answer = match (message.result, message.error) {
                    (Some(result), _) => {
                        parse_value(result).map_err(|error| MessageError { id: None, error })?
                    }
                    (None, Some(error)) => {
                        let answer = Err(RpcError::read(error));
                        return Ok(Self::Response { id, answer });
                    }
                    (None, None) => return Err(invalid("A message has a `method` or a `result`.")),
                };
                let answer = Ok(answer);
                Ok(Self::Response { id, answer })
            }
            (None, None) => Err(invalid("A message has a `method` or an `id`.")),
        }
    }
}

impl<'a> RequestParams<'a> {
    fn read(params: Option<&'a RawValue>) -> Result<Self, RpcError> {
        let Some(params) = params else {
            return Ok(Self::default());
        };
        if !params.get().starts_with('{') {
            return Err(RpcError::invalid_params("`params` must be an object."));
        }
        let params: Self = serde_json::from_str(params.get())
            .map_err(|error| RpcError::invalid_params(format!("Invalid params: {error}")))?;
        match params.meta.progress_token {
            Some(token) if !is_valid_id(token) => Err(RpcError::invalid_params(
                "`progressToken` must be a short string or a number.",
            )),
            _ => Ok(params),
        }
    }

    /// The client of an `initialize` request, with the version to use.
    pub(super) fn handshake_client(&self) -> ClientProfile {
        let asked = self.protocol_version.as_deref().unwrap_or_default();
        let known = HANDSHAKE_VERSIONS.iter().find(|version| **version == asked);
        let protocol = known.copied().unwrap_or(HANDSHAKE_VERSION);
        profile(
            protocol,
            self.client_info.as_ref(),
            self.capabilities.as_ref(),
        )
    }

    /// The client of a request without a session, if the request has all required metadata.
    pub(super) fn stateless_client(&self) -> Result<ClientProfile, RpcError> {
        let missing = |name: &str| {
            let key = format!("io.modelcontextprotocol/{name}");
            RpcError::invalid_params(format!("`_meta` must have `{key}`."))
        };
        let meta = &self.meta;
        let version = meta.protocol_version.as_deref();
        let version = version.ok_or_else(|| missing("protocolVersion"))?;
        if version != STATELESS_VERSION {
            return Err(unsupported_version(version));
        }
        let capabilities = meta.capabilities.as_ref();
        let capabilities = capabilities.ok_or_else(|| missing("clientCapabilities"))?;
        let client = meta.client_info.as_ref();
        Ok(profile(version, client, Some(capabilities)))
    }

    pub(super) fn arguments(&self) -> Result<Value, RpcError> {
        match self.arguments.map(parse_value).transpose()? {
            None => Ok(Value::Object(serde_json::Map::new())),
            Some(arguments @ Value::Object(_)) => Ok(arguments),
            Some(_) => Err(RpcError::invalid_params("`arguments` must be an object.")),
        }
    }
}

pub(super) fn unsupported_version(version: &str) -> RpcError {
    let version = text::line(version, 100);
    let message = format!("Unsupported protocol version: {version}");
    RpcError::new(RpcError::UNSUPPORTED_VERSION, message).with_data(serde_json::json!({
        "supported": [STATELESS_VERSION],
        "requested": version,
    }))
}

/// A value out of a message, unless it takes too much memory.
pub(super) fn parse_value(raw: &RawValue) -> Result<Value, RpcError> {
    let text = raw.get();
    if text.len() > LIGHT_BYTES && json_weight::parsed_bytes(text.as_bytes()) > MAX_PARSED_BYTES {
        return Err(RpcError::invalid_params("The value has too many parts."));
    }
    serde_json::from_str(text)
        .map_err(|error| RpcError::invalid_params(format!("Invalid value: {error}")))
}

fn is_valid_id(id: &RawValue) -> bool {
    let id = id.get();
    id.len() <= MAX_ID_BYTES && id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

fn profile(
    protocol: &str,
    client: Option<&DeclaredClient>,
    capabilities: Option<&DeclaredCapabilities>,
) -> ClientProfile {
    let shown = |name: fn(&DeclaredClient) -> &String| {
        client.map_or_else(String::new, |client| text::line(name(client), 200))
    };
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    ClientProfile {
        name: shown(|client| &client.name),
        version: shown(|client| &client.version),
        protocol: protocol.to_owned(),
        elicitation: elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()),
        url_elicitation: elicitation.is_some_and(|modes| modes.url.is_some()),
        sampling: capabilities.is_some_and(|capabilities| capabilities.sampling.is_some()),
        roots: capabilities.is_some_and(|capabilities| capabilities.roots.is_some()),
    }
}
