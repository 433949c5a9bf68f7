//! How well a tool fits a clause, and whether that is enough.

use std::collections::HashSet;

use super::super::arguments::{Context, Given, Reading};
use super::super::clause::Clause;
use super::super::lexicon::{self, Sense};
use super::super::schema::{Hint, Parameter};
use super::super::token::Kind;
use super::super::tone::Manner;
use super::term::Term;
use super::{Tool, strange};

/// Content words that can still be one wish; more is prose.
const PROSE: usize = 30;

/// A word of a tool's name, itself or by a synonym that can mean nothing else.
const ONE_WORD: f32 = 0.8;
const TWO_WORDS: f32 = 1.6;

/// A clause, and all there is to know to read it.
pub(super) struct Asked<'q> {
    pub(super) clause: &'q Clause<'q>,
    /// Its content words, in their order.
    pub(super) terms: Vec<Term>,
    pub(super) context: &'q Context,
    pub(super) given: &'q [Given],
}

impl Asked<'_> {
    /// Where the word stands that says what to do: the first, or the verb behind what it is done to.
    fn lead(&self) -> Option<usize> {
        let first = self.terms.first()?;
        let behind = matches!(self.clause.lower(0), "把" | "将" | "將")
            || self.clause.tokens[first.token].kind != Kind::Word;
        let deed = self.terms.iter().position(Term::is_deed);
        Some(deed.filter(|_| behind).unwrap_or(0))
    }

    /// What it is to be done to: the first word, or the one behind the verb.
    fn things(&self) -> impl Iterator<Item = &Term> {
        let deed = self.terms.iter().position(Term::is_deed);
        let behind = deed.and_then(|deed| self.terms.get(deed + 1));
        let candidates = self.terms.first().into_iter().chain(behind);
        candidates.filter(|term| {
            term.sense == Some(Sense::Thing) && !lexicon::is_pronoun(self.clause.lower(term.token))
        })
    }
}

/// How a clause fits a tool.
pub(super) struct Fit {
    pub(super) tool: usize,
    /// Said words of its name: 1 each, less for synonyms and hints.
    named: f32,
    described: usize,
    /// Whether the first content word is one of them.
    leads: bool,
    /// The first content word says what to do, and the tool does something else.
    other_deed: bool,
    /// It is to be done to something the tool has nothing to do with.
    other_thing: bool,
    /// The part of the tool's name that was said.
    coverage: f32,
    pub(super) reading: Reading,
    pub(super) score: f32,
}

impl Fit {
    /// How well a tool fits; none if nothing was said at all.
    pub(super) fn new(
        number: usize,
        tool: &Tool<'_>,
        rank: f32,
        asked: &Asked<'_>,
    ) -> Option<Self> {
        let Asked {
            clause,
            context,
            given,
            terms,
        } = asked;
        let first = &terms[asked.lead()?];
        let heard = Heard::new(tool, asked, first.token);
        let reading = tool.read(clause, context, given, |at| heard.speaking.contains(&at));
        // A word that became a value says nothing about the tool any more.
        let unread = |at: &&usize| !reading.values.contains(*at);
        let described = heard.described.iter().filter(unread).count();
        let coverage = heard.coverage;
        // What needs arguments and finds them is meant more than what needs none.
        let ready = match (
            &reading.missing,
            tool.parameters().iter().any(|one| one.required),
        ) {
            (None, true) => 1.3,
            (None, false) => 1.0,
            (Some(_), _) => 0.0,
        };
        let said = heard.named * 2.0 + heard.leads + coverage + heard.source;
        let score = said + ready + described as f32 * 0.5 + rank * 0.5;
        let other_deed = heard.leads == 0.0 && first.is_deed() && first.hit(&tool.described) == 0.0;
        let strange = |term: &Term| {
            let known = [&tool.name, &tool.described, &tool.source, &tool.arguments];
            known.iter().all(|words| term.hit(words) == 0.0)
        };
        let other_thing = asked
            .things()
            .any(|term| strange(term) && !reading.values.contains(&term.token));
        Some(Self {
            tool: number,
            named: heard.named,
            described,
            leads: heard.leads >= ONE_WORD,
            other_deed,
            other_thing,
            coverage,
            reading,
            score,
        })
    }

