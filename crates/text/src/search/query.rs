//! The words of a request, expanded.

use super::frequency;
use super::lexicon::meanings;
use super::meaning::Meaning;
use super::quotes::{file_names, quotes};
use super::stemmer::stem;
use super::stop_words::is_stop_word;
use super::synonyms::{Phrase, phrase, separated_phrase, synonyms};
use super::terms::for_each_term;
use super::traditional::simplified;
use crate::tokenizer::{Script, bigrams, runs};

/// How much of a request is read, from its beginning.
const MAX_QUERY_BYTES: usize = 4_000;

/// How many things one request can ask for: the first ones. A pasted page asks for none in
/// particular.
const MAX_CONCEPTS: usize = 96;

// What words count beside one that stands in the request itself. Chosen with the requests of
// tests/retrieval.

/// `Make a list called "Team lunch"` asks for lists: what is quoted is a value for the tool, and so
/// is the name of a file.
const VALUE_WEIGHT: f32 = 0.4;
/// Numbers are mostly values as well.
const NUMBER_WEIGHT: f32 = 0.6;
const SYNONYM_WEIGHT: f32 = 0.5;
/// A single word's meaning is a guess, so it weighs less than the word.
const WORD_MEANING_WEIGHT: f32 = 0.8;
/// A phrase as a whole weighs more than its single words.
const PHRASE_MEANING_WEIGHT: f32 = 1.0;
const WORD_OF_PHRASE_WEIGHT: f32 = 0.3;
/// A particle may belong to another verb.
const SEPARATED_PHRASE_WEIGHT: f32 = 0.6;
/// Weight of the later words of a multi-word translation.
const LATER_PLACE_WEIGHT: f32 = 0.8;
/// From each word for the same to the next: tables have the likeliest first.
const NEXT_RANK_WEIGHT: f32 = 0.8;
/// Two neighbouring characters, where nobody knows whether they are a word.
const BIGRAM_WEIGHT: f32 = 0.3;

/// The words of a request, expanded by stems, synonyms and translations, with weights.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchQuery {
    pub(super) concepts: Vec<Concept>,
}

/// One thing that is asked for, in all the words that mean it. A document has it by the best of
/// them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Concept {
    /// Whether its first alternative is a word of the request itself.
    pub is_written: bool,
    /// Never empty in a query.
    pub alternatives: Vec<Alternative>,
}

/// A term, and how surely it is what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Alternative {
    pub term: String,
    pub weight: f32,
}

/// A word of a request that is written with spaces.
struct RequestWord {
    text: String,
    stem: String,
    weight: f32,
}

impl SearchQuery {
    pub fn new(text: &str) -> Self {
        let text = &text[..text.floor_char_boundary(MAX_QUERY_BYTES)];
        let mut values = quotes(text);
        values.extend(file_names(text));
        let mut query = Self::default();
        let mut words = Vec::new();
        for run in runs(text) {
            let is_value = values.iter().any(|value| value.contains(&run.start));
            let weight = if is_value { VALUE_WEIGHT } else { 1.0 };
            match run.script {
                Script::Spaced => for_each_term(run.text, |term| {
                    words.push(RequestWord {
                        text: term.to_owned(),
                        stem: stem(term),
                        weight,
                    });
                }),
                Script::Unspaced => {
                    query.add_words(&std::mem::take(&mut words));
                    let letters = run.letters().map(|letter| simplified(letter.letter));
                    query.add_unspaced(&letters.collect::<Vec<char>>(), weight);
                }
            }
        }
        query.add_words(&words);
        query
    }

    fn add_words(&mut self, words: &[RequestWord]) {
        let mut rest = words;
        while let [first, after_first @ ..] = rest {
            let found = phrase(rest.iter().map(|word| word.stem.as_str()));
            match found {
                Some(found) if found.stems.len() > 1 => {
                    let (of_phrase, after_phrase) = rest.split_at(found.stems.len());
                    self.add_phrase(found, of_phrase);
                    rest = after_phrase;
                }
                Some(_) | None => {
                    let separated = separated_phrase(rest.iter().map(|word| word.stem.as_str()));
                    self.add_word(first, found.filter(|_| separated.is_none()));
                    if let Some(separated) = separated {
                        let weight = first.weight * SEPARATED_PHRASE_WEIGHT;
                        self.add_meaning(&separated.meaning, weight);
                    }
                    rest = after_first;
                }
            }
        }
        for two in words.windows(2) {
            if two.iter().all(|word| !is_stop_word(&word.text)) {
                let joined = format!("{}{}", two[0].text, two[1].stem);
                self.add_joined(&joined, two[0].weight);
            }
        }
    }

    fn add_word(&mut self, word: &RequestWord, meaning: Option<&Phrase>) {
        let mut concept = Concept::default();
        if !is_stop_word(&word.text) {
            let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
            let of_kind = if is_number { NUMBER_WEIGHT } else { 1.0 };
            concept.is_written = true;
            let weight = word.weight * of_kind;
            concept.add(&word.stem, weight * frequency::weight(&word.stem));
            concept.add_synonyms(&word.stem, weight);
        }
        for stems in meaning.iter().flat_map(|phrase| &phrase.meaning) {
            let weight = word.weight * WORD_MEANING_WEIGHT;
            for (stem, weight) in ranked(stems, weight) {
                concept.add(stem, weight);
            }
            self.push(std::mem::take(&mut concept));
        }
        self.push(concept);
    }

