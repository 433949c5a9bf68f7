//! What to do next, worked out afresh at every step.
//!
//! The assistant remembers nothing: the plan is read from the user's message each time, and
//! what of it is already done is read from the calls on record. So a turn that was
//! interrupted goes on where it stopped, and a call is never made twice.

use serde_json::Value;

use crate::argument_reader::{AnsweredArgument, Arguments, Context, value_of_answer};
use crate::clause::{Clause, Intent};
use crate::conversation::{Exchange, PastCall};
use crate::parameters::{ParameterRole, ToolParameter};
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

/// What the user wants: a message, and what was answered to questions about it.
struct UserRequest<'a> {
    text: &'a str,
    answered: Vec<AnsweredArgument>,
    /// The exchange it began in.
    since: usize,
}

impl<'a> UserRequest<'a> {
    fn new(exchanges: &[Exchange<'a>], since: usize) -> Self {
        Self {
            text: exchanges[since].said,
            answered: Vec::new(),
            since,
        }
    }
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
    while first > 0
        && last - first < MAX_DIALOGUE
        && ended_in_question(catalog, &exchanges[first - 1])
    {
        first -= 1;
    }
    let mut request = UserRequest::new(exchanges, first);
    for at in first + 1..=last {
        let said = exchanges[at].said;
        let NextStep::Ask { tool, parameter } = step(catalog, &request, exchanges, at - 1) else {
            request = UserRequest::new(exchanges, at);
            continue;
        };
        if at == last && Clause::new(said).intent() == Intent::Cancel {
            return NextStep::Cancel;
        }
        let was_asked = exchanges[at - 1]
            .answer
            .contains(&format!("`{}`", parameter.name));
        let value = value_of_answer(&parameter, said);
        match value.filter(|_| was_asked && !is_another_request(catalog, tool, said)) {
            Some(value) => request.answered.push(AnsweredArgument {
                tool: tool.spec.id.as_str().to_owned(),
                argument: parameter.name,
                value,
            }),
            None => request = UserRequest::new(exchanges, at),
        }
    }
    step(catalog, &request, exchanges, last)
}

/// The next step of a request, given what was done for it up to an exchange.
fn step<'s, 'a>(
    catalog: &'s ToolCatalog<'a>,
    request: &UserRequest<'_>,
    exchanges: &[Exchange<'_>],
    until: usize,
) -> NextStep<'s, 'a> {
    let past = exchanges[request.since..=until]
        .iter()
        .flat_map(|exchange| &exchange.calls);
    let past: Vec<&PastCall<'_>> = past.collect();
    let in_turn = exchanges[until].calls.len();
    let nothing_more = if in_turn > 0 {
        NextStep::Report
    } else {
        NextStep::Introduce
    };
    if in_turn >= MAX_CALLS || past.iter().any(|call| matches!(call.result, Some(Err(_)))) {
        return nothing_more;
    }
    if let Some(call) = spelled_out(catalog, request.text) {
        let is_made = find_past(&past, 0, &call).is_some();
        return if is_made {
            nothing_more
        } else {
            NextStep::Call(vec![call])
        };
    }
    let mut context = Context::default();
    if let Some(before) = request.since.checked_sub(1) {
        exchanges[before]
            .calls
            .iter()
            .for_each(|call| context.learn(catalog, call));
    }
    let mut planned = 0;
    for text in clauses(catalog, request, &context) {
        let clause = Clause::new(&text);
        let Some(ToolChoice { tool, reading }) =
            catalog.choose(&clause, &context, &request.answered)
        else {
            return nothing_more;
        };
        if let Some(parameter) = reading.missing {
            return NextStep::Ask { tool, parameter };
        }
        let mut open = Vec::new();
        for arguments in reading.calls {
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
    let same = past
        .iter()
        .find(|past| past.tool == call.tool && *past.input == call.arguments);
    same.or_else(|| past.get(place).filter(|past| past.tool == call.tool))
        .copied()
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

/// Whether an exchange ended in a question of ours.
fn ended_in_question(catalog: &ToolCatalog<'_>, exchange: &Exchange<'_>) -> bool {
    let answer = exchange.answer.as_str();
    let asks = |tool: &CatalogTool<'_>| {
        let names = |one: &ToolParameter| answer.contains(&format!("`{}`", one.name));
        answer.contains(&tool.spec.display_name) && tool.parameters().iter().any(names)
    };
    answer.contains('`') && catalog.tools.iter().any(asks)
}

/// Whether what stands where an answer was expected asks for something else.
fn is_another_request(catalog: &ToolCatalog<'_>, asked: &CatalogTool<'_>, said: &str) -> bool {
    let choice = catalog.choose(&Clause::new(said), &Context::default(), &[]);
    choice.is_some_and(|ToolChoice { tool, reading }| {
        // A bare path or address is an answer, whatever else could be done with it.
        let is_worded = reading.evidence == 0 || said.split_whitespace().count() > 1;
        reading.missing.is_none() && is_worded && tool.spec.id != asked.spec.id && !reading.guessed
    })
}

/// The stretches of a request that each find a tool of their own.
fn clauses(catalog: &ToolCatalog<'_>, request: &UserRequest<'_>, context: &Context) -> Vec<String> {
    let pieces = Clause::new(request.text).pieces();
    if pieces.len() == 1 {
        return vec![request.text.to_owned()];
    }
    let mut follows = context.clone();
    follows.continues = true;
    // Whatever it will be, something can be pointed back at.
    follows.path.get_or_insert_default();
    follows.result.get_or_insert_default();
    let choose = |text: &str| catalog.choose(&Clause::new(text), &follows, &request.answered);
    let mut clauses: Vec<String> = Vec::new();
    for piece in pieces {
        let is_separator = |c: char| c.is_whitespace() || ",，;；。.!?？！、".contains(c);
        let text = piece.trim_start_matches(is_separator);
        let next =
            choose(text).filter(|next| next.reading.missing.is_none() && !is_only_a_value(text));
        // What begins another clause must leave one behind that stands alone as well:
        // complete, or about something else.
        let stands_alone = |last: &str, next: &ToolChoice<'_, '_>| {
            choose(last).is_some_and(|before| {
                before.reading.missing.is_none() || before.tool.spec.id != next.tool.spec.id
            })
        };
        match clauses.last_mut() {
            Some(last) if next.as_ref().is_some_and(|next| stands_alone(last, next)) => {
                clauses.push(text.to_owned())
            }
            Some(last) => last.push_str(piece),
            None => clauses.push(piece.to_owned()),
        }
    }
    clauses
}

/// "and notes.md" goes on with what was asked; it does not ask anew.
fn is_only_a_value(text: &str) -> bool {
    let clause = Clause::new(text);
    let is_word = |at: usize| !clause.is_stop_word(at) && !clause.lower(at).is_empty();
    clause.sum.is_none() && !(0..clause.tokens.len()).any(is_word)
}

/// A call that needs no reading: arguments as JSON, with or without the name of a tool.
fn spelled_out(catalog: &ToolCatalog<'_>, text: &str) -> Option<PlannedCall> {
    let (before, json) = text.split_at(text.find('{')?);
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let Some(Ok(Value::Object(arguments))) = values.next() else {
        return None;
    };
    if let Some((tool, _)) = catalog.named_exactly(&Clause::new(before)) {
        return Some(call(tool, arguments));
    }
    let fits = |tool: &&CatalogTool<'_>| {
        let parameters = tool.parameters();
        let is_known = |name: &String| parameters.iter().any(|one| one.name == *name);
        let is_given = |one: &ToolParameter| !one.required || arguments.contains_key(&one.name);
        !arguments.is_empty() && arguments.keys().all(is_known) && parameters.iter().all(is_given)
    };
    let mut fitting = catalog.tools.iter().filter(fits);
    match (fitting.next(), fitting.next()) {
        (Some(tool), None) if before.trim().is_empty() => Some(call(tool, arguments)),
        _ => None,
    }
}

impl Context {
    /// Keeps what a call was about, for "it" to mean.
    fn learn(&mut self, catalog: &ToolCatalog<'_>, past: &PastCall<'_>) {
        let tool = catalog.find(past.tool);
        for parameter in tool.map(|tool| tool.parameters()).unwrap_or_default() {
            let text = past.input.get(&parameter.name).and_then(Value::as_str);
            let known = match parameter.role {
                ParameterRole::Path => &mut self.path,
                ParameterRole::Url => &mut self.url,
                _ => continue,
            };
            *known = text.map(str::to_owned).or(known.take());
        }
        if let Some(Ok(output)) = past.result {
            self.result = Some(output.to_text());
        }
    }
}
