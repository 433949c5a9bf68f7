//! The steps of one run, and which of them its model is still told.
//!
//! The loop adds each step when its calls have ended. Tools of the run may read all of them, and drop
//! old ones from what the model is told; what is dropped stays here, and on record.

use std::sync::{Mutex, MutexGuard};

use tenon_domain::{Message, Usage};

use crate::lock::lock;

#[derive(Debug, Default)]
pub struct ContextWindow(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    steps: Vec<WindowStep>,
    usage: Usage,
    /// What the model read at the last step, and wrote then.
    last: Usage,
}

#[derive(Debug)]
struct WindowStep {
    /// What the model said, and the results of its calls.
    messages: Vec<Message>,
    is_dropped: bool,
}

/// How full the context of a model is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextStatus {
    pub steps: usize,
    /// Those of them that the model is not told any more.
    pub dropped: usize,
    /// Of the last request and its reply.
    pub context_tokens: u64,
    /// Of all requests so far.
    pub usage: Usage,
}

impl ContextWindow {
    pub fn status(&self) -> ContextStatus {
        let state = self.state();
        let dropped = state.steps.iter().filter(|step| step.is_dropped);
        ContextStatus {
            steps: state.steps.len(),
            dropped: dropped.count(),
            context_tokens: state.last.input_tokens + state.last.output_tokens,
            usage: state.usage,
        }
    }

    /// The steps that the model is told now, by their numbers in the whole run, from 0.
    pub fn visible_steps(&self) -> Vec<usize> {
        let state = self.state();
        let steps = state.steps.iter().enumerate();
        let visible = steps.filter(|(_, step)| !step.is_dropped);
        visible.map(|(number, _)| number).collect()
    }

    /// Drops these steps from what the model is told.
    pub fn drop_steps(&self, numbers: &[usize]) {
        let mut state = self.state();
        for number in numbers {
            if let Some(step) = state.steps.get_mut(*number) {
                step.is_dropped = true;
            }
        }
    }

    /// What was said in each step so far, dropped ones included.
    pub fn steps(&self) -> Vec<Vec<Message>> {
        let state = self.state();
        let steps = state.steps.iter().map(|step| step.messages.clone());
        steps.collect()
    }

    pub(crate) fn push(&self, messages: &[Message]) {
        self.state().steps.push(WindowStep {
            messages: messages.to_vec(),
            is_dropped: false,
        });
    }

    pub(crate) fn add_usage(&self, usage: Usage) {
        let mut state = self.state();
        state.last = usage;
        state.usage += usage;
    }

    /// The conversation without what was dropped. What came before the run always stays.
    pub(crate) fn visible(&self, messages: &[Message]) -> Vec<Message> {
        let state = self.state();
        let length: usize = state.steps.iter().map(|step| step.messages.len()).sum();
        let start = messages.len().saturating_sub(length);
        let mut visible = messages[..start].to_vec();
        let mut rest = &messages[start..];
        for step in &state.steps {
            let (said, after) = rest.split_at(step.messages.len().min(rest.len()));
            rest = after;
            if !step.is_dropped {
                visible.extend_from_slice(said);
            }
        }
        visible
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use tenon_domain::{CallId, Part, ToolAnswer, ToolCall, ToolId, ToolOutput};

    use super::*;

    fn step(number: usize) -> [Message; 2] {
        let call_id = CallId(format!("c{number}"));
        let tool_id = ToolId::new("t");
        let call = ToolCall {
            id: call_id.clone(),
            tool_id: tool_id.clone(),
            input: serde_json::json!({}),
        };
        let result = Ok(ToolOutput::text(format!("result {number}")));
        let answer = ToolAnswer {
            call_id,
            tool_id,
            result,
        };
        [
            Message::Assistant {
                parts: vec![Part::call(call)],
            },
            Message::Tools {
                answers: vec![answer],
            },
        ]
    }

    #[test]
    fn dropped_steps_are_not_told_and_stay_readable() {
        let window = ContextWindow::default();
        let mut messages = vec![Message::user("go on")];
        for number in 0..4 {
            window.push(&step(number));
            messages.extend(step(number));
        }
        assert_eq!(window.visible(&messages), messages);
        window.drop_steps(&[0, 2, 99]);

        let expected = [vec![messages[0].clone()], step(1).into(), step(3).into()].concat();
        assert_eq!(window.visible(&messages), expected);
        assert_eq!(window.visible_steps(), [1, 3]);
        assert_eq!(window.steps().len(), 4);
        let status = window.status();
        assert_eq!((status.steps, status.dropped), (4, 2));
        assert_eq!(tenon_llm::history::check(&expected), Ok(()));
    }
}
