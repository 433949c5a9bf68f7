//! Evaluating a model: which mode of calling tools it does best in.

use std::time::Duration;

use futures::Stream;
use serde::{Deserialize, Serialize};
use tenon_domain::{
    ErrorDetail, EvaluationReport, ModelId, PromptResult, ToolUse, WireFormat, coded_errors,
};
use tenon_llm::evaluation::{DEFAULT_PROMPT_TIMEOUT, Evaluation, EvaluationOptions, MAX_PROMPTS};
use tenon_llm::probe::modes_of;
use tokio::sync::mpsc;
use ts_rs::TS;

use super::choose::ModelLookupError;
use super::progress_stream::progress_stream;
use super::{BUILTIN, Models};

/// A prompt that takes longer is of no use to anybody.
const MAX_PROMPT_TIMEOUT_SECONDS: u64 = 3_600;

/// What to measure. What is left out is measured whole.
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EvaluationRequest {
    #[ts(optional)]
    pub modes: Option<Vec<ToolUse>>,
    /// How many prompts in each mode.
    #[ts(optional)]
    pub prompts: Option<usize>,
    /// How long one prompt may take.
    #[ts(optional, type = "number")]
    pub timeout_seconds: Option<u64>,
}

/// One event of an evaluation. Each has all that was measured so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum EvaluationFrame {
    Started {
        report: EvaluationReport,
    },
    Measured {
        report: EvaluationReport,
        result: PromptResult,
    },
    /// The last one.
    Finished {
        report: EvaluationReport,
        /// Why it ended early.
        #[ts(optional)]
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorDetail>,
    },
}

coded_errors! {
    /// Why an evaluation does not begin.
    #[derive(Debug)]
    pub enum EvaluationError {
        Prompts { max: usize } = "evaluation_prompts" in "prompts" => "An evaluation has 1 to {max} prompts.",
        Timeout { max: u64 } = "evaluation_timeout" in "timeoutSeconds" => "A prompt may take 1 to {max} seconds.",
        NoMode = "evaluation_no_mode" in "modes" => "This model supports none of these ways to call tools. Anthropic's API has only `native`.",
    }
    wraps {
        Lookup(ModelLookupError),
    }
}

impl From<ModelLookupError> for EvaluationError {
    fn from(error: ModelLookupError) -> Self {
        Self::Lookup(error)
    }
}

impl Models {
    /// Evaluates a model; dropping the stream ends that.
    pub async fn evaluate(
        &self,
        id: &ModelId,
        request: EvaluationRequest,
    ) -> Result<impl Stream<Item = EvaluationFrame> + Send + use<>, EvaluationError> {
        if id.as_str() == BUILTIN {
            return Err(ModelLookupError::BuiltinUntested.into());
        }
        let remote = self.find(id).await?.remote;
        let options = request.options(remote.format)?;
        let evaluation = Evaluation::new(remote, options);
        Ok(progress_stream(|frames| run(evaluation, frames)))
    }
}

impl EvaluationRequest {
    fn options(self, format: WireFormat) -> Result<EvaluationOptions, EvaluationError> {
        let prompts = self.prompts.unwrap_or(MAX_PROMPTS);
        if !(1..=MAX_PROMPTS).contains(&prompts) {
            return Err(EvaluationError::Prompts { max: MAX_PROMPTS });
        }
        let max = MAX_PROMPT_TIMEOUT_SECONDS;
        let prompt_timeout = match self.timeout_seconds {
            None => DEFAULT_PROMPT_TIMEOUT,
            Some(seconds) if (1..=max).contains(&seconds) => Duration::from_secs(seconds),
            Some(_) => return Err(EvaluationError::Timeout { max }),
        };
        let is_asked =
            |mode: &ToolUse| self.modes.as_ref().is_none_or(|asked| asked.contains(mode));
        let modes: Vec<ToolUse> = modes_of(format).iter().copied().filter(is_asked).collect();
        if modes.is_empty() {
            return Err(EvaluationError::NoMode);
        }
        Ok(EvaluationOptions {
            modes,
            prompts,
            prompt_timeout,
        })
    }
}

async fn run(mut evaluation: Evaluation, frames: mpsc::UnboundedSender<EvaluationFrame>) {
    let send = |frame| {
        let _ = frames.send(frame);
    };
    let report = evaluation.report().clone();
    send(EvaluationFrame::Started { report });
    let ended = evaluation.run(|report, result| {
        send(EvaluationFrame::Measured {
            report: report.clone(),
            result: result.clone(),
        });
    });
    let error = ended.await.err().map(tenon_llm::Error::detail);
    let report = evaluation.report().clone();
    send(EvaluationFrame::Finished { report, error });
}
