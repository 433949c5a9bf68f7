//! Validates what a page registers.

use url::Url;

use super::error::{BrowserError, RegistrationFault};
use super::limits::MAX_TOOLS_BYTES;
use super::wire::{DiscoveredServer, DiscoveredTools, Registration};

pub(super) const MAX_TITLE_CHARS: usize = 120;

/// In one frame. More than [`MAX_SERVERS`](super::limits::MAX_SERVERS), so that each server beyond those is refused by name.
const MAX_ENTRIES: usize = 1_000;
const MAX_CALLS: usize = 256;
const MAX_URL_BYTES: usize = 2_048;
const MAX_NAME_CHARS: usize = 128;
const MAX_HASH_BYTES: usize = 128;

pub(super) fn registration(registration: &Registration) -> Result<(), BrowserError> {
    let is_id = |id: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (8..=64).contains(&id.len()) && id.chars().all(is_allowed)
    };
    if !is_id(&registration.device.id) || !is_id(&registration.page) {
        return Err(RegistrationFault::InvalidId.into());
    }
    let counts = [
        registration.servers.len() <= MAX_ENTRIES,
        registration.looking.len() <= MAX_ENTRIES,
        registration.calls.len() <= MAX_CALLS,
    ];
    if !counts.iter().all(|is_fine| *is_fine) {
        return Err(RegistrationFault::TooMuch.into());
    }
    Ok(())
}

/// The address of the server that the user enabled.
pub(super) fn server(found: &DiscoveredServer) -> Result<Url, BrowserError> {
    let url = Url::parse(&found.url)
        .ok()
        .filter(|_| found.url.len() <= MAX_URL_BYTES);
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or(RegistrationFault::InvalidAddress)?;
    if found.name.chars().count() > MAX_NAME_CHARS || found.hash.len() > MAX_HASH_BYTES {
        return Err(RegistrationFault::NameTooLong.into());
    }
    Ok(url)
}

/// Whether the tools of a server are short enough to be parsed.
pub(super) fn tools(tools: &DiscoveredTools) -> Result<(), BrowserError> {
    let length: usize = match tools {
        DiscoveredTools::Openapi { document, .. } => document.len(),
        DiscoveredTools::Mcp { tools } => tools.iter().map(|tool| tool.to_string().len()).sum(),
    };
    if length > MAX_TOOLS_BYTES {
        return Err(RegistrationFault::tools_too_long().into());
    }
    Ok(())
}
