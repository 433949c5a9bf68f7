//! Finding documents by what a person asks for: BM25 over immutable indexes.
//!
//! A document is a few texts with weights (of a tool: its name, title, description, parameters).
//! An index is built once for each source and never changes; a search ranks the documents of
//! any number of indexes together, as if they were one.
//!
//! Documents are indexed by the stems of their words. A request is expanded: by synonyms, by what
//! everyday phrases mean, and by the English for Chinese words; what is said in every sentence
//! counts less. The tables are text files beside this one.

mod index;
mod query;
mod ranking;

mod frequency;
mod quotes;
mod spelling;
mod stemmer;
mod stop_words;
mod terms;

mod lexicon;
mod meaning;
mod synonyms;
mod traditional;

mod words;

pub use index::SearchIndex;
pub use query::SearchQuery;
pub use ranking::{DocumentHit, search};
pub use words::words;
