//! Headers of the stateless era repeat what the body says. Where they do not, the request is refused.

use http::{HeaderMap, HeaderName};
use serde_json::Value;

use crate::jsonrpc::RpcError;
use crate::message::{METHOD, NAME, PROTOCOL_VERSION};
use crate::server::message::ClientRequest;
use crate::transport::header_params::{HeaderParam, decode};

pub(super) fn check(headers: &HeaderMap, request: &ClientRequest<'_>) -> Result<(), RpcError> {
    let params = &request.params;
    if let Some(version) = params.meta.protocol_version.as_deref() {
        expect(headers, &PROTOCOL_VERSION, Some(version))?;
    }
    expect(headers, &METHOD, Some(&request.method))?;
    let name = match &*request.method {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        _ => return Ok(()),
    };
    expect(headers, &NAME, name)
}

/// The arguments that a tool wants to see in headers as well.
pub(super) fn check_params(
    headers: &HeaderMap,
    params: &[HeaderParam],
    arguments: &Value,
) -> Result<(), RpcError> {
    params.iter().try_for_each(|param| {
        let value = param.header_value(arguments);
        expect(headers, param.header(), value.as_deref())
    })
}

fn expect(headers: &HeaderMap, name: &HeaderName, expected: Option<&str>) -> Result<(), RpcError> {
    let found = headers.get(name).map(|value| value.as_bytes());
    let is_equal = match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => {
            let found = std::str::from_utf8(found).ok().map(str::trim);
            found.and_then(decode).as_deref() == Some(expected)
        }
        _ => false,
    };
    if is_equal {
        return Ok(());
    }
    let message = format!("The header {name} does not say what the body says.");
    Err(RpcError::new(RpcError::HEADER_MISMATCH, message))
}
