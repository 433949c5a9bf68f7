//! A tool's arguments, read from a sentence by the tool's schema.
//!
//! The surest evidence goes first and takes its words away from the rest:
//! values that are named (`limit 5`), values with a form of their own (paths,
//! numbers, places), words behind a marker ("with …", "关于 …"), quotes, and
//! last, for one required text, whatever nothing else explains. Optional
//! arguments are only read from sure evidence, and so are the texts of tools
//! that change something: what nobody said is asked for, not made up.

mod named;

mod form;
mod place;
mod text;

mod answer;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::clause::Clause;
use super::schema::{Hint, Parameter, Shape};
use super::token::Kind;

pub(super) use answer::value_of_answer;

pub(super) type Arguments = Map<String, Value>;

/// What a tool does, which tells how sure its texts have to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Looks,
    Changes,
}

/// What earlier steps left to point back at.
#[derive(Debug, Default, Clone)]
pub(super) struct Context {
    pub(super) path: Option<String>,
    pub(super) url: Option<String>,
    pub(super) result: Option<String>,
    /// A step of the same message came before, so that even "and read back" points at its file.
    pub(super) goes_on: bool,
}

/// A value the user gave when asked for it.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) tool: String,
    pub(super) argument: String,
    pub(super) value: Value,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// One call, or several that differ in one argument ("in Tokyo and in Paris").
    pub(super) calls: Vec<Arguments>,
    /// The first required argument that could not be read.
    pub(super) missing: Option<Parameter>,
    /// How many arguments were read from sure evidence.
    pub(super) evidence: usize,
    /// What the required argument is about that is only what was left over.
    pub(super) bare: Option<Hint>,
    /// The tokens that became values.
    pub(super) values: HashSet<usize>,
    /// Words that nothing explains.
    pub(super) leftover: usize,
}

/// Reads the arguments of a tool. `names_tool` tells which tokens name the tool and so are no values.
pub(super) fn read(
    clause: &Clause<'_>,
    (effect, parameters): (Effect, &[Parameter]),
    context: &Context,
    given: &[&Given],
    names_tool: impl Fn(usize) -> bool,
) -> Reading {
    let roles = (0..clause.tokens.len()).map(|at| match () {
        () if clause.is_stop(at) => Role::Stop,
        () if names_tool(at) => Role::Tool,
        () => Role::Free,
    });
    let mut reader = Reader {
        clause,
        effect,
        context,
        roles: roles.collect(),
        evidence: 0,
        bare: None,
        places: None,
    };
    let mut arguments = Arguments::new();
    for answer in given {
        if parameters
            .iter()
            .any(|parameter| parameter.name == answer.argument)
        {
            arguments.insert(answer.argument.clone(), answer.value.clone());
            reader.evidence += 1;
        }
    }
    let missing = reader.fill(parameters, &mut arguments).cloned();
    end_what_is_appended(parameters, &mut arguments);
    let mut calls = vec![arguments];
    if let Some((name, others)) = reader.places.take()
        // A place deep inside an object makes no calls of its own.
        && calls[0].get(&name).is_some_and(Value::is_string)
    {
        for place in others {
            let mut another = calls[0].clone();
            another.insert(name.clone(), Value::String(place));
            calls.push(another);
        }
    }
    let leftover = reader.free().count();
    Reading {
        calls,
        missing,
        evidence: reader.evidence,
        bare: reader.bare,
        leftover,
        values: reader.values().collect(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// May be a value.
    Free,
    Stop,
    /// Names the tool.
    Tool,
    Taken,
}

struct Reader<'a> {
    clause: &'a Clause<'a>,
    effect: Effect,
    context: &'a Context,
    roles: Vec<Role>,
    evidence: usize,
    bare: Option<Hint>,
    /// Further places, and the argument they are for.
    places: Option<(String, Vec<String>)>,
}

impl Reader<'_> {
    /// Reads what is not there yet; returns the first required argument that stays empty.
    fn fill<'p>(
        &mut self,
        parameters: &'p [Parameter],
        into: &mut Arguments,
    ) -> Option<&'p Parameter> {
        for parameter in parameters {
            self.try_one(parameter, into, |reader| {
                reader.named(parameter, parameters)
            });
        }
        let texts_wanted = parameters
            .iter()
            .any(|one| one.required && is_free_text(one) && !into.contains_key(&one.name));
        for parameter in by_form(parameters) {
            if parameter.required {
                self.try_one(parameter, into, |reader| reader.required_form(parameter));
            } else {
                self.try_one(parameter, into, |reader| {
                    reader.optional_form(parameter, texts_wanted)
                });
            }
        }
        for parameter in parameters {
            self.try_one(parameter, into, |reader| reader.marked_text(parameter));
        }
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            self.try_one(parameter, into, |reader| reader.required_text(parameter));
        }
        for parameter in parameters.iter().filter(|parameter| parameter.required) {
            if into.contains_key(&parameter.name) {
                continue;
            }
            if let Some(value) = self.last_resort(parameter) {
                into.insert(parameter.name.clone(), value);
            }
        }
        parameters
            .iter()
            .find(|one| one.required && !into.contains_key(&one.name))
    }

    fn try_one(
        &mut self,
        parameter: &Parameter,
        into: &mut Arguments,
        read: impl FnOnce(&mut Self) -> Option<Value>,
    ) {
        if into.contains_key(&parameter.name) {
            return;
        }
        if let Some(value) = read(self) {
            self.evidence += 1;
            into.insert(parameter.name.clone(), value);
        }
    }

    /// A default, the only possible value, or an object whose own arguments can be read.
    fn last_resort(&mut self, parameter: &Parameter) -> Option<Value> {
        if let Some(default) = &parameter.default {
            return Some(default.clone());
        }
        match &parameter.shape {
            Shape::OneOf(values) if values.len() == 1 => values.first().cloned(),
            Shape::Object(inner) if !inner.is_empty() => {
                let mut object = Arguments::new();
                let missing = self.fill(inner, &mut object);
                (missing.is_none() && !object.is_empty()).then_some(Value::Object(object))
            }
            Shape::Object(_)
            | Shape::OneOf(_)
            | Shape::Text
            | Shape::Number
            | Shape::Integer
            | Shape::Boolean
            | Shape::List(_) => None,
        }
    }

    /// Tokens that may still be values.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|at| self.roles[*at] == Role::Free)
    }

    /// Tokens that are values; those far down a long text are not worth counting.
    fn values(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len().min(400)).filter(|at| self.roles[*at] == Role::Taken)
    }

    fn free_of(&self, kind: Kind) -> Option<usize> {
        self.free().find(|at| self.clause.tokens[*at].kind == kind)
    }

    fn role(&self, at: usize) -> Option<Role> {
        self.roles.get(at).copied()
    }

    fn take(&mut self, from: usize, to: usize) {
        for role in self.roles.iter_mut().take(to + 1).skip(from) {
            *role = Role::Taken;
        }
    }

    fn take_text(&mut self, at: usize) -> Value {
        self.take(at, at);
        Value::String(self.clause.tokens[at].text.to_owned())
    }
}

