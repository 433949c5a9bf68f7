//! What changes in the resources and prompts of the sources behind.

use std::sync::Arc;

use futures::stream::{BoxStream, SelectAll, StreamExt};
use tenon_mcp::server::ServerChange;
use tenon_tools::{ContextChange, ToolSource};

use super::McpContext;
use super::names::LabelledSource;

/// The changes of the sources it follows.
#[derive(Default)]
pub(crate) struct ContextChanges {
    sources: Vec<Arc<dyn ToolSource>>,
    streams: SelectAll<BoxStream<'static, ServerChange>>,
}

impl ContextChanges {
    /// Follows these from now on. True: they are others than before, so whatever was listed may be
    /// old.
    pub(crate) fn follow(&mut self, McpContext(sources): &McpContext) -> bool {
        let mut pairs = self.sources.iter().zip(sources);
        let is_same = self.sources.len() == sources.len()
            && pairs.all(|(before, now)| Arc::ptr_eq(before, &now.source));
        if is_same {
            return false;
        }
        self.sources = sources.iter().map(|of| of.source.clone()).collect();
        let streams = sources.iter().filter_map(|of| {
            let changes = of.source.context()?.changes();
            let of = of.clone();
            Some(changes.map(move |change| offered(&of, change)).boxed())
        });
        self.streams = streams.collect();
        true
    }

    /// None: nothing is followed.
    pub(crate) async fn next(&mut self) -> Option<ServerChange> {
        self.streams.next().await
    }
}

fn offered(of: &LabelledSource, change: ContextChange) -> ServerChange {
    match change {
        ContextChange::Resources => ServerChange::Resources,
        ContextChange::Prompts => ServerChange::Prompts,
        ContextChange::Resource(uri) => ServerChange::Resource(of.offered_uri(&uri)),
    }
}
