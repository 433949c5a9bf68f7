//! Messages of the server, as the version of the client has them.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client_profile::ClientProfile;
use super::exchange::InputRequest;
use super::message::HANDSHAKE_VERSIONS;
use super::operation::ResultMembers;
use super::service::{ServerCapabilities, ServerIdentity};
use crate::jsonrpc::RpcError;
use crate::peer::STATELESS_VERSION;

/// Lists may change at any moment, and what a person may see is theirs alone.
const CACHE_HINTS: &str = r#""ttlMs":0,"cacheScope":"private""#;

/// A response, ready to be sent.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) json: String,
    /// None: it is a result.
    pub(super) error_code: Option<i64>,
}

impl Reply {
    pub(super) fn success(json: String) -> Self {
        Self {
            json,
            error_code: None,
        }
    }

    /// Without an id where it could not be read.
    pub(super) fn error(id: Option<&RawValue>, error: RpcError) -> Self {
        let id = id.map_or("null", RawValue::get);
        let error_code = Some(error.code);
        let error = json!(error);
        Self {
            json: format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#),
            error_code,
        }
    }
}

/// Writes results with what every one of them carries.
#[derive(Debug)]
pub(super) struct ReplyWriter {
    server_info: Value,
    /// The members that every result of the stateless era ends with.
    stateless_members: String,
}

impl ReplyWriter {
    pub(super) fn new(identity: &ServerIdentity) -> Self {
        let mut server_info = json!({ "name": identity.name, "version": identity.version });
        if !identity.title.is_empty() {
            server_info["title"] = json!(identity.title);
        }
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/serverInfo":{server_info}}}"#);
        Self {
            server_info,
            stateless_members: meta,
        }
    }

    pub(super) fn response(
        &self,
        id: &RawValue,
        client: &ClientProfile,
        outcome: Result<ResultMembers, RpcError>,
    ) -> Reply {
        match outcome {
            Ok(members) => Reply::success(self.result(id, client, &members)),
            Err(error) => Reply::error(Some(id), version_error(error, client)),
        }
    }

    pub(super) fn result(
        &self,
        id: &RawValue,
        client: &ClientProfile,
        members: &ResultMembers,
    ) -> String {
        let mut reply = String::with_capacity(members.json.len() + 256);
        reply.push_str(r#"{"jsonrpc":"2.0","id":"#);
        reply.push_str(id.get());
        reply.push_str(r#","result":{"#);
        reply.push_str(&members.json);
        if client.is_stateless() {
            if !members.json.is_empty() {
                reply.push(',');
            }
            reply.push_str(r#""resultType":"complete","#);
            if members.is_cacheable {
                reply.push_str(CACHE_HINTS);
                reply.push(',');
            }
            reply.push_str(&self.stateless_members);
        }
        reply.push_str("}}");
        reply
    }

    pub(super) fn empty(&self, id: &RawValue, client: &ClientProfile) -> String {
        let members = ResultMembers {
            json: String::new(),
            is_cacheable: false,
        };
        self.result(id, client, &members)
    }

    /// What the client has to answer, by the keys of the questions.
    pub(super) fn questions(&self, inputs: &[InputRequest]) -> Value {
        let requests = inputs.iter().map(|input| {
            let request = json!({ "method": input.method, "params": input.params });
            (input.key.clone(), request)
        });
        Value::Object(requests.collect())
    }

    /// Before the client repeats its request with the state, it has to answer the questions.
    pub(super) fn input_required(&self, id: &RawValue, questions: &Value, state: &str) -> String {
        let meta = &self.stateless_members;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","inputRequests":{questions},"requestState":"{state}",{meta}}}}}"#
        )
    }

    pub(super) fn initialize_members(
        &self,
        client: &ClientProfile,
        capabilities: ServerCapabilities,
        instructions: Option<&str>,
    ) -> ResultMembers {
        let json = format!(
            r#""protocolVersion":{},"capabilities":{},"serverInfo":{}{}"#,
            json!(client.protocol),
            capabilities_json(capabilities),
            self.server_info,
            instructions_member(instructions),
        );
        ResultMembers {
            json,
            is_cacheable: false,
        }
    }

    pub(super) fn discover_members(
        &self,
        capabilities: ServerCapabilities,
        instructions: Option<&str>,
    ) -> ResultMembers {
        let versions: Vec<&str> = std::iter::once(STATELESS_VERSION)
            .chain(HANDSHAKE_VERSIONS)
            .collect();
        let json = format!(
            r#""supportedVersions":{},"capabilities":{}{}"#,
            json!(versions),
            capabilities_json(capabilities),
            instructions_member(instructions),
        );
        ResultMembers {
            json,
            is_cacheable: true,
        }
    }
}

/// A resource that is not there has a code of its own only up to 2025-11-25.
fn version_error(error: RpcError, client: &ClientProfile) -> RpcError {
    match error.code {
        RpcError::RESOURCE_NOT_FOUND if client.is_stateless() => RpcError {
            code: RpcError::INVALID_PARAMS,
            ..error
        },
        _ => error,
    }
}

fn instructions_member(instructions: Option<&str>) -> String {
    instructions.map_or_else(String::new, |text| {
        format!(r#","instructions":{}"#, json!(text))
    })
}

fn capabilities_json(capabilities: ServerCapabilities) -> Value {
    let mut json = json!({});
    if capabilities.tools {
        json["tools"] = json!({ "listChanged": true });
    }
    if capabilities.resources {
        let subscribe = capabilities.resource_subscriptions;
        json["resources"] = json!({ "listChanged": true, "subscribe": subscribe });
    }
    if capabilities.prompts {
        json["prompts"] = json!({ "listChanged": true });
    }
    if capabilities.completions {
        json["completions"] = json!({});
    }
    if capabilities.logging {
        json["logging"] = json!({});
    }
    json
}
