//! English words that mean the same, and what people say for what tools call otherwise.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::meaning::{self, Meaning};
use super::stemmer::stem;

/// Groups of words, one in a line; or what tools call something, a colon, and what people say for
/// it.
const SYNONYMS: &str = include_str!("synonyms.txt");

/// The other words of the groups that a stem is in.
static GROUPS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    let lines = meaning::entries(SYNONYMS).filter(|line| !line.contains(':'));
    for line in lines {
        let stems: Vec<String> = line.split_whitespace().map(stem).collect();
        for one in &stems {
            let others = groups.entry(one.clone()).or_default();
            let more = stems.iter().filter(|other| *other != one);
            others.extend(more.cloned());
        }
    }
    groups
});

/// Phrases by the stem of their first word, the longest first.
static PHRASES: LazyLock<HashMap<String, Vec<Phrase>>> = LazyLock::new(|| {
    let mut meanings: HashMap<Vec<String>, Meaning> = HashMap::new();
    let entries = meaning::entries(SYNONYMS).filter_map(|line| line.split_once(':'));
    for (english, phrases) in entries {
        for phrase in phrases.split(',') {
            let stems: Vec<String> = phrase.split_whitespace().map(stem).collect();
            meaning::extend(meanings.entry(stems).or_default(), english);
        }
    }
    let mut phrases: HashMap<String, Vec<Phrase>> = HashMap::new();
    for (stems, meaning) in meanings {
        let Some(first) = stems.first() else { continue };
        let of_first = phrases.entry(first.clone()).or_default();
        of_first.push(Phrase { stems, meaning });
    }
    for phrases in phrases.values_mut() {
        phrases.sort_by_key(|phrase| Reverse(phrase.stems.len()));
    }
    phrases
});

/// Words of a request that together ask for something.
#[derive(Debug)]
pub(super) struct Phrase {
    pub stems: Vec<String>,
    pub meaning: Meaning,
}

/// Stems that mean the same as another.
pub(super) fn synonyms(stem: &str) -> &'static [String] {
    GROUPS.get(stem).map_or(&[], Vec::as_slice)
}

/// The longest phrase that a request begins with, by its stems.
pub(super) fn phrase<'a>(stems: impl Iterator<Item = &'a str> + Clone) -> Option<&'static Phrase> {
    let candidates = PHRASES.get(stems.clone().next()?)?;
    candidates.iter().find(|phrase| {
        let mut stems = stems.clone();
        phrase.stems.iter().all(|one| stems.next() == Some(one))
    })
}

/// Particles that may be separated from their verb: "turn the lights off".
const PARTICLES: [&str; 10] = [
    "again", "away", "back", "down", "in", "off", "on", "out", "over", "up",
];
/// How many words may stand between a verb and its particle.
const MAX_WORDS_BETWEEN: usize = 4;

/// The verb with a particle that a request begins with, where other words stand between the two.
pub(super) fn separated_phrase<'a>(
    mut stems: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'static Phrase> {
    let candidates = PHRASES.get(stems.next()?)?;
    candidates.iter().find(|phrase| {
        let [_, particle] = phrase.stems.as_slice() else {
            return false;
        };
        let mut after = stems.clone().take(MAX_WORDS_BETWEEN + 1);
        PARTICLES.contains(&particle.as_str()) && after.any(|stem| stem == particle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_group_stand_for_each_other() {
        let check = |word: &str, other: &str| {
            assert!(
                synonyms(&stem(word)).contains(&stem(other)),
                "{word} {other}"
            );
        };
        check("remove", "delete");
        check("delete", "erase");
        check("pictures", "photo");
        check("bill", "invoice");
        assert!(synonyms("zebra").is_empty());
    }

    #[test]
    fn the_longest_phrase_is_found() {
        let found = |text: &str| phrase(text.split(' ')).map(|phrase| phrase.stems.join(" "));
        assert_eq!(found("get rid of it").as_deref(), Some("get rid of"));
        assert_eq!(found("k8s node").as_deref(), Some("k8s"));
        assert_eq!(found("zebra"), None);
    }

    #[test]
    fn a_verb_and_its_particle_may_stand_apart() {
        let found =
            |text: &str| separated_phrase(text.split(' ')).map(|found| found.stems.join(" "));
        assert_eq!(found("turn the lights off").as_deref(), Some("turn off"));
        assert_eq!(found("turn the lights"), None);
        assert_eq!(found("turn a b c d e off"), None);
    }
}
