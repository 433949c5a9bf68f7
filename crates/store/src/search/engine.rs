//! Words and queries as each engine wants them: FTS5's table beside the
//! entries on SQLite, a `tsvector` in them on PostgreSQL.
//!
//! Neither engine cuts text into words itself; what they get is cut already,
//! so that both find the same.

use std::collections::BTreeMap;
use std::fmt::Write;

use sea_orm::{ConnectionTrait, DbBackend, FromQueryResult, Statement};
use tenon_domain::UserId;
use tenon_domain::text::hex;
use tenon_domain::tokenizer::bigrams;

use super::tokenizer::{IndexTokens, MAX_PREFIX_CHARS, SearchTerm};
use crate::Result;

/// PostgreSQL counts places up to 16,383, and 255 of them for one word. Beyond
/// that they begin anew, which keeps neighbours together.
const MAX_POSITIONS: usize = 16_000;
const MAX_POSITIONS_PER_WORD: usize = 255;

/// One thing that was found.
#[derive(Debug, FromQueryResult)]
pub(crate) struct SearchEntry {
    pub(crate) id: i64,
    pub(crate) chat_id: String,
    pub(crate) kind: String,
    pub(crate) subject: String,
}

/// Writes an entry that can be found by its words, which are this user's.
pub(crate) async fn insert(
    db: &impl ConnectionTrait,
    (chat, kind, subject): (&str, &str, &str),
    words: &IndexTokens,
    user: &UserId,
) -> Result<()> {
    let backend = db.get_database_backend();
    let values = [chat.into(), kind.into(), subject.into()];
    if backend == DbBackend::Postgres {
        let insert = "INSERT INTO search_entries (chat_id, kind, subject, words) \
                      VALUES ($1, $2, $3, $4::tsvector)";
        let values = values.into_iter().chain([vector(words, user).into()]);
        let insert = Statement::from_sql_and_values(backend, insert, values);
        db.execute_raw(insert).await?;
        return Ok(());
    }
    let insert = "INSERT INTO search_entries (chat_id, kind, subject) VALUES (?, ?, ?)";
    let insert = Statement::from_sql_and_values(backend, insert, values);
    let id = db.execute_raw(insert).await?.last_insert_id();
    let insert = "INSERT INTO search_words (rowid, words) VALUES (?, ?)";
    let values = [id.cast_signed().into(), document(words, user).into()];
    let insert = Statement::from_sql_and_values(backend, insert, values);
    db.execute_raw(insert).await?;
    Ok(())
}

/// The newest entries of a user before this one in which all the terms occur.
pub(crate) async fn matching(
    db: &impl ConnectionTrait,
    user: &UserId,
    terms: &[SearchTerm],
    before: i64,
    limit: u64,
) -> Result<Vec<SearchEntry>> {
    let backend = db.get_database_backend();
    let (select, question) = match backend {
        DbBackend::Postgres => (
            "SELECT id, chat_id, kind, subject FROM search_entries \
             WHERE words @@ $1::tsquery AND id < $2 ORDER BY id DESC LIMIT $3",
            tsquery(terms, user),
        ),
        // The words are walked from the newest on and end with the page: nothing is sorted.
        _ => (
            "SELECT e.id, e.chat_id, e.kind, e.subject \
             FROM search_words w CROSS JOIN search_entries e ON e.id = w.rowid \
             WHERE w.words MATCH ? AND w.rowid < ? ORDER BY w.rowid DESC LIMIT ?",
            fts5(terms, user),
        ),
    };
    let values = [question.into(), before.into(), limit.into()];
    let select = Statement::from_sql_and_values(backend, select, values);
    Ok(SearchEntry::find_by_statement(select).all(db).await?)
}

/// A word that says whose the others are, and one that says that another
/// begins so. No text has such letters.
fn owner(user: &UserId) -> String {
    format!("\u{E000}{}", hex(user.0.as_bytes()))
}

fn prefix_token(word: &str) -> String {
    format!("\u{E001}{word}")
}

/// A term as what an engine looks for. Words have letters and digits alone:
/// nothing in them needs care in quotes.
enum EngineTerm {
    Word(String),
    Prefix(String),
    Phrase(Vec<String>),
}

