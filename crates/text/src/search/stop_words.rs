//! Words that say nothing about what is wanted.

/// In order.
const STOP_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "don", "for", "from", "had", "has", "have", "he", "hello", "her",
    "here", "hey", "hi", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "let", "ll", "m", "may", "me", "my", "not", "of", "off", "on", "or", "our", "please", "pls",
    "re", "s", "shall", "she", "should", "so", "some", "t", "than", "thanks", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "us", "ve", "was",
    "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with", "would",
    "you", "your",
];

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("calendar"));
    }
}
