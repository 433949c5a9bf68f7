//! The stored [`ToolId`] of each tool: assigned once, never changed.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use tenon_domain::{SourceId, SourceInfo, ToolId, UserId, tool_id};

use crate::Error;

/// Assigns and stores ids. An implementation stores an id before it returns it, and returns the
/// same one for the same (source, name) every time, and unique in all that any one user can see.
#[async_trait]
pub trait ToolIdStore: Send + Sync {
    /// The ids of these tools of a source, in the order of the names.
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error>;
}

/// Keeps ids in memory: for tests and benchmarks.
#[derive(Debug, Default)]
pub struct MemoryToolIdStore {
    assigned: Mutex<HashMap<(SourceId, String), AssignedId>>,
}

#[derive(Debug)]
struct AssignedId {
    owner: Option<UserId>,
    id: ToolId,
}

#[async_trait]
impl ToolIdStore for MemoryToolIdStore {
    async fn ids(&self, source: &SourceInfo, names: &[&str]) -> Result<Vec<ToolId>, Error> {
        let mut assigned = self.assigned.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |name: &str| (source.id.clone(), name.to_owned());
        // A shared source is seen by all, so its ids must differ from everybody's.
        let mut taken: HashSet<ToolId> = assigned
            .values()
            .filter(|known| {
                source.owner.is_none() || known.owner.is_none() || known.owner == source.owner
            })
            .map(|assigned| assigned.id.clone())
            .collect();
        let new: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !assigned.contains_key(&key(name)))
            .collect();
        for (name, id) in new.iter().zip(tool_id::give(source, &new, &mut taken)) {
            assigned.insert(
                key(name),
                AssignedId {
                    owner: source.owner.clone(),
                    id,
                },
            );
        }
        Ok(names
            .iter()
            .map(|name| assigned[&key(name)].id.clone())
            .collect())
    }
}
