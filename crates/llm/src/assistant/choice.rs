//! Which tool a clause asks for, if any.
//!
//! BM25 finds the candidates; what decides between them is how much of a
//! tool's own name was said, whether the sentence begins with it, and whether
//! its arguments can be read. A tool that only shares a word with small talk
//! is not chosen: it takes a wish, and no more unexplained words than
//! explained ones.

mod fit;
mod strange;
mod term;

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::Value;
use tenon_domain::ToolSpec;
use tenon_domain::search::{Index, words};

use super::arguments::{self, Context, Effect, Given, Reading};
use super::clause::Clause;
use super::lexicon;
use super::schema::{self, Parameter};
use super::token::Kind;
use super::tone;
use fit::{Asked, Fit};
use term::{MOST_TERMS, stemmed, stems, terms};

/// Candidates whose arguments are tried.
const CANDIDATES: usize = 12;
/// What a tool is for is said at the beginning; some descriptions are whole manuals.
const DESCRIBED: usize = 600;
/// Tokens from which on trying costs more than it finds.
const LONG: usize = 2_000;
const FEW_CANDIDATES: usize = 3;

fn beginning(description: &str) -> &str {
    &description[..description.floor_char_boundary(DESCRIBED)]
}

/// The tools at hand, ready to be chosen from.
pub(super) struct Shelf<'a> {
    pub(super) tools: Vec<Tool<'a>>,
    index: Index,
}

pub(super) struct Tool<'a> {
    pub(super) spec: &'a ToolSpec,
    parameters: OnceCell<Vec<Parameter>>,
    /// Stems of the words it is called by, without those that say nothing.
    name: HashSet<String>,
    /// Those as well.
    whole_name: HashSet<String>,
    /// Stems of the words its source is called by.
    source: HashSet<String>,
    /// Stems of the first sentence of its description.
    described: HashSet<String>,
    /// Those of the schema, in its order.
    argument_names: String,
    /// Their stems.
    arguments: HashSet<String>,
}

/// A tool, and the clause read as its arguments.
pub(super) struct Choice<'s, 'a> {
    pub(super) tool: &'s Tool<'a>,
    pub(super) reading: Reading,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        let tools: Vec<Tool<'a>> = specs.into_iter().map(Tool::new).collect();
        let documents: Vec<[(String, f32); 4]> = tools
            .iter()
            .map(|tool| {
                let spec = tool.spec;
                [
                    (stemmed(&format!("{} {}", spec.name, spec.title)), 3.0),
                    (stemmed(&format!("{} {}", spec.id, spec.display_name)), 1.0),
                    (stemmed(beginning(&spec.description)), 1.0),
                    (stemmed(&tool.argument_names), 0.5),
                ]
            })
            .collect();
        let index = Index::new(
            documents
                .iter()
                .map(|texts| texts.iter().map(|(text, weight)| (text.as_str(), *weight))),
        );
        Self { tools, index }
    }

    pub(super) fn find(&self, id: &str) -> Option<&Tool<'a>> {
        self.tools.iter().find(|tool| tool.spec.id.as_str() == id)
    }

    /// The tool a clause asks for, with its arguments as far as they can be read.
    pub(super) fn choose(
        &self,
        clause: &Clause<'_>,
        context: &Context,
        given: &[Given],
    ) -> Option<Choice<'_, 'a>> {
        if let Some((tool, tokens)) = self.named_exactly(clause) {
            let reading = tool.read(clause, context, given, |at| tokens.contains(&at));
            return Some(Choice { tool, reading });
        }
        let asked = Asked {
            clause,
            terms: terms(clause, context),
            context,
            given,
        };
        let question: Vec<&str> = asked
            .terms
            .iter()
            .flat_map(|term| &term.stems)
            .map(|(stem, _)| stem.as_str())
            .collect();
        let ranked = self.index.rank(&question.join(" "));
        let top = ranked.first()?.1.max(f32::MIN_POSITIVE);
        let mut fits: Vec<Fit> = ranked
            .iter()
            // Ending a turn is nothing to be guessed at.
            .filter(|(number, _)| !self.tools[*number].spec.annotations.ends_turn)
            .take(if clause.tokens.len() > LONG {
                FEW_CANDIDATES
            } else {
                CANDIDATES
            })
            .filter_map(|(number, score)| {
                Fit::new(*number, &self.tools[*number], score / top, &asked)
            })
            .collect();
        fits.sort_by(|left, right| right.score.total_cmp(&left.score));
        let manner = tone::manner(clause);
        let fit = fits
            .into_iter()
            .take(4)
            .find(|fit| fit.is_meant(&self.tools[fit.tool], &asked, manner))?;
        Some(Choice {
            tool: &self.tools[fit.tool],
            reading: fit.reading,
        })
    }

    /// A tool that is called by its id or by its whole name, and the tokens that do so.
    pub(super) fn named_exactly(&self, clause: &Clause<'_>) -> Option<(&Tool<'a>, Vec<usize>)> {
        for at in 0..clause.tokens.len().min(MOST_TERMS) {
            let token = &clause.tokens[at];
            if !matches!(token.kind, Kind::Word | Kind::Quoted) || token.text.len() > 64 {
                continue;
            }
            let called = |tool: &&Tool<'a>| {
                let spec = tool.spec;
                // One plain word is no id: "sleep" may be said without the tool being meant.
                let compound = token.kind == Kind::Word && words(&spec.name).len() > 1;
                token.text.eq_ignore_ascii_case(spec.id.as_str())
                    || (compound && token.text.eq_ignore_ascii_case(&spec.name))
            };
            if let Some(tool) = self.tools.iter().find(called) {
                return Some((tool, vec![at]));
            }
        }
        let head = clause
            .text
            .char_indices()
            .nth(400)
            .map_or(clause.text, |(at, _)| &clause.text[..at]);
        let shown = |tool: &&Tool<'a>| {
            tool.spec.display_name.contains('/') && head.contains(&tool.spec.display_name)
        };
        let tool = self.tools.iter().find(shown)?;
        let start = head.find(&tool.spec.display_name)?;
        let end = start + tool.spec.display_name.len();
        let inside = |at: &usize| clause.tokens[*at].start < end && clause.tokens[*at].end > start;
        Some((
            tool,
            (0..clause.tokens.len().min(400)).filter(inside).collect(),
        ))
    }
}

