//! What tools go without, each thing told once for all operations it concerns.

use std::collections::HashMap;
use std::fmt;

use super::operation_error::ParameterError;

/// What anybody reads of it.
const MAX_NOTES: usize = 20;

/// A part of inputs that could not be read. Displayed, a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentNote {
    /// An optional parameter of so many operations; the first is "GET /pets".
    ParameterDropped {
        first: String,
        operations: usize,
        why: ParameterError,
    },
    /// Those beyond the last that is told.
    MoreParameters { count: usize },
    /// Schemas in other documents, the first at this place.
    SchemasUnread { count: usize, first: String },
}

impl fmt::Display for DocumentNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParameterDropped {
                first,
                operations: 1,
                why,
            } => write!(f, "{first} goes without a parameter: {why}"),
            Self::ParameterDropped {
                first,
                operations,
                why,
            } => write!(
                f,
                "{operations} operations, such as {first}, go without a parameter: {why}"
            ),
            Self::MoreParameters { count } => {
                write!(f, "{count} more parameters could not be read.")
            }
            Self::SchemasUnread { count: 1, first } => write!(
                f,
                "What a part of an input is like is not known: it is in another document \
                 (`{first}`), which is not read."
            ),
            Self::SchemasUnread { count, first } => write!(
                f,
                "What {count} parts of inputs are like is not known: it is in other documents, \
                 which are not read, such as `{first}`."
            ),
        }
    }
}

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
