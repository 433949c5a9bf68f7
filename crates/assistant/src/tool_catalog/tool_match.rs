//! How well a tool matches a clause, and whether that is enough.

use std::collections::HashSet;

use super::CatalogTool;
use super::query::{ClauseTerm, Query};
use crate::argument_reader::ArgumentReading;
use crate::clause::{Clause, Intent};
use crate::lexer::TokenKind;
use crate::parameters::ParameterRole;
use crate::vocabulary::{self, has_word};

/// More content words than this are prose.
const MAX_REQUEST_TERMS: usize = 30;

/// A word of a tool's name, itself or by a synonym that can mean nothing else.
const ONE_WORD: f32 = 0.8;
const TWO_WORDS: f32 = 1.6;

/// How much of a tool's words a clause says, and the arguments it gives.
pub(super) struct ToolMatch<'s, 'a> {
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
    pub(super) reading: ArgumentReading,
    pub(super) score: f32,
}

impl<'s, 'a> ToolMatch<'s, 'a> {
    /// By words alone; None if the clause says nothing of the tool.
    pub(super) fn new(tool: &'s CatalogTool<'a>, query: &Query<'_>) -> Option<Self> {
        let clause = query.clause;
        let lead = query.lead().map(|lead| lead.token);
        let (mut named, mut leads, mut source) = (0.0, 0.0, 0.0);
        let (mut described, mut names_tool) = (Vec::new(), HashSet::new());
        // Two words for one thing count once: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for term in &query.terms {
            let is_lead = lead == Some(term.token);
            let in_name = term.weight_in(&tool.name);
            let in_description = term.weight_in(&tool.description);
            if in_name > 0.0 {
                let hits = term
                    .stems
                    .iter()
                    .filter(|(stem, _)| tool.name.contains(stem));
                let new = hits.filter(|(stem, _)| said.insert(stem));
                named += new.map(|(_, weight)| *weight).fold(0.0, f32::max);
                leads = if is_lead { in_name } else { leads };
            } else if in_description > 0.0 {
                described.push(term.token);
            }
            // A path speaks of files and is a value all the same; a leading verb never is one.
            let is_verb = is_lead && (term.sense.is_some() || in_description > 0.0);
            let is_word = clause.tokens[term.token].kind == TokenKind::Word;
            if is_word && (is_verb || in_name > 0.0) {
                names_tool.insert(term.token);
            }
            source += term.weight_in(&tool.source) * 0.7;
        }
        // A value whose form says what it is for: a sum needs no verb.
        if clause.sum.is_some() && tool.needs(ParameterRole::Expression) {
            named += 1.0;
        } else if clause.has(TokenKind::Url) && tool.needs(ParameterRole::Url) {
            named += ONE_WORD;
        }
        let coverage = (said.len() as f32 / tool.name.len().max(1) as f32).min(1.0);
        let is_said = named > 0.0 || !described.is_empty();
        is_said.then(|| Self {
            tool,
            named,
            leads,
            coverage,
            score: named * 2.0 + leads + coverage + source + described.len() as f32 * 0.5,
            described,
            names_tool,
            reading: ArgumentReading::default(),
        })
    }

    /// Reads the arguments, which tell more of what is meant.
    pub(super) fn read(mut self, query: &Query<'_>) -> Self {
        let names_tool = |at| self.names_tool.contains(&at);
        self.reading = self.tool.read(query.clause, query.context, names_tool);
        // A word that became a value says nothing about the tool any more.
        self.described
            .retain(|at| !self.reading.values.contains(at));
        // What needs arguments and finds them is meant more than what needs none.
        self.score += match &self.reading.missing {
            None if self.tool.parameters().iter().any(|one| one.required) => 1.3,
            None => 1.0,
            Some(_) => 0.0,
        };
        self
    }

    /// Whether a clause means the tool that matches it best, or only sounds a little like it.
    pub(super) fn is_meant(&self, query: &Query<'_>) -> bool {
        let Query { clause, terms, .. } = query;
        let reading = &self.reading;
        let is_complete = reading.missing.is_none();
        let head = clause.text[..clause.text.floor_char_boundary(200)].to_lowercase();
        if terms.len() > MAX_REQUEST_TERMS
            || (vocabulary::is_small_talk(&head) && self.named < TWO_WORDS)
            || self.does_something_else(query)
            || self.is_of_another_time(clause)
        {
            return false;
        }
        match clause.intent() {
            Intent::Cancel | Intent::Greeting => return false,
            Intent::Statement | Intent::Thanks => {
                let is_sure = is_complete && reading.evidence > 0 && !reading.guessed;
                return is_sure && self.named >= TWO_WORDS;
            }
            Intent::Request => {}
        }
        if self.named < ONE_WORD {
            // Only the description speaks of it: then the arguments have to fit as well.
            let is_described = self.described.len() > usize::from(reading.guessed);
            return is_complete
                && is_described
                && reading.evidence > 0
                && reading.leftover <= self.described.len();
        }
        if !is_complete {
            return self.is_worth_a_question(query);
        }
        if reading.guessed {
            // To take whatever words are left over, the tool must be named.
            return self.named >= TWO_WORDS || self.coverage >= 1.0;
        }
        reading.leftover < self.named.round() as usize + reading.evidence
    }

    /// The verb or its object are nothing that this tool speaks of. For a tool that changes
    /// things, a word in its description is not enough: it may make folders on the way.
    fn does_something_else(&self, query: &Query<'_>) -> bool {
        let tool = self.tool;
        let is_said_of = |term: &ClauseTerm, words: &HashSet<String>| term.weight_in(words) > 0.0;
        let looks = tool.spec.annotations.read_only || tool.spec.description.len() < 80;
        let is_known = |term: &ClauseTerm| {
            is_said_of(term, &tool.name)
                || is_said_of(term, &tool.source)
                || (looks && is_said_of(term, &tool.description))
        };
        let is_value = |term: &ClauseTerm| self.reading.values.contains(&term.token);
        let is_other = |lead: &ClauseTerm| lead.is_deed() && self.leads < ONE_WORD;
        let mut objects = query.objects().filter(|term| !is_value(term));
        query.lead().is_some_and(is_other) || objects.any(|term| !is_known(term))
    }

    /// What is asked for another day is not answered by what is true now.
    fn is_of_another_time(&self, clause: &Clause<'_>) -> bool {
        let reading = &self.reading;
        let is_unread = |at| reading.guessed || !reading.values.contains(&at);
        clause.other_time().is_some_and(is_unread)
    }

    /// Whether to ask for what is missing, or rather to believe that nothing was wanted.
    fn is_worth_a_question(&self, query: &Query<'_>) -> bool {
        let Query { clause, terms, .. } = query;
        let reading = &self.reading;
        // "how do I …", "do you …", "can you sleep": a question about it.
        let wonders = has_word("do does did why", clause.lower(0))
            || (clause.lower(0) == "how" && has_word("do does can to should", clause.lower(1)))
            || (has_word("can could", clause.lower(0)) && terms.len() == 1);
        // "some sleep", "the 24/7 store": a thing, not a request.
        let before = query.lead().and_then(|lead| lead.token.checked_sub(1));
        let is_noun = before.is_some_and(|at| {
            let is_number = clause.tokens[at].kind == TokenKind::Number;
            is_number || has_word("a an some any my your", clause.lower(at))
        });
        if wonders {
            return false;
        }
        if self.named >= TWO_WORDS {
            return true;
        }
        // A verb alone asks; a verb with words nobody understands is a conversation.
        let is_sure = reading.evidence > usize::from(reading.guessed);
        let is_understood = (is_sure && reading.leftover == 0) || terms.len() <= 1;
        let is_said = (self.leads >= ONE_WORD && self.coverage >= 0.5) || self.coverage >= 1.0;
        is_said && is_understood && !is_noun
    }
}
