//! Words that no document has: misspelt, or written together where tools have them apart.

use super::index::SearchIndex;

/// Shorter words are too near to too many others.
const MIN_CHARS: usize = 5;

/// The terms that documents have instead of one that none has.
pub(super) fn corrections(indexes: &[&SearchIndex], term: &str) -> Vec<String> {
    if term.len() < MIN_CHARS || !term.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    parts(indexes, term)
        .or_else(|| nearest(indexes, term).map(|near| vec![near]))
        .unwrap_or_default()
}

/// "daemonset" as "daemon" and "set".
fn parts(indexes: &[&SearchIndex], term: &str) -> Option<Vec<String>> {
    let is_known = |term: &str| indexes.iter().any(|index| !index.postings(term).is_empty());
    let ends = 3..term.len().saturating_sub(2);
    let known = ends.map(|end| term.split_at(end));
    let known = known
        .into_iter()
        .find(|(left, right)| is_known(left) && is_known(right));
    known.map(|(left, right)| vec![left.to_owned(), right.to_owned()])
}

/// The most frequent term that is one slip of a finger away. People get the first letter right.
fn nearest(indexes: &[&SearchIndex], term: &str) -> Option<String> {
    let candidates = indexes
        .iter()
        .flat_map(|index| index.terms_with_prefix(&term[..1]));
    let near = candidates.filter(|(other, _)| is_near(term.as_bytes(), other.as_bytes()));
    let mut near: Vec<(&str, usize)> = near.collect();
    near.sort_unstable();
    let mut best: Option<(usize, &str)> = None;
    for same in near.chunk_by(|left, right| left.0 == right.0) {
        let having = same.iter().map(|(_, having)| having).sum();
        if best.is_none_or(|(most, _)| having > most) {
            best = Some((having, same[0].0));
        }
    }
    best.map(|(_, term)| term.to_owned())
}

/// Whether one letter was added, left out, replaced, or exchanged with its neighbour.
fn is_near(left: &[u8], right: &[u8]) -> bool {
    if left.len().abs_diff(right.len()) > 1 {
        return false;
    }
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[same..], &right[same..]);
    match (left, right) {
        ([], _) | (_, []) => true,
        ([a, left_rest @ ..], [b, right_rest @ ..]) => {
            left_rest == right_rest
                || left == right_rest
                || left_rest == right
                || (left_rest.first() == Some(b)
                    && right_rest.first() == Some(a)
                    && left_rest[1..] == right_rest[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_a_finger_is_near() {
        let check = |left: &str, right: &str, expected: bool| {
            assert_eq!(
                is_near(left.as_bytes(), right.as_bytes()),
                expected,
                "{left} {right}"
            );
        };
        check("branch", "brnch", true);
        check("brnch", "branch", true);
        check("branch", "brnach", true);
        check("branch", "branhc", true);
        check("branch", "brandh", true);
        check("branch", "branc", true);
        check("branch", "bracnh", true);
        check("branch", "brunhc", false);
        check("branch", "bran", false);
    }
}
