//! The tool hub: the trait of a source of tools, the registry that owns all sources, the
//! toolset of one turn, and the one path that every call takes.
//!
//! Every caller (a model, an API client, a shell) goes through [`Toolset::call`], or through its
//! two halves, [`Toolset::prepare`] and [`ReadyCall::run`], where a person can be asked in
//! between. There must be no second path: all policy is on this one.

pub mod call_client;
pub mod call_limits;
pub mod call_timer;
pub mod context_source;
pub mod embedding;
pub mod registry;
pub mod source;
pub mod toolset;

pub mod output_store;
pub mod quota;
pub mod search_text;
pub mod tool_ids;

mod addresses;
mod call_error;
mod call_metrics;
mod call_span;
mod cap;
mod catalog;
mod free_space;
mod request_tools;
mod tool_embeddings;
mod validate;

pub use call_client::{CallClient, NoClient, ProgressUpdate, RemoteReply};
pub use call_error::{ApprovalAdvice, CallError, InputProblem};
pub use call_limits::CallLimits;
pub use call_metrics::{CallStatistics, LATENCY_BOUNDS_US, SourceLabel};
pub use call_timer::{CallTimer, TimerPause};
pub use catalog::{CatalogChange, Tool};
pub use context_source::{ContextChange, ContextEntry, ContextKind, ContextSource, ResourceWatch};
pub use embedding::{Embedder, EmbedderError, Embedding};
pub use free_space::{FreeSpace, NoSpace};
pub use output_store::{MemoryOutputStore, OutputStore};
pub use quota::{OverQuota, Quota, QuotaLimits, StorageInventory};
pub use registry::{Connection, Registry, SourceCount, SourceStatus};
pub use request_tools::RequestTools;
pub use search_text::search_fields;
pub use source::{CallContext, CallOrigin, Relevance, ToolSource};
pub use tool_ids::{MemoryToolIdStore, ToolIdStore};
pub use toolset::{
    CallableStamp, OfferLimits, OfferSize, PreparedCall, ReadyCall, TOOL_CALL, TOOL_DESCRIBE,
    TOOL_SEARCH, ToolOffer, Toolset, UnapprovedCall,
};

/// Why the hub could not do its own work. What goes wrong in a tool is a
/// [`tenon_domain::ToolError`] instead.
#[derive(Debug)]
pub struct Error(pub Box<dyn std::error::Error + Send + Sync>);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
