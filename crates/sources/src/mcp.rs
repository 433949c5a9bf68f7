//! MCP servers as sources of tools: every transport, every era, never stuck.
//!
//! [`McpServer`] is what the registry holds: it outlives every connection. A
//! [`link::Link`] is one connection, from the first word to the last.
//!
//! The road of a call over a link: [`call`] asks, [`talk`] carries the question
//! over whatever wire there is ([`stdio`], [`http`], [`sse`]), [`board`] brings
//! the answer back to whoever waits for it, [`content`] reads it.
//!
//! The client is our own and not that of `rmcp`, which is used for its words and
//! for log-ins: a typed client loses a whole list to one bad tool and the answer
//! to a kind of content it does not know, takes bodies of any length, and costs
//! several times what the pipe below it does.

mod server;
mod settings;

mod backoff;
mod lister;
mod offer;
mod patience;
mod startup;
mod state;
mod supervise;
mod usage;
mod words;

mod link;

mod board;
mod era;
mod fault;
mod message;
mod talk;

mod guard;
mod lines;
mod outlet;
mod process;
mod stdio;

mod courier;
mod header;
mod http;
mod listen;
mod mirror;
mod site;
mod sse;

mod call;
mod content;
mod elicit;
mod list;
mod schema;
mod task;

pub mod oauth;

use crate::{logs, text};

pub(crate) use content::read as read_result;
pub(crate) use list::read as listed;

pub use crate::variables::{Fill, Unfilled};
pub use header::check_header;
pub use link::About;
pub use patience::Patience;
pub use server::McpServer;
pub use settings::{Settings, Start, Tokens};
pub use startup::{Startup, StartupStep};
pub use state::Status;
pub use words::public_part;
