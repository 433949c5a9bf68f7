//! What a tool cannot do, however much a clause sounds like it.

use std::collections::HashSet;

use super::super::arguments::{Effect, Reading};
use super::super::lexicon::{self, stem};
use super::super::schema::Hint;
use super::super::token::Kind;
use super::Tool;
use super::fit::Asked;
use super::term::{MOST_TERMS, Term};

/// Whether a clause asks for more than the tool is for.
pub(super) fn is_beyond(tool: &Tool<'_>, asked: &Asked<'_>, reading: &Reading) -> bool {
    is_of_another_day(tool, asked, reading)
        || searches_elsewhere(tool, asked, reading)
        || makes_a_file_of_a_folder(tool, asked)
}

/// A clock tells what is now, not what will be.
fn is_of_another_day(tool: &Tool<'_>, asked: &Asked<'_>, reading: &Reading) -> bool {
    let clock = ["time", "date", "clock"]
        .iter()
        .any(|word| tool.name.contains(&stem(word)));
    let told = |at: &usize| asked.clause.tokens[*at].kind == Kind::Moment;
    clock && asked.clause.is_of_another_day() && !reading.values.iter().any(told)
}

/// Whether something else is to be searched than what the tool searches. A
/// search that does not say where is taken by any.
fn searches_elsewhere(tool: &Tool<'_>, asked: &Asked<'_>, reading: &Reading) -> bool {
    let searches = ["search", "find", "query"].map(stem);
    let searched = tool.name.iter().filter(|word| !searches.contains(word));
    let searched: HashSet<String> = searched.cloned().collect();
    if searched.is_empty() || searched.len() == tool.name.len() {
        return false;
    }
    let clause = asked.clause;
    let names = |term: &Term| !reading.values.contains(&term.token) && term.hit(&searched) > 0.0;
    let path = |at: &usize| clause.tokens[*at].is_path();
    let says = |words: &[&str]| {
        let mut head = 0..clause.tokens.len().min(MOST_TERMS);
        head.any(|at| words.contains(&clause.lower(at)))
    };
    let notes = || {
        says(&["notes", "note", "workspace"])
            || ["笔记", "筆記"]
                .iter()
                .any(|word| clause.text.contains(word))
    };
    let files = searched.contains(&stem("file"));
    if asked.terms.iter().any(names) || reading.values.iter().any(path) || (files && notes()) {
        return false;
    }
    // Who searches "in Paris" may mean the web; nobody's keys are there.
    let web = ["web", "internet"]
        .iter()
        .any(|word| searched.contains(*word));
    says(&["my", "our"]) || (!web && says(&["in", "on", "at", "near", "from", "around"]))
}

/// A folder is not a file with something in it.
fn makes_a_file_of_a_folder(tool: &Tool<'_>, asked: &Asked<'_>) -> bool {
    let wants = |hint: Hint| {
        let mut parameters = tool.parameters().iter();
        parameters.any(|one| one.required && one.hint == hint)
    };
    let folder = |term: &Term| lexicon::is_folder(asked.clause.lower(term.token));
    tool.effect() == Effect::Changes
        && wants(Hint::Path)
        && wants(Hint::Content)
        && asked.terms.iter().any(folder)
}
