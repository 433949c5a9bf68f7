//! What to do next, worked out afresh at every step.
//!
//! The assistant remembers nothing: the plan is read from the user's message
//! each time, and what of it is already done is read from the calls on
//! record. So a turn that was interrupted goes on where it stopped, and a call
//! is never made twice.

use serde_json::Value;

use super::arguments::{Arguments, Context, Given, value_of_answer};
use super::choice::{Choice, Shelf, Tool};
use super::clause::Clause;
use super::history::{Exchange, Made};
use super::maths;
use super::schema::{Hint, Parameter};
use super::tone::{self, Manner};

/// More than a sentence can ask for; an end to whatever might go in circles.
pub(super) const MOST_CALLS: usize = 6;

/// Questions and answers further back than this are over.
const LONGEST_DIALOGUE: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

pub(super) enum Next<'s, 'a> {
    Call(Vec<Call>),
    /// A required argument is missing.
    Ask {
        tool: &'s Tool<'a>,
        parameter: Parameter,
    },
    /// The plan is through, or a step of it failed.
    Report,
    /// Nothing was asked for that a tool could do.
    Talk,
    /// The user took back what was asked before.
    Drop,
}

/// What the user wants: a message, and what was answered to questions about it.
struct Wish<'a> {
    text: &'a str,
    given: Vec<Given>,
    /// The exchange it began in.
    since: usize,
}

