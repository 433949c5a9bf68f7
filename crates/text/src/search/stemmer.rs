//! Light stemming of English: the endings of plurals, verbs and their nouns.
//!
//! Far less than Porter's: names of tools are short, and a word that is cut too far ("universal",
//! "university") finds what nobody meant. What has no common stem is in the table of synonyms.

/// The stem of a lower-case English word. Other words stay as they are.
pub(super) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let word = without_plural(word);
    let word = without_verb_ending(&word).unwrap_or(word);
    let word = without_noun_ending(&word).unwrap_or(word);
    without_last_vowel(word)
}

fn without_plural(word: &str) -> String {
    if let Some(start) = word.strip_suffix("ies") {
        return if start.len() > 1 {
            format!("{start}y")
        } else {
            format!("{start}ie")
        };
    }
    let is_es = ["sses", "shes", "ches", "xes", "zes"]
        .iter()
        .any(|ending| word.ends_with(ending));
    if is_es {
        return word[..word.len() - 2].to_owned();
    }
    let is_plural = word.ends_with('s')
        && !["ss", "us", "is"]
            .iter()
            .any(|ending| word.ends_with(ending));
    let end = word.len() - usize::from(is_plural);
    word[..end].to_owned()
}

fn without_verb_ending(word: &str) -> Option<String> {
    let start = word
        .strip_suffix("ing")
        .or_else(|| word.strip_suffix("ed"))?;
    // "string", "need": the rest without the suffix would not be a word.
    let has_vowel = start.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    if start.len() < 3 || !has_vowel || word.ends_with("eed") {
        return None;
    }
    let mut ends = start.bytes().rev();
    let (last, before) = (ends.next(), ends.next());
    if start.len() > 3 && last == before && !start.ends_with(['l', 's', 'z', 'e', 'o']) {
        return Some(start[..start.len() - 1].to_owned());
    }
    let is_vowel = |letter: &u8| b"aeiouy".contains(letter);
    let letters = start.bytes().map(|letter| is_vowel(&letter));
    // "moved" is "move", "added" is "add".
    let lacks_e =
        start.len() == 3 && letters.eq([false, true, false]) && !start.ends_with(['w', 'x']);
    Some(format!("{start}{}", if lacks_e { "e" } else { "" }))
}

fn without_noun_ending(word: &str) -> Option<String> {
    if let Some(start) = word.strip_suffix("ification") {
        return Some(format!("{start}ify"));
    }
    // "translation", "deletion", "permission"; not "station" or "region".
    let start = word.strip_suffix("ion")?;
    (start.len() >= 5 && start.ends_with(['t', 's'])).then(|| start.to_owned())
}

fn without_last_vowel(mut word: String) -> String {
    // Short words would meet others: "note" is not "not".
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    } else if word.len() > 3 && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let check = |words: &[&str]| {
            let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|two| two[0] == two[1]), "{stems:?}");
        };
        check(&["create", "creates", "created", "creating", "creation"]);
        check(&["delete", "deleting", "deletion"]);
        check(&["repository", "repositories"]);
        check(&["stop", "stops", "stopped", "stopping"]);
        check(&["box", "boxes"]);
        check(&["address", "addresses"]);
        check(&["invoice", "invoices", "invoiced", "invoicing"]);
        check(&["notify", "notifies", "notification", "notifications"]);
        check(&["call", "called", "calling"]);
        check(&["move", "moves", "moved", "moving"]);
        check(&["add", "adds", "added", "adding"]);
    }

    #[test]
    fn other_words_keep_their_stems_apart() {
        let check = |word: &str, expected: &str| assert_eq!(stem(word), expected);
        check("note", "note");
        check("not", "not");
        check("string", "string");
        check("need", "need");
        check("status", "status");
        check("news", "new");
        check("region", "region");
        check("ids", "ids");
        check("ärger", "ärger");
        check("日历", "日历");
        check("", "");
    }
}
