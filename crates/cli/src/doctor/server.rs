//! A server that a page can use, and its tools.

use tenon_sources::browser::{BrowserError, DiscoveredTools, preview};
use url::Url;

use super::browser::Browser;
use super::problem::{DoctorProblem, ProblemKind};

/// Of the tools that are left out no more are told.
const MAX_NOTES: usize = 5;
const MAX_NOTE_CHARS: usize = 300;

#[derive(Debug, Default)]
pub(super) struct UsableServer {
    pub(super) tools: usize,
    /// What a person should know besides.
    pub(super) notes: Vec<DoctorProblem>,
}

impl Browser {
    /// What Tenon makes of the tools, with the code that it will use. The step is the one that
    /// read them.
    pub(super) fn preview_tools(
        &mut self,
        tools: DiscoveredTools,
        url: &Url,
        step: usize,
    ) -> Result<UsableServer, BrowserError> {
        let (tools, left_out) = preview(tools, url)?;
        let verdict = format!("lets it through: {}", count(tools.len()));
        self.log.note(step, true, &verdict);
        let shown = left_out.iter().take(MAX_NOTES);
        let shown = shown.map(|note| self.log.own.mask(note, MAX_NOTE_CHARS));
        let more = left_out.len().saturating_sub(MAX_NOTES);
        let more = (more > 0).then(|| format!("… and {more} more like these."));
        let notes = shown.chain(more);
        Ok(UsableServer {
            tools: tools.len(),
            notes: notes.map(|note| ProblemKind::BadSpec.with(note)).collect(),
        })
    }
}

/// "3 tools"
pub(super) fn count(tools: usize) -> String {
    match tools {
        0 => "no tools".to_owned(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    }
}
