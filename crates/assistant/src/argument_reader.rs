//! A tool's arguments, read from a sentence by the tool's schema.
//!
//! The surest evidence goes first and takes its words away from the rest: values that are
//! named (`limit 5`), values with a form of their own (paths, numbers, places), words behind
//! a marker ("with …", "关于 …"), quotes, and last, for one required text, whatever nothing
//! else explains. Optional arguments are only read from sure evidence, and so are the texts
//! of tools that change something: what nobody said is asked for, not made up.

mod forms;
mod places;
mod texts;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use forms::value_of_text;
use texts::{draft, text_value};

pub(crate) type Arguments = Map<String, Value>;

/// What earlier steps left to point back at.
#[derive(Debug, Default, Clone)]
pub(crate) struct Context {
    pub(crate) path: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) result: Option<String>,
    /// A step of the same message came before, so that even "and read back" points at its file.
    pub(crate) continues: bool,
}

/// A value the user gave when asked for it.
#[derive(Debug, Clone)]
pub(crate) struct AnsweredArgument {
    pub(crate) tool: String,
    pub(crate) argument: String,
    pub(crate) value: Value,
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
    changes_something: bool,
    context: &'a Context,
    roles: Vec<TokenRole>,
    evidence: usize,
    guessed: bool,
    /// Further places, and the argument they are for.
    more_places: Option<(String, Vec<String>)>,
}

/// Reads the arguments of a tool. `names_tool` tells which tokens name the tool and so are no values.
pub(crate) fn read(
    clause: &Clause<'_>,
    parameters: &[ToolParameter],
    changes_something: bool,
    context: &Context,
    answered: &[&AnsweredArgument],
    names_tool: impl Fn(usize) -> bool,
) -> ArgumentReading {
    let mut reader = ArgumentReader::new(clause, changes_something, context, names_tool);
    let mut arguments = Arguments::new();
    for answer in answered {
        if parameters.iter().any(|one| one.name == answer.argument) {
            arguments.insert(answer.argument.clone(), answer.value.clone());
            reader.evidence += 1;
        }
    }
    let missing = reader.fill(parameters, &mut arguments).cloned();
    end_appended_line(parameters, &mut arguments);
    let mut calls = vec![arguments];
    if let Some((name, places)) = reader.more_places.take() {
        for place in places {
            let mut another = calls[0].clone();
            another.insert(name.clone(), Value::String(place));
            calls.push(another);
        }
    }
    let taken = |at: &usize| reader.roles[*at] == TokenRole::Taken;
    ArgumentReading {
        calls,
        missing,
        evidence: reader.evidence,
        guessed: reader.guessed,
        leftover: reader.free().count(),
        values: clause.head().filter(taken).collect(),
    }
}

impl<'a> ArgumentReader<'a> {
    fn new(
        clause: &'a Clause<'a>,
        changes_something: bool,
        context: &'a Context,
        names_tool: impl Fn(usize) -> bool,
    ) -> Self {
        let role = |at| match () {
            () if clause.is_stop_word(at) => TokenRole::StopWord,
            () if names_tool(at) => TokenRole::ToolName,
            () => TokenRole::Free,
        };
        Self {
            clause,
            changes_something,
            context,
            roles: (0..clause.tokens.len()).map(role).collect(),
            evidence: 0,
            guessed: false,
            more_places: None,
        }
    }

    /// Reads what is not there yet; returns the first required argument that stays empty.
    fn fill<'p>(
        &mut self,
        parameters: &'p [ToolParameter],
        into: &mut Arguments,
    ) -> Option<&'p ToolParameter> {
        self.read_each(parameters, into, |reader, one| {
            reader.named(one, parameters)
        });
        let is_wanted = |one: &ToolParameter, into: &Arguments| {
            one.required && one.is_free_text() && !into.contains_key(&one.name)
        };
        let wants_text = parameters.iter().any(|one| is_wanted(one, into));
        let mut by_form: Vec<&ToolParameter> = parameters.iter().collect();
        // The surest forms first; one of a few values is surer than any of them.
        by_form.sort_by_key(|one| (!matches!(one.value_type, ParameterType::OneOf(_)), one.role));
        self.read_each(by_form, into, |reader, one| reader.by_form(one, wants_text));
        self.read_each(parameters, into, |reader, one| reader.marked_text(one));
        let required = || parameters.iter().filter(|one| one.required);
        self.read_each(required(), into, |reader, one| reader.required_text(one));
        for parameter in required() {
            if !into.contains_key(&parameter.name)
                && let Some(value) = self.fallback(parameter)
            {
                into.insert(parameter.name.clone(), value);
            }
        }
        required().find(|one| !into.contains_key(&one.name))
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

    /// A default, or the only possible value.
    fn fallback(&self, parameter: &ToolParameter) -> Option<Value> {
        match &parameter.value_type {
            ParameterType::OneOf(values) if values.len() == 1 => values.first().cloned(),
            _ => parameter.default.clone(),
        }
    }

    /// Tokens that may still be values.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|at| self.roles[*at] == TokenRole::Free)
    }

    fn free_of(&self, kind: TokenKind) -> Option<usize> {
        self.free().find(|at| self.clause.tokens[*at].kind == kind)
    }

    fn role(&self, at: usize) -> Option<TokenRole> {
        self.roles.get(at).copied()
    }

    fn take(&mut self, from: usize, to: usize) {
        let roles = self.roles.iter_mut().take(to.saturating_add(1)).skip(from);
        roles.for_each(|role| *role = TokenRole::Taken);
    }

    fn take_text(&mut self, at: usize) -> Value {
        self.take(at, at);
        Value::String(self.clause.tokens[at].text.to_owned())
    }
}

/// What an answer says about the argument that was asked for.
pub(crate) fn value_of_answer(parameter: &ToolParameter, answer: &str) -> Option<Value> {
    let clause = Clause::new(answer);
    let context = Context::default();
    let mut reader = ArgumentReader::new(&clause, false, &context, |_| false);
    let plain = answer.trim().trim_end_matches(['!', '。', '！']);
    let is_short = |tokens: usize| (1..=tokens).contains(&clause.tokens.len());
    let found = reader.by_form(parameter, false);
    found.or_else(|| match parameter.role {
        ParameterRole::Content => text_value(parameter, draft(unquoted(&clause))?),
        ParameterRole::Place | ParameterRole::Expression if !is_short(6) => None,
        ParameterRole::Url | ParameterRole::Path | ParameterRole::Time | ParameterRole::Id
            if !is_short(1) =>
        {
            None
        }
        _ => value_of_text(parameter, plain),
    })
}

/// What a clause says, without the quotation marks around all of it.
fn unquoted<'a>(clause: &Clause<'a>) -> &'a str {
    match clause.tokens.as_slice() {
        [only] if only.kind == TokenKind::Quoted => only.text,
        _ => clause.text.trim(),
    }
}

/// What is added to the end of a file is a line of it, so that the next one has its own.
fn end_appended_line(parameters: &[ToolParameter], arguments: &mut Arguments) {
    let with_role = |role| {
        parameters
            .iter()
            .find(move |one| one.required && one.role == role)
    };
    let appends = arguments.get("append") == Some(&Value::Bool(true));
    if let Some(content) = with_role(ParameterRole::Content)
        && with_role(ParameterRole::Path).is_some()
        && appends
        && let Some(Value::String(text)) = arguments.get_mut(&content.name)
        && !text.ends_with('\n')
    {
        text.push('\n');
    }
}
