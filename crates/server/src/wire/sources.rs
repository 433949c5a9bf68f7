//! The JSON of `/api/sources/{id}/login` and `/api/calls/{id}/form`.

use serde::{Deserialize, Serialize};
use tenon_domain::{FormAnswer, FormId};
use ts_rs::TS;

/// `POST /api/sources/{id}/login`: where to log in. `DELETE` ends it and revokes it there.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoginStart {
    pub url: String,
}

/// `POST /api/calls/{id}/form` (204): what a person answers to a tool that asks.
/// 409 where the form no longer waits; 422 where a field does not fit, and then
/// it still does. Not for keys with less than full access.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerForm {
    pub form_id: FormId,
    #[serde(flatten)]
    pub answer: FormAnswer,
}
