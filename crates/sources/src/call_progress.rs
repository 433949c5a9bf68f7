//! How far a call is that is executed elsewhere: by a page, or by another server of the cluster.

use serde::{Deserialize, Serialize};
use tenon_domain::CallId;
use tenon_tools::{CallContext, ProgressUpdate};
use ts_rs::TS;

/// `tool:progress`: a sign of life. The first one says that whoever executes it has begun.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
pub struct RemoteCallProgress {
    pub call_id: CallId,
    #[ts(optional)]
    pub progress: Option<f64>,
    #[ts(optional)]
    pub total: Option<f64>,
    #[ts(optional)]
    pub message: Option<String>,
}

impl RemoteCallProgress {
    /// Passes it on to whoever made the call.
    pub(crate) fn report(self, context: &CallContext) {
        match self.progress {
            None => context.keep_alive(),
            Some(progress) => context.progress(ProgressUpdate {
                progress,
                total: self.total,
                message: self.message,
            }),
        }
    }
}
