//! The searchable words of the tools of one source.

use std::collections::HashMap;
use std::ops::Range;

use super::stemmer::stem;
use super::stop_words::is_stop_word;
use super::terms::for_each_term;

/// How much of a document is read. Whoever describes one tool with more than this wants to be
/// found for everything.
const MAX_DOCUMENT_BYTES: usize = 16 * 1024;

/// The searchable words of the tools of one source: immutable, built once.
///
/// Flat tables and no map: terms in order, each with the end of its text and of its
/// postings, so that ten thousand tools cost a few megabytes.
#[derive(Debug, Default)]
pub struct SearchIndex {
    /// All terms in order, without separators.
    text: Box<str>,
    terms: Box<[Term]>,
    postings: Box<[Posting]>,
    /// How long each document is: its terms, by the squares of their weights. A tool with a long
    /// name does many things; one with a long description is only described well.
    lengths: Box<[f32]>,
}

/// Where a term of an index and its postings end; they begin where those of the one before end.
#[derive(Debug, Clone, Copy)]
struct Term {
    /// The first eight bytes as a number, which orders as the texts do: most lookups end here.
    prefix: u64,
    text_end: u32,
    postings_end: u32,
}

/// A document that has a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Posting {
    pub document: u32,
    /// How often, by the weights of the texts.
    pub count: f32,
}

impl SearchIndex {
    /// Each document is a list of texts, each with the weight that a word in it has.
    pub fn new<'a, T>(documents: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = (&'a str, f32)>,
    {
        let mut builder = IndexBuilder::default();
        for texts in documents {
            builder.add(texts.into_iter());
        }
        builder.build()
    }

    /// How many documents it has.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    pub(super) fn lengths(&self) -> &[f32] {
        &self.lengths
    }

    /// The documents that have a term, in order.
    pub(super) fn postings(&self, term: &str) -> &[Posting] {
        let wanted = prefix(term);
        let first = self.terms.partition_point(|other| other.prefix < wanted);
        let found = (first..self.terms.len())
            .take_while(|number| self.terms[*number].prefix == wanted)
            .find(|number| self.term(*number) == term);
        found.map_or(&[], |number| self.postings_of(number))
    }

    /// The terms that begin with a text, each with the number of its documents.
    pub(super) fn terms_with_prefix<'a>(
        &'a self,
        start: &'a str,
    ) -> impl Iterator<Item = (&'a str, usize)> {
        let wanted = prefix(start);
        let first = self.terms.partition_point(|other| other.prefix < wanted);
        let numbers = first..self.terms.len();
        let terms = numbers.map(|number| (self.term(number), self.postings_of(number).len()));
        terms.take_while(move |(term, _)| term.starts_with(start))
    }

    fn postings_of(&self, number: usize) -> &[Posting] {
        &self.postings[self.range(number, |term| term.postings_end)]
    }

    fn term(&self, number: usize) -> &str {
        &self.text[self.range(number, |term| term.text_end)]
    }

    fn range(&self, number: usize, end: impl Fn(&Term) -> u32) -> Range<usize> {
        let before = number.checked_sub(1).map(|before| &self.terms[before]);
        before.map_or(0, &end) as usize..end(&self.terms[number]) as usize
    }
}

fn prefix(term: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = term.len().min(8);
    bytes[..length].copy_from_slice(&term.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// What is known of the documents so far.
#[derive(Default)]
struct IndexBuilder {
    /// The numbers of words as they are written, by their stems; None: a word that is not indexed.
    words: HashMap<String, Option<u32>>,
    /// Stems, numbered as they came.
    stems: HashMap<String, u32>,
    /// What a term has in the document that is read, by number.
    counts: Vec<f32>,
    postings: Vec<(u32, Posting)>,
    lengths: Vec<f32>,
}

impl IndexBuilder {
    fn add<'a>(&mut self, texts: impl Iterator<Item = (&'a str, f32)>) {
        let document = u32::try_from(self.lengths.len()).expect("fewer than 2^32 tools");
        let mut length = 0.0;
        let mut bytes_left = MAX_DOCUMENT_BYTES;
        let mut found: Vec<u32> = Vec::new();
        let mut of_text: Vec<u32> = Vec::new();
        for (text, weight) in texts {
            let text = &text[..text.floor_char_boundary(bytes_left)];
            bytes_left -= text.len();
            for_each_term(text, |word| of_text.extend(self.number(word)));
            if self.counts.len() < self.stems.len() {
                self.counts.resize(self.stems.len(), 0.0);
            }
            length += weight * weight * of_text.len() as f32;
            for number in of_text.drain(..) {
                let count = &mut self.counts[number as usize];
                if *count == 0.0 && weight > 0.0 {
                    found.push(number);
                }
                *count += weight;
            }
        }
        for number in found {
            let count = std::mem::take(&mut self.counts[number as usize]);
            self.postings.push((number, Posting { document, count }));
        }
        self.lengths.push(length);
    }

    fn number(&mut self, word: &str) -> Option<u32> {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let number = (!is_stop_word(word)).then(|| {
            let next = u32::try_from(self.stems.len()).expect("fewer than 2^32 terms");
            *self.stems.entry(stem(word)).or_insert(next)
        });
        self.words.insert(word.to_owned(), number);
        number
    }

    fn build(mut self) -> SearchIndex {
        let mut names: Vec<(String, u32)> = self.stems.into_iter().collect();
        names.sort_unstable();
        let mut places = vec![0_u32; names.len()];
        for (place, (_, number)) in (0_u32..).zip(&names) {
            places[*number as usize] = place;
        }
        // Documents came in order.
        self.postings
            .sort_by_key(|(term, _)| places[*term as usize]);

        let mut text = String::new();
        let mut terms = Vec::with_capacity(names.len());
        let mut end = 0;
        for (name, number) in &names {
            text.push_str(name);
            let same = self.postings[end..].iter();
            end += same.take_while(|(term, _)| term == number).count();
            terms.push(Term {
                prefix: prefix(name),
                text_end: u32::try_from(text.len()).expect("less than 4 GB of terms"),
                postings_end: u32::try_from(end).expect("fewer than 2^32 postings"),
            });
        }
        let postings = self.postings.iter().map(|(_, posting)| *posting);
        SearchIndex {
            text: text.into(),
            terms: terms.into(),
            postings: postings.collect(),
            lengths: self.lengths.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_leads_to_its_documents() {
        let documents = ["read a file", "write two files, file by file", ""];
        let index = SearchIndex::new(documents.map(|text| [(text, 2.0)]));
        let check = |term: &str, expected: &[(u32, f32)]| {
            let found = index.postings(term).iter();
            let found: Vec<_> = found.map(|one| (one.document, one.count)).collect();
            assert_eq!(found, expected, "{term}");
        };
        check("file", &[(0, 2.0), (1, 6.0)]);
        check("read", &[(0, 2.0)]);
        check("reading", &[]);
        check("", &[]);
        assert_eq!(
            (index.len(), index.lengths()),
            (3, [8.0, 20.0, 0.0].as_slice())
        );
    }

    #[test]
    fn a_document_without_end_is_read_up_to_a_bound() {
        let long = "word ".repeat(1_000_000);
        let index = SearchIndex::new([[(long.as_str(), 1.0), ("after", 1.0)]]);
        assert_eq!(index.postings("word").len(), 1);
        assert!(index.postings("after").is_empty());
        assert!(index.lengths()[0] < MAX_DOCUMENT_BYTES as f32);
    }
}
