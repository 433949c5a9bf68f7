//! The trait of sources that offer resources and prompts beside tools, for clients that support
//! them. No tool is run here, so this is not part of the path of a call.

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde_json::{Map, Value};
use tenon_domain::ToolError;

/// Lists, reads and fills in. What it gives are objects of the Model Context Protocol, as their
/// server wrote them: no model of ours reads them.
#[async_trait]
pub trait ContextSource: Send + Sync {
    /// Lists the entries: from the server at first and after a change, otherwise from memory.
    async fn list(&self, kind: ContextKind) -> Result<Arc<[ContextEntry]>, ToolError>;

    /// The `contents` of a resource.
    async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, ToolError>;

    /// `messages`, and perhaps a `description`.
    async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolError>;

    /// The `completion` for params of `completion/complete`.
    async fn complete(&self, params: &Map<String, Value>) -> Result<Value, ToolError>;

    /// Has updates of a resource be part of `changes` while the guard is kept.
    fn watch_resource(&self, uri: &str) -> ResourceWatch;

    /// All changes from now on.
    fn changes(&self) -> BoxStream<'static, ContextChange>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextKind {
    Resources,
    ResourceTemplates,
    Prompts,
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextEntry {
    /// What it is asked for by: a URI, a URI template or a name.
    pub key: String,
    pub fields: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextChange {
    /// The list of resources or of templates.
    Resources,
    Prompts,
    /// What this resource says.
    Resource(String),
}

/// A resource is watched until this is dropped.
#[must_use = "the resource is no longer watched when this is dropped"]
pub struct ResourceWatch(Option<Box<dyn FnOnce() + Send + Sync>>);

impl ResourceWatch {
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(end)))
    }
}

impl Drop for ResourceWatch {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl std::fmt::Debug for ResourceWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResourceWatch")
    }
}
