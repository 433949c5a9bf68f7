//! What tools go without, each thing told once for all operations it concerns.

use std::collections::HashMap;

/// What anybody reads of it.
const MAX_NOTES: usize = 20;

/// Parameters that were left out, by why.
#[derive(Default)]
pub(super) struct ParameterNotes {
    lacks: Vec<DroppedParameter>,
    /// Where each reason is in the list.
    known: HashMap<String, usize>,
    /// Those beyond the last that is told.
    more: usize,
}

struct DroppedParameter {
    why: String,
    /// "GET /pets"
    first: String,
    operations: usize,
}

impl ParameterNotes {
    /// `why` goes on after "a parameter:", and is a sentence's end.
    pub(super) fn lacks_parameter(&mut self, operation: &str, why: String) {
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

    pub(super) fn sentences(self) -> Vec<String> {
        let sentence = |lack: DroppedParameter| {
            let DroppedParameter {
                why,
                first,
                operations,
            } = lack;
            match operations {
                1 => format!("{first} goes without a parameter: {why}"),
                count => {
                    format!("{count} operations, such as {first}, go without a parameter: {why}")
                }
            }
        };
        let mut sentences: Vec<String> = self.lacks.into_iter().map(sentence).collect();
        if self.more > 0 {
            let more = self.more;
            sentences.push(format!("{more} more parameters could not be read."));
        }
        sentences
    }
}

/// What people are told about schemas that are in other files.
pub(super) fn unread_schemas(places: &[String]) -> Option<String> {
    match places {
        [] => None,
        [place] => Some(format!(
            "What a part of an input is like is not known: it is in another document \
             (`{place}`), which is not read."
        )),
        [first, ..] => Some(format!(
            "What {} parts of inputs are like is not known: it is in other documents, which are \
             not read, such as `{first}`.",
            places.len()
        )),
    }
}
