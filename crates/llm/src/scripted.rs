//! A model that says what a test wrote down for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use serde_json::Value;
use tenon_domain::{ErrorDetail, StopReason};
use tokio::sync::Notify;

use crate::{CallFragment, Error, ModelDelta, ModelRequest, ModelStream, Provider};

/// A provider that plays one script per request, in order, and records the requests.
#[derive(Debug, Default)]
pub struct Scripted {
    scripts: Mutex<VecDeque<Vec<ScriptStep>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

/// One line of a script.
#[derive(Debug)]
pub enum ScriptStep {
    Say(ModelDelta),
    Pause(Duration),
    /// Says nothing until the test says so.
    WaitFor(Arc<Notify>),
    /// Never says another word.
    Hang,
    Fail(String),
}

impl Scripted {
    pub fn new(scripts: impl IntoIterator<Item = Vec<ScriptStep>>) -> Self {
        Self {
            scripts: Mutex::new(scripts.into_iter().collect()),
            requests: Mutex::default(),
        }
    }

    /// What the model has been told, one request per step.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl ScriptStep {
    pub fn text(text: &str) -> Self {
        Self::Say(ModelDelta::Text(text.into()))
    }

    /// A whole call in one fragment.
    pub fn call(index: u64, tool: &str, input: &Value) -> Self {
        Self::raw_call(index, tool, &input.to_string())
    }

    /// A call whose arguments are whatever the model made of them.
    pub fn raw_call(index: u64, tool: &str, arguments: &str) -> Self {
        Self::Say(ModelDelta::Call(CallFragment {
            index: Some(index),
            id: Some(format!("call_{index}")),
            name: Some(tool.into()),
            arguments: arguments.into(),
            provider_block: None,
        }))
    }

    pub fn stop() -> Self {
        Self::Say(ModelDelta::Stop(StopReason::End))
    }
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &str {
        "Scripted model"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(request);
        let script = self
            .scripts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front();
        let script = script.ok_or_else(|| {
            Error::Refused(ErrorDetail::other("the script of this model is at its end"))
        })?;
        let spoken = stream::iter(script).then(|line| async move {
            match line {
                ScriptStep::Say(delta) => Some(Ok(delta)),
                ScriptStep::Pause(time) => {
                    tokio::time::sleep(time).await;
                    None
                }
                ScriptStep::WaitFor(test) => {
                    test.notified().await;
                    None
                }
                ScriptStep::Hang => std::future::pending().await,
                ScriptStep::Fail(message) => {
                    Some(Err(Error::Interrupted(ErrorDetail::other(message))))
                }
            }
        });
        Ok(spoken.filter_map(std::future::ready).boxed())
    }
}
