//! Many small values in few messages.

use serde::Serialize;

/// The items as JSON arrays of at most so many bytes; one that is longer by itself has its own.
pub fn json_batches<T: Serialize>(
    items: impl IntoIterator<Item = T>,
    max_bytes: usize,
) -> impl Iterator<Item = Vec<u8>> {
    let mut items = items
        .into_iter()
        .filter_map(|item| serde_json::to_vec(&item).ok())
        .peekable();
    std::iter::from_fn(move || {
        let mut batch = items.next()?;
        batch.insert(0, b'[');
        while let Some(item) = items.next_if(|item| batch.len() + item.len() + 2 <= max_bytes) {
            batch.push(b',');
            batch.extend(item);
        }
        batch.push(b']');
        Some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_an_array_that_is_no_longer_than_it_may_be() {
        let check = |items: &[&str], expected: &[&str]| {
            let batches = json_batches(items, 10).map(|batch| String::from_utf8(batch).unwrap());
            assert_eq!(batches.collect::<Vec<_>>(), expected, "{items:?}");
        };
        check(&[], &[]);
        check(&["a", "b"], &[r#"["a","b"]"#]);
        check(&["a", "bc", "d"], &[r#"["a","bc"]"#, r#"["d"]"#]);
        check(&["a", "bcd"], &[r#"["a"]"#, r#"["bcd"]"#]);
        check(
            &["longer than ten", "b"],
            &[r#"["longer than ten"]"#, r#"["b"]"#],
        );
    }
}
