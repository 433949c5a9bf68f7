//! How well a tool matches a clause, and whether that is enough.

use std::collections::HashSet;

use super::CatalogTool;
use super::query::Query;
use crate::argument_reader::ArgumentReader;
use crate::clause::Intent;
use crate::lexer::TokenKind;
use crate::parameters::ParameterRole;
use crate::vocabulary::{self, Sense, has_word};

/// A word of a tool's name, itself or by a synonym that can mean nothing else.
const ONE_WORD: f32 = 0.8;
const TWO_WORDS: f32 = 1.6;

/// How much of a tool's words a clause says.
pub(super) struct WordMatch<'s, 'a> {
    pub(super) tool: &'s CatalogTool<'a>,
    /// Said words of its name: 1 each, less for synonyms and hints.
    named: f32,
    /// The part of the tool's name that was said.
    coverage: f32,
    /// Tokens that are only words of its description.
    described: Vec<usize>,
    /// Tokens that name the tool, and so are no values.
    names_tool: HashSet<usize>,
    pub(super) score: f32,
}

impl<'s, 'a> WordMatch<'s, 'a> {
    /// None if the clause says nothing of the tool.
    pub(super) fn new(tool: &'s CatalogTool<'a>, query: &Query<'_>) -> Option<Self> {
        let clause = query.clause;
        let (mut named, mut described, mut names_tool) = (0.0, Vec::new(), HashSet::new());
        // Two words for one thing count once: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for (place, term) in query.terms.iter().enumerate() {
            let is_named = term.says(&tool.name);
            let is_described = term.says(&tool.description);
            let hits = term
                .stems
                .iter()
                .filter(|(stem, _)| tool.name.contains(stem));
            let new = hits.filter(|(stem, _)| said.insert(stem));
            named += new.map(|(_, weight)| *weight).fold(0.0, f32::max);
            described.extend((is_described && !is_named).then_some(term.token));
            // A path speaks of files and is a value all the same; a leading verb never is one.
            let is_verb = place == 0 && (term.sense.is_some() || is_described);
            let is_word = clause.tokens[term.token].kind == TokenKind::Word;
            if is_word && (is_verb || is_named) {
                names_tool.insert(term.token);
            }
        }
        // A value whose form says what it is for: a sum needs no verb.
        let needs = |role| {
            tool.parameters
                .iter()
                .any(|one| one.required && one.role == role)
        };
        if clause.sum.is_some() && needs(ParameterRole::Expression) {
            named += 1.0;
        } else if clause.has(TokenKind::Url) && needs(ParameterRole::Url) {
            named += ONE_WORD;
        }
        let coverage = (said.len() as f32 / tool.name.len().max(1) as f32).min(1.0);
        (named > 0.0 || !described.is_empty()).then(|| Self {
            tool,
            named,
            coverage,
            score: named * 2.0 + coverage + described.len() as f32 * 0.5,
            described,
            names_tool,
        })
    }
}

/// A match by words, and the arguments that the clause gives.
pub(super) struct ToolMatch<'s, 'a, 'q> {
    pub(super) words: WordMatch<'s, 'a>,
    pub(super) reader: ArgumentReader<'q>,
    query: &'q Query<'q>,
    is_complete: bool,
    pub(super) score: f32,
}

impl<'s: 'q, 'a, 'q> ToolMatch<'s, 'a, 'q> {
    pub(super) fn new(words: WordMatch<'s, 'a>, query: &'q Query<'q>) -> Self {
        let tool = words.tool;
        let reader = tool.read(query.clause, query.context, &words.names_tool);
        let is_complete = reader.missing().is_none();
        let needs_some = tool.parameters.iter().any(|one| one.required);
        // What needs arguments and finds them is meant more than what needs none.
        let found = match (is_complete, needs_some) {
            (true, true) => 1.3,
            (true, false) => 1.0,
            (false, _) => 0.0,
        };
        Self {
            score: words.score + found,
            words,
            reader,
            query,
            is_complete,
        }
    }

    /// Whether the clause means the tool, or only sounds a little like it.
    pub(super) fn is_meant(&self) -> bool {
        let (words, reader, clause) = (&self.words, &self.reader, self.query.clause);
        let head = clause.text[..clause.text.floor_char_boundary(200)].to_lowercase();
        let is_small_talk = vocabulary::is_small_talk(&head) && words.named < TWO_WORDS;
        if is_small_talk || self.does_something_else() || self.is_of_another_time() {
            return false;
        }
        let is_sure = self.is_complete && reader.evidence > 0 && !reader.guessed;
        match clause.intent() {
            Intent::Cancel | Intent::Greeting => false,
            Intent::Statement | Intent::Thanks => is_sure && words.named >= TWO_WORDS,
            // Only the description speaks of it: then the arguments have to fit as well.
            Intent::Request if words.named < ONE_WORD => {
                let described = words.described.iter().filter(|at| !reader.is_value(**at));
                let described = described.count();
                is_sure && described > 0 && reader.leftover() <= described
            }
            Intent::Request if !self.is_complete => self.is_worth_a_question(),
            // To take whatever words are left over, the tool must be named.
            Intent::Request if reader.guessed => words.named >= TWO_WORDS || words.coverage >= 1.0,
            Intent::Request => reader.leftover() < words.named.round() as usize + reader.evidence,
        }
    }

    /// A word whose meaning is known is neither a value nor anything that this tool speaks of.
    fn does_something_else(&self) -> bool {
        let tool = self.words.tool;
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
        let (words, reader) = (&self.words, &self.reader);
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
        let is_asked = words.coverage >= 0.5 && is_understood && !is_noun;
        !wonders && (words.named >= TWO_WORDS || is_asked)
    }
}