    /// Whether a clause means the tool that fits it best, or only sounds a little like it.
    pub(super) fn is_meant(&self, tool: &Tool<'_>, asked: &Asked<'_>, manner: Manner) -> bool {
        let Asked { clause, terms, .. } = asked;
        let complete = self.reading.missing.is_none();
        let spoken = clause.text[..clause.text.floor_char_boundary(200)].to_lowercase();
        if lexicon::has_pleasantry(&spoken) && self.named < TWO_WORDS {
            return false;
        }
        if self.other_deed || self.other_thing || lexicon::is_small_talk(&spoken) {
            return false;
        }
        if strange::is_beyond(tool, asked, &self.reading) {
            return false;
        }
        if terms.len() > PROSE && !(self.leads && self.named >= TWO_WORDS) {
            return false;
        }
        match manner {
            Manner::Cancel | Manner::Greeting => return false,
            Manner::Statement | Manner::Thanks => {
                return complete
                    && self.named >= TWO_WORDS
                    && self.reading.evidence > 0
                    && self.reading.bare.is_none();
            }
            Manner::Wish => {}
        }
        let leftover = self.reading.leftover;
        if self.named < ONE_WORD {
            // Only the description speaks of it: then the arguments have to fit as well.
            let told = self.described >= 2
                || (self.described == 1
                    && self.reading.evidence > 0
                    && self.reading.bare.is_none());
            return complete
                && told
                && leftover <= self.described
                && terms.len() <= 12
                && self.reading.evidence > 0;
        }
        if let Some(missing) = &self.reading.missing {
            return self.is_worth_a_question(missing, asked);
        }
        if let Some(hint) = self.reading.bare {
            // Any words will do to search for; to make something of them, the tool must be named.
            let called = self.named >= TWO_WORDS || self.coverage >= 1.0;
            return called || (self.leads && hint == Hint::Query);
        }
        leftover < self.named.round() as usize + self.reading.evidence
    }

    /// Whether to ask for what is missing, or rather to believe that nothing was wanted.
    fn is_worth_a_question(&self, missing: &Parameter, asked: &Asked<'_>) -> bool {
        let Asked { clause, terms, .. } = asked;
        let wonders = matches!(
            (clause.lower(0), clause.lower(1)),
            ("do" | "does" | "did" | "why", _)
                | ("how", "do" | "does" | "can" | "to" | "should" | "would")
        );
        // "some sleep", "the store": a thing, not a wish.
        let noun = asked.lead().is_some_and(|lead| {
            let at = terms[lead].token;
            at > 0
                && (matches!(
                    clause.lower(at - 1),
                    "a" | "an" | "some" | "any" | "my" | "your"
                ) || (clause.tokens[at - 1].kind == Kind::Number && terms[lead].is_deed()))
        });
        let idle = matches!((clause.lower(0), clause.lower(1)), ("can" | "could", "you"))
            && terms.len() == 1;
        if wonders || self.reading.leftover > 8 || (noun && self.named < TWO_WORDS) || idle {
            return false;
        }
        if self.named >= TWO_WORDS {
            return true;
        }
        // A verb alone asks; a verb with words nobody understands is a conversation.
        let sure = self.reading.evidence > usize::from(self.reading.bare.is_some());
        let understood = (sure && self.reading.leftover == 0) || terms.len() == 1;
        let said = (self.leads && self.coverage >= 0.5) || self.coverage >= 1.0;
        said && understood && missing.hint != Hint::Id
    }
}

/// What of a tool's words was said.
#[derive(Default)]
struct Heard {
    named: f32,
    source: f32,
    leads: f32,
    coverage: f32,
    /// Tokens that are in its description.
    described: Vec<usize>,
    /// Tokens that name it, and so are no values.
    speaking: HashSet<usize>,
}

impl Heard {
    fn new(tool: &Tool<'_>, asked: &Asked<'_>, lead: usize) -> Self {
        let mut heard = Self::default();
        // Two words for one thing are one hit: "time" and "几点" do not make two.
        let mut said: HashSet<&str> = HashSet::new();
        for term in &asked.terms {
            // A path speaks of files and is a value all the same.
            let word = asked.clause.tokens[term.token].kind == Kind::Word;
            let leads = term.token == lead;
            let strength = term.hit(&tool.name);
            if strength > 0.0 {
                let hits = term
                    .stems
                    .iter()
                    .filter(|(stem, _)| tool.name.contains(stem));
                let fresh = hits
                    .filter(|(stem, _)| said.insert(stem))
                    .map(|(_, weight)| *weight);
                heard.named += fresh.fold(0.0, f32::max);
                if leads {
                    heard.leads = strength;
                }
            } else if term.hit(&tool.described) > 0.0 {
                heard.described.push(term.token);
            }
            // A verb at the head of a wish is never a value.
            let verb = leads && (term.stems.len() > 1 || term.hit(&tool.described) > 0.0);
            if word && (verb || term.hit(&tool.whole_name) > 0.0) {
                heard.speaking.insert(term.token);
            }
            heard.source += term.hit(&tool.source) * 0.7;
        }
        heard.coverage = (said.len() as f32 / tool.name.len().max(1) as f32).min(1.0);
        heard
    }
}
