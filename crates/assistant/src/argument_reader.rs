//! A tool's arguments, read from a sentence by the tool's schema.
//!
//! Each parameter takes one span of tokens, and no token serves two. Four passes, the surest
//! evidence first: values that are named (`limit 5`), values that show by their form what they
//! are (paths, numbers, places), texts behind a marker ("titled …"), and for what is required
//! whatever nothing else explains. What nobody said is asked for, not made up.

mod announced;
mod shaped;
mod values;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::{Map, Value};

use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use values::{draft, value_of};

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    /// May be a value.
    Free,
    StopWord,
    /// Names the tool.
    ToolName,
    /// Is a value.
    Taken,
}

/// The tokens that a parameter takes, and its value: none where the words speak of a text that
/// nobody has written yet.
type SpanValue = (Range<usize>, Option<Value>);

pub(crate) struct ArgumentReader<'a> {
    clause: &'a Clause<'a>,
    context: &'a Context,
    parameters: &'a [ToolParameter],
    roles: Vec<TokenRole>,
    arguments: Arguments,
    /// Further places, and the argument they are for.
    more_places: Vec<(String, Value)>,
    /// How many arguments were read.
    pub(crate) evidence: usize,
    /// An argument is only what was left over.
    pub(crate) guessed: bool,
}

impl<'a> ArgumentReader<'a> {
    /// Reads what was not `answered` already. The tokens in `names_tool` name the tool and so are
    /// no values.
    pub(crate) fn read(
        clause: &'a Clause<'a>,
        context: &'a Context,
        parameters: &'a [ToolParameter],
        names_tool: &HashSet<usize>,
        answered: Option<&Arguments>,
    ) -> Self {
        let mut reader = Self::new(clause, context, parameters, names_tool);
        reader.arguments = answered.cloned().unwrap_or_default();
        let in_order: Vec<&ToolParameter> = parameters.iter().collect();
        let mut by_form = in_order.clone();
        // The surest forms first; one of a few values is surer than any of them.
        by_form.sort_by_key(|one| (!matches!(one.value_type, ParameterType::OneOf(_)), one.role));
        reader.pass(&in_order, Self::named);
        reader.pass(&by_form, Self::shaped);
        reader.pass(&in_order, Self::marked);
        reader.pass(&in_order, Self::remaining);
        reader.evidence = reader.arguments.len();
        reader.complete();
        reader
    }

    fn new(
        clause: &'a Clause<'a>,
        context: &'a Context,
        parameters: &'a [ToolParameter],
        names_tool: &HashSet<usize>,
    ) -> Self {
        let role = |at| {
            if clause.is_stop_word(at) {
                TokenRole::StopWord
            } else if names_tool.contains(&at) {
                TokenRole::ToolName
            } else {
                TokenRole::Free
            }
        };
        Self {
            clause,
            context,
            parameters,
            roles: (0..clause.tokens.len()).map(role).collect(),
            arguments: Arguments::new(),
            more_places: Vec::new(),
            evidence: 0,
            guessed: false,
        }
    }

    /// Gives each parameter without a value what one kind of evidence finds for it.
    fn pass(
        &mut self,
        parameters: &[&ToolParameter],
        find: fn(&mut Self, &ToolParameter) -> Option<SpanValue>,
    ) {
        for one in parameters {
            let is_open = !self.arguments.contains_key(&one.name);
            if is_open && let Some((span, value)) = find(self, one) {
                self.take(span.clone());
                if one.role == ParameterRole::Place {
                    self.take_joined_places(one, span);
                }
                let value = value.map(|value| (one.name.clone(), value));
                self.arguments.extend(value);
            }
        }
    }

    /// Adds the defaults of what is required. What is added to the end of a file is a line of it,
    /// so that the next one has its own.
    fn complete(&mut self) {
        let is_appended = self.arguments.get("append") == Some(&Value::Bool(true));
        for one in self.parameters {
            let value = self.arguments.get_mut(&one.name);
            let is_line = is_appended && one.role == ParameterRole::Content;
            match (value, &one.default) {
                (Some(Value::String(text)), _) if is_line => {
                    *text = format!("{}\n", text.trim_end_matches('\n'));
                }
                (None, Some(default)) if one.required => {
                    self.arguments.insert(one.name.clone(), default.clone());
                }
                _ => {}
            }
        }
    }

    /// The first required argument that could not be read.
    pub(crate) fn missing(&self) -> Option<&'a ToolParameter> {
        let is_missing =
            |one: &&ToolParameter| one.required && !self.arguments.contains_key(&one.name);
        self.parameters.iter().find(is_missing)
    }

    /// One call, or several that differ in one argument ("in Tokyo and in Paris").
    pub(crate) fn calls(&self) -> Vec<Arguments> {
        let others = self.more_places.iter().map(|(name, place)| {
            let mut another = self.arguments.clone();
            another.insert(name.clone(), place.clone());
            another
        });
        [self.arguments.clone()].into_iter().chain(others).collect()
    }

    pub(crate) fn is_value(&self, at: usize) -> bool {
        self.roles[at] == TokenRole::Taken
    }

    /// How many words nothing explains.
    pub(crate) fn leftover(&self) -> usize {
        self.free().count()
    }

    /// A required text is still to be found.
    fn wants_text(&self) -> bool {
        let is_wanted = |one: &ToolParameter| {
            one.required && one.is_free_text() && !self.arguments.contains_key(&one.name)
        };
        self.parameters.iter().any(is_wanted)
    }

    /// The span as a value of the parameter.
    fn span_value(&self, one: &ToolParameter, span: Range<usize>) -> SpanValue {
        let text = self.clause.slice(span.clone());
        let is_quote = self.clause.tokens[span.start].kind == TokenKind::Quoted;
        let value = if one.role == ParameterRole::Content && !is_quote {
            draft(text).and_then(|text| value_of(one, &text))
        } else {
            value_of(one, text)
        };
        (span, value)
    }

    /// Tokens that may still be values.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.roles.len()).filter(|at| self.roles[*at] == TokenRole::Free)
    }

    fn next_taken(&self, from: usize) -> usize {
        let taken = (from..self.roles.len()).find(|at| self.is_value(*at));
        taken.unwrap_or(self.roles.len())
    }

    fn take(&mut self, span: Range<usize>) {
        self.roles[span].fill(TokenRole::Taken);
    }
}

/// What an answer says about the argument that was asked for.
pub(crate) fn value_of_answer(parameter: &ToolParameter, answer: &str) -> Option<Value> {
    let clause = Clause::new(answer);
    let (context, names_tool) = (Context::default(), HashSet::new());
    let parameters = std::slice::from_ref(parameter);
    let mut reader = ArgumentReader::new(&clause, &context, parameters, &names_tool);
    let max_tokens = match parameter.role {
        role if role < ParameterRole::Expression => 1,
        ParameterRole::Expression | ParameterRole::Place => 6,
        _ => usize::MAX,
    };
    let shaped = reader.shaped(parameter);
    let shaped = shaped.filter(|_| !parameter.is_free_text());
    let whole = || {
        let mut tokens = clause.tokens.iter();
        let last = tokens.rposition(|token| !token.is_mark("!。！"))?;
        (last < max_tokens).then(|| reader.span_value(parameter, 0..last + 1))
    };
    shaped.or_else(whole)?.1
}
