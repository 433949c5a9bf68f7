//! Where a client wants an answer to end: its `stop` sequences.
//!
//! Not every model can be told of them. What comes is held back as long as it may be
//! the beginning of one, and with the first whole one the answer is over.

/// The end of a text that may go on.
#[derive(Debug, Default)]
pub(super) struct StopSequences {
    sequences: Vec<String>,
    /// Text that may be the beginning of a stop sequence.
    held: String,
}

impl StopSequences {
    pub(super) fn new(sequences: Vec<String>) -> Self {
        Self {
            sequences,
            held: String::new(),
        }
    }

    /// The text that can be passed on now, and whether a stop sequence ended the answer.
    pub(super) fn next(&mut self, more: &str) -> (String, bool) {
        if self.sequences.is_empty() {
            return (more.to_owned(), false);
        }
        self.held.push_str(more);
        let found = self
            .sequences
            .iter()
            .filter_map(|one| self.held.find(one.as_str()));
        if let Some(at) = found.min() {
            self.held.truncate(at);
            return (std::mem::take(&mut self.held), true);
        }
        let beginning = |one: &String| {
            let longest = one.len().min(self.held.len());
            let lengths = (1..=longest).rev();
            lengths
                .filter(|length| one.is_char_boundary(*length))
                .find(|length| self.held.ends_with(&one[..*length]))
        };
        let kept = self.sequences.iter().filter_map(beginning).max();
        let rest = self
            .held
            .split_off(self.held.len() - kept.unwrap_or_default());
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// What was held back, as nothing comes any more.
    pub(super) fn rest(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sequences: &[&str], pieces: &[&str], expected: &[&str]) {
        let sequences = sequences.iter().map(|one| one.to_string()).collect();
        let mut stops = StopSequences::new(sequences);
        let mut passed = Vec::new();
        let mut is_over = false;
        for piece in pieces {
            let (text, over) = stops.next(piece);
            passed.push(text);
            if over {
                is_over = true;
                break;
            }
        }
        if !is_over {
            passed.push(stops.rest());
        }
        assert_eq!(
            passed,
            expected,
            "{sequences:?}",
            sequences = stops.sequences
        );
    }

    #[test]
    fn an_answer_ends_before_the_first_sequence() {
        check(&[], &["a", "b"], &["a", "b", ""]);
        check(&["END"], &["a END b"], &["a "]);
        check(&["END"], &["a E", "N", "D b", "c"], &["a ", "", ""]);
        check(&["END"], &["a E", "N", "X"], &["a ", "", "ENX", ""]);
        check(&["END"], &["a EEN", "D"], &["a E", ""]);
        check(&["END"], &["a EN"], &["a ", "EN"]);
        check(
            &["zz", "\nObservation:"],
            &["x\n", "Obs", "ervation: y"],
            &["x", "", ""],
        );
        check(&["zz", "b"], &["abzz"], &["a"]);
        check(&["é!"], &["caf", "é", "é!"], &["caf", "", "é"]);
    }
}
