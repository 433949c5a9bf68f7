//! Ranking documents by a request: BM25.

use super::index::{Posting, SearchIndex};
use super::query::{Concept, SearchQuery};
use super::spelling;

/// How quickly repeating a word stops helping. The usual value.
const K1: f32 = 1.2;
/// How much a long document is held against itself.
const B: f32 = 0.5;

/// How much rarity counts: less than usual. In ten words of a person the rarest one is
/// often a name or an example, and not the tool.
const RARITY_EXPONENT: f32 = 0.7;
/// Smooths rarity: a word in one document is no better sign than a word in a few.
const RARITY_SMOOTHING: f32 = 4.0;

/// Weight of a word after spelling correction.
const CORRECTED_WEIGHT: f32 = 0.5;

/// A document that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentHit {
    /// Which of the indexes has it.
    pub index: usize,
    /// Its place in that index.
    pub document: usize,
    pub score: f32,
}

/// Ranks the documents of several indexes together, as if they were one (document frequencies and
/// lengths are summed over all), best first; equals in their own order; only those that
/// `is_wanted(index, document)`; at most `limit`.
pub fn search(
    indexes: &[&SearchIndex],
    query: &SearchQuery,
    is_wanted: impl Fn(usize, usize) -> bool,
    limit: usize,
) -> Vec<DocumentHit> {
    let mut ranking = Ranking::new(indexes);
    for concept in &query.concepts {
        ranking.add(concept);
    }
    let mut hits = ranking.hits();
    hits.retain(|hit| is_wanted(hit.index, hit.document));
    hits.sort_by(|left, right| right.score.total_cmp(&left.score));
    hits.truncate(limit);
    hits
}

/// The scores so far. Documents are numbered through all indexes.
struct Ranking<'a> {
    indexes: &'a [&'a SearchIndex],
    mean_length: f32,
    scores: Vec<f32>,
    /// What the concept that is being added gives to each document,
    concept_scores: Vec<f32>,
    /// and to which it gives anything.
    having: Vec<usize>,
}