/// What is added to the end of a file is a line of it, so that the next has its own.
fn end_what_is_appended(parameters: &[Parameter], arguments: &mut Arguments) {
    let is = |one: &Parameter, hint: Hint| one.required && one.hint == hint;
    let to_file = parameters.iter().any(|one| is(one, Hint::Path));
    let appends = arguments.get("append") == Some(&Value::Bool(true));
    let content = parameters.iter().find(|one| is(one, Hint::Content));
    if let Some(content) = content.filter(|_| to_file && appends)
        && let Some(Value::String(text)) = arguments.get_mut(&content.name)
        && !text.ends_with('\n')
    {
        text.push('\n');
    }
}

/// The parameters with the most telling forms first: a path is surer than a number.
fn by_form(parameters: &[Parameter]) -> Vec<&Parameter> {
    let mut sorted: Vec<&Parameter> = parameters.iter().collect();
    sorted.sort_by_key(|parameter| match (&parameter.shape, parameter.hint) {
        (Shape::OneOf(_), _) => 0,
        (Shape::Text, Hint::Url) => 1,
        (Shape::Text, Hint::Path) => 2,
        (Shape::Text, Hint::Expression) => 3,
        (Shape::Text, Hint::Moment) => 4,
        (Shape::Number | Shape::Integer, _) => 5,
        (Shape::Text, Hint::Id | Hint::Email) => 6,
        (Shape::Boolean, _) => 7,
        (Shape::Text, Hint::Place) => 8,
        (Shape::Text | Shape::List(_) | Shape::Object(_), _) => 9,
    });
    sorted
}

/// Whether any words at all could be meant.
fn is_free_text(parameter: &Parameter) -> bool {
    matches!(parameter.shape, Shape::Text | Shape::List(_))
        && matches!(
            parameter.hint,
            Hint::Query | Hint::Title | Hint::Content | Hint::Other
        )
}
