//! One argument, read from the answer to a question about it.

use serde_json::Value;

use super::super::clause::Clause;
use super::super::schema::{Hint, Parameter, Shape};
use super::super::token::Kind;
use super::text::{drafted, list};
use super::{Context, Effect, Reader, Role};

/// What an answer says about the argument that was asked for.
pub(in super::super) fn value_of_answer(parameter: &Parameter, answer: &str) -> Option<Value> {
    let clause = Clause::new(answer);
    let plain = answer.trim();
    if plain.is_empty() {
        return None;
    }
    let roles = (0..clause.tokens.len()).map(|at| {
        if clause.is_stop(at) {
            Role::Stop
        } else {
            Role::Free
        }
    });
    let context = Context::default();
    let mut reader = Reader {
        clause: &clause,
        effect: Effect::Looks,
        context: &context,
        roles: roles.collect(),
        evidence: 0,
        bare: None,
        places: None,
    };
    let only_word = || match clause.tokens.as_slice() {
        [only] if only.kind != Kind::Mark => Some(only.text),
        _ => None,
    };
    match &parameter.shape {
        Shape::Object(_) => serde_json::from_str(plain).ok().filter(Value::is_object),
        Shape::List(item) => list(plain, item),
        Shape::Number | Shape::Integer | Shape::Boolean | Shape::OneOf(_) => {
            reader.required_form(parameter)
        }
        Shape::Text => match parameter.hint {
            Hint::Url | Hint::Path | Hint::Moment | Hint::Id | Hint::Email => reader
                .required_form(parameter)
                .or_else(|| only_word().map(Value::from)),
            Hint::Place | Hint::Expression => reader.required_form(parameter).or_else(|| {
                let short = clause.tokens.len() <= 6;
                short.then(|| Value::from(plain.trim_end_matches(['.', '!', '。', '！'])))
            }),
            Hint::Content
            | Hint::Query
            | Hint::Title
            | Hint::Other
            | Hint::Count
            | Hint::Duration(_) => match clause.tokens.as_slice() {
                [only] if only.kind == Kind::Quoted => Some(Value::from(only.text)),
                _ if parameter.hint == Hint::Content => drafted(plain).map(Value::String),
                _ => Some(Value::from(plain)),
            },
        },
    }
}
