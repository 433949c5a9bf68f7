//! What was said in the turns of a run, as texts to show and search.

use tenon_agent::ContextWindow;
use tenon_domain::{Message, Part};

/// Something said in a turn: by the model, or by a tool.
pub(super) struct HistoryRecord {
    pub(super) turn: usize,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

pub(super) fn records(context: &ContextWindow) -> Vec<HistoryRecord> {
    let turns = context.steps().into_iter().enumerate();
    let records = turns.flat_map(|(turn, messages)| {
        let said = messages.into_iter().flat_map(said);
        said.map(move |(kind, text)| HistoryRecord { turn, kind, text })
    });
    records.collect()
}

fn said(message: Message) -> Vec<(&'static str, String)> {
    match message {
        Message::User { text, .. } => vec![("user", text)],
        Message::Assistant { parts } => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text, .. } => Some(("assistant", text.clone())),
                Part::Call { call, .. } => {
                    Some(("tool_call", format!("{} {}", call.tool_id, call.input)))
                }
                Part::Image(_)
                | Part::File { .. }
                | Part::Thinking { .. }
                | Part::Opaque { .. } => None,
            })
            .collect(),
        Message::Tools { answers } => answers
            .into_iter()
            .map(|answer| match answer.result {
                Ok(output) => ("tool_output", output.to_text()),
                Err(error) => ("tool_output", format!("Error: {error}")),
            })
            .collect(),
    }
}
