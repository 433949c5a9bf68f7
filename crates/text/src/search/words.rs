//! The words of a text as they are written, for whoever compares them without an index.

use crate::tokenizer::{Script, bigrams, narrow, runs};

/// The searchable words of a text, in lower case: names cut as they are written (snake, kebab,
/// camel, dots), Chinese, Japanese and Korean by overlapping pairs of characters.
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
}
