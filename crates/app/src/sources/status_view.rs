//! The state of a server, how far its start is, and why it failed, as people see it.

use serde::{Deserialize, Serialize};
use tenon_domain::{ErrorDetail, SourceState};
use tenon_sources::{Startup, StartupStep, public_part};
use ts_rs::TS;

use super::time::millis;

/// A start that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartupView {
    #[ts(type = "number")]
    pub since: i64,
    pub step: StartupStep,
    /// What it wrote last. For those who may read its log.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// Why a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CauseView {
    /// "`npx` exited with code 1."
    pub how: ErrorDetail,
    /// The lines of its log that say so, oldest first.
    pub lines: Vec<String>,
    /// What usually helps.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<ErrorDetail>,
}

/// A state as everybody may see it: without what the server wrote.
pub(super) fn public_state(state: SourceState) -> SourceState {
    match state {
        SourceState::Degraded { why } => SourceState::Degraded {
            why: public_part(&why),
        },
        SourceState::Failed { why } => SourceState::Failed {
            why: public_part(&why),
        },
        state @ (SourceState::Starting
        | SourceState::Ready
        | SourceState::Sleeping
        | SourceState::Off
        | SourceState::Offline) => state,
    }
}

impl StartupView {
    /// For those who may not read the log of the server.
    pub(super) fn without_line(self) -> Self {
        Self { line: None, ..self }
    }
}

impl From<Startup> for StartupView {
    fn from(startup: Startup) -> Self {
        Self {
            since: millis(startup.since),
            step: startup.step,
            line: startup.line,
        }
    }
}
