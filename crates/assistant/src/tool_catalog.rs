//! The tools at hand, and which of them a clause asks for, if any.
//!
//! What decides is how much of a tool's own name was said, whether the sentence begins with
//! it, and whether its arguments can be read.

mod query;
mod tool_match;

use std::cell::OnceCell;
use std::collections::HashSet;

use tenon_domain::ToolSpec;
use tenon_domain::search::words;

use crate::argument_reader::{self, ArgumentReading, Context};
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{self, ParameterRole, ToolParameter};
use crate::vocabulary::{has_word, is_stop_word, stem, stems};
use query::{MAX_TERMS, Query};
use tool_match::ToolMatch;

/// Candidates whose arguments are read.
const MAX_CANDIDATES: usize = 12;
/// The best matches that are looked at whether they are meant.
const MAX_MATCHES: usize = 4;
/// Words in the names of tools, and in ids, that say nothing about them.
const NEUTRAL: &str = "get id execute perform builtin mcp api local skill";

pub(crate) struct ToolCatalog<'a> {
    pub(crate) tools: Vec<CatalogTool<'a>>,
}

/// A tool with the stems of the words that are said of it.
pub(crate) struct CatalogTool<'a> {
    pub(crate) spec: &'a ToolSpec,
    parameters: OnceCell<Vec<ToolParameter>>,
    name: HashSet<String>,
    source: HashSet<String>,
    /// Of the first sentence.
    description: HashSet<String>,
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
        let query = Query::new(clause, context);
        // Ending a turn is nothing to be guessed at.
        let open = |tool: &&CatalogTool<'_>| !tool.spec.annotations.ends_turn;
        let tools = self.tools.iter().filter(open);
        let matches = tools.filter_map(|tool| ToolMatch::new(tool, &query));
        let matches = best(matches, MAX_CANDIDATES).map(|one| one.read(&query));
        let found = best(matches, MAX_MATCHES).find(|one| one.is_meant(&query))?;
        Some(ToolChoice {
            tool: found.tool,
            reading: found.reading,
        })
    }

    /// A tool that is called by its id or by a name of several words, and the token that does so.
    pub(crate) fn named_exactly(&self, clause: &Clause<'_>) -> Option<(&CatalogTool<'a>, usize)> {
        let mut tokens = clause.tokens.iter().enumerate().take(MAX_TERMS);
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

fn best<'s, 'a: 's>(
    matches: impl Iterator<Item = ToolMatch<'s, 'a>>,
    limit: usize,
) -> impl Iterator<Item = ToolMatch<'s, 'a>> {
    let mut matches: Vec<_> = matches.collect();
    matches.sort_by(|left, right| right.score.total_cmp(&left.score));
    matches.into_iter().take(limit)
}

impl<'a> CatalogTool<'a> {
    fn new(spec: &'a ToolSpec) -> Self {
        let schema = spec.input_schema.value();
        let says_something = |word: &String| !is_stop_word(word) && !has_word(NEUTRAL, word);
        let named = |texts: [&str; 2]| {
            let words = texts.into_iter().flat_map(words).filter(says_something);
            words.map(|word| stem(&word)).collect::<HashSet<_>>()
        };
        let name = named([&spec.name, &spec.title]);
        let shown = spec.display_name.split('/').next().unwrap_or_default();
        let mut source = named([spec.id.as_str(), shown]);
        source.retain(|word| !name.contains(word));
        let arguments: HashSet<String> = parameters::names(&schema).flat_map(stems).collect();
        let sentence = spec.description.split(['.', '\n', '。']).next();
        let mut description: HashSet<String> = stems(sentence.unwrap_or_default()).collect();
        // A "city" in a sentence is what the tool works on, not a sign that it is meant.
        description.retain(|word| !arguments.contains(word));
        Self {
            spec,
            parameters: OnceCell::new(),
            name,
            source,
            description,
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
        argument_reader::read(
            clause,
            self.parameters(),
            changes,
            context,
            answered,
            names_tool,
        )
    }
}
