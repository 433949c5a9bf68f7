//! The result of reading documents, and the difference to the previous reading.

use url::Url;

use super::document_set::DocumentUpdate;
use super::tools::OpenapiTools;
use crate::supervisor::{DocumentSummary, ToolChanges};

pub(super) struct DocumentReadResult {
    pub(super) merged: DocumentUpdate,
    pub(super) tools: OpenapiTools,
    pub(super) about: DocumentSummary,
    pub(super) change: ToolChanges,
}

impl DocumentReadResult {
    /// Takes its time: not for a thread that others wait for.
    pub(super) fn of(
        mut merged: DocumentUpdate,
        base_url: Option<&Url>,
        before: &OpenapiTools,
    ) -> Self {
        let tools = OpenapiTools::of(&merged.set, base_url);
        let notes = tools.without_server().into_iter();
        let notes = notes.chain(tools.other_hosts()).map(Into::into);
        merged.problems.extend(notes);
        merged.problems.extend(merged.set.notes());
        Self {
            about: DocumentSummary::of(&merged.set),
            change: tools.since(before),
            tools,
            merged,
        }
    }
}
