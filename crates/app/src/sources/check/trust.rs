//! Checks what a configuration may contain, depending on its owner.

use tenon_domain::{
    CodedError, ErrorDetail, McpConfig, McpTransport, OpenapiConfig, SourceConfig, SourceCredential,
};
use tenon_sources::variables::{Variable, is_own, mentioned, mentioned_in, mentioned_in_host};

use crate::sources::config::{addresses, is_program};
use crate::sources::error::SourceError;
use crate::sources::input_error::{SourceDenied, SourceInputError};
use crate::sources::trust::Trust;

/// Checks the configuration of a user who is not an admin.
pub(in crate::sources) fn allowed(config: &SourceConfig, trust: Trust) -> Result<(), SourceError> {
    if trust == Trust::Full {
        return Ok(());
    }
    if is_program(config) {
        return Err(SourceDenied::Program.into());
    }
    let shared = mentioned(config)
        .into_iter()
        .find_map(|variable| match variable {
            Variable::Shared(name) => Some(name),
            Variable::Personal(_) => None,
        });
    let Some(name) = shared else {
        return Ok(());
    };
    let variable = Variable::Shared(name.clone());
    let has_it = |(_, text): &(&str, &String)| mentioned_in(text).contains(&variable);
    let field = given(config).into_iter().find(has_it);
    let field = field.map_or("url", |(field, _)| field);
    let denied = SourceDenied::SharedSecret { name: name.into() };
    Err(SourceError::Forbidden(denied.detail().in_field(field)))
}

/// Checks that no shared secret is sent to a host chosen by one user. For shared servers.
pub(in crate::sources) fn keeps_shared_secrets(config: &SourceConfig) -> Result<(), ErrorDetail> {
    let host: Vec<Variable> = addresses(config)
        .into_iter()
        .flat_map(mentioned_in_host)
        .collect();
    let is_personal = |variable: &&Variable| matches!(variable, Variable::Personal(_));
    let Some(leads) = host.iter().find(is_personal) else {
        return Ok(());
    };
    let is_shared = |text: &&String| !text.is_empty() && !is_own(text);
    let in_address = |variable: &Variable| !is_personal(&variable) && !host.contains(variable);
    let addresses = addresses(config).into_iter();
    let field = match given(config).into_iter().find(|(_, text)| is_shared(text)) {
        Some((field, _)) => field,
        None if addresses.flat_map(mentioned_in).any(|one| in_address(&one)) => "url",
        None => return Ok(()),
    };
    let error = SourceInputError::SharedSecretElsewhere {
        field: field.into(),
        variable: leads.to_string().into(),
    };
    Err(error.detail().in_field(field))
}

/// Every configured value besides the address, with the name of its field.
fn given(config: &SourceConfig) -> Vec<(&'static str, &String)> {
    match config {
        SourceConfig::Mcp(McpConfig {
            transport: McpTransport::Stdio { .. },
            ..
        }) => Vec::new(),
        SourceConfig::Mcp(McpConfig {
            transport:
                McpTransport::Http { headers: sent, .. } | McpTransport::Sse { headers: sent, .. },
            client,
            ..
        }) => {
            let secret = client.as_ref().and_then(|client| client.secret.as_ref());
            let secret = secret.map(|secret| ("clientSecret", secret));
            let sent = sent.values().map(|value| ("headers", value));
            sent.chain(secret).collect()
        }
        SourceConfig::Openapi(OpenapiConfig {
            headers: sent,
            credentials,
            ..
        }) => {
            let shown = credentials.values().flat_map(SourceCredential::texts);
            let shown = shown.map(|text| ("credentials", text));
            let sent = sent.values().map(|value| ("headers", value));
            sent.chain(shown).collect()
        }
    }
}

#[cfg(test)]
mod tests;
