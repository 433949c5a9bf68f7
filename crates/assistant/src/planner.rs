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
use crate::tool_catalog::{CatalogTool, ToolCatalog, ToolSelection};

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
}

/// The next step of the last exchange.
pub(crate) fn next<'s, 'a>(
    catalog: &'s ToolCatalog<'a>,
    exchanges: &[Exchange<'_>],
) -> NextStep<'s, 'a> {
    // The exchange of the request, and what was answered to questions about it.
    let (mut since, mut answered) = (0, HashMap::<String, Arguments>::new());
    for at in exchanges.len().saturating_sub(MAX_DIALOGUE)..exchanges.len() {
        if let Some((tool, name, value)) = answer(catalog, exchanges, at) {
            answered.entry(tool).or_default().insert(name, value);
        } else {
            (since, answered) = (at, HashMap::new());
        }
    }
    let past: Vec<&PastCall<'_>> = { exchanges[since..].iter() }
        .flat_map(|exchange| &exchange.calls)
        .collect();
    let in_turn = exchanges.last().map_or(0, |last| last.calls.len());
    let nothing_more = match in_turn {
        0 => NextStep::Introduce,
        _ => NextStep::Report,
    };
    if in_turn >= MAX_CALLS || past.iter().any(|call| matches!(call.result, Some(Err(_)))) {
        return nothing_more;
    }
    let mut context = Context {
        answered,
        ..Context::default()
    };
    for call in exchanges[..since]
        .last()
        .iter()
        .flat_map(|before| &before.calls)
    {
        context.learn(catalog, call);
    }
    let mut planned = 0;
    for text in clauses(catalog, exchanges[since].said, &context) {
        let Some(choice) = catalog.choose(&Clause::new(&text), &context) else {
            return nothing_more;
        };
        let tool = choice.tool;
        if let Some(parameter) = choice.missing {
            return NextStep::Ask { tool, parameter };
        }
        let mut open = Vec::new();
        for arguments in choice.calls {
            let call = PlannedCall {
                tool: tool.spec.id.to_string(),
                arguments: Value::Object(arguments),
            };
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

/// The tool, the argument and the value that an exchange answers to the question before it.
fn answer(
    catalog: &ToolCatalog<'_>,
    exchanges: &[Exchange<'_>],
    at: usize,
) -> Option<(String, String, Value)> {
    let (before, said) = (exchanges[..at].last()?, exchanges[at].said);
    let (display_name, name) = replies::asked(&before.answer)?;
    let mut tools = catalog.tools.iter();
    let tool = tools.find(|tool| tool.spec.display_name == display_name)?;
    let parameter = tool.parameters.iter().find(|one| one.name == name)?;
    let value = value_of_answer(parameter, said)?;
    let clause = Clause::new(said);
    let is_another_request = catalog
        .choose(&clause, &Context::default())
        .is_some_and(|choice| {
            // A bare path or address is an answer, whatever else could be done with it.
            let is_worded = choice.evidence == 0 || said.split_whitespace().count() > 1;
            let is_other = choice.tool.spec.id != tool.spec.id;
            choice.missing.is_none() && is_worded && is_other && !choice.guessed
        });
    let is_answer = clause.intent() != Intent::Cancel && !is_another_request;
    is_answer.then(|| (tool.spec.id.to_string(), name.to_owned(), value))
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
        let stands_alone = |next: ToolSelection<'_, '_>| {
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

impl Context {
    /// Keeps what a call was about, for "it" to mean.
    fn learn(&mut self, catalog: &ToolCatalog<'_>, past: &PastCall<'_>) {
        let tool = catalog.find(past.tool);
        let parameters = tool.iter().flat_map(|tool| &tool.parameters);
        for parameter in parameters.filter(|one| one.role == ParameterRole::Path) {
            if let Some(path) = past.input.get(&parameter.name).and_then(Value::as_str) {
                self.path = Some(path.to_owned());
            }
        }
        if let Some(Ok(output)) = past.result {
            self.result = Some(output.to_text());
        }
    }
}
