//! Whether a list of callable tools has to be made anew.

use std::sync::{Arc, Weak};

use tenon_domain::{ToolFilter, ToolSettings};

use super::Toolset;
use crate::catalog::Catalog;

/// What [`Toolset::callable_now`] depends on, for one caller: with equal stamps it gives the same.
#[derive(Debug)]
pub struct CallableStamp {
    /// Weak, so that nobody keeps sources alive that have left. No other catalog gets its address.
    catalog: Weak<Catalog>,
    settings: Option<Arc<ToolSettings>>,
    filter: Option<Arc<ToolFilter>>,
    /// Which of the sources can be called.
    available: Vec<bool>,
}

impl Toolset {
    pub fn callable_stamp(&self) -> CallableStamp {
        let sources = self.catalog.connected.values();
        CallableStamp {
            catalog: Arc::downgrade(&self.catalog),
            settings: self.access.settings.clone(),
            filter: self.access.filter.clone(),
            available: sources
                .map(|connected| connected.source.can_be_called())
                .collect(),
        }
    }
}

impl PartialEq for CallableStamp {
    fn eq(&self, other: &Self) -> bool {
        let settings = match (&self.settings, &other.settings) {
            (Some(these), Some(those)) => Arc::ptr_eq(these, those),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        settings
            && self.filter == other.filter
            && self.catalog.ptr_eq(&other.catalog)
            && self.available == other.available
    }
}
