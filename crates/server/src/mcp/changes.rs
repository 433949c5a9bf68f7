//! Change notifications for an MCP client: the lists of its user, and resources it subscribed to.

use std::collections::VecDeque;

use futures::stream::{self, BoxStream, StreamExt};
use tenon_app::app::App;
use tenon_app::user_feed::{UserEvent, UserSubscription, UserTopic};
use tenon_mcp::server::ServerChange;

use super::hub_caller::{HubCaller, ToolsMode};
use super::tool_listings::SeenTools;
use crate::mcp_context::{ContextChanges, McpContext};

/// From now on. The feed throttles and coalesces; a change that a client would not see is dropped.
pub(super) fn changes(app: App, caller: HubCaller) -> BoxStream<'static, ServerChange> {
    let feed = app.user_feed.subscribe(caller.user());
    let hub = HubChanges {
        app,
        caller,
        feed,
        tools: None,
        context: ContextChanges::default(),
        pending: VecDeque::new(),
    };
    stream::unfold(hub, |mut hub| async move { Some((hub.next().await, hub)) }).boxed()
}

struct HubChanges {
    app: App,
    caller: HubCaller,
    feed: UserSubscription,
    /// What the client can have seen. None: not read yet.
    tools: Option<SeenTools>,
    context: ContextChanges,
    pending: VecDeque<ServerChange>,
}

impl HubChanges {
    async fn next(&mut self) -> ServerChange {
        if self.tools.is_none() {
            self.refresh().await;
            self.pending.clear();
        }
        loop {
            if let Some(change) = self.pending.pop_front() {
                return change;
            }
            tokio::select! {
                event = self.feed.next() => match event {
                    UserEvent::Source(_)
                    | UserEvent::Changed(
                        UserTopic::Tools | UserTopic::Sources | UserTopic::Experts | UserTopic::Skills,
                    )
                    | UserEvent::Resync => self.refresh().await,
                    UserEvent::Chat(_)
                    | UserEvent::ChatGone(_)
                    | UserEvent::Changed(
                        UserTopic::Models | UserTopic::Accounts | UserTopic::Settings,
                    ) => {}
                },
                Some(change) = self.context.next() => return change,
            }
        }
    }

    /// Compares the current lists with those the client has seen.
    async fn refresh(&mut self) {
        let access = match self.caller.access(&self.app).await {
            Ok(access) => access,
            Err(error) => {
                tracing::warn!(%error, "the tools of an MCP client cannot be read");
                return;
            }
        };
        let toolset = self.app.registry.toolset(access);
        let tools = match self.caller.mode() {
            ToolsMode::All => toolset.callable_now(),
            // In search mode the list is always the same three tools.
            ToolsMode::Search => Vec::new(),
        };
        if self.tools.as_ref().is_none_or(|seen| !seen.are(&tools)) {
            self.tools = Some(SeenTools::new(&tools));
            self.pending.push_back(ServerChange::Tools);
        }
        if self
            .context
            .follow(&McpContext::of_all(&toolset.context_sources()))
        {
            self.pending
                .extend([ServerChange::Resources, ServerChange::Prompts]);
        }
    }
}
