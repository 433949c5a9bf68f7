//! What a server on somebody's machine offers, read by the same code as everywhere.

use std::collections::HashMap;

use tenon_domain::{ToolDefinition, ToolError};
use url::Url;

use super::check;
use super::wire::Offered;
use crate::mcp;
use crate::openapi::operation::Operation;
use crate::openapi::{document, parse, request};
use tenon_net::is_loopback;

/// What anybody reads of what is wrong.
const MAX_NOTES: usize = 50;

#[derive(Debug)]
pub(super) struct Offer {
    pub(super) tools: Vec<ToolDefinition>,
    /// What was left out, as sentences.
    pub(super) notes: Vec<String>,
    how: How,
}

#[derive(Debug)]
enum How {
    /// By the native names of its tools: what is called, and where it is served.
    Openapi(HashMap<String, (Operation, Url)>),
    Mcp,
}

/// What would become of what a page offers: the tools, and what is left out. Both errors and
/// what is left out are sentences.
pub fn preview(offered: Offered, at: &Url) -> Result<(Vec<ToolDefinition>, Vec<String>), String> {
    let offer = Offer::read(offered, at)?;
    Ok((offer.tools, offer.notes))
}

impl Offer {
    /// `at` is the address that the person enabled. The error is a sentence.
    pub(super) fn read(offered: Offered, at: &Url) -> Result<Self, String> {
        check::offered(&offered)?;
        match offered {
            Offered::Mcp { tools } => {
                let listed = mcp::listed(&tools);
                Ok(Self {
                    tools: listed.tools,
                    notes: listed.problems,
                    how: How::Mcp,
                })
            }
            Offered::Openapi { document, url } => Self::of_document(&document, &url, at),
        }
    }

    fn of_document(text: &str, url: &str, at: &Url) -> Result<Self, String> {
        let value = document::read(text.as_bytes()).map_err(|wrong| wrong.to_string())?;
        let parsed = parse::parse(&value).map_err(|wrong| wrong.to_string())?;
        let base = Url::parse(url).map_err(|_| "Its address is none.".to_owned())?;
        let mut notes: Vec<String> = parsed
            .skipped
            .iter()
            .map(|skipped| format!("{} is left out: {}", skipped.place, skipped.why))
            .chain(parsed.notes)
            .collect();
        let (mut tools, mut operations) = (Vec::new(), HashMap::new());
        for operation in parsed.operations {
            let name = operation.tool.name.clone();
            match here(&operation, &base, at) {
                Ok(server) => {
                    tools.push(operation.tool.clone());
                    operations.insert(name, (operation, server));
                }
                Err(why) => notes.push(format!("`{name}` is left out: {why}")),
            }
        }
        notes.truncate(MAX_NOTES);
        Ok(Self {
            tools,
            notes,
            how: How::Openapi(operations),
        })
    }

    /// What to fetch for a call. None: it is called over MCP.
    pub(super) fn request(
        &self,
        tool: &str,
        input: &serde_json::Value,
    ) -> Result<Option<request::Request>, ToolError> {
        match &self.how {
            How::Mcp => Ok(None),
            How::Openapi(operations) => {
                let known = operations.get(tool);
                let (operation, server) = known.ok_or_else(|| {
                    ToolError::failed("The server no longer has this tool. Do without it.")
                })?;
                request::build_at(operation, server.clone(), input).map(Some)
            }
        }
    }
}

/// Where an operation is served, if that is where the person said: whatever a document
/// says, a page sends nothing to other places.
fn here(operation: &Operation, base: &Url, at: &Url) -> Result<Url, String> {
    let server = operation.servers.first().map_or("/", String::as_str);
    let mut server = request::at(server, base).map_err(|error| error.message)?;
    let is_same = server.scheme() == at.scheme()
        && server.port_or_known_default() == at.port_or_known_default()
        && (server.host_str() == at.host_str() || (is_loopback(&server) && is_loopback(at)));
    if !is_same {
        return Err(format!(
            "its document says that it is served at {}, and only {} was enabled.",
            server.origin().ascii_serialization(),
            at.origin().ascii_serialization()
        ));
    }
    // All names of this machine are the same server, but the page may reach it by one alone.
    let host = at.host_str();
    server
        .set_host(host)
        .map_err(|error| format!("its address cannot be made: {error}."))?;
    Ok(server)
}
