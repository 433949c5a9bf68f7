//! The JSON of accounts, sessions, invitations and the audit log.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenon_domain::{Account, HandoverNotice, InviteId, SessionId, UserId, UserRole};
use ts_rs::TS;

/// `GET /api/auth/state`, for whoever asks: how one gets in.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthState {
    /// Who is logged in.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// There is no account yet: the first one is an admin's.
    pub setup: bool,
    /// The code that the server printed when it started is needed: for the first account, or
    /// to get in where there is one person.
    pub setup_code: bool,
    /// Everybody may make an account.
    pub sign_up: bool,
    /// There are no accounts to log in to: whoever started the server is the one person.
    pub single_user: bool,
    /// The name of the issuer one can log in with instead.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc: Option<String>,
    /// What was switched off in their account when they came to it, until
    /// `DELETE /api/auth/switched-off` says that they have read it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<HandoverNotice>,
}

/// `POST /api/auth/setup` (201 [`Account`], logged in). In single-user mode the code is
/// enough, and the rest is not looked at.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Setup {
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub name: String,
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub email: String,
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub password: String,
    /// What the server printed, good for one use.
    #[serde(default)]
    pub code: String,
}

/// `POST /api/auth/login` ([`Account`])
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogIn {
    pub email: String,
    pub password: String,
}

/// `POST /api/auth/sign-up` (201 [`Account`], logged in)
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignUp {
    pub name: String,
    pub email: String,
    pub password: String,
    /// The token of an invitation; needed where sign-up is not open.
    #[ts(optional)]
    pub invite: Option<String>,
}

/// `PATCH /api/auth/me` ([`Account`])
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MeChange {
    #[ts(optional)]
    pub name: Option<String>,
    #[ts(optional)]
    pub email: Option<String>,
    #[ts(optional)]
    pub password: Option<String>,
    /// Needed for another e-mail address or password, where there is one now. Where there
    /// is none, coming from the issuer a moment ago is.
    #[ts(optional)]
    pub current_password: Option<String>,
    /// A new password ends all keys, unless they are to stay.
    #[ts(optional, as = "Option<bool>")]
    pub keep_keys: bool,
}

/// `POST /api/auth/logout-everywhere` (204)
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LogOutEverywhere {
    /// It ends all keys as well, unless they are to stay.
    #[ts(optional, as = "Option<bool>")]
    pub keep_keys: bool,
}

/// `GET /api/auth/sessions`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    pub id: SessionId,
    /// The one that asks.
    pub current: bool,
    /// What the browser says it is.
    pub agent: String,
    pub address: String,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(type = "number")]
    pub last_seen_at: i64,
}

/// `GET /api/invites`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct InviteView {
    pub id: InviteId,
    /// Only this address may use it.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub role: UserRole,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(type = "number")]
    pub expires_at: i64,
}

/// `POST /api/invites`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInvite {
    #[ts(optional)]
    pub email: Option<String>,
    #[serde(default)]
    #[ts(optional, as = "Option<UserRole>")]
    pub role: UserRole,
}

/// 201 of `POST /api/invites`: the only time its token is told. The page's
/// address for it is `#/invite/<token>`.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
#[derive(Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CreatedInvite {
    pub token: String,
    #[serde(flatten)]
    pub view: InviteView,
}

/// `GET /api/auth/invites/{token}`, for whoever holds it.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[ts(type = "number")]
    pub expires_at: i64,
}

/// `GET /api/settings`, `PATCH /api/settings`: what an admin decides for everybody.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SettingsView {
    pub sign_up: bool,
}

/// `GET /api/audit?before=<id>&limit=&action=&userId=`, newest first.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    pub id: String,
    #[ts(type = "number")]
    pub at: i64,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<UserId>,
    /// Their name now; absent once they are gone.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_name: Option<String>,
    /// "page", "shell", or "key:" and the key's id.
    pub door: String,
    /// "login", "login.failed", "key.created", "model.changed", "tool.called" …
    pub action: String,
    /// What it was done to.
    pub subject: String,
    #[ts(type = "Record<string, unknown>")]
    pub detail: Value,
    pub address: String,
}
