//! How much memory a JSON text takes once it is parsed, told without parsing it.
//!
//! The shortest values take two bytes of text and up to a hundred times that in
//! memory. Whoever takes JSON from outside weighs it first, in one pass that keeps
//! nothing.

/// A value where it stands: in an array, or beside its key.
const VALUE_BYTES: usize = 72;

/// What an array or an object reserves for the first values in it.
const CONTAINER_BYTES: usize = 240;

/// A key, apart from its text.
const KEY_BYTES: usize = 40;

/// The least that the text of a string takes.
const STRING_BYTES: usize = 32;

/// About how many bytes a JSON text takes as a value. What is no JSON is weighed as
/// if it were.
pub fn parsed_bytes(text: &[u8]) -> usize {
    // All strings together are no longer than the text.
    let mut total = VALUE_BYTES + text.len();
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        total += match byte {
            b',' => VALUE_BYTES,
            b':' => KEY_BYTES,
            b'[' | b'{' => VALUE_BYTES + CONTAINER_BYTES,
            b'"' => {
                skip_string(&mut rest);
                STRING_BYTES
            }
            _ => 0,
        };
    }
    total
}

/// Goes on after the quote that ends a string.
fn skip_string(rest: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                rest.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_weigh_more_than_their_text_and_long_strings_do_not() {
        let check = |text: &str, at_least: usize, at_most: usize| {
            let weight = parsed_bytes(text.as_bytes());
            assert!(
                (at_least..=at_most).contains(&weight),
                "{weight}: {text:.40}"
            );
        };
        check("0", 72, 80);
        check("", 0, 80);
        check(&format!("[0{}]", ",0".repeat(999)), 72_000, 80_000);
        check(&format!("[[0]{}]", ",[0]".repeat(999)), 300_000, 400_000);
        check(
            &format!("[{{\"a\":0}}{}]", ",{\"a\":0}".repeat(999)),
            380_000,
            500_000,
        );
        check(&format!("\"{}\"", "x".repeat(100_000)), 100_000, 100_200);
        // What stands in a string is no value, whatever stands before its quotes.
        check(&format!("\"{}\"", ",[{\\\"".repeat(1_000)), 5_000, 5_200);
        check(r#""\\",0"#, 72, 300);
        // One that never ends is no JSON, and weighs no more.
        check("\"[[[[[[[[[[[[[[", 72, 200);
    }
}
