//! The tools at hand, and which of them a clause asks for, if any.
//!
//! BM25 finds the candidates. What decides between them is how much of a tool's own name was
//! said, whether the sentence begins with it, and whether its arguments can be read.

mod terms;
mod tool_match;

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::Value;
use tenon_domain::ToolSpec;
use tenon_domain::search::{Index, words};

use crate::argument_reader::{self, AnsweredArgument, ArgumentReading, Context};
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{self, ParameterRole, ToolParameter};
use crate::vocabulary::{self, stems};
use terms::terms;
use tool_match::{Query, ToolMatch};

/// Candidates whose arguments are read.
const MAX_CANDIDATES: usize = 12;
/// In a clause of more tokens than this, reading costs more than it finds.
const MAX_READABLE_TOKENS: usize = 2_000;
const MAX_CANDIDATES_OF_LONG: usize = 3;
/// Some descriptions are whole manuals; what a tool is for is said at the beginning.
const MAX_DESCRIPTION_BYTES: usize = 600;
const MAX_ARGUMENT_NAMES: usize = 32;

pub(crate) struct ToolCatalog<'a> {
    pub(crate) tools: Vec<CatalogTool<'a>>,
    index: Index,
    /// Tools that need a sum.
    calculators: Vec<usize>,
}

pub(crate) struct CatalogTool<'a> {
    pub(crate) spec: &'a ToolSpec,
    parameters: OnceCell<Vec<ToolParameter>>,
    /// Stems of the words it is called by, without those that say nothing.
    name: HashSet<String>,
    /// Those as well.
    whole_name: HashSet<String>,
    /// Stems of the words its source is called by.
    source: HashSet<String>,
    /// Stems of the first sentence of its description.
    description: HashSet<String>,
    /// Stems of the names of its arguments.
    arguments: HashSet<String>,
}

/// A tool, and the clause read as its arguments.
pub(crate) struct ToolChoice<'s, 'a> {
    pub(crate) tool: &'s CatalogTool<'a>,
    pub(crate) reading: ArgumentReading,
}

impl<'a> ToolCatalog<'a> {
    pub(crate) fn new(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        let (mut tools, mut documents, mut calculators) = (Vec::new(), Vec::new(), Vec::new());
        for spec in specs {
            let names = argument_names(spec);
            let needs_sum =
                |name: &&String| parameters::role_of_name(name) == ParameterRole::Expression;
            if names.iter().any(|name| needs_sum(&name)) {
                calculators.push(tools.len());
            }
            let names = names.join(" ");
            let described =
                &spec.description[..spec.description.floor_char_boundary(MAX_DESCRIPTION_BYTES)];
            let stemmed = |text: &str| stems(text).collect::<Vec<_>>().join(" ");
            documents.push([
                (stemmed(&format!("{} {}", spec.name, spec.title)), 3.0),
                (stemmed(&format!("{} {}", spec.id, spec.display_name)), 1.0),
                (stemmed(described), 1.0),
                (stemmed(&names), 0.5),
            ]);
            tools.push(CatalogTool::new(spec, &names));
        }
        let texts = documents
            .iter()
            .map(|texts| texts.iter().map(|(text, weight)| (text.as_str(), *weight)));
        let index = Index::new(texts);
        Self {
            tools,
            index,
            calculators,
        }
    }

