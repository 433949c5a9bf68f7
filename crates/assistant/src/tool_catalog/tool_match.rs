//! How well a tool matches a clause, and whether that is enough.

use std::collections::HashSet;

use super::CatalogTool;
use super::query::{ClauseTerm, MAX_TERMS, Query};
use crate::argument_reader::ArgumentReader;
use crate::clause::Intent;
use crate::lexer::TokenKind;
use crate::parameters::ParameterRole;
use crate::vocabulary::{self, has_word};

/// A word of a tool's name, itself or by a synonym that can mean nothing else.
const ONE_WORD: f32 = 0.8;
const TWO_WORDS: f32 = 1.6;

/// How much of a tool's words a clause says.
pub(super) struct WordMatch<'s, 'a> {
    pub(super) tool: &'s CatalogTool<'a>,
    /// Said words of its name: 1 each, less for synonyms and hints.
    named: f32,
    /// How much the leading word names the tool.
    leads: f32,
    /// The part of the tool's name that was said.
    coverage: f32,
    /// Tokens that are words of its description.
    described: Vec<usize>,
    /// Tokens that name the tool, and so are no values.
    names_tool: HashSet<usize>,
    pub(super) score: f32,
}

impl<'s, 'a> WordMatch<'s, 'a> {
    /// None if the clause says nothing of the tool.
    pub(super) fn new(tool: &'s CatalogTool<'a>, query: &Query<'_>) -> Option<Self> {
        let clause = query.clause;
        let (mut named, mut leads, mut source) = (0.0, 0.0, 0.0);
        let (mut described, mut names_tool) = (Vec::new(), HashSet::new());
        // Two words for one thing count once: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for (place, term) in query.terms.iter().enumerate() {
            let in_name = term.weight_in(&tool.name);
            let in_description = term.weight_in(&tool.description);
            let new = term.hits(&tool.name).filter(|(stem, _)| said.insert(stem));
            named += new.map(|(_, weight)| *weight).fold(0.0, f32::max);
            source += term.weight_in(&tool.source);
            if place == 0 {
                leads = in_name;
            }
            if in_name == 0.0 && in_description > 0.0 {
                described.push(term.token);
            }
            // A path speaks of files and is a value all the same; a leading verb never is one.
            let is_verb = place == 0 && (term.sense.is_some() || in_description > 0.0);
            let is_word = clause.tokens[term.token].kind == TokenKind::Word;
            if is_word && (is_verb || in_name > 0.0) {
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
        let described_words = described.len() as f32;
        (named + described_words > 0.0).then(|| Self {
            tool,
            named,
            leads,
            coverage,
            described,
            names_tool,
            score: named * 2.0 + leads + coverage + source * 0.7 + described_words * 0.5,
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
        // What needs arguments and finds them is meant more than what needs none.
        let found = match is_complete {
            true if tool.parameters.iter().any(|one| one.required) => 1.3,
            true => 1.0,
            false => 0.0,
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
        if self.query.terms.len() > MAX_TERMS
            || (vocabulary::is_small_talk(&head) && words.named < TWO_WORDS)
            || self.does_something_else()
            || self.is_of_another_time()
        {
            return false;
        }
        match clause.intent() {
            Intent::Cancel | Intent::Greeting => false,
            Intent::Statement | Intent::Thanks => {
                let is_sure = self.is_complete && reader.evidence > 0 && !reader.guessed;
                is_sure && words.named >= TWO_WORDS
            }
            // Only the description speaks of it: then the arguments have to fit as well.
            Intent::Request if words.named < ONE_WORD => {
                // A word that became a value says nothing about the tool any more.
                let described = words.described.iter().filter(|at| !reader.is_value(**at));
                let described = described.count();
                self.is_complete
                    && described > usize::from(reader.guessed)
                    && reader.evidence > 0
                    && reader.leftover() <= described
            }
            Intent::Request if !self.is_complete => self.is_worth_a_question(),
            // To take whatever words are left over, the tool must be named.
            Intent::Request if reader.guessed => words.named >= TWO_WORDS || words.coverage >= 1.0,
            Intent::Request => reader.leftover() < words.named.round() as usize + reader.evidence,
        }
    }

    /// The verb or its object are nothing that this tool speaks of. For a tool that changes
    /// things, a word in its description is not enough: it may make folders on the way.
    fn does_something_else(&self) -> bool {
        let tool = self.words.tool;
        let looks = tool.spec.annotations.read_only || tool.spec.description.len() < 80;
        let is_known = |term: &ClauseTerm| {
            term.weight_in(&tool.name) > 0.0
                || term.weight_in(&tool.source) > 0.0
                || (looks && term.weight_in(&tool.description) > 0.0)
        };
        let is_other = |lead: &ClauseTerm| lead.is_deed() && self.words.leads < ONE_WORD;
        let mut objects = self.query.objects();
        self.query.lead().is_some_and(is_other)
            || objects.any(|term| !self.reader.is_value(term.token) && !is_known(term))
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
        let before = self.query.lead().and_then(|lead| lead.token.checked_sub(1));
        let is_noun = before.is_some_and(|at| {
            let is_number = clause.tokens[at].kind == TokenKind::Number;
            is_number || has_word("a an some any my your", clause.lower(at))
        });
        // A verb alone asks; a verb with words nobody understands is a conversation.
        let is_sure = reader.evidence > usize::from(reader.guessed);
        let is_understood = (is_sure && reader.leftover() == 0) || terms.len() <= 1;
        let is_said = (words.leads >= ONE_WORD && words.coverage >= 0.5) || words.coverage >= 1.0;
        let is_asked = is_said && is_understood && !is_noun;
        !wonders && (words.named >= TWO_WORDS || is_asked)
    }
}
