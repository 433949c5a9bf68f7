//! The way from page to page of a list, which must come to an end.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::super::message::MAX_MESSAGE;

/// All pages together. More than one message may hold nobody has to offer.
const MAX_BYTES: usize = MAX_MESSAGE;

/// A cursor goes back as it came.
const MAX_CURSOR: usize = 4 * 1024;

#[derive(Default)]
pub(super) struct Way {
    bytes: usize,
    hasher: RandomState,
    /// Of the cursors there were.
    hashes: HashSet<u64>,
}

impl Way {
    /// The error is the problem with a page of this size.
    pub(super) fn weigh(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        match self.bytes > MAX_BYTES {
            true => Err(format!(
                "Its list of tools is longer than {} MB. The rest is left out.",
                MAX_BYTES / (1024 * 1024)
            )),
            false => Ok(()),
        }
    }

    /// The error is the problem with a page at this cursor.
    pub(super) fn turn(&mut self, cursor: &str) -> Result<(), String> {
        if cursor.len() > MAX_CURSOR {
            return Err(
                "Its list of tools goes on at a cursor that is too long. The rest is left out."
                    .into(),
            );
        }
        match self.hashes.insert(self.hasher.hash_one(cursor)) {
            true => Ok(()),
            false => Err("It lists its tools in a circle. The list may not be complete.".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_page_to_page_has_bounds() {
        let mut way = Way::default();
        assert_eq!(way.turn("a"), Ok(()));
        assert_eq!(way.turn(&"b".repeat(4096)), Ok(()));
        assert!(way.turn("a").unwrap_err().contains("in a circle"));
        assert!(
            way.turn(&"c".repeat(4097))
                .unwrap_err()
                .contains("too long")
        );
        assert_eq!(way.weigh(20 * 1024 * 1024), Ok(()));
        assert_eq!(
            way.weigh(20 * 1024 * 1024).unwrap_err(),
            "Its list of tools is longer than 32 MB. The rest is left out."
        );
    }
}