/// The next step of the last exchange.
pub(super) fn next<'s, 'a>(shelf: &'s Shelf<'a>, exchanges: &[Exchange<'_>]) -> Next<'s, 'a> {
    let Some(last) = exchanges.len().checked_sub(1) else {
        return Next::Talk;
    };
    let mut first = last;
    while first > 0 && last - first < LONGEST_DIALOGUE && shelf.asked(&exchanges[first - 1]) {
        first -= 1;
    }
    let mut wish = Wish {
        text: exchanges[first].said,
        given: Vec::new(),
        since: first,
    };
    for at in first + 1..=last {
        let said = exchanges[at].said;
        let Next::Ask { tool, parameter } = step(shelf, &wish, exchanges, at - 1) else {
            wish = Wish {
                text: said,
                given: Vec::new(),
                since: at,
            };
            continue;
        };
        if at == last && tone::manner(&Clause::new(said)) == Manner::Cancel {
            return Next::Drop;
        }
        let asked = exchanges[at - 1]
            .answer
            .contains(&format!("`{}`", parameter.name));
        let value = value_of_answer(&parameter, said)
            .filter(|_| asked && !shelf.is_another_wish(tool, said));
        match value {
            Some(value) => wish.given.push(Given {
                tool: tool.spec.id.as_str().to_owned(),
                argument: parameter.name,
                value,
            }),
            None => {
                wish = Wish {
                    text: said,
                    given: Vec::new(),
                    since: at,
                }
            }
        }
    }
    step(shelf, &wish, exchanges, last)
}

/// The next step of a wish, given what was done for it up to an exchange.
fn step<'s, 'a>(
    shelf: &'s Shelf<'a>,
    wish: &Wish<'_>,
    exchanges: &[Exchange<'_>],
    until: usize,
) -> Next<'s, 'a> {
    let made: Vec<&Made<'_>> = exchanges[wish.since..=until]
        .iter()
        .flat_map(|exchange| &exchange.made)
        .collect();
    let in_turn = exchanges[until].made.len();
    let nothing_more = if in_turn > 0 {
        Next::Report
    } else {
        Next::Talk
    };
    if in_turn >= MOST_CALLS || made.iter().any(|made| matches!(made.result, Some(Err(_)))) {
        return nothing_more;
    }
    if let Some(call) = shelf.spelled_out(wish.text) {
        return if is_made(&made, 0, &call).is_some() {
            nothing_more
        } else {
            Next::Call(vec![call])
        };
    }
    let mut context = Context::default();
    if let Some(before) = wish.since.checked_sub(1) {
        exchanges[before]
            .made
            .iter()
            .for_each(|made| context.learn(shelf, made));
    }
    let mut planned = 0;
    for text in shelf.clauses(wish, &context) {
        let clause = Clause::new(&text);
        let Some(Choice { tool, reading }) = shelf.choose(&clause, &context, &wish.given) else {
            return nothing_more;
        };
        if let Some(parameter) = reading.missing {
            return Next::Ask { tool, parameter };
        }
        let calls: Vec<Call> = reading
            .calls
            .into_iter()
            .map(|arguments| call(tool, arguments))
            .collect();
        let mut open = Vec::new();
        for call in calls {
            match is_made(&made, planned, &call) {
                Some(made) => context.learn(shelf, made),
                None if !open.contains(&call) => open.push(call),
                None => {}
            }
            planned += 1;
        }
        open.truncate(MOST_CALLS - in_turn);
        if !open.is_empty() {
            return Next::Call(open);
        }
        context.goes_on = true;
    }
    nothing_more
}

/// The call on record that a planned one stands for. Whoever runs calls may
/// tidy their arguments, so the same tool at the same place in the plan counts too.
fn is_made<'m, 'a>(made: &[&'m Made<'a>], place: usize, call: &Call) -> Option<&'m Made<'a>> {
    let same = made
        .iter()
        .find(|made| made.tool == call.tool && *made.input == call.arguments);
    same.or_else(|| made.get(place).filter(|made| made.tool == call.tool))
        .copied()
}

fn call(tool: &Tool<'_>, arguments: Arguments) -> Call {
    let arguments = Value::Object(arguments);
    // Through text and back, as the record will have it: floats may change on the way.
    let arguments = serde_json::from_str(&arguments.to_string()).unwrap_or(arguments);
    Call {
        tool: tool.spec.id.as_str().to_owned(),
        arguments,
    }
}

impl<'a> Shelf<'a> {
    /// Whether an exchange ended in a question of ours.
    fn asked(&self, exchange: &Exchange<'_>) -> bool {
        let answer = exchange.answer.as_str();
        answer.contains('`')
            && self.tools.iter().any(|tool| {
                answer.contains(&tool.spec.display_name)
                    && tool
                        .parameters()
                        .iter()
                        .any(|one| answer.contains(&format!("`{}`", one.name)))
            })
    }

    /// Whether what stands where an answer was expected asks for something else.
    fn is_another_wish(&self, asked: &Tool<'_>, said: &str) -> bool {
        let chosen = self.choose(&Clause::new(said), &Context::default(), &[]);
        chosen.is_some_and(|choice| {
            // A bare path or address is an answer, whatever else could be done with it.
            let worded = choice.reading.evidence == 0 || said.split_whitespace().count() > 1;
            choice.reading.missing.is_none()
                && worded
                && choice.tool.spec.id != asked.spec.id
                && choice.reading.bare.is_none()
        })
    }

    /// The stretches of a wish that each find a tool of their own.
    fn clauses(&self, wish: &Wish<'_>, context: &Context) -> Vec<String> {
        let whole = Clause::new(wish.text);
        let mut clauses: Vec<String> = Vec::new();
        let pieces = whole.pieces();
        if pieces.len() == 1 {
            return vec![wish.text.to_owned()];
        }
        let mut follows = context.clone();
        follows.goes_on = true;
        // Whatever it will be, something can be pointed back at.
        follows.path.get_or_insert_default();
        follows.result.get_or_insert_default();
        for piece in pieces {
            let clause =
                Clause::new(piece.trim_start_matches(|c: char| {
                    c.is_whitespace() || ",，;；。.!?、".contains(c)
                }));
            let choice = self.choose(&clause, &follows, &wish.given);
            let alone = choice.filter(|choice| {
                choice.reading.missing.is_none() && !choice.is_only_a_value(&clause)
            });
            // What begins another clause must leave one behind that stands alone
            // as well: complete, or about something else.
            let stands = |last: &str, next: &Choice<'_, '_>| {
                let before = self.choose(&Clause::new(last), &follows, &wish.given);
                before.is_some_and(|before| {
                    before.reading.missing.is_none() || before.tool.spec.id != next.tool.spec.id
                })
            };
            match clauses.last_mut() {
                Some(last) if alone.as_ref().is_some_and(|next| stands(last, next)) => {
                    clauses.push(clause.text.to_owned());
                }
                Some(last) => last.push_str(piece),
                None => clauses.push(piece.to_owned()),
            }
        }
        clauses
    }

    /// A call that needs no reading: arguments as JSON, with or without the name of a tool.
    fn spelled_out(&self, text: &str) -> Option<Call> {
        let brace = text.find('{')?;
        let mut values = serde_json::Deserializer::from_str(&text[brace..]).into_iter::<Value>();
        let Some(Ok(Value::Object(arguments))) = values.next() else {
            return None;
        };
        let before = &text[..brace];
        if let Some((tool, _)) = self.named_exactly(&Clause::new(before)) {
            return Some(call(tool, arguments));
        }
        let fits = |tool: &&Tool<'_>| {
            let known = |name: &String| tool.parameters().iter().any(|one| one.name == *name);
            let required = tool.parameters().iter().filter(|one| one.required);
            !arguments.is_empty()
                && arguments.keys().all(known)
                && required
                    .into_iter()
                    .all(|one| arguments.contains_key(&one.name))
        };
        let mut fitting = self.tools.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(tool), None) if before.trim().is_empty() => Some(call(tool, arguments)),
            _ => None,
        }
    }
}

impl Choice<'_, '_> {
    /// "and notes.md" goes on with what was asked; it does not ask anew.
    fn is_only_a_value(&self, clause: &Clause<'_>) -> bool {
        let spoken = |at: usize| !clause.is_stop(at) && !clause.lower(at).is_empty();
        !(0..clause.tokens.len()).any(spoken) && maths::find(clause.text, &clause.tokens).is_none()
    }
}

impl Context {
    /// Keeps what a call was about, for "it" to mean.
    fn learn(&mut self, shelf: &Shelf<'_>, made: &Made<'_>) {
        let parameters = shelf
            .find(made.tool)
            .map(|tool| tool.parameters())
            .unwrap_or_default();
        for parameter in parameters {
            let Some(text) = made.input.get(&parameter.name).and_then(Value::as_str) else {
                continue;
            };
            match parameter.hint {
                Hint::Path => self.path = Some(text.to_owned()),
                Hint::Url => self.url = Some(text.to_owned()),
                _ => {}
            }
        }
        if let Some(Ok(output)) = made.result {
            self.result = Some(output.to_text());
        }
    }
}
