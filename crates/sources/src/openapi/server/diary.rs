//! What stands in a server's log about what it offers.

use super::offer::{About, Change, Offer};
use crate::logs::Logs;

/// How many names of a kind are written out.
const NAMED: usize = 20;

/// `change` is what is different from before, if there was anything before.
pub(super) fn tell(logs: &Logs, offer: &Offer, about: &About, change: Option<&Change>) {
    let behind = match about.servers.len() {
        0 => String::new(),
        count => format!(" of {count} servers behind it"),
    };
    logs.note(format!("It offers {} tools{behind}.", offer.len()));
    if offer.cut {
        logs.note("It has more tools than are listed.");
    }
    if let Some(change) = change {
        for (what, names) in [
            ("New", &change.added),
            ("Gone", &change.removed),
            ("Changed", &change.changed),
        ] {
            if !names.is_empty() {
                let more = if names.len() > NAMED { ", …" } else { "" };
                let named: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
                logs.note(format!("{what}: {}{more}.", named.join(", ")));
            }
        }
    }
    for skipped in about.skipped.iter().take(NAMED) {
        logs.note(format!("Not offered: {}. {}", skipped.place, skipped.why));
    }
    if about.skipped.len() > NAMED {
        let more = about.skipped.len() - NAMED;
        logs.note(format!("{more} more operations are not offered."));
    }
}
