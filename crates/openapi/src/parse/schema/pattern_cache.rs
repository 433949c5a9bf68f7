//! Which regular expressions of a document can be used. Trying one takes time, so that there
//! is a budget for all of them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use tenon_schema::pattern;

/// What all patterns of a document may cost to be tried: about a second.
const MAX_PATTERN_COST: usize = 1_000_000;

pub(super) struct PatternCache {
    known: RefCell<HashMap<String, bool>>,
    cost_left: Cell<usize>,
}

impl Default for PatternCache {
    fn default() -> Self {
        Self {
            known: RefCell::default(),
            cost_left: Cell::new(MAX_PATTERN_COST),
        }
    }
}

impl PatternCache {
    pub(super) fn is_pattern(&self, pattern: &str) -> bool {
        let Some(cost) = pattern::cost(pattern) else {
            return false;
        };
        let mut known = self.known.borrow_mut();
        if let Some(known) = known.get(pattern) {
            return *known;
        }
        let Some(left) = self.cost_left.get().checked_sub(cost) else {
            return false;
        };
        self.cost_left.set(left);
        let is_pattern = pattern::is_regex(pattern);
        known.insert(pattern.to_owned(), is_pattern);
        is_pattern
    }
}
