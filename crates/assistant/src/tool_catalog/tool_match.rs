//! How well a tool matches a clause, and whether that is enough.

use std::collections::HashSet;

use super::CatalogTool;
use super::terms::ClauseTerm;
use crate::argument_reader::{AnsweredArgument, ArgumentReading, Context};
use crate::clause::{Clause, Intent};
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ToolParameter};
use crate::vocabulary::{self, Sense, has_word};

/// More content words than this are prose.
const MAX_REQUEST_TERMS: usize = 30;

/// A word of a tool's name, itself or by a synonym that can mean nothing else.
const ONE_WORD: f32 = 0.8;
const TWO_WORDS: f32 = 1.6;

/// A clause, and all there is to know to read it.
pub(super) struct Query<'q> {
    pub(super) clause: &'q Clause<'q>,
    pub(super) terms: Vec<ClauseTerm>,
    pub(super) context: &'q Context,
    pub(super) answered: &'q [AnsweredArgument],
}

impl Query<'_> {
    /// The term that says what to do: the first, or the verb behind what it is done to.
    fn lead(&self) -> Option<&ClauseTerm> {
        let first = self.terms.first()?;
        let is_behind = matches!(self.clause.lower(0), "把" | "将" | "將")
            || self.clause.tokens[first.token].kind != TokenKind::Word;
        let deed = self.terms.iter().find(|term| term.is_deed());
        deed.filter(|_| is_behind).or(Some(first))
    }

    /// What it is to be done to: the first word, or the one behind the verb.
    fn objects(&self) -> impl Iterator<Item = &ClauseTerm> {
        let deed = self.terms.iter().position(ClauseTerm::is_deed);
        let behind = deed.and_then(|deed| self.terms.get(deed + 1));
        let candidates = self.terms.first().into_iter().chain(behind);
        candidates.filter(|term| {
            term.sense == Some(Sense::Thing)
                && !vocabulary::is_pronoun(self.clause.lower(term.token))
        })
    }
}

pub(super) struct ToolMatch {
    /// Said words of its name: 1 each, less for synonyms and hints.
    named: f32,
    /// How many words of its description were said.
    described: usize,
    /// Whether the leading word names the tool.
    leads: bool,
    /// The part of the tool's name that was said.
    coverage: f32,
    pub(super) reading: ArgumentReading,
    pub(super) score: f32,
}

