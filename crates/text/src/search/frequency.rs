//! How much a word says: what people say in every sentence says little of what they want.
//!
//! Rarity in an index does not tell: few tools have "went" or "something" in their descriptions,
//! and yet neither asks for those that have it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::meaning;
use super::stemmer::stem;

/// Words of everyday English, the most frequent first.
const FREQUENT_WORDS: &str = include_str!("frequent_words.txt");

/// The place in the list of a word that counts half.
const HALF_WEIGHT_RANK: f32 = 150.0;

/// The places of stems in the list: of their most frequent forms.
static RANKS: LazyLock<HashMap<String, u16>> = LazyLock::new(|| {
    let mut ranks = HashMap::new();
    let words = meaning::entries(FREQUENT_WORDS).flat_map(str::split_whitespace);
    for (rank, word) in (1..).zip(words) {
        ranks.entry(stem(word)).or_insert(rank);
    }
    ranks
});

/// What a stem in a request counts, up to 1.
pub(super) fn weight(stem: &str) -> f32 {
    RANKS.get(stem).map_or(1.0, |rank| {
        let rank = f32::from(*rank);
        rank / (rank + HALF_WEIGHT_RANK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_every_sentence_says_less() {
        let weights = ["people", "problem", "invoice"].map(|word| weight(&stem(word)));
        assert!(weights.is_sorted(), "{weights:?}");
        assert!(weights[0] < 0.5 && weights[2] == 1.0, "{weights:?}");
    }
}
