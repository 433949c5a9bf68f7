//! The processes below another one, as `/proc` lists them.

use std::fmt::Display;

/// More than that need not be known.
const MAX_FOUND: usize = 1_000;

/// All that are below a process. None: this system does not say.
pub(crate) fn descendants(process: u32) -> Option<Vec<u32>> {
    let mut found = children(process)?;
    let mut seen = 0;
    while let Some(parent) = found.get(seen).copied()
        && found.len() <= MAX_FOUND
    {
        // One that has ended meanwhile has none.
        found.extend(children(parent).unwrap_or_default());
        seen += 1;
    }
    Some(found)
}

/// Those of all threads of a process. One that has just ended has none.
pub(crate) fn children(process: impl Display) -> Option<Vec<u32>> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return Some(Vec::new());
    };
    let mut children = Vec::new();
    for thread in threads.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                let ids = list.split_whitespace();
                children.extend(ids.filter_map(|id| id.parse::<u32>().ok()));
            }
            // The thread has ended, or the kernel was built without this list.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}