    fn add_phrase(&mut self, phrase: &Phrase, words: &[RequestWord]) {
        self.add_meaning(&phrase.meaning, words[0].weight * PHRASE_MEANING_WEIGHT);
        for word in words.iter().filter(|word| !is_stop_word(&word.text)) {
            let mut concept = Concept::default();
            concept.add_with_synonyms(&word.stem, word.weight * WORD_OF_PHRASE_WEIGHT);
            self.push(concept);
        }
    }

    /// Chinese is translated, as far as the lexicon goes, for tools that are described in English;
    /// for those that are not, and for Japanese and Korean, bigrams are compared.
    fn add_unspaced(&mut self, letters: &[char], weight: f32) {
        for meaning in meanings(&String::from_iter(letters)) {
            self.add_meaning(meaning, weight);
        }
        for term in bigrams(letters) {
            let mut concept = Concept::default();
            concept.add(&term, weight * BIGRAM_WEIGHT);
            self.push(concept);
        }
        if let [only] = letters {
            let mut concept = Concept::default();
            concept.add(&only.to_string(), weight * BIGRAM_WEIGHT);
            self.push(concept);
        }
    }

    fn add_meaning(&mut self, meaning: &Meaning, weight: f32) {
        for (place, stems) in meaning.iter().enumerate() {
            let of_place = if place == 0 { 1.0 } else { LATER_PLACE_WEIGHT };
            let mut concept = Concept::default();
            for (stem, weight) in ranked(stems, weight * of_place) {
                concept.add_with_synonyms(stem, weight);
            }
            self.push(concept);
        }
        if let [first, second, ..] = meaning.as_slice() {
            self.add_joined(&format!("{}{}", first[0], second[0]), weight);
        }
    }

    /// Two words that a document may have as one: "air quality" as "airquality".
    fn add_joined(&mut self, term: &str, weight: f32) {
        let mut concept = Concept::default();
        concept.add(term, weight);
        self.push(concept);
    }

    /// Asking for a thing twice does not make it more wanted.
    fn push(&mut self, concept: Concept) {
        let Some(first) = concept.alternatives.first() else {
            return;
        };
        let is_same = |other: &&mut Concept| other.alternatives[0].term == first.term;
        if let Some(same) = self.concepts.iter_mut().find(is_same) {
            for alternative in concept.alternatives {
                same.add(&alternative.term, alternative.weight);
            }
        } else if self.concepts.len() < MAX_CONCEPTS {
            self.concepts.push(concept);
        }
    }
}

impl Concept {
    fn add_with_synonyms(&mut self, stem: &str, weight: f32) {
        self.add(stem, weight);
        self.add_synonyms(stem, weight);
    }

    fn add_synonyms(&mut self, stem: &str, weight: f32) {
        for other in synonyms(stem) {
            self.add(other, weight * SYNONYM_WEIGHT);
        }
    }

    fn add(&mut self, term: &str, weight: f32) {
        match self.alternatives.iter_mut().find(|one| one.term == term) {
            Some(same) => same.weight = same.weight.max(weight),
            None => self.alternatives.push(Alternative {
                term: term.to_owned(),
                weight,
            }),
        }
    }
}

/// Words for the same, each with less weight than the one before.
fn ranked(stems: &[String], weight: f32) -> impl Iterator<Item = (&String, f32)> {
    let weights = std::iter::successors(Some(weight), |weight| Some(weight * NEXT_RANK_WEIGHT));
    stems.iter().zip(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms of the concepts, the first alternative of each first.
    fn asked(text: &str) -> Vec<Vec<String>> {
        let concepts = SearchQuery::new(text).concepts.into_iter();
        let terms = concepts.map(|concept| {
            let terms = concept.alternatives.into_iter();
            terms.map(|alternative| alternative.term).collect()
        });
        terms.collect()
    }

    fn has(text: &str, term: &str) -> bool {
        asked(text).iter().flatten().any(|one| one == term)
    }

    #[test]
    fn a_request_asks_for_stems_and_their_synonyms() {
        let concepts = asked("the invoices");
        assert_eq!(concepts.len(), 1);
        assert_eq!(concepts[0][0], "invoic");
        assert!(concepts[0].contains(&"bill".to_owned()));
    }

    #[test]
    fn a_phrase_asks_for_what_it_means() {
        assert!(has("please get rid of it", "delet"));
        assert!(!has("please get it", "delet"));
    }

    #[test]
    fn chinese_asks_in_english_in_both_kinds_of_characters() {
        assert!(has("删除日历", "calendar") && has("删除日历", "delet"));
        assert_eq!(asked("資料夾"), asked("资料夹"));
    }

    #[test]
    fn two_words_may_be_one() {
        assert!(has("the air quality", "airqualiti"));
        assert!(has("空气质量", "airqualiti"));
    }

    #[test]
    fn what_is_quoted_weighs_less() {
        let weight = |text: &str| {
            let concepts = SearchQuery::new(text).concepts;
            let mut terms = concepts.iter().map(|concept| &concept.alternatives[0]);
            terms
                .find(|first| first.term == "zebra")
                .map(|zebra| zebra.weight)
        };
        assert_eq!(weight("a zebra"), Some(1.0));
        assert_eq!(weight("a “zebra”"), Some(VALUE_WEIGHT));
    }

    #[test]
    fn a_request_without_end_is_bounded() {
        let words = (0..100_000).map(|number| format!("word{number}x "));
        let many = SearchQuery::new(&words.collect::<String>());
        assert_eq!(many.concepts.len(), MAX_CONCEPTS);
        assert_eq!(asked(&"word ".repeat(1_000_000)), asked("word word"));
        assert_eq!(asked(""), Vec::<Vec<String>>::new());
    }
}
