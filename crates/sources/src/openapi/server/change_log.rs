//! Writes to the log of a server which tools it has, and what changed.

use super::tools::OpenapiTools;
use crate::logs::Logs;
use crate::supervisor::{DocumentSummary, ToolChanges};

/// How many names of a kind are written out.
const MAX_NAMED: usize = 20;

/// `change` is what is different from before, if there was anything before.
pub(super) fn log_changes(
    logs: &Logs,
    tools: &OpenapiTools,
    about: &DocumentSummary,
    change: Option<&ToolChanges>,
) {
    let behind = match about.servers.len() {
        0 => String::new(),
        count => format!(" of {count} servers behind it"),
    };
    logs.note(format!("It offers {} tools{behind}.", tools.len()));
    if tools.cut {
        logs.note("It has more tools than are listed.");
    }
    if let Some(change) = change {
        for (what, names) in [
            ("New", &change.added),
            ("Gone", &change.removed),
            ("Changed", &change.changed),
        ] {
            if !names.is_empty() {
                let more = if names.len() > MAX_NAMED { ", …" } else { "" };
                let named: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
                logs.note(format!("{what}: {}{more}.", named.join(", ")));
            }
        }
    }
    for skipped in about.skipped.iter().take(MAX_NAMED) {
        logs.note(format!(
            "Not offered: {}. {}",
            skipped.operation, skipped.reason
        ));
    }
    if about.skipped.len() > MAX_NAMED {
        let more = about.skipped.len() - MAX_NAMED;
        logs.note(format!("{more} more operations are not offered."));
    }
}
