//! Finding things by words: BM25 over a small, immutable collection.
//!
//! Words are cut the way tool names are written (snake, kebab, camel, dots)
//! and the way Chinese, Japanese and Korean are: by overlapping pairs of
//! characters, since those scripts do not mark where a word ends.

use std::collections::HashMap;

use crate::tokenizer::{Script, bigrams, narrow, runs};

/// How quickly repeating a word stops helping. The usual value.
const K1: f32 = 1.2;
/// How much a long document is held against itself. The usual value.
const B: f32 = 0.75;

/// Documents that can be ranked by a question.
#[derive(Debug, Default)]
pub struct Index {
    /// For each word, the documents that have it and how often.
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    mean_length: f32,
}

impl Index {
    /// Each document is a list of texts, each with the weight a word in it has.
    pub fn new<'a, Texts>(documents: impl IntoIterator<Item = Texts>) -> Self
    where
        Texts: IntoIterator<Item = (&'a str, f32)>,
    {
        let mut index = Self::default();
        for (number, texts) in documents.into_iter().enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            let mut length = 0.0;
            for (text, weight) in texts {
                for word in words(text) {
                    *counts.entry(word).or_default() += weight;
                    length += weight;
                }
            }
            for (word, count) in counts {
                index
                    .postings
                    .entry(word)
                    .or_default()
                    .push((number, count));
            }
            index.lengths.push(length);
        }
        let total: f32 = index.lengths.iter().sum();
        index.mean_length = (total / index.lengths.len().max(1) as f32).max(1.0);
        index
    }

    /// The documents that share a word with the question, best first; equals in their own order.
    pub fn rank(&self, question: &str) -> Vec<(usize, f32)> {
        let mut asked = words(question);
        asked.sort();
        asked.dedup();

        let mut scores: HashMap<usize, f32> = HashMap::new();
        for word in &asked {
            let Some(postings) = self.postings.get(word) else {
                continue;
            };
            let having = postings.len() as f32;
            let rarity = ((self.lengths.len() as f32 - having + 0.5) / (having + 0.5)).ln_1p();
            for (number, count) in postings {
                let length = self.lengths[*number] / self.mean_length;
                *scores.entry(*number).or_default() +=
                    rarity * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            }
        }
        let mut ranked: Vec<_> = scores.into_iter().collect();
        ranked.sort_by(|(a, left), (b, right)| right.total_cmp(left).then(a.cmp(b)));
        ranked
    }
}

/// The searchable words of a text, in lower case.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in runs(text) {
        match run.script {
            Script::Spaced => push_name_parts(run.text, &mut words),
            Script::Unspaced => {
                let letters: Vec<char> = run.letters().map(|letter| letter.letter).collect();
                match letters.as_slice() {
                    [only] => words.push(only.to_string()),
                    letters => words.extend(bigrams(letters)),
                }
            }
        }
    }
    words
}

/// The parts of a camel-case name, in lower case.
fn push_name_parts(name: &str, words: &mut Vec<String>) {
    let mut word = String::new();
    let mut previous_is_lower = false;
    for c in name.chars() {
        if previous_is_lower && c.is_uppercase() {
            words.push(std::mem::take(&mut word));
        }
        word.extend(narrow(c).to_lowercase());
        previous_is_lower = c.is_lowercase() || c.is_numeric();
    }
    words.push(word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_names_and_scripts_are_written() {
        let check = |text: &str, expected: &[&str]| assert_eq!(words(text), expected, "{text}");
        check("current_time", &["current", "time"]);
        check("getPetById", &["get", "pet", "by", "id"]);
        check("a.b/c-d", &["a", "b", "c", "d"]);
        check("东京现在几点？", &["东京", "京现", "现在", "在几", "几点"]);
        check("time是", &["time", "是"]);
        check("HTTPServer 2go", &["httpserver", "2go"]);
        check("🙂🙂", &[]);
        check("", &[]);
    }

    #[test]
    fn the_document_that_shares_rare_words_comes_first() {
        let documents = ["read a file", "write a file", "the time in a time zone"];
        let index = Index::new(documents.map(|text| [(text, 1.0)]));
        let best = |question: &str| index.rank(question).first().map(|(number, _)| *number);
        assert_eq!(best("what time is it"), Some(2));
        assert_eq!(best("please write it down"), Some(1));
        assert_eq!(best("nothing of the kind"), Some(2));
        assert_eq!(best("???"), None);
    }
}
