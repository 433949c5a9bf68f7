//! Holds back the stop reason until the content of the reply is known.

use tenon_domain::StopReason;

use crate::ModelDelta;

pub(super) struct StopDeltas(pub(super) Vec<ModelDelta>);

impl StopDeltas {
    pub(super) fn take(heard: &mut Vec<ModelDelta>) -> Self {
        let stops = heard.extract_if(.., |delta| matches!(delta, ModelDelta::Stop(_)));
        Self(stops.collect())
    }

    /// For its server all was said; for us the model waits for results.
    pub(super) fn await_results(&mut self) {
        if let [ModelDelta::Stop(stop @ StopReason::End)] = self.0.as_mut_slice() {
            *stop = StopReason::ToolCalls;
        }
    }
}
