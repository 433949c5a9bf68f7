//! Testing a model, and storing which way of tool use it supports.

use futures::Stream;
use tenon_domain::{CodedError, ModelConfig, ModelId, ToolUse};
use tenon_llm::probe::{self, ProbeResult, ProbeStep};
use tokio::sync::mpsc;

use super::choose::{self, ModelLookupError};
use super::progress_stream::progress_stream;
use super::{BUILTIN, Models};
use crate::models::view::TestFrame;

impl Models {
    /// Tries a model; dropping the stream ends the trial.
    pub async fn test(
        &self,
        id: &ModelId,
    ) -> Result<impl Stream<Item = TestFrame> + Send + use<>, ModelLookupError> {
        if id.as_str() == BUILTIN {
            return Err(ModelLookupError::BuiltinUntested);
        }
        let found = self.find(id).await?;
        let models = self.clone();
        Ok(progress_stream(|frames| async move {
            models.run_test(found, frames).await;
        }))
    }

    async fn run_test(&self, model: choose::ChosenModel, frames: mpsc::UnboundedSender<TestFrame>) {
        let tell = |frame| {
            let _ = frames.send(frame);
        };
        let tried = probe::run(&model.remote, |step| {
            tell(match step {
                ProbeStep::Text(text) => TestFrame::Text { text },
                ProbeStep::Trying(mode) => TestFrame::TryingTools { mode },
            });
        });
        let last = match tried.await {
            Ok(found) => {
                let kept = self.remember(model.config, found.tools).await;
                finished(found, kept.err())
            }
            Err(error) => TestFrame::Finished {
                ok: false,
                error: Some(error.detail()),
                tools: None,
                is_in_text: false,
                first_word_ms: None,
            },
        };
        tell(last);
    }

    /// What was seen decides how `auto` calls tools. A model that was changed
    /// or deleted meanwhile is another one, or none.
    async fn remember(&self, tested: ModelConfig, tools: ToolUse) -> tenon_store::Result<()> {
        match self.store.set_tools_seen(&tested, Some(tools)).await {
            Err(tenon_store::Error::NotFound(_)) if tested.endpoint.is_some() => {
                if self.store.model(&tested.id).await.is_ok() {
                    return Ok(());
                }
                let seen = ModelConfig {
                    tools_seen: Some(tools),
                    ..tested
                };
                self.store.put_model(&seen, None).await.map(drop)
            }
            Err(tenon_store::Error::NotFound(_)) => Ok(()),
            other => other,
        }
    }
}

fn finished(found: ProbeResult, error: Option<tenon_store::Error>) -> TestFrame {
    TestFrame::Finished {
        ok: true,
        error: error.map(|error| error.detail()),
        tools: Some(found.tools),
        is_in_text: found.is_in_text,
        first_word_ms: Some(found.first_word.as_millis() as u64),
    }
}
