//! The tools of a local server, parsed by the code that parses all other servers.

use std::collections::HashMap;

use tenon_domain::{ErrorDetail, ToolDefinition, ToolError};
use tenon_net::is_loopback;
use tenon_openapi::document;
use tenon_openapi::operation::Operation;
use tenon_openapi::request::{self, OpenapiRequest, ServerUrlError};
use url::Url;

use super::check;
use super::error::{BrowserError, RegistrationFault};
use super::wire::DiscoveredTools;
use crate::call_error::{ServerCallError, failed};
use crate::mcp;
use crate::openapi::description;
use crate::openapi::mapping::{build_error, tool_definition};
use crate::tool_note::ToolNote;

const MAX_NOTES: usize = 50;

#[derive(Debug)]
pub(super) struct LocalTools {
    pub(super) tools: Vec<ToolDefinition>,
    /// Parts of the description that were left out.
    pub(super) notes: Vec<ErrorDetail>,
    calls: LocalCalls,
}

#[derive(Debug)]
enum LocalCalls {
    /// By the native names of its tools: what is called, and where it is served.
    Openapi(HashMap<String, (Operation, Url)>),
    Mcp,
}

/// The tools that a page's registration would give, and sentences on what is left out.
pub fn preview(
    offered: DiscoveredTools,
    at: &Url,
) -> Result<(Vec<ToolDefinition>, Vec<String>), BrowserError> {
    let offer = LocalTools::read(offered, at)?;
    let notes = offer.notes.into_iter().map(|note| note.message);
    Ok((offer.tools, notes.collect()))
}

impl LocalTools {
    /// `at` is the address that the user enabled.
    pub(super) fn read(offered: DiscoveredTools, at: &Url) -> Result<Self, BrowserError> {
        check::tools(&offered)?;
        match offered {
            DiscoveredTools::Mcp { tools } => {
                let listed = mcp::parse_tools(&tools);
                Ok(Self {
                    tools: listed.tools,
                    notes: listed.problems,
                    calls: LocalCalls::Mcp,
                })
            }
            DiscoveredTools::Openapi { document, url } => Self::of_document(&document, &url, at),
        }
    }

    fn of_document(text: &str, url: &str, at: &Url) -> Result<Self, BrowserError> {
        let value = document::read(text.as_bytes())?;
        let parsed = description::parse(&value)?;
        let base = Url::parse(url).map_err(|_| RegistrationFault::InvalidDocumentAddress)?;
        let skipped = parsed.skipped.into_iter().map(|skipped| {
            let operation = skipped.operation.into();
            let why = ToolNote::of_operation(&skipped.reason).into();
            ToolNote::OperationSkipped { operation, why }
        });
        let left_out = parsed.notes.iter().map(ToolNote::of_document);
        let mut notes: Vec<ErrorDetail> = skipped.chain(left_out).map(Into::into).collect();
        let (mut tools, mut operations) = (Vec::new(), HashMap::new());
        for operation in parsed.operations {
            let name = operation.name.clone();
            match server_of(&operation, &base, at) {
                Ok(server) => {
                    tools.push(tool_definition(&operation));
                    operations.insert(name, (operation, server));
                }
                Err(error) => notes.push(error.note(&name).into()),
            }
        }
        notes.truncate(MAX_NOTES);
        Ok(Self {
            tools,
            notes,
            calls: LocalCalls::Openapi(operations),
        })
    }

    /// Builds the HTTP request for a call. None if the tool is called over MCP.
    pub(super) fn request(
        &self,
        tool: &str,
        input: &serde_json::Value,
    ) -> Result<Option<OpenapiRequest>, ToolError> {
        match &self.calls {
            LocalCalls::Mcp => Ok(None),
            LocalCalls::Openapi(operations) => {
                let known = operations.get(tool);
                let (operation, server) =
                    known.ok_or_else(|| failed(ServerCallError::LocalToolGone))?;
                let request = request::build_at(operation, server.clone(), input);
                request.map(Some).map_err(build_error)
            }
        }
    }
}

/// Why an operation is left out.
#[derive(Debug)]
enum LocalOperationError {
    InvalidServer(ServerUrlError),
    OtherOrigin { served: String, enabled: String },
    InvalidHost(url::ParseError),
}

impl LocalOperationError {
    fn note(self, tool: &str) -> ToolNote {
        let skipped = |why: String| ToolNote::OperationSkipped {
            operation: format!("`{tool}`").into(),
            why: why.into(),
        };
        match self {
            Self::InvalidServer(error) => skipped(error.to_string()),
            Self::InvalidHost(error) => skipped(format!("its address cannot be made: {error}.")),
            Self::OtherOrigin { served, enabled } => ToolNote::OtherOrigin {
                tool: tool.into(),
                served: served.into(),
                enabled: enabled.into(),
            },
        }
    }
}

/// The server of an operation. It must be the address that the user enabled: whatever a
/// document says, a page sends nothing anywhere else.
fn server_of(operation: &Operation, base: &Url, at: &Url) -> Result<Url, LocalOperationError> {
    let server = operation.servers.first().map_or("/", String::as_str);
    let mut server =
        request::server_url(server, base).map_err(LocalOperationError::InvalidServer)?;
    let is_same = server.scheme() == at.scheme()
        && server.port_or_known_default() == at.port_or_known_default()
        && (server.host_str() == at.host_str() || (is_loopback(&server) && is_loopback(at)));
    if !is_same {
        return Err(LocalOperationError::OtherOrigin {
            served: server.origin().ascii_serialization(),
            enabled: at.origin().ascii_serialization(),
        });
    }
    // All names of this machine are the same server, but the page may reach it by one alone.
    let host = at.host_str();
    server
        .set_host(host)
        .map_err(LocalOperationError::InvalidHost)?;
    Ok(server)
}
