//! How well a tool matches a clause, and whether that is enough.

use std::collections::HashSet;

use super::CatalogTool;
use super::query::{ClauseTerm, ONE_WORD, Query};
use crate::argument_reader::ArgumentReader;
use crate::clause::Intent;
use crate::lexer::TokenKind;
use crate::vocabulary::{self, Sense, has_word};

/// Two words of a tool's name, themselves or by synonyms that can mean nothing else.
const TWO_WORDS: f32 = 2.0 * ONE_WORD;

/// How much of a tool's words a clause says, and the arguments it gives.
pub(super) struct ToolMatch<'s, 'a, 'q> {
    pub(super) tool: &'s CatalogTool<'a>,
    pub(super) reader: ArgumentReader<'q>,
    pub(super) score: f32,
    query: &'q Query<'q>,
    /// Said words of its name: 1 each, less for synonyms and hints.
    named: f32,
    /// The part of the tool's name that was said.
    coverage: f32,
    /// How many words are only of its description, and no values.
    described: usize,
    is_complete: bool,
}

impl<'s: 'q, 'a, 'q> ToolMatch<'s, 'a, 'q> {
    pub(super) fn new(tool: &'s CatalogTool<'a>, query: &'q Query<'q>) -> Self {
        let (clause, mut named, mut names_tool) = (query.clause, 0.0, HashSet::new());
        // Two words for one thing count once: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for (place, term) in query.terms.iter().enumerate() {
            let hits = term
                .stems
                .iter()
                .filter(|(stem, _)| tool.name.contains(stem));
            let new = hits.filter(|(stem, _)| said.insert(stem));
            named += new.map(|(_, weight)| *weight).fold(0.0, f32::max);
            // A path speaks of files and is a value all the same; a leading verb never is one.
            let is_verb = place == 0 && (term.sense.is_some() || term.says(&tool.description));
            let is_word = clause.tokens[term.token].kind == TokenKind::Word;
            if is_word && (is_verb || term.says(&tool.name)) {
                names_tool.insert(term.token);
            }
        }
        named += query.value_weight(tool);
        let reader = tool.read(clause, query.context, &names_tool);
        let is_described = |term: &&ClauseTerm| {
            term.says(&tool.description) && !term.says(&tool.name) && !reader.is_value(term.token)
        };
        let described = query.terms.iter().filter(is_described).count();
        let coverage = (said.len() as f32 / tool.name.len().max(1) as f32).min(1.0);
        let is_complete = reader.missing().is_none();
        // What needs arguments and finds them is meant more than what needs none.
        let needs_some = tool.parameters.iter().any(|one| one.required);
        let found = match (is_complete, needs_some) {
            (true, true) => 1.3,
            (true, false) => 1.0,
            (false, _) => 0.0,
        };
        Self {
            score: named * 2.0 + coverage + described as f32 * 0.5 + found,
            tool,
            reader,
            query,
            named,
            coverage,
            described,
            is_complete,
        }
    }

    /// Whether the clause means the tool, or only sounds a little like it.
    pub(super) fn is_meant(&self) -> bool {
        let (reader, clause) = (&self.reader, self.query.clause);
        let head = clause.text[..clause.text.floor_char_boundary(200)].to_lowercase();
        let is_small_talk = vocabulary::is_small_talk(&head) && self.named < TWO_WORDS;
        if is_small_talk || self.does_something_else() || self.is_of_another_time() {
            return false;
        }
        let is_sure = self.is_complete && reader.evidence > 0 && !reader.guessed;
        match clause.intent() {
            Intent::Cancel | Intent::Greeting => false,
            Intent::Statement | Intent::Thanks => is_sure && self.named >= TWO_WORDS,
            // Only the description speaks of it: then the arguments have to fit as well.
            Intent::Request if self.named < ONE_WORD => {
                is_sure && self.described > 0 && reader.leftover() <= self.described
            }
            Intent::Request if !self.is_complete => self.is_worth_a_question(),
            // To take whatever words are left over, the tool must be named.
            Intent::Request if reader.guessed => self.named >= TWO_WORDS || self.coverage >= 1.0,
            Intent::Request => reader.leftover() < self.named.round() as usize + reader.evidence,
        }
    }

    /// A word whose meaning is known is neither a value nor anything that this tool speaks of.
    fn does_something_else(&self) -> bool {
        let tool = self.tool;
        self.query.terms.iter().any(|term| {
            let is_meaning = matches!(term.sense, Some(Sense::Thing | Sense::Deed))
                && !self.query.clause.is_in(term.token, "pronouns");
            let is_explained = term.says(&tool.name)
                || term.says(&tool.description)
                || self.reader.is_value(term.token);
            is_meaning && !is_explained
        })
    }

    /// What is asked for another day is not answered by what is true now.
    fn is_of_another_time(&self) -> bool {
        let is_unread = |at| self.reader.guessed || !self.reader.is_value(at);
        self.query.clause.other_time().is_some_and(is_unread)
    }

    /// Whether to ask for what is missing, or rather to believe that nothing was wanted.
    fn is_worth_a_question(&self) -> bool {
        let Query { clause, terms, .. } = self.query;
        let reader = &self.reader;
        // "how do I …", "do you …", "can you sleep": a question about it.
        let wonders = has_word("do does did why", clause.lower(0))
            || (clause.lower(0) == "how" && has_word("do does can to should", clause.lower(1)))
            || (has_word("can could", clause.lower(0)) && terms.len() == 1);
        // "some sleep", "the 24/7 store": a thing, not a request.
        let before = terms.first().and_then(|lead| lead.token.checked_sub(1));
        let is_noun = before.is_some_and(|at| {
            let is_number = clause.tokens[at].kind == TokenKind::Number;
            is_number || has_word("a an some any my your", clause.lower(at))
        });
        // A verb alone asks; a verb with words nobody understands is a conversation.
        let is_sure = reader.evidence > usize::from(reader.guessed);
        let is_understood = (is_sure && reader.leftover() == 0) || terms.len() <= 1;
        let is_asked = self.coverage >= 0.5 && is_understood && !is_noun;
        !wonders && (self.named >= TWO_WORDS || is_asked)
    }
}
