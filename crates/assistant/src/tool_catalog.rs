//! The tools at hand, and which of them a clause asks for, if any.
//!
//! What decides is how much of a tool's own name was said, whether the sentence begins with
//! it, and whether its arguments can be read.

mod terms;
mod tool_match;

use std::cell::OnceCell;
use std::collections::HashSet;

use serde_json::Value;
use tenon_domain::ToolSpec;
use tenon_domain::search::words;

use crate::argument_reader::{self, ArgumentReading, Context};
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{self, ParameterRole, ToolParameter};
use crate::vocabulary::{self, stems};
use terms::terms;
use tool_match::{Query, ToolMatch};

/// Candidates whose arguments are read.
const MAX_CANDIDATES: usize = 12;
/// The best matches that are looked at whether they are meant.
const MAX_MATCHES: usize = 4;
const MAX_ARGUMENT_NAMES: usize = 32;

pub(crate) struct ToolCatalog<'a> {
    pub(crate) tools: Vec<CatalogTool<'a>>,
}

pub(crate) struct CatalogTool<'a> {
    pub(crate) spec: &'a ToolSpec,
    parameters: OnceCell<Vec<ToolParameter>>,
    /// Stems of the words it is called by, without those that say nothing.
    name: HashSet<String>,
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
        let tools = specs.into_iter().map(CatalogTool::new).collect();
        Self { tools }
    }

    pub(crate) fn find(&self, id: &str) -> Option<&CatalogTool<'a>> {
        self.tools.iter().find(|tool| tool.spec.id.as_str() == id)
    }

    /// The tool a clause asks for, with its arguments as far as they can be read.
    pub(crate) fn choose(
        &self,
        clause: &Clause<'_>,
        context: &Context,
    ) -> Option<ToolChoice<'_, 'a>> {
        if let Some((tool, token)) = self.named_exactly(clause) {
            let reading = tool.read(clause, context, |at| at == token);
            return Some(ToolChoice { tool, reading });
        }
        let terms = terms(clause, context);
        let query = Query {
            clause,
            terms,
            context,
        };
        // Ending a turn is nothing to be guessed at.
        let open = self
            .tools
            .iter()
            .filter(|tool| !tool.spec.annotations.ends_turn);
        let matches = open
            .filter_map(|tool| ToolMatch::new(tool, &query))
            .collect();
        let matches = best(matches, MAX_CANDIDATES)
            .map(|one| one.read(&query))
            .collect();
        let found = best(matches, MAX_MATCHES).find(|one| one.is_meant(&query))?;
        Some(ToolChoice {
            tool: found.tool,
            reading: found.reading,
        })
    }

    /// A tool that is called by its id or by a name of several words, and the token that does so.
    pub(crate) fn named_exactly(&self, clause: &Clause<'_>) -> Option<(&CatalogTool<'a>, usize)> {
        let mut tokens = clause.tokens.iter().enumerate().take(terms::MAX_TERMS);
        tokens.find_map(|(at, token)| {
            let is_called = |tool: &&CatalogTool<'a>| {
                let ToolSpec { id, name, .. } = tool.spec;
                // One plain word is no id: "sleep" may be said without the tool being meant.
                let is_compound = || token.kind == TokenKind::Word && words(name).len() > 1;
                token.text.eq_ignore_ascii_case(id.as_str())
                    || (token.text.eq_ignore_ascii_case(name) && is_compound())
            };
            Some((self.tools.iter().find(is_called)?, at))
        })
    }
}

fn best<'s, 'a>(
    mut matches: Vec<ToolMatch<'s, 'a>>,
    limit: usize,
) -> impl Iterator<Item = ToolMatch<'s, 'a>> {
    matches.sort_by(|left, right| right.score.total_cmp(&left.score));
    matches.into_iter().take(limit)
}

impl<'a> CatalogTool<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        let name = stems(&spec.name).chain(stems(&spec.title));
        let name: HashSet<String> = name.filter(|word| !vocabulary::is_neutral(word)).collect();
        let shown = spec.display_name.split('/').next().unwrap_or_default();
        let prefixes = ["builtin", "mcp", "api", "local", "skill"];
        let source = stems(spec.id.as_str()).chain(stems(shown));
        let is_new = |word: &String| !name.contains(word) && !prefixes.contains(&word.as_str());
        let source = source.filter(is_new).collect();
        let schema = spec.input_schema.value();
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flatten().take(MAX_ARGUMENT_NAMES);
        let arguments: HashSet<String> = names.flat_map(|(name, _)| stems(name)).collect();
        let sentence = spec.description.split(['.', '\n', '。']).next();
        // A "city" in a sentence is what the tool works on, not a sign that it is meant.
        let description = stems(sentence.unwrap_or_default());
        let description = description
            .filter(|word| !arguments.contains(word))
            .collect();
        Self {
            spec,
            parameters: OnceCell::new(),
            name,
            source,
            description,
            arguments,
        }
    }

    pub(crate) fn parameters(&self) -> &[ToolParameter] {
        let read = || parameters::parameters(&self.spec.input_schema.value());
        self.parameters.get_or_init(read)
    }

    fn needs(&self, role: ParameterRole) -> bool {
        let mut parameters = self.parameters().iter();
        parameters.any(|one| one.required && one.role == role)
    }

    fn read(
        &self,
        clause: &Clause<'_>,
        context: &Context,
        names_tool: impl Fn(usize) -> bool,
    ) -> ArgumentReading {
        let changes = !self.spec.annotations.read_only;
        let answered = context.answered.get(self.spec.id.as_str());
        let answered = answered.cloned().unwrap_or_default();
        let parameters = self.parameters();
        argument_reader::read(clause, parameters, changes, context, answered, names_tool)
    }
}