impl<'a> Ranking<'a> {
    fn new(indexes: &'a [&'a SearchIndex]) -> Self {
        let documents: usize = indexes.iter().map(|index| index.len()).sum();
        let total: f32 = indexes.iter().flat_map(|index| index.lengths()).sum();
        Self {
            indexes,
            mean_length: (total / documents.max(1) as f32).max(f32::MIN_POSITIVE),
            scores: vec![0.0; documents],
            concept_scores: vec![0.0; documents],
            having: Vec::new(),
        }
    }

    fn add(&mut self, concept: &Concept) {
        let mut frequency_of_first = 0;
        for (rank, alternative) in concept.alternatives.iter().enumerate() {
            let mut frequency = self.frequency(&alternative.term);
            if rank == 0 {
                frequency_of_first = frequency;
                if frequency == 0 && concept.is_written {
                    self.add_corrected(&alternative.term, alternative.weight);
                }
            }
            // A rare synonym must not weigh more than the common word it replaces.
            frequency = frequency.max(frequency_of_first);
            self.add_term(&alternative.term, alternative.weight, frequency);
        }
        for document in self.having.drain(..) {
            self.scores[document] += std::mem::take(&mut self.concept_scores[document]);
        }
    }

    fn add_corrected(&mut self, term: &str, weight: f32) {
        for known in spelling::corrections(self.indexes, term) {
            let frequency = self.frequency(&known);
            self.add_term(&known, weight * CORRECTED_WEIGHT, frequency);
        }
    }

    /// How many documents have a term.
    fn frequency(&self, term: &str) -> usize {
        let postings = self.indexes.iter().map(|index| index.postings(term).len());
        postings.sum()
    }

    fn add_term(&mut self, term: &str, weight: f32, frequency: usize) {
        let (documents, frequency) = (self.scores.len() as f32, frequency as f32);
        let others = (documents - frequency).max(0.0);
        let rarity = (others / (frequency + RARITY_SMOOTHING)).ln_1p();
        let weight = weight * rarity.powf(RARITY_EXPONENT) * (K1 + 1.0);
        let mut first = 0;
        for index in self.indexes {
            for &Posting { document, count } in index.postings(term) {
                let length = index.lengths()[document as usize] / self.mean_length;
                let score = weight * count / (count + K1 * (1.0 - B + B * length));
                let document = first + document as usize;
                let best = &mut self.concept_scores[document];
                if *best == 0.0 {
                    self.having.push(document);
                }
                *best = best.max(score);
            }
            first += index.len();
        }
    }

    fn hits(&self) -> Vec<DocumentHit> {
        let places = self.indexes.iter().enumerate();
        let places =
            places.flat_map(|(index, one)| (0..one.len()).map(move |document| (index, document)));
        let found = places.zip(&self.scores).filter(|(_, score)| **score > 0.0);
        let hits = found.map(|((index, document), &score)| DocumentHit {
            index,
            document,
            score,
        });
        hits.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOCUMENTS: [&str; 5] = [
        "read a file",
        "write a file",
        "the time in a time zone",
        "createDaemonSet",
        "删除日历里的活动",
    ];

    fn index(texts: &[&str]) -> SearchIndex {
        SearchIndex::new(texts.iter().map(|text| [(*text, 1.0)]))
    }

    fn best(query: &str) -> Option<usize> {
        let hits = search(
            &[&index(&DOCUMENTS)],
            &SearchQuery::new(query),
            |_, _| true,
            1,
        );
        hits.first().map(|hit| hit.document)
    }

    #[test]
    fn the_document_that_shares_rare_words_comes_first() {
        assert_eq!(best("what time is it"), Some(2));
        assert_eq!(best("please write it down"), Some(1));
        assert_eq!(best("???"), None);
    }

    #[test]
    fn a_request_finds_other_words_and_other_languages() {
        assert_eq!(best("display the document"), Some(0));
        assert_eq!(best("写文件"), Some(1));
        assert_eq!(best("寫檔案"), Some(1));
        assert_eq!(best("日曆"), Some(4));
    }

    #[test]
    fn a_request_finds_what_it_misspells_or_writes_together() {
        assert_eq!(best("deamon"), Some(3));
        assert_eq!(best("daemonset"), Some(3));
    }

    #[test]
    fn only_what_is_wanted_is_found_up_to_a_limit() {
        let index = index(&DOCUMENTS);
        let found = |is_wanted: fn(usize, usize) -> bool, limit| {
            let hits = search(&[&index], &SearchQuery::new("files"), is_wanted, limit);
            hits.iter().map(|hit| hit.document).collect::<Vec<_>>()
        };
        assert_eq!(found(|_, _| true, 9), [0, 1]);
        assert_eq!(found(|_, _| true, 1), [0]);
        assert_eq!(found(|_, document| document != 0, 1), [1]);
    }

    proptest! {
        #[test]
        fn several_indexes_rank_as_one_of_all(at in 0..=DOCUMENTS.len(), query in "[a-z日历文件写 ]{0,30}") {
            let query = SearchQuery::new(&query);
            let (left, right) = DOCUMENTS.split_at(at);
            let (left, right, all) = (index(left), index(right), index(&DOCUMENTS));
            let of_parts = search(&[&left, &right], &query, |_, _| true, 9);
            let of_all = search(&[&all], &query, |_, _| true, 9);
            let of_parts = of_parts.iter().map(|hit| (hit.index * at + hit.document, hit.score));
            let of_all = of_all.iter().map(|hit| (hit.document, hit.score));
            prop_assert!(of_parts.eq(of_all));
        }

        #[test]
        fn any_text_can_be_indexed_and_asked(text in any::<String>(), query in any::<String>()) {
            let index = index(&[&text]);
            for query in [&text, &query] {
                let hits = search(&[&index, &index], &SearchQuery::new(query), |_, _| true, 9);
                prop_assert!(hits.iter().all(|hit| hit.score.is_finite()));
            }
        }
    }
}
