//! The pages of a list, which must come to an end.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::ToolListProblem;
use crate::jsonrpc::MAX_MESSAGE_BYTES;

/// All pages together: no more than one message may hold.
const MAX_LIST_BYTES: usize = MAX_MESSAGE_BYTES;

/// A cursor goes back as it came.
const MAX_CURSOR_BYTES: usize = 4 * 1024;

#[derive(Default)]
pub(crate) struct PageCursor {
    bytes: usize,
    hasher: RandomState,
    /// Of the cursors there were.
    hashes: HashSet<u64>,
}

impl PageCursor {
    pub(crate) fn add_page(&mut self, bytes: usize) -> Result<(), ToolListProblem> {
        self.bytes += bytes;
        if self.bytes > MAX_LIST_BYTES {
            return Err(ToolListProblem::TooManyBytes {
                megabytes: MAX_LIST_BYTES / (1024 * 1024),
            });
        }
        Ok(())
    }

    pub(crate) fn advance(&mut self, cursor: &str) -> Result<(), ToolListProblem> {
        if cursor.len() > MAX_CURSOR_BYTES {
            return Err(ToolListProblem::CursorTooLong);
        }
        if !self.hashes.insert(self.hasher.hash_one(cursor)) {
            return Err(ToolListProblem::CursorRepeated);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_bounds() {
        let mut pages = PageCursor::default();
        assert_eq!(pages.advance("a"), Ok(()));
        assert_eq!(pages.advance(&"b".repeat(4096)), Ok(()));
        assert_eq!(pages.advance("a"), Err(ToolListProblem::CursorRepeated));
        assert_eq!(
            pages.advance(&"c".repeat(4097)),
            Err(ToolListProblem::CursorTooLong)
        );
        assert_eq!(pages.add_page(20 * 1024 * 1024), Ok(()));
        assert_eq!(
            pages.add_page(20 * 1024 * 1024).unwrap_err().to_string(),
            "Its list of tools is longer than 32 MB. The rest is left out."
        );
    }
}
