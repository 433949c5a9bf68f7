//! The hub: one trait for what offers tools, one registry that owns them all,
//! one toolset per turn, and one road every call takes.
//!
//! Whoever asks — a model, an API client, a shell — asks through
//! [`Toolset::call`], or through its two halves, [`Toolset::prepare`] and
//! [`Ready::run`], where a person can be asked in between. If you are writing a second road, stop.

pub mod attendant;
pub mod prepared;
pub mod registry;
pub mod source;
pub mod toolset;

pub mod ids;
pub mod quota;
pub mod shelf;

mod addresses;
mod cap;
mod free_space;
mod guests;
mod validate;

pub use attendant::{Attendant, Nobody, Progress, Pulse};
pub use free_space::{FreeSpace, NoSpace};
pub use guests::Guests;
pub use ids::{IdBook, MemoryIdBook};
pub use prepared::{Prepared, Question, Ready};
pub use quota::{Belongings, OverQuota, Quota, QuotaLimits};
pub use registry::{Connection, Registry, SourceStatus, Tool};
pub use shelf::{MemoryShelf, Shelf};
pub use source::{Asker, CallContext, Errand, ToolSource};
pub use toolset::{Limits, Toolset};
pub use validate::is_pattern;

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
