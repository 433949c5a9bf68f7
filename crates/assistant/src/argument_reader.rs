//! A tool's arguments, read from a sentence by the tool's schema.
//!
//! The surest evidence goes first and takes its words away from the rest: values that are
//! named (`limit 5`), values with a form of their own (paths, numbers, places), words behind
//! a marker ("with …", "关于 …"), quotes, and last, for one required text, whatever nothing
//! else explains. Optional arguments are only read from sure evidence, and so are the texts
//! of tools that change something: what nobody said is asked for, not made up.

mod places;
mod texts;
mod values;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use texts::{draft, text_value};
use values::value_of_text;

pub(crate) use texts::marker_role;

pub(crate) type Arguments = Map<String, Value>;

/// What earlier steps left to point back at.
#[derive(Debug, Default, Clone)]
pub(crate) struct Context {
    pub(crate) path: Option<String>,
    pub(crate) result: Option<String>,
    /// A step of the same message came before, so that even "and read back" points at its file.
    pub(crate) continues: bool,
    /// What the user gave when asked for it, by the id of the tool.
    pub(crate) answered: HashMap<String, Arguments>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ArgumentReading {
    /// One call, or several that differ in one argument ("in Tokyo and in Paris").
    pub(crate) calls: Vec<Arguments>,
    /// The first required argument that could not be read.
    pub(crate) missing: Option<ToolParameter>,
    /// How many arguments were read from sure evidence.
    pub(crate) evidence: usize,
    /// A required argument is only what was left over.
    pub(crate) guessed: bool,
    /// The tokens that became values.
    pub(crate) values: HashSet<usize>,
    /// How many words nothing explains.
    pub(crate) leftover: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    /// May be a value.
    Free,
    StopWord,
    /// Names the tool.
    ToolName,
    Taken,
}

struct ArgumentReader<'a> {
    clause: &'a Clause<'a>,
    context: &'a Context,
    changes_something: bool,
    roles: Vec<TokenRole>,
    evidence: usize,
    guessed: bool,
    /// Further places, and the argument they are for.
    more_places: Vec<(String, Value)>,
}

/// Reads the arguments of a tool that are not there yet. `names_tool` tells which tokens name the
/// tool and so are no values.
pub(crate) fn read(
    clause: &Clause<'_>,
    parameters: &[ToolParameter],
    changes_something: bool,
    context: &Context,
    mut arguments: Arguments,
    names_tool: impl Fn(usize) -> bool,
) -> ArgumentReading {
    let mut reader = ArgumentReader::new(clause, context, names_tool);
    reader.changes_something = changes_something;
    reader.evidence = arguments.len();
    reader.fill(parameters, &mut arguments);
    let mut required = parameters.iter().filter(|one| one.required);
    let missing = required.find(|one| !arguments.contains_key(&one.name));
    if arguments.get("append") == Some(&Value::Bool(true)) {
        end_lines(parameters, &mut arguments);
    }
    let taken = |at: &usize| reader.roles[*at] == TokenRole::Taken;
    let mut reading = ArgumentReading {
        calls: vec![arguments.clone()],
        missing: missing.cloned(),
        evidence: reader.evidence,
        guessed: reader.guessed,
        leftover: reader.free().count(),
        values: clause.head().filter(taken).collect(),
    };
    for (name, place) in reader.more_places {
        let mut another = arguments.clone();
        another.insert(name, place);
        reading.calls.push(another);
    }
    reading
}

/// What is added to the end of a file is a line of it, so that the next one has its own.
fn end_lines(parameters: &[ToolParameter], arguments: &mut Arguments) {
    let is_content = |one: &&ToolParameter| one.role == ParameterRole::Content;
    for one in parameters.iter().filter(is_content) {
        if let Some(Value::String(text)) = arguments.get_mut(&one.name) {
            *text = format!("{}\n", text.trim_end_matches('\n'));
        }
    }
}

impl<'a> ArgumentReader<'a> {
    fn new(
        clause: &'a Clause<'a>,
        context: &'a Context,
        names_tool: impl Fn(usize) -> bool,
    ) -> Self {
        let role = |at| {
            if clause.is_stop_word(at) {
                TokenRole::StopWord
            } else if names_tool(at) {
                TokenRole::ToolName
            } else {
                TokenRole::Free
            }
        };
        Self {
            clause,
            context,
            changes_something: false,
            roles: (0..clause.tokens.len()).map(role).collect(),
            evidence: 0,
            guessed: false,
            more_places: Vec::new(),
        }
    }

