//! Collects notes about skipped parts; each is reported once for all operations it concerns.

use std::collections::HashMap;

use crate::note::{DocumentNote, ParameterError};

/// What anybody reads of it.
const MAX_NOTES: usize = 20;

/// Parameters that were left out, by why.
#[derive(Default)]
pub(super) struct ParameterNotes {
    lacks: Vec<DroppedParameter>,
    /// Where each reason is in the list.
    known: HashMap<ParameterError, usize>,
    /// Those beyond the last that is told.
    more: usize,
}

struct DroppedParameter {
    why: ParameterError,
    /// "GET /pets"
    first: String,
    operations: usize,
}

impl ParameterNotes {
    pub(super) fn lacks_parameter(&mut self, operation: &str, why: ParameterError) {
        let count = self.lacks.len();
        let at = *self.known.get(&why).unwrap_or(&count);
        match self.lacks.get_mut(at) {
            Some(lack) => lack.operations += 1,
            None if count == MAX_NOTES => self.more += 1,
            None => {
                self.known.insert(why.clone(), count);
                self.lacks.push(DroppedParameter {
                    why,
                    first: operation.to_owned(),
                    operations: 1,
                });
            }
        }
    }

    pub(super) fn finish(self) -> Vec<DocumentNote> {
        let note = |lack: DroppedParameter| DocumentNote::ParameterDropped {
            first: lack.first,
            operations: lack.operations,
            why: lack.why,
        };
        let count = self.more;
        let more = (count > 0).then_some(DocumentNote::MoreParameters { count });
        self.lacks.into_iter().map(note).chain(more).collect()
    }
}

/// What people are told about schemas that are in other files.
pub(super) fn unread_schemas(places: &[String]) -> Option<DocumentNote> {
    let first = places.first()?.clone();
    let count = places.len();
    Some(DocumentNote::SchemasUnread { count, first })
}