impl ToolMatch {
    pub(super) fn new(tool: &CatalogTool<'_>, rank: f32, query: &Query<'_>) -> Option<Self> {
        let clause = query.clause;
        let lead = query.lead();
        let (mut named, mut leads, mut source) = (0.0, 0.0, 0.0);
        let mut described = Vec::new();
        let mut names_tool: HashSet<usize> = HashSet::new();
        // Two words for one thing count once: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for term in &query.terms {
            let is_lead = lead.is_some_and(|lead| lead.token == term.token);
            let in_name = term.weight_in(&tool.name);
            let in_description = term.weight_in(&tool.description);
            if in_name > 0.0 {
                let hits = term
                    .stems
                    .iter()
                    .filter(|(stem, _)| tool.name.contains(stem));
                let new = hits
                    .filter(|(stem, _)| said.insert(stem))
                    .map(|(_, weight)| *weight);
                named += new.fold(0.0, f32::max);
                leads = if is_lead { in_name } else { leads };
            } else if in_description > 0.0 {
                described.push(term.token);
            }
            // A path speaks of files and is a value all the same; a leading verb never is one.
            let is_verb = is_lead && (term.sense.is_some() || in_description > 0.0);
            let is_word = clause.tokens[term.token].kind == TokenKind::Word;
            if is_word && (is_verb || term.weight_in(&tool.whole_name) > 0.0) {
                names_tool.insert(term.token);
            }
            source += term.weight_in(&tool.source) * 0.7;
        }
        let reading = tool.read(clause, query.context, query.answered, |at| {
            names_tool.contains(&at)
        });
        let needs = |role: ParameterRole| {
            tool.parameters()
                .iter()
                .any(|one| one.required && one.role == role)
        };
        // A value whose form says what it is for: a sum needs no verb.
        if clause.sum.is_some() && needs(ParameterRole::Expression) {
            named += 1.0;
            leads = 1.0;
        } else if needs(ParameterRole::Url)
            && clause
                .tokens
                .iter()
                .any(|token| token.kind == TokenKind::Url)
        {
            named += ONE_WORD;
        }
        if named == 0.0 && described.is_empty() {
            return None;
        }
        let coverage = (said.len() as f32 / tool.name.len().max(1) as f32).min(1.0);
        // A word that became a value says nothing about the tool any more.
        let described = described
            .iter()
            .filter(|at| !reading.values.contains(*at))
            .count();
        // What needs arguments and finds them is meant more than what needs none.
        let ready = match &reading.missing {
            None if tool.parameters().iter().any(|one| one.required) => 1.3,
            None => 1.0,
            Some(_) => 0.0,
        };
        let score =
            named * 2.0 + leads + coverage + source + ready + described as f32 * 0.5 + rank * 0.5;
        Some(Self {
            named,
            described,
            leads: leads >= ONE_WORD,
            coverage,
            reading,
            score,
        })
    }

    /// Whether a clause means the tool that matches it best, or only sounds a little like it.
    pub(super) fn is_meant(&self, tool: &CatalogTool<'_>, query: &Query<'_>) -> bool {
        let Query { clause, terms, .. } = query;
        let is_complete = self.reading.missing.is_none();
        let head = clause.text[..clause.text.floor_char_boundary(200)].to_lowercase();
        if vocabulary::is_small_talk(&head) && self.named < TWO_WORDS {
            return false;
        }
        if self.does_something_else(tool, query) || self.is_of_another_time(clause) {
            return false;
        }
        if terms.len() > MAX_REQUEST_TERMS && !(self.leads && self.named >= TWO_WORDS) {
            return false;
        }
        let ArgumentReading {
            evidence,
            leftover,
            guessed,
            ..
        } = self.reading;
        match clause.intent() {
            Intent::Cancel | Intent::Greeting => return false,
            Intent::Statement | Intent::Thanks => {
                return is_complete && self.named >= TWO_WORDS && evidence > 0 && !guessed;
            }
            Intent::Request => {}
        }
        if self.named < ONE_WORD {
            // Only the description speaks of it: then the arguments have to fit as well.
            let is_described = self.described >= 2 || (self.described == 1 && !guessed);
            return is_complete
                && is_described
                && evidence > 0
                && leftover <= self.described
                && terms.len() <= 12;
        }
        if let Some(missing) = &self.reading.missing {
            return self.is_worth_a_question(missing, query);
        }
        if guessed {
            // To take whatever words are left over, the tool must be named.
            return self.named >= TWO_WORDS || self.coverage >= 1.0;
        }
        leftover < self.named.round() as usize + evidence
    }

    /// The verb or its object are nothing that this tool speaks of. For a tool that changes
    /// things, a word in its description is not enough: it may make folders on the way.
    fn does_something_else(&self, tool: &CatalogTool<'_>, query: &Query<'_>) -> bool {
        let other_deed = query.lead().is_some_and(|lead| {
            lead.is_deed()
                && !self.leads
                && lead
                    .weight_in(&tool.name)
                    .max(lead.weight_in(&tool.description))
                    == 0.0
        });
        let is_known = |term: &ClauseTerm| {
            let looks = tool.spec.annotations.read_only || tool.spec.description.len() < 80;
            [&tool.name, &tool.source, &tool.arguments]
                .iter()
                .any(|words| term.weight_in(words) > 0.0)
                || (looks && term.weight_in(&tool.description) > 0.0)
        };
        let other_object = query
            .objects()
            .any(|term| !self.reading.values.contains(&term.token) && !is_known(term));
        other_deed || other_object
    }

    /// What is asked for another day is not answered by what is true now.
    fn is_of_another_time(&self, clause: &Clause<'_>) -> bool {
        let values = &self.reading.values;
        let is_time = |at: &usize| clause.tokens[*at].kind == TokenKind::Time;
        let is_unread = |at: usize| self.reading.guessed || !values.contains(&at);
        clause.other_time().is_some_and(is_unread) && !values.iter().any(is_time)
    }

    /// Whether to ask for what is missing, or rather to believe that nothing was wanted.
    fn is_worth_a_question(&self, missing: &ToolParameter, query: &Query<'_>) -> bool {
        let Query { clause, terms, .. } = query;
        let ArgumentReading {
            evidence,
            leftover,
            guessed,
            ..
        } = self.reading;
        let (first, second) = (clause.lower(0), clause.lower(1));
        let wonders = matches!(first, "do" | "does" | "did" | "why")
            || (first == "how"
                && matches!(second, "do" | "does" | "can" | "to" | "should" | "would"));
        let is_idle = matches!((first, second), ("can" | "could", "you")) && terms.len() == 1;
        // "some sleep", "the 24/7 store": a thing, not a request.
        let is_noun = query.lead().is_some_and(|lead| {
            let before = lead.token.checked_sub(1).map(|at| &clause.tokens[at]);
            before.is_some_and(|token| {
                let is_number = token.kind == TokenKind::Number && lead.is_deed();
                is_number || has_word("a an some any my your", &token.lower)
            })
        });
        if wonders || is_idle || leftover > 8 || (is_noun && self.named < TWO_WORDS) {
            return false;
        }
        if self.named >= TWO_WORDS {
            return true;
        }
        // A verb alone asks; a verb with words nobody understands is a conversation.
        let is_sure = evidence > usize::from(guessed);
        let is_understood = (is_sure && leftover == 0) || terms.len() <= 1;
        let is_said = (self.leads && self.coverage >= 0.5) || self.coverage >= 1.0;
        is_said && is_understood && missing.role != ParameterRole::Id
    }
}
