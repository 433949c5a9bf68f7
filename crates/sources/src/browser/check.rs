//! Whether a page of ours could have said it. The errors are sentences.

use url::Url;

use super::wire::{Found, Offered, Registration};

pub(super) const MAX_TITLE: usize = 120;

/// Of one browser.
pub(super) const MAX_SERVERS: usize = 64;
/// In one frame: what is more than may be taken in is told one by one.
const MAX_TOLD: usize = 1_000;
const MAX_CALLS: usize = 256;
const MAX_URL: usize = 2_048;
const MAX_NAME: usize = 128;
const MAX_HASH: usize = 128;
/// Of what one server offers.
const MAX_OFFERED: usize = 8 * 1024 * 1024;

pub(super) fn registration(registration: &Registration) -> Result<(), String> {
    let is_id = |id: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (8..=64).contains(&id.len()) && id.chars().all(is_allowed)
    };
    if !is_id(&registration.device.id) || !is_id(&registration.page) {
        return Err("A device and a page have ids of 8 to 64 letters, digits and dashes.".into());
    }
    let counts = [
        registration.servers.len() <= MAX_TOLD,
        registration.looking.len() <= MAX_TOLD,
        registration.calls.len() <= MAX_CALLS,
    ];
    match counts.iter().all(|is_fine| *is_fine) {
        true => Ok(()),
        false => Err("This browser offers more than Tenon takes in. Switch off some of the addresses it looks at.".into()),
    }
}

/// The address that was enabled, where all is well with it.
pub(super) fn found(found: &Found) -> Result<Url, String> {
    let url = Url::parse(&found.url)
        .ok()
        .filter(|_| found.url.len() <= MAX_URL);
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or("The address of a server begins with http:// or https://.")?;
    if found.name.chars().count() > MAX_NAME || found.hash.len() > MAX_HASH {
        return Err("The name or the hash of a server is too long.".into());
    }
    Ok(url)
}

/// Whether it is short enough to be read at all.
pub(super) fn offered(offered: &Offered) -> Result<(), String> {
    let length: usize = match offered {
        Offered::Openapi { document, .. } => document.len(),
        Offered::Mcp { tools } => tools.iter().map(|tool| tool.to_string().len()).sum(),
    };
    match length <= MAX_OFFERED {
        true => Ok(()),
        false => Err(format!(
            "What it offers is longer than {} MiB.",
            MAX_OFFERED / 1024 / 1024
        )),
    }
}
