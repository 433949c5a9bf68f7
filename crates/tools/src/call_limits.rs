//! Limits of every call, whatever the tool.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// For tools whose source has no timeout of its own. Progress restarts it.
    pub idle_timeout: Duration,
    /// A call ends after this, whatever progress it makes.
    pub total_timeout: Duration,
    /// How much text of one output is shown. About 4,000 tokens: a page of
    /// results fits, a context is not flooded.
    pub shown_bytes: usize,
    /// How large a picture may be and still go to the model whole.
    pub image_bytes: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(120),
            total_timeout: Duration::from_secs(60 * 60),
            shown_bytes: 16 * 1024,
            image_bytes: 5 * 1024 * 1024,
        }
    }
}
