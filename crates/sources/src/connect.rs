//! From configuration to sources.

use std::sync::Arc;

use tenon_domain::SourceConfig;
use tenon_tools::{Shelf, ToolSource};

use crate::builtin;

/// The sources a configuration stands for, ready to be taken into the registry.
pub fn connect(config: &SourceConfig, shelf: &Arc<dyn Shelf>) -> Vec<Arc<dyn ToolSource>> {
    match config {
        SourceConfig::Builtin(config) => builtin::sources(config, shelf.clone()),
    }
}
