//! Headers that somebody wants sent to a server.

use tenon_domain::coded_errors;
use tenon_mcp::McpHeaderError;

coded_errors! {
    /// A header that cannot be sent.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum InvalidHeader {
        Name { name } = "header_name" in "headers" => "`{name}` cannot be the name of a header. Write letters, digits and dashes.",
        Reserved { name } = "header_reserved" in "headers" => "The header {name} is set by Tenon itself. Leave it out.",
        Value { name } = "header_value" in "headers" => "The value of the header {name} contains characters that are not allowed in headers.",
    }
}

/// Whether a header can be sent.
pub fn check_header(name: &str, value: &str) -> Result<(), InvalidHeader> {
    tenon_mcp::check_header(name, value).map_err(|error| fault(&error))
}

pub(super) fn fault(error: &McpHeaderError) -> InvalidHeader {
    match error {
        McpHeaderError::InvalidName(name) => InvalidHeader::Name { name: name.into() },
        McpHeaderError::Reserved(name) => InvalidHeader::Reserved { name: name.into() },
        McpHeaderError::InvalidValue(name) => InvalidHeader::Value { name: name.into() },
    }
}
