//! What a word or phrase of a request is called in descriptions of tools, as the tables write it:
//! `delete/remove`, `pull request/merge request`.

use super::stemmer::stem;
use super::stop_words::is_stop_word;

/// For each place of a phrase, the stems that may stand there, the likeliest first:
/// `pull request/merge request` is "pull" or "merge", then "request".
pub(super) type Meaning = Vec<Vec<String>>;

/// The lines of a table, without its comments.
pub(super) fn entries(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

/// Adds what one line of a table says to what others have said.
pub(super) fn extend(meaning: &mut Meaning, phrases: &str) {
    for phrase in phrases.split('/') {
        let words = phrase.split_whitespace().filter(|word| !is_stop_word(word));
        for (place, word) in words.enumerate() {
            if meaning.len() <= place {
                meaning.push(Vec::new());
            }
            let word = stem(word);
            if !meaning[place].contains(&word) {
                meaning[place].push(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up_place_by_place() {
        let mut meaning = Meaning::new();
        extend(&mut meaning, "pull request/merge request");
        extend(&mut meaning, "change/pull");
        assert_eq!(meaning, [vec!["pull", "merg", "chang"], vec!["request"]]);
    }
}
