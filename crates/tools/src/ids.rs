//! The id book: which [`ToolId`] was given to which tool, for ever.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, ToolId, UserId, tool_id};

use crate::Error;

/// Keeps ids. An implementation owes its caller ids that are on record before
/// they are returned, the same for the same (source, name) every time, and
/// unique in all that any one user can see.
#[async_trait]
pub trait IdBook: Send + Sync {
    /// The ids of these tools of a source, in the order of the names.
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error>;
}

/// An id book that forgets: for tests and benchmarks.
#[derive(Debug, Default)]
pub struct MemoryIdBook {
    given: Mutex<HashMap<(SourceId, String), Given>>,
}

#[derive(Debug)]
struct Given {
    owner: Option<UserId>,
    id: ToolId,
}

#[async_trait]
impl IdBook for MemoryIdBook {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |name: &str| (source.id.clone(), name.to_owned());
        // A shared source is seen by all, so its ids must differ from everybody's.
        let mut taken: HashSet<ToolId> = given
            .values()
            .filter(|g| source.owner.is_none() || g.owner.is_none() || g.owner == source.owner)
            .map(|given| given.id.clone())
            .collect();
        let new: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !given.contains_key(&key(name)))
            .collect();
        for (name, id) in new.iter().zip(tool_id::give(source, &new, &mut taken)) {
            given.insert(
                key(name),
                Given {
                    owner: source.owner.clone(),
                    id,
                },
            );
        }
        Ok(names
            .iter()
            .map(|name| given[&key(name)].id.clone())
            .collect())
    }
}