    pub(crate) fn find(&self, id: &str) -> Option<&CatalogTool<'a>> {
        self.tools.iter().find(|tool| tool.spec.id.as_str() == id)
    }

    /// The tool a clause asks for, with its arguments as far as they can be read.
    pub(crate) fn choose(
        &self,
        clause: &Clause<'_>,
        context: &Context,
        answered: &[AnsweredArgument],
    ) -> Option<ToolChoice<'_, 'a>> {
        if let Some((tool, tokens)) = self.named_exactly(clause) {
            let reading = tool.read(clause, context, answered, |at| tokens.contains(&at));
            return Some(ToolChoice { tool, reading });
        }
        let query = Query {
            clause,
            terms: terms(clause, context),
            context,
            answered,
        };
        let candidates = self.candidates(&query);
        let matches = candidates.into_iter().filter_map(|(number, rank)| {
            let tool = &self.tools[number];
            Some((number, ToolMatch::new(tool, rank, &query)?))
        });
        let mut matches: Vec<(usize, ToolMatch)> = matches.collect();
        matches.sort_by(|(_, left), (_, right)| right.score.total_cmp(&left.score));
        let is_meant =
            |(number, found): &(usize, ToolMatch)| found.is_meant(&self.tools[*number], &query);
        let (number, found) = matches.into_iter().take(4).find(is_meant)?;
        Some(ToolChoice {
            tool: &self.tools[number],
            reading: found.reading,
        })
    }

    /// Tools to try, each with its rank between 0 and 1.
    fn candidates(&self, query: &Query<'_>) -> Vec<(usize, f32)> {
        let stems = query.terms.iter().flat_map(|term| &term.stems);
        let words: Vec<&str> = stems.map(|(stem, _)| stem.as_str()).collect();
        let ranked = self.index.rank(&words.join(" "));
        let top = ranked
            .first()
            .map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
        let limit = if query.clause.tokens.len() > MAX_READABLE_TOKENS {
            MAX_CANDIDATES_OF_LONG
        } else {
            MAX_CANDIDATES
        };
        let is_open = |number: &usize| !self.tools[*number].spec.annotations.ends_turn;
        // Ending a turn is nothing to be guessed at.
        let ranked = ranked.into_iter().filter(|(number, _)| is_open(number));
        let mut candidates: Vec<(usize, f32)> = ranked
            .map(|(number, score)| (number, score / top))
            .take(limit)
            .collect();
        if query.clause.sum.is_some() {
            let is_new = |number: &&usize| candidates.iter().all(|(known, _)| known != *number);
            let new: Vec<usize> = self.calculators.iter().filter(is_new).copied().collect();
            candidates.extend(
                new.into_iter()
                    .filter(is_open)
                    .take(limit)
                    .map(|number| (number, 0.0)),
            );
        }
        candidates
    }

    /// A tool that is called by its id or by its whole name, and the tokens that do so.
    pub(crate) fn named_exactly(
        &self,
        clause: &Clause<'_>,
    ) -> Option<(&CatalogTool<'a>, Vec<usize>)> {
        for at in 0..clause.tokens.len().min(terms::MAX_TERMS) {
            let token = &clause.tokens[at];
            if !matches!(token.kind, TokenKind::Word | TokenKind::Quoted) || token.text.len() > 64 {
                continue;
            }
            let is_called = |tool: &&CatalogTool<'a>| {
                let spec = tool.spec;
                // One plain word is no id: "sleep" may be said without the tool being meant.
                let is_compound = token.kind == TokenKind::Word && words(&spec.name).len() > 1;
                token.text.eq_ignore_ascii_case(spec.id.as_str())
                    || (is_compound && token.text.eq_ignore_ascii_case(&spec.name))
            };
            if let Some(tool) = self.tools.iter().find(is_called) {
                return Some((tool, vec![at]));
            }
        }
        let head = &clause.text[..clause.text.floor_char_boundary(1_000)];
        let position = |tool: &CatalogTool<'a>| {
            let name = &tool.spec.display_name;
            head.find(name.as_str()).filter(|_| name.contains('/'))
        };
        let (tool, start) = self
            .tools
            .iter()
            .find_map(|tool| Some((tool, position(tool)?)))?;
        let end = start + tool.spec.display_name.len();
        let is_inside =
            |at: &usize| clause.tokens[*at].start < end && clause.tokens[*at].end > start;
        Some((tool, clause.head().filter(is_inside).collect()))
    }
}

impl<'a> CatalogTool<'a> {
    fn new(spec: &'a ToolSpec, argument_names: &str) -> Self {
        let whole_name: HashSet<String> = stems(&spec.name).chain(stems(&spec.title)).collect();
        let telling = whole_name
            .iter()
            .filter(|word| !vocabulary::is_neutral(word));
        let mut name: HashSet<String> = telling.cloned().collect();
        if name.is_empty() {
            name.clone_from(&whole_name);
        }
        let shown = spec.display_name.split('/').next().unwrap_or_default();
        let prefixes = ["builtin", "mcp", "api", "local", "skill"];
        let source = stems(spec.id.as_str()).chain(stems(shown));
        let source =
            source.filter(|word| !name.contains(word) && !prefixes.contains(&word.as_str()));
        let source = source.collect();
        let arguments: HashSet<String> = stems(argument_names).collect();
        let sentence = spec
            .description
            .split(['.', '\n', '。'])
            .next()
            .unwrap_or_default();
        // A "city" in a sentence is what the tool works on, not a sign that it is meant.
        let description = stems(sentence)
            .filter(|word| !arguments.contains(word))
            .collect();
        Self {
            spec,
            parameters: OnceCell::new(),
            name,
            whole_name,
            source,
            description,
            arguments,
        }
    }

    pub(crate) fn parameters(&self) -> &[ToolParameter] {
        let read = || parameters::parameters(&self.spec.input_schema.value());
        self.parameters.get_or_init(read)
    }

    fn read(
        &self,
        clause: &Clause<'_>,
        context: &Context,
        answered: &[AnsweredArgument],
        names_tool: impl Fn(usize) -> bool,
    ) -> ArgumentReading {
        let is_mine = |one: &&AnsweredArgument| one.tool == self.spec.id.as_str();
        let answered: Vec<&AnsweredArgument> = answered.iter().filter(is_mine).collect();
        let changes = !self.spec.annotations.read_only;
        argument_reader::read(
            clause,
            self.parameters(),
            changes,
            context,
            &answered,
            names_tool,
        )
    }
}

fn argument_names(spec: &ToolSpec) -> Vec<String> {
    let schema = spec.input_schema.value();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone());
    names.take(MAX_ARGUMENT_NAMES).collect()
}