fn engine_term(term: &SearchTerm) -> EngineTerm {
    match term {
        SearchTerm::Word(word) => EngineTerm::Word(word.clone()),
        SearchTerm::Prefix(word) if word.chars().count() <= MAX_PREFIX_CHARS => {
            EngineTerm::Word(prefix_token(word))
        }
        SearchTerm::Prefix(word) => EngineTerm::Prefix(word.clone()),
        SearchTerm::Phrase(letters) => match letters.as_slice() {
            [letter] => EngineTerm::Word(prefix_token(&letter.to_string())),
            letters => EngineTerm::Phrase(bigrams(letters).collect()),
        },
    }
}

fn fts5(terms: &[SearchTerm], user: &UserId) -> String {
    let terms = terms.iter().map(|term| match engine_term(term) {
        EngineTerm::Word(word) => format!("\"{word}\""),
        EngineTerm::Prefix(word) => format!("\"{word}\" *"),
        EngineTerm::Phrase(pairs) => format!("\"{}\"", pairs.join(" ")),
    });
    let all: Vec<String> = terms.chain([format!("\"{}\"", owner(user))]).collect();
    all.join(" AND ")
}

fn tsquery(terms: &[SearchTerm], user: &UserId) -> String {
    let terms = terms.iter().map(|term| match engine_term(term) {
        EngineTerm::Word(word) => format!("'{word}'"),
        EngineTerm::Prefix(word) => format!("'{word}':*"),
        EngineTerm::Phrase(pairs) => format!("('{}')", pairs.join("' <-> '")),
    });
    let all: Vec<String> = terms.chain([format!("'{}'", owner(user))]).collect();
    all.join(" & ")
}

fn document(words: &IndexTokens, user: &UserId) -> String {
    let mut document = words.in_order.join(" ");
    let prefixes = words.prefixes.iter().map(|word| prefix_token(word));
    for word in prefixes.chain([owner(user)]) {
        document.push(' ');
        document.push_str(&word);
    }
    document
}

fn vector(words: &IndexTokens, user: &UserId) -> String {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, word) in words.in_order.iter().enumerate() {
        let of_word = places.entry(word).or_default();
        if of_word.len() < MAX_POSITIONS_PER_WORD {
            of_word.push(number % MAX_POSITIONS + 1);
        }
    }
    let mut vector = format!("'{}'", owner(user));
    for word in &words.prefixes {
        let _ = write!(vector, " '{}'", prefix_token(word));
    }
    for (word, places) in places {
        let places: Vec<String> = places.iter().map(usize::to_string).collect();
        let _ = write!(vector, " '{word}':{}", places.join(","));
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::super::tokenizer::{terms, words};
    use super::*;

    #[test]
    fn a_question_is_asked_in_the_words_of_each_engine() {
        let check = |question: &str, on_sqlite: &str, on_postgres: &str| {
            let (terms, ada) = (terms(question), UserId::new("ab"));
            assert_eq!(fts5(&terms, &ada), on_sqlite);
            assert_eq!(tsquery(&terms, &ada), on_postgres);
        };
        check(
            "rust th",
            "\"rust\" AND \"\u{E001}th\" AND \"\u{E000}6162\"",
            "'rust' & '\u{E001}th' & '\u{E000}6162'",
        );
        check(
            "the rust",
            "\"the\" AND \"rust\" * AND \"\u{E000}6162\"",
            "'the' & 'rust':* & '\u{E000}6162'",
        );
        check(
            "塔 东京塔",
            "\"\u{E001}塔\" AND \"东京 京塔\" AND \"\u{E000}6162\"",
            "'\u{E001}塔' & ('东京' <-> '京塔') & '\u{E000}6162'",
        );
    }

    #[test]
    fn places_stay_within_what_postgres_counts() {
        let ada = UserId::new("a");
        assert_eq!(
            vector(&words("b a b"), &ada),
            "'\u{E000}61' '\u{E001}a' '\u{E001}b' 'a':2 'b':1,3"
        );
        let long = vector(&words(&"x y ".repeat(30_000)), &ada);
        let places = long.split(|c: char| !c.is_ascii_digit()).skip(1);
        let places: Vec<usize> = places.filter_map(|place| place.parse().ok()).collect();
        assert!(places.len() < 600 && places.iter().all(|place| *place <= MAX_POSITIONS));
    }
}
