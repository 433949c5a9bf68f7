//! Notices a text that has become the same few words, over and over.

/// How much of the end has to be one repeated piece. A ruler or a row of zeros is shorter.
const REPEATED_BYTES: usize = 600;

/// The longest piece that is looked for.
const MAX_PIECE_BYTES: usize = 64;

/// How often it is looked for, in bytes.
const CHECK_INTERVAL: usize = 128;

/// Whether a text ends in a repetition, now that this many bytes were added to it.
pub(super) fn grew_repetitive(text: &str, added: usize) -> bool {
    let before = text.len().saturating_sub(added);
    if before / CHECK_INTERVAL == text.len() / CHECK_INTERVAL {
        return false;
    }
    text.len()
        .checked_sub(REPEATED_BYTES)
        .is_some_and(|start| period(&text.as_bytes()[start..]) <= MAX_PIECE_BYTES)
}

/// The length of the shortest piece whose repetition is this text: its length without its longest
/// border, by the failure function of Knuth, Morris and Pratt.
fn period(text: &[u8]) -> usize {
    let mut borders = vec![0; text.len()];
    let mut border = 0;
    for at in 1..text.len() {
        while border > 0 && text[at] != text[border] {
            border = borders[border - 1];
        }
        if text[at] == text[border] {
            border += 1;
        }
        borders[at] = border;
    }
    text.len() - borders.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_words_over_and_over_are_a_repetition() {
        let check = |text: &str, expected: bool| {
            assert_eq!(grew_repetitive(text, text.len()), expected, "{text}");
        };
        check(&format!("A joke: {}", "async".repeat(200)), true);
        check(&"哈".repeat(300), true);
        check(
            &"I am sorry, I cannot say more than that. ".repeat(30),
            true,
        );
        check(&"0".repeat(599), false);
        check(&format!("{}.", "async".repeat(200)), false);
        let numbers: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        check(&numbers.join(", "), false);
        let table = "| a sentence that differs in length from row to row, and is long enough |\n";
        check(&table.repeat(10), false);
        // Not with every byte.
        assert!(!grew_repetitive(&"a".repeat(CHECK_INTERVAL * 8 + 2), 1));
    }
}
