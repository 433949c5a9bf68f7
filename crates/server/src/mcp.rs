//! The hub as an MCP server: what a user can call is offered to MCP clients that show a key of
//! theirs.

mod changes;
mod hub_caller;
mod hub_service;
mod output;
mod server_prompts;
mod tool_listings;

pub use hub_caller::{HubCaller, ToolsMode};
pub use hub_service::HubService;
pub(crate) use server_prompts::{fill_prompt, server_prompts};

use std::io;

use tenon_app::app::App;
use tenon_mcp::server::{McpEndpoint, ServerIdentity, ServerOptions};
use tokio::io::{AsyncRead, AsyncWrite};

/// The hub, for requests of any transport. The transport checks hosts and origins.
pub(crate) fn hub(app: App) -> McpEndpoint<HubService> {
    let identity = ServerIdentity {
        name: "tenon".into(),
        title: "Tenon".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    McpEndpoint::new(HubService::new(app), &identity, ServerOptions::default())
}

/// Serves MCP on standard input and output, until the client closes them.
pub async fn serve_stdio(
    app: App,
    caller: HubCaller,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    hub(app).serve_stdio(input, output, caller).await
}
