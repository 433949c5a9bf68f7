//! The tools at hand, and which of them a clause asks for, if any.
//!
//! What decides is how much of a tool's own name was said, whether it speaks of every word
//! whose meaning is known, and whether its arguments can be read.

mod query;
mod tool_match;

use std::cmp::Reverse;
use std::collections::HashSet;

use tenon_domain::ToolSpec;
use tenon_domain::search::words;

use crate::argument_reader::{ArgumentReader, Arguments, Context};
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{self, ToolParameter};
use crate::vocabulary::{has_word, is_stop_word, stem, stems};
use query::Query;
use tool_match::ToolMatch;

/// Candidates whose arguments are read.
const MAX_CANDIDATES: usize = 12;
/// Tokens among which the id of a tool is looked for.
const MAX_ID_TOKENS: usize = 64;
/// Words in the names of tools, and in ids, that say nothing about them.
const NEUTRAL: &str = "get id execute perform builtin mcp api local skill";

pub(crate) struct ToolCatalog<'a> {
    pub(crate) tools: Vec<CatalogTool<'a>>,
}

/// A tool with the stems of the words that are said of it.
pub(crate) struct CatalogTool<'a> {
    pub(crate) spec: &'a ToolSpec,
    pub(crate) parameters: Vec<ToolParameter>,
    name: HashSet<String>,
    /// Of its source and its first sentence.
    description: HashSet<String>,
}

/// A tool, and what a clause says of its arguments.
pub(crate) struct ToolSelection<'s, 'a> {
    pub(crate) tool: &'s CatalogTool<'a>,
    pub(crate) calls: Vec<Arguments>,
    pub(crate) missing: Option<ToolParameter>,
    pub(crate) evidence: usize,
    pub(crate) guessed: bool,
}

impl<'s, 'a> ToolSelection<'s, 'a> {
    fn new(tool: &'s CatalogTool<'a>, reader: &ArgumentReader<'_>) -> Self {
        Self {
            tool,
            calls: reader.calls(),
            missing: reader.missing().cloned(),
            evidence: reader.evidence,
            guessed: reader.guessed,
        }
    }
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
    ) -> Option<ToolSelection<'_, 'a>> {
        if let Some((tool, token)) = self.named_exactly(clause) {
            let reader = tool.read(clause, context, &HashSet::from([token]));
            let mut choice = ToolSelection::new(tool, &reader);
            if let Some(arguments) = first_object(clause.text) {
                (choice.calls, choice.missing) = (vec![arguments], None);
            }
            return Some(choice);
        }
        let query = Query::new(clause, context);
        // Ending a turn is nothing to be guessed at.
        let open = |tool: &&CatalogTool<'_>| !tool.spec.annotations.ends_turn;
        let tools = self.tools.iter().filter(open);
        let hits = tools.map(|tool| (query.hits(tool), tool));
        let mut candidates: Vec<_> = hits.filter(|(hits, _)| *hits > 0).collect();
        candidates.sort_by_key(|(hits, _)| Reverse(*hits));
        candidates.truncate(MAX_CANDIDATES);
        let read = |(_, tool)| ToolMatch::new(tool, &query);
        let mut matches: Vec<_> = candidates.into_iter().map(read).collect();
        matches.sort_by(|left, right| right.score.total_cmp(&left.score));
        let found = matches.into_iter().find(ToolMatch::is_meant)?;
        Some(ToolSelection::new(found.tool, &found.reader))
    }

    /// A tool that is called by its id or by a name of several words, and the token that does so.
    fn named_exactly(&self, clause: &Clause<'_>) -> Option<(&CatalogTool<'a>, usize)> {
        let mut tokens = clause.tokens.iter().enumerate().take(MAX_ID_TOKENS);
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

/// Arguments that are spelled out: the first object in a text.
fn first_object(text: &str) -> Option<Arguments> {
    let json = &text[text.find('{')?..];
    let values = serde_json::Deserializer::from_str(json).into_iter();
    { values }.next()?.ok()
}

impl<'a> CatalogTool<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        let says_something = |word: &String| !is_stop_word(word) && !has_word(NEUTRAL, word);
        let named = words(&spec.name).into_iter().chain(words(&spec.title));
        let named = named.filter(says_something);
        let parameters = parameters::parameters(&spec.input_schema.value());
        let arguments = parameters.iter().flat_map(|one| stems(&one.name));
        let arguments: HashSet<String> = arguments.collect();
        let source = spec.display_name.split('/').next().unwrap_or_default();
        let sentence = spec.description.split(['.', '\n', '。']).next();
        let described = stems(sentence.unwrap_or_default()).chain(stems(source));
        // A "city" in a sentence is what the tool works on, not a sign that it is meant.
        let described = described.filter(|word| !arguments.contains(word));
        Self {
            spec,
            name: named.map(|word| stem(&word)).collect(),
            description: described.collect(),
            parameters,
        }
    }

    fn read<'c>(
        &'c self,
        clause: &'c Clause<'c>,
        context: &'c Context,
        names_tool: &HashSet<usize>,
    ) -> ArgumentReader<'c> {
        let answered = context.answered.get(self.spec.id.as_str());
        ArgumentReader::read(clause, context, &self.parameters, names_tool, answered)
    }
}
