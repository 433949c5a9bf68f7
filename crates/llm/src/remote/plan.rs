//! One request, before it is put into a provider's words.

use std::sync::Arc;

use serde_json::value::RawValue;
use tenon_domain::{LeftOut, Message, ToolSpec, ToolUse, WireFormat};

use super::{Catalogue, Offered, Offering, Quirks, Remote};
use crate::fault::Fault;
use crate::history::{self, fit, tokens, weight};
use crate::{Request, constrained};

/// What a model needs for its own words where its settings do not say.
const ROOM_TO_ANSWER: u64 = 4_096;

/// One request, ready to be written in either wire format.
#[derive(Debug)]
pub(crate) struct Plan {
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Vec<Arc<Offered>>,
    pub quirks: Quirks,
}

impl Remote {
    /// How many tokens the conversation itself may take.
    fn budget(&self, plan: &Plan) -> Option<usize> {
        let asked = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|name| self.parameters.get(*name)?.as_u64());
        let context = self.context_tokens?;
        let answer = asked.unwrap_or(ROOM_TO_ANSWER).min(context / 2);
        let tools: usize = plan.tools.iter().map(|tool| tokens(tool.entry.get())).sum();
        let rest = context.saturating_sub(answer) as usize;
        Some(rest.saturating_sub(tools + tokens(&plan.system)))
    }
}

impl Plan {
    /// The tools as they are written into a request.
    pub(crate) fn entries(&self) -> Vec<&RawValue> {
        self.tools.iter().map(|tool| &*tool.entry).collect()
    }

    /// What goes out, and which tools cannot.
    pub(crate) fn new(
        remote: &Remote,
        catalogue: &Catalogue,
        quirks: Quirks,
        request: &Request,
    ) -> Result<(Self, Vec<LeftOut>), Fault> {
        let (tools, left_out) = match remote.tools {
            ToolUse::None => (Vec::new(), withhold(&request.tools)),
            ToolUse::Native if !quirks.takes_tools => (Vec::new(), withhold(&request.tools)),
            ToolUse::Native | ToolUse::Constrained => {
                offer(remote, catalogue, &quirks, &request.tools)
            }
        };
        let mut plan = Self {
            system: request.system.clone(),
            messages: history::mend(request.messages.clone()),
            tools,
            quirks,
        };
        let budget = match (plan.quirks.budget(plan.weight()), remote.budget(&plan)) {
            (Some(learned), Some(set)) => Some(learned.min(set)),
            (learned, set) => learned.or(set),
        };
        if let Some(budget) = budget {
            fit(&mut plan.messages, budget);
            // A message may have nothing left to say.
            plan.messages = history::mend(plan.messages);
        }
        match (remote.format, remote.tools) {
            (WireFormat::Openai, ToolUse::Constrained) => constrained::prepare(&mut plan),
            (_, ToolUse::None) => constrained::tell_plainly(&mut plan),
            (_, ToolUse::Native) if !plan.quirks.takes_tools => {
                constrained::tell_plainly(&mut plan);
            }
            (_, ToolUse::Native) | (WireFormat::Anthropic, ToolUse::Constrained) => {}
        }
        // `mend` makes it so; should it ever not, better a clear word than a provider's riddle.
        history::check(&plan.messages).map_err(|why| Fault::Refused {
            message: format!("This chat cannot be told to a model: {why}. Start a new one."),
        })?;
        Ok((plan, left_out))
    }

    /// By the measure that [`fit`] shortens by, so that less is less.
    pub(crate) fn weight(&self) -> usize {
        self.messages.iter().map(weight).sum()
    }
}

/// A model that cannot call tools is not told of any; a person is.
fn withhold(tools: &[Arc<ToolSpec>]) -> Vec<LeftOut> {
    let why = "this model does not call tools; test it, or choose another";
    tools
        .iter()
        .map(|tool| left_out(tool, why.into()))
        .collect()
}

fn left_out(tool: &ToolSpec, why: String) -> LeftOut {
    LeftOut {
        tool_id: tool.id.clone(),
        display_name: tool.display_name.clone(),
        why,
    }
}

fn offer(
    remote: &Remote,
    catalogue: &Catalogue,
    quirks: &Quirks,
    tools: &[Arc<ToolSpec>],
) -> (Vec<Arc<Offered>>, Vec<LeftOut>) {
    let (mut offered, mut missing) = (Vec::new(), Vec::new());
    let mut offering = Offering::default();
    for tool in tools {
        let compiled = match offering.too_many() {
            None => catalogue.compile(tool, remote.format).inspect_err(|_why| {
                offering.failed += 1;
            }),
            Some(why) => Err(why),
        };
        let compiled = compiled.and_then(|told| match quirks.refusal(&told.id, &told.schema) {
            Some(why) => Err(why.to_owned()),
            None => Ok(told),
        });
        match compiled {
            Ok(told) => {
                offering.offered += 1;
                offered.push(told);
            }
            Err(why) => missing.push(left_out(tool, why)),
        }
    }
    (offered, missing)
}
