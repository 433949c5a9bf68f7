//! [`ApiError`]: a status, a code and one sentence that says what to do. Internal causes are
//! logged, never sent.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use tenon_store::AccountError;
use tenon_tools::NoSpace;

use crate::wire::{ErrorBody, ErrorDetail};
use tenon_app::budget::Exceeded;
use tenon_app::models::{ModelEditError, ModelLookupError};
use tenon_app::sources::SourceError;

#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// After how many seconds it is worth trying again.
    retry_after: Option<u64>,
}

impl ApiError {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            retry_after: None,
        }
    }

    pub fn not_logged_in() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "not_logged_in",
            "Nobody is logged in. Log in first, or show a key.",
        )
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// Somebody we asked did not answer as they should.
    pub fn bad_gateway(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "unreachable", message)
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// The log says why; it may be about things that nobody should read.
    pub fn storage(why: &dyn std::fmt::Display) -> Self {
        tracing::error!(%why, "the store failed a request");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "storage",
            "Tenon could not read or write its data. Its log says why.",
        )
    }

    pub fn disk_full() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "disk_full",
            "The server's disk is full, so nothing can be stored. Free some space on it; all that is stored can be read.",
        )
    }

    pub fn detail(&self) -> ErrorDetail {
        ErrorDetail {
            code: self.code.into(),
            message: self.message.clone(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let error = self.detail();
        let mut response = (self.status, Json(ErrorBody { error })).into_response();
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<tenon_app::Error> for ApiError {
    fn from(error: tenon_app::Error) -> Self {
        use tenon_app::Error;
        let message = error.to_string();
        match error {
            Error::Invalid(message) => Self::bad_request(message),
            Error::KeyNotAllowed => Self::forbidden(message),
            Error::NoAccount => Self::new(StatusCode::CONFLICT, "no_account", message),
            Error::TooManyAttempts { seconds } => Self {
                retry_after: Some(seconds),
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message)
            },
            Error::Busy => Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message),
            Error::WrongSetupCode => Self::new(StatusCode::FORBIDDEN, "wrong_code", message),
            Error::WrongLogin => Self::new(StatusCode::UNAUTHORIZED, "wrong_password", message),
            Error::InviteNeeded => Self::new(StatusCode::FORBIDDEN, "invite_needed", message),
            Error::InviteGone => Self::not_found(message),
            Error::WrongPassword => Self::new(StatusCode::FORBIDDEN, "wrong_password", message),
            Error::PasswordNeeded => Self::new(StatusCode::FORBIDDEN, "password_needed", message),
            Error::LoginNeeded(_) => Self::new(StatusCode::FORBIDDEN, "login_needed", message),
            Error::DeviceStore(why) => Self::storage(&why),
            Error::Store(error) => error.into(),
        }
    }
}

impl From<tenon_store::Error> for ApiError {
    fn from(error: tenon_store::Error) -> Self {
        match error {
            tenon_store::Error::NotFound(what) => Self::not_found(format!(
                "There is no such {what}. It may have been deleted."
            )),
            tenon_store::Error::TooLate(message) => {
                Self::new(StatusCode::CONFLICT, "too_late", sentence(message))
            }
            tenon_store::Error::Taken(_) => {
                Self::new(StatusCode::CONFLICT, "taken", sentence(&error.to_string()))
            }
            tenon_store::Error::Secret(message) => {
                Self::new(StatusCode::CONFLICT, "sealed", sentence(&message))
            }
            tenon_store::Error::Account(why) => {
                let (status, code) = match why {
                    AccountError::SetUp => (StatusCode::CONFLICT, "set_up"),
                    AccountError::SetUpFirst => (StatusCode::CONFLICT, "set_up_first"),
                    AccountError::EmailTaken => (StatusCode::CONFLICT, "email_taken"),
                    AccountError::LastAdmin => (StatusCode::CONFLICT, "last_admin"),
                    AccountError::Invite => (StatusCode::FORBIDDEN, "wrong_invite"),
                    AccountError::InviteEmail => (StatusCode::FORBIDDEN, "wrong_email"),
                };
                Self::new(status, code, sentence(&why.to_string()))
            }
            tenon_store::Error::DiskFull(_) => {
                tracing::error!(%error, "the store failed a request");
                Self::disk_full()
            }
            tenon_store::Error::Address(_)
            | tenon_store::Error::Database(_)
            | tenon_store::Error::Lock(_)
            | tenon_store::Error::Backup(_)
            | tenon_store::Error::Corrupt(_) => Self::storage(&error),
        }
    }
}

impl From<Exceeded> for ApiError {
    fn from(exceeded: Exceeded) -> Self {
        let (status, code) = match exceeded {
            Exceeded::Sockets => (StatusCode::TOO_MANY_REQUESTS, "too_many_sockets"),
            Exceeded::User => (StatusCode::TOO_MANY_REQUESTS, "too_much_at_once"),
            Exceeded::All => (StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
            Exceeded::Values => (StatusCode::PAYLOAD_TOO_LARGE, "too_many_values"),
        };
        let retry_after = match exceeded {
            Exceeded::User | Exceeded::All => Some(5),
            Exceeded::Sockets | Exceeded::Values => None,
        };
        Self {
            retry_after,
            ..Self::new(status, code, exceeded.to_string())
        }
    }
}

impl From<tenon_agent::Error> for ApiError {
    fn from(error: tenon_agent::Error) -> Self {
        use tenon_agent::Error::{
            Busy, Closing, Empty, FormClosed, Misfit, NoSpace, NotWaiting, Store, TooLong,
        };
        let message = sentence(&error.to_string());
        match error {
            Busy => Self::new(StatusCode::CONFLICT, "busy", message),
            NotWaiting | FormClosed => Self::new(StatusCode::CONFLICT, "not_waiting", message),
            Misfit(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "does_not_fit", message),
            Closing => Self::new(StatusCode::SERVICE_UNAVAILABLE, "closing", message),
            Empty => Self::bad_request(message),
            NoSpace(error) => error.into(),
            TooLong(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", message),
            Store(error) => error.into(),
        }
    }
}

impl From<NoSpace> for ApiError {
    fn from(error: NoSpace) -> Self {
        let message = sentence(&error.to_string());
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "disk_low", message)
    }
}

impl From<ModelLookupError> for ApiError {
    fn from(error: ModelLookupError) -> Self {
        match error {
            ModelLookupError::Unknown(message) => Self::not_found(message),
            ModelLookupError::Store(error) => error.into(),
        }
    }
}

impl From<ModelEditError> for ApiError {
    fn from(error: ModelEditError) -> Self {
        match error {
            ModelEditError::Invalid(message) => Self::bad_request(message),
            ModelEditError::Store(error) => error.into(),
        }
    }
}

impl From<SourceError> for ApiError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Invalid(message) => Self::bad_request(message),
            SourceError::Forbidden(message) => Self::forbidden(message),
            SourceError::Unreachable(message) => Self::bad_gateway(message),
            SourceError::Unread(unread) => {
                let code = if unread.needs_key() {
                    "wants_key"
                } else {
                    "unread"
                };
                Self::new(StatusCode::BAD_REQUEST, code, unread.to_string())
            }
            SourceError::Idle(message) => Self::new(StatusCode::CONFLICT, "not_running", message),
            SourceError::Store(error) => error.into(),
        }
    }
}

/// Errors are written to be chained; a person reads a sentence.
fn sentence(error: &str) -> String {
    let mut chars = error.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).chain(['.']).collect(),
        None => String::new(),
    }
}