impl<'a> Tool<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        let whole_name: HashSet<String> = stems(&spec.name).chain(stems(&spec.title)).collect();
        let mut name: HashSet<String> = whole_name
            .iter()
            .filter(|word| !lexicon::is_neutral(word))
            .cloned()
            .collect();
        if name.is_empty() {
            name.clone_from(&whole_name);
        }
        let shown = spec.display_name.split('/').next().unwrap_or_default();
        let source = stems(spec.id.as_str())
            .chain(stems(shown))
            .filter(|word| {
                !name.contains(word)
                    && !["builtin", "mcp", "api", "local", "skill"].contains(&word.as_str())
            })
            .collect();
        let argument_names = argument_names(spec);
        let arguments: HashSet<String> = stems(&argument_names).collect();
        let opening = spec
            .description
            .split(['.', '\n', '。'])
            .next()
            .unwrap_or_default();
        Self {
            spec,
            parameters: OnceCell::new(),
            name,
            whole_name,
            source,
            // A "city" in the sentence is what the tool works on, not a sign that it is meant.
            described: stems(opening)
                .filter(|word| !arguments.contains(word))
                .collect(),
            argument_names,
            arguments,
        }
    }

    pub(super) fn parameters(&self) -> &[Parameter] {
        self.parameters
            .get_or_init(|| schema::parameters(&self.spec.input_schema.value()))
    }

    pub(super) fn effect(&self) -> Effect {
        if self.spec.annotations.read_only {
            Effect::Looks
        } else {
            Effect::Changes
        }
    }

    fn read(
        &self,
        clause: &Clause<'_>,
        context: &Context,
        given: &[Given],
        names_tool: impl Fn(usize) -> bool,
    ) -> Reading {
        let mine: Vec<&Given> = given
            .iter()
            .filter(|one| one.tool == self.spec.id.as_str())
            .collect();
        let wanted = (self.effect(), self.parameters());
        arguments::read(clause, wanted, context, &mine, names_tool)
    }
}

fn argument_names(spec: &ToolSpec) -> String {
    let schema = spec.input_schema.value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flatten();
    let names: Vec<&str> = names.map(|(name, _)| name.as_str()).take(32).collect();
    names.join(" ")
}