    fn fill(&mut self, parameters: &[ToolParameter], into: &mut Arguments) {
        let names: Vec<&str> = parameters.iter().map(|one| one.name.as_str()).collect();
        self.read_each(parameters, into, |reader, one| reader.named(one, &names));
        let required = || parameters.iter().filter(|one| one.required);
        let wants_text = required().any(|one| one.is_free_text() && !into.contains_key(&one.name));
        let mut by_form: Vec<&ToolParameter> = parameters.iter().collect();
        // The surest forms first; one of a few values is surer than any of them.
        by_form.sort_by_key(|one| (!matches!(one.value_type, ParameterType::OneOf(_)), one.role));
        self.read_each(by_form, into, |reader, one| reader.by_form(one, wants_text));
        self.read_each(parameters, into, |reader, one| reader.marked_text(one));
        self.read_each(required(), into, |reader, one| reader.required_text(one));
        let evidence = self.evidence;
        self.read_each(required(), into, |_, one| match &one.value_type {
            ParameterType::OneOf(values) if values.len() == 1 => values.first().cloned(),
            _ => one.default.clone(),
        });
        self.evidence = evidence;
    }

    fn read_each<'p>(
        &mut self,
        parameters: impl IntoIterator<Item = &'p ToolParameter>,
        into: &mut Arguments,
        read: impl Fn(&mut Self, &ToolParameter) -> Option<Value>,
    ) {
        for parameter in parameters {
            if !into.contains_key(&parameter.name)
                && let Some(value) = read(self, parameter)
            {
                self.evidence += 1;
                into.insert(parameter.name.clone(), value);
            }
        }
    }

    /// Tokens that may still be values.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|at| self.roles[*at] == TokenRole::Free)
    }

    fn free_of(&self, kind: TokenKind) -> Option<usize> {
        self.free().find(|at| self.clause.tokens[*at].kind == kind)
    }

    /// The first free words, up to what is taken.
    fn leftover(&self) -> Option<(usize, usize)> {
        let from = self.free().next()?;
        let end = self.next_taken(from);
        let to = self.free().take_while(|at| *at < end).last()?;
        Some((from, to))
    }

    fn role(&self, at: usize) -> Option<TokenRole> {
        self.roles.get(at).copied()
    }

    fn next_taken(&self, from: usize) -> usize {
        let taken = (from..self.roles.len()).find(|at| self.roles[*at] == TokenRole::Taken);
        taken.unwrap_or(self.roles.len())
    }

    fn take(&mut self, from: usize, to: usize) {
        let roles = self.roles.iter_mut().take(to.saturating_add(1)).skip(from);
        roles.for_each(|role| *role = TokenRole::Taken);
    }

    /// Takes these tokens; their text, without the quotation marks around a single one.
    fn take_text(&mut self, from: usize, to: usize) -> &'a str {
        self.take(from, to);
        let first = &self.clause.tokens[from];
        if first.kind == TokenKind::Quoted {
            first.text
        } else {
            self.clause.slice(from, to)
        }
    }
}

/// What an answer says about the argument that was asked for.
pub(crate) fn value_of_answer(parameter: &ToolParameter, answer: &str) -> Option<Value> {
    let clause = Clause::new(answer);
    let context = Context::default();
    let mut reader = ArgumentReader::new(&clause, &context, |_| false);
    let value = reader.by_form(parameter, false);
    let max_tokens = match parameter.role {
        ParameterRole::Url | ParameterRole::Path | ParameterRole::Time | ParameterRole::Id => 1,
        ParameterRole::Place | ParameterRole::Expression => 6,
        _ => usize::MAX,
    };
    let is_quote = clause.tokens.len() == 1 && clause.has(TokenKind::Quoted);
    match value {
        Some(value) => Some(value),
        None if clause.tokens.len() > max_tokens => None,
        None if parameter.role == ParameterRole::Content && !is_quote => {
            text_value(parameter, draft(answer.trim())?)
        }
        None => value_of_text(parameter, answer.trim_end_matches(['!', '。', '！'])),
    }
}
