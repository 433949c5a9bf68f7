//! Somebody who is there while a call runs.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use tenon_domain::{FormAnswer, FormRequest};
use tenon_tools::{CallClient, CallContext, ProgressUpdate};

use crate::desk::context;

/// Remembers what they heard and were asked, and answers always the same.
#[derive(Debug)]
pub struct Somebody {
    answer: FormAnswer,
    pub heard: Mutex<Vec<ProgressUpdate>>,
    /// The words of each question, and what would answer it.
    pub asked: Mutex<Vec<(String, FormRequest)>>,
}

impl Somebody {
    pub fn who_says(content: Value) -> Arc<Self> {
        Self::who(FormAnswer::Accept { content })
    }

    pub fn who_declines() -> Arc<Self> {
        Self::who(FormAnswer::Decline)
    }

    pub fn silent() -> Arc<Self> {
        Self::who_says(json!({}))
    }

    fn who(answer: FormAnswer) -> Arc<Self> {
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
impl CallClient for Somebody {
    fn progress(&self, progress: ProgressUpdate) {
        self.heard.lock().unwrap().push(progress);
    }

    async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer {
        self.asked.lock().unwrap().push((message, wants));
        self.answer.clone()
    }
}
