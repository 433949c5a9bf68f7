//! What to do next, worked out afresh at every step.
//!
//! The assistant remembers nothing: the plan is read from the user's message each time, and
//! what of it is already done is read from the calls on record. So a turn that was
//! interrupted goes on where it stopped, and a call is never made twice.

use std::collections::HashMap;

use serde_json::Value;

use crate::argument_reader::{Arguments, Context, value_of_answer};
use crate::clause::{Clause, Intent};
use crate::conversation::{Exchange, PastCall};
use crate::parameters::{ParameterRole, ToolParameter};
use crate::replies;
use crate::tool_catalog::{CatalogTool, ToolCatalog, ToolChoice};

/// More than a sentence can ask for; an end to whatever might go in circles.
pub(crate) const MAX_CALLS: usize = 6;

/// Questions and answers further back than this are over.
const MAX_DIALOGUE: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedCall {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

pub(crate) enum NextStep<'s, 'a> {
    Call(Vec<PlannedCall>),
    /// A required argument is missing.
    Ask {
        tool: &'s CatalogTool<'a>,
        parameter: ToolParameter,
    },
    /// The plan is through, or a step of it failed.
    Report,
    /// Nothing was asked for that a tool could do.
    Introduce,
    /// The user took back what was asked before.
    Cancel,
}

/// The next step of the last exchange.
pub(crate) fn next<'s, 'a>(
    catalog: &'s ToolCatalog<'a>,
    exchanges: &[Exchange<'_>],
) -> NextStep<'s, 'a> {
    let Some(last) = exchanges.len().checked_sub(1) else {
        return NextStep::Introduce;
    };
    let mut first = last;
    let ends_in_question = |at: usize| replies::is_question(&exchanges[at].answer);
    while first > 0 && last - first < MAX_DIALOGUE && ends_in_question(first - 1) {
        first -= 1;
    }
    // The exchange of the request, and what was answered to questions about it.
    let (mut since, mut answered) = (first, HashMap::new());
    for at in first + 1..=last {
        let said = exchanges[at].said;
        let asked = match step(catalog, &exchanges[..at], since, &answered) {
            NextStep::Ask { tool, parameter } => Some((tool, parameter)),
            _ => None,
        };
        if asked.is_some() && at == last && Clause::new(said).intent() == Intent::Cancel {
            return NextStep::Cancel;
        }
        let value = asked.and_then(|(tool, parameter)| {
            let name = format!("`{}`", parameter.name);
            let was_asked = exchanges[at - 1].answer.contains(&name);
            let value = value_of_answer(&parameter, said).filter(|_| was_asked)?;
            (!is_another_request(catalog, tool, said)).then_some((tool, parameter.name, value))
        });
        if let Some((tool, name, value)) = value {
            let answered: &mut Arguments = answered.entry(tool.spec.id.to_string()).or_default();
            answered.insert(name, value);
        } else {
            (since, answered) = (at, HashMap::new());
        }
    }
    step(catalog, exchanges, since, &answered)
}

/// The next step of the request in an exchange, given what was done for it since.
fn step<'s, 'a>(
    catalog: &'s ToolCatalog<'a>,
    exchanges: &[Exchange<'_>],
    since: usize,
    answered: &HashMap<String, Arguments>,
) -> NextStep<'s, 'a> {
    let text = exchanges[since].said;
    let past = exchanges[since..].iter();
    let past: Vec<&PastCall<'_>> = past.flat_map(|exchange| &exchange.calls).collect();
    let in_turn = exchanges.last().map_or(0, |last| last.calls.len());
    let nothing_more = match in_turn {
        0 => NextStep::Introduce,
        _ => NextStep::Report,
    };
    if in_turn >= MAX_CALLS || past.iter().any(|call| matches!(call.result, Some(Err(_)))) {
        return nothing_more;
    }
    if let Some(call) = spelled_out(catalog, text) {
        return match find_past(&past, 0, &call) {
            Some(_) => nothing_more,
            None => NextStep::Call(vec![call]),
        };
    }
    let mut context = Context::default();
    context.answered.clone_from(answered);
    for call in since
        .checked_sub(1)
        .iter()
        .flat_map(|before| &exchanges[*before].calls)
    {
        context.learn(catalog, call);
    }
    let mut planned = 0;
    for text in clauses(catalog, text, &context) {
        let clause = Clause::new(&text);
        let Some(choice) = catalog.choose(&clause, &context) else {
            return nothing_more;
        };
        let tool = choice.tool;
        if let Some(parameter) = choice.missing {
            return NextStep::Ask { tool, parameter };
        }
        let mut open = Vec::new();
        for arguments in choice.calls {
            let call = call(tool, arguments);
            match find_past(&past, planned, &call) {
                Some(past) => context.learn(catalog, past),
                None if !open.contains(&call) => open.push(call),
                None => {}
            }
            planned += 1;
        }
        open.truncate(MAX_CALLS - in_turn);
        if !open.is_empty() {
            return NextStep::Call(open);
        }
        context.continues = true;
    }
    nothing_more
}

/// The call on record that a planned one stands for. Whoever runs calls may tidy their
/// arguments, so the same tool at the same place in the plan counts too.
fn find_past<'m, 'a>(
    past: &[&'m PastCall<'a>],
    place: usize,
    call: &PlannedCall,
) -> Option<&'m PastCall<'a>> {
    let is_same = |past: &&&PastCall<'a>| past.tool == call.tool;
    let mut same = past.iter().filter(is_same);
    let equal = same.find(|past| *past.input == call.arguments);
    equal.or(past.get(place).filter(is_same)).copied()
}

fn call(tool: &CatalogTool<'_>, arguments: Arguments) -> PlannedCall {
    let arguments = Value::Object(arguments);
    // Through text and back, as the record will have it: floats may change on the way.
    let arguments = serde_json::from_str(&arguments.to_string()).unwrap_or(arguments);
    PlannedCall {
        tool: tool.spec.id.as_str().to_owned(),
        arguments,
    }
}

/// Whether what stands where an answer was expected asks for something else.
fn is_another_request(catalog: &ToolCatalog<'_>, asked: &CatalogTool<'_>, said: &str) -> bool {
    let choice = catalog.choose(&Clause::new(said), &Context::default());
    choice.is_some_and(|choice| {
        // A bare path or address is an answer, whatever else could be done with it.
        let is_worded = choice.evidence == 0 || said.split_whitespace().count() > 1;
        let is_other = choice.tool.spec.id != asked.spec.id;
        choice.missing.is_none() && is_worded && is_other && !choice.guessed
    })
}

/// The stretches of a request that each find a tool of their own.
fn clauses(catalog: &ToolCatalog<'_>, text: &str, context: &Context) -> Vec<String> {
    let mut follows = context.clone();
    follows.continues = true;
    // Whatever it will be, something can be pointed back at.
    follows.path.get_or_insert_default();
    follows.result.get_or_insert_default();
    let choose = |text: &str| catalog.choose(&Clause::new(text), &follows);
    let mut clauses: Vec<String> = Vec::new();
    for piece in Clause::new(text).pieces() {
        let is_separator = |c: char| c.is_whitespace() || ",，;；。.!?？！、".contains(c);
        let text = piece.trim_start_matches(is_separator);
        let Some(last) = clauses.last_mut() else {
            clauses.push(piece.to_owned());
            continue;
        };
        // What begins another clause must leave one behind that stands alone as well:
        // complete, or about something else.
        let next = choose(text).filter(|next| next.missing.is_none());
        let stands_alone = |next: ToolChoice<'_, '_>| {
            choose(last).is_some_and(|before| {
                before.missing.is_none() || before.tool.spec.id != next.tool.spec.id
            })
        };
        if next.is_some_and(stands_alone) {
            clauses.push(text.to_owned());
        } else {
            last.push_str(piece);
        }
    }
    clauses
}

/// A call that needs no reading: the name of a tool and arguments as JSON.
fn spelled_out(catalog: &ToolCatalog<'_>, text: &str) -> Option<PlannedCall> {
    let (before, json) = text.split_at(text.find('{')?);
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let Some(Ok(Value::Object(arguments))) = values.next() else {
        return None;
    };
    let (tool, _) = catalog.named_exactly(&Clause::new(before))?;
    Some(call(tool, arguments))
}

impl Context {
    /// Keeps what a call was about, for "it" to mean.
    fn learn(&mut self, catalog: &ToolCatalog<'_>, past: &PastCall<'_>) {
        let tool = catalog.find(past.tool);
        for parameter in tool.iter().flat_map(|tool| &tool.parameters) {
            let text = past.input.get(&parameter.name).and_then(Value::as_str);
            if let (ParameterRole::Path, Some(text)) = (parameter.role, text) {
                self.path = Some(text.to_owned());
            }
        }
        if let Some(Ok(output)) = past.result {
            self.result = Some(output.to_text());
        }
    }
}
