//! A client of a call that records progress and questions.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{FormAnswer, FormRequest};
use tenon_tools::{CallClient, CallContext, ProgressUpdate};

use crate::harness::context;

/// Records progress and questions, and gives the same answer to each.
#[derive(Debug)]
pub struct RecordingClient {
    answer: FormAnswer,
    pub heard: Mutex<Vec<ProgressUpdate>>,
    /// The words of each question, and what would answer it.
    pub asked: Mutex<Vec<(String, FormRequest)>>,
}

impl RecordingClient {
    pub fn accepting(content: Value) -> Arc<Self> {
        Self::answering(FormAnswer::Accept { content })
    }

    pub fn declining() -> Arc<Self> {
        Self::answering(FormAnswer::Decline)
    }

    pub fn silent() -> Arc<Self> {
        Self::accepting(json!({}))
    }

    fn answering(answer: FormAnswer) -> Arc<Self> {
        Arc::new(Self {
            answer,
            heard: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// A call with them beside it.
    pub fn context(self: &Arc<Self>) -> CallContext {
        CallContext {
            client: self.clone(),
            ..context()
        }
    }

    pub fn progress(&self) -> Vec<f64> {
        let heard = self.heard.lock().unwrap();
        heard.iter().map(|progress| progress.progress).collect()
    }

    pub fn questions(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(message, _)| message.clone()).collect()
    }
}

#[async_trait]
impl CallClient for RecordingClient {
    fn progress(&self, progress: ProgressUpdate) {
        self.heard.lock().unwrap().push(progress);
    }

    async fn ask(&self, message: String, request: FormRequest) -> FormAnswer {
        self.asked.lock().unwrap().push((message, request));
        self.answer.clone()
    }
}
