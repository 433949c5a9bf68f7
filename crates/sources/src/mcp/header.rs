//! Headers that somebody wants sent to a server.

use tenon_mcp::McpHeaderError;

/// A header that cannot be sent, in a sentence for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(.0))]
pub struct InvalidHeader(pub McpHeaderError);

/// Whether a header can be sent.
pub fn check_header(name: &str, value: &str) -> Result<(), InvalidHeader> {
    tenon_mcp::check_header(name, value).map_err(InvalidHeader)
}

pub(super) fn sentence(error: &McpHeaderError) -> String {
    match error {
        McpHeaderError::Reserved(name) => {
            format!("The header {name} is written by Tenon itself. Leave it out.")
        }
        McpHeaderError::InvalidName(_) | McpHeaderError::InvalidValue(_) => error.to_string(),
    }
}
