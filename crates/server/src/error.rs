//! [`ApiError`]: an error as data, and the status it is sent with. Internal causes are logged,
//! never sent.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tenon_app::budget::BudgetError;
use tenon_app::experts::ExpertError;
use tenon_app::files::AttachmentError;
use tenon_app::folders::FolderError;
use tenon_app::instructions::InstructionsError;
use tenon_app::models::{EvaluationError, ModelEditError, ModelLookupError};
use tenon_app::prompts::PromptError;
use tenon_app::skills::SkillFault;
use tenon_app::sources::SourceError;
use tenon_app::web_images::WebImageError;
use tenon_domain::{CodedError, ErrorDetail};
use tenon_store::{AccountError, StoreFault};
use tenon_tools::NoSpace;
use url::Url;

use crate::api_fault::ApiFault;
use crate::wire::ErrorBody;

#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    detail: ErrorDetail,
    /// After how many seconds it is worth trying again.
    retry_after: Option<u32>,
    /// `WWW-Authenticate` of a 401.
    challenge: Option<Box<HeaderValue>>,
}

impl ApiError {
    pub fn new(status: StatusCode, error: impl Into<ErrorDetail>) -> Self {
        Self {
            status,
            detail: error.into(),
            retry_after: None,
            challenge: None,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub fn not_logged_in() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, ApiFault::NotLoggedIn)
    }

    pub fn forbidden(error: impl Into<ErrorDetail>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error)
    }

    pub fn not_found(error: impl Into<ErrorDetail>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    /// Somebody we asked did not answer as they should.
    pub fn bad_gateway(error: impl Into<ErrorDetail>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, error)
    }

    pub fn bad_request(error: impl Into<ErrorDetail>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// A storage error. The cause is only logged, because it may contain private data.
    pub fn storage(why: &dyn std::fmt::Display) -> Self {
        tracing::error!(%why, "the store failed a request");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, StoreFault::Unusable)
    }

    pub fn disk_full() -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, StoreFault::DiskFull)
    }

    /// About another field of the request than the error says by itself.
    pub fn in_field(self, field: &str) -> Self {
        Self {
            detail: self.detail.in_field(field),
            ..self
        }
    }

    /// A 401 that says where the description of the credentials is (RFC 9728).
    pub fn with_challenge(self, resource_metadata: &Url) -> Self {
        let challenge = format!("Bearer resource_metadata=\"{resource_metadata}\"");
        let challenge = HeaderValue::try_from(challenge).ok().map(Box::new);
        let challenge = challenge.filter(|_| self.status == StatusCode::UNAUTHORIZED);
        Self { challenge, ..self }
    }

    pub fn detail(self) -> ErrorDetail {
        self.detail
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let error = self.detail;
        let mut response = (self.status, Json(ErrorBody { error })).into_response();
        if let Some(seconds) = self.retry_after {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(challenge) = self.challenge {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, *challenge);
        }
        response
    }
}

impl From<tenon_app::Error> for ApiError {
    fn from(error: tenon_app::Error) -> Self {
        use tenon_app::Error;
        let status = match error {
            Error::Store(error) => return error.into(),
            Error::TooManyAttempts { seconds } => {
                return Self {
                    retry_after: u32::try_from(seconds).ok(),
                    ..Self::new(StatusCode::TOO_MANY_REQUESTS, error)
                };
            }
            Error::Invalid(_) => StatusCode::BAD_REQUEST,
            Error::NoAccount => StatusCode::CONFLICT,
            Error::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Error::WrongLogin => StatusCode::UNAUTHORIZED,
            Error::InviteGone => StatusCode::NOT_FOUND,
            Error::DeviceStore => StatusCode::INTERNAL_SERVER_ERROR,
            Error::KeyNotAllowed
            | Error::WrongSetupCode
            | Error::InviteNeeded
            | Error::WrongPassword
            | Error::PasswordNeeded
            | Error::LoginNeeded
            | Error::ShellNeeded => StatusCode::FORBIDDEN,
        };
        Self::new(status, error)
    }
}

impl From<tenon_store::Error> for ApiError {
    fn from(error: tenon_store::Error) -> Self {
        use tenon_store::Error;
        let status = match &error {
            Error::NotFound(_) => StatusCode::NOT_FOUND,
            Error::LeaseLost => StatusCode::SERVICE_UNAVAILABLE,
            Error::TooLate(_)
            | Error::NotOwner
            | Error::Taken(_)
            | Error::TooMany(_)
            | Error::Secret(_) => StatusCode::CONFLICT,
            Error::Account(AccountError::Invite | AccountError::InviteEmail) => {
                StatusCode::FORBIDDEN
            }
            Error::Account(_) => StatusCode::CONFLICT,
            Error::DiskFull(_) => {
                tracing::error!(%error, "the store failed a request");
                StatusCode::INSUFFICIENT_STORAGE
            }
            Error::Address(_)
            | Error::Database(_)
            | Error::NoAnswer(_)
            | Error::Lock(_)
            | Error::Backup(_)
            | Error::Corrupt(_) => return Self::storage(&error),
        };
        Self::new(status, error.detail())
    }
}

impl From<BudgetError> for ApiError {
    fn from(exceeded: BudgetError) -> Self {
        let (status, retry_after) = match exceeded {
            BudgetError::Sockets { .. } => (StatusCode::TOO_MANY_REQUESTS, None),
            BudgetError::User => (StatusCode::TOO_MANY_REQUESTS, Some(5)),
            BudgetError::All => (StatusCode::SERVICE_UNAVAILABLE, Some(5)),
            BudgetError::Values => (StatusCode::PAYLOAD_TOO_LARGE, None),
        };
        Self {
            retry_after,
            ..Self::new(status, exceeded)
        }
    }
}

impl From<tenon_agent::Error> for ApiError {
    fn from(error: tenon_agent::Error) -> Self {
        use tenon_agent::Error;
        let status = match error {
            Error::Store(error) => return error.into(),
            Error::NoSpace(error) => return error.into(),
            Error::Busy
            | Error::TurnIdTaken
            | Error::NotWaiting
            | Error::NoPendingCalls
            | Error::FormClosed => StatusCode::CONFLICT,
            Error::Misfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Closing | Error::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
            Error::Empty => StatusCode::BAD_REQUEST,
            Error::TooLong { .. } | Error::ImagesTooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        };
        Self::new(status, error)
    }
}

impl From<NoSpace> for ApiError {
    fn from(error: NoSpace) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, error)
    }
}

impl From<ModelLookupError> for ApiError {
    fn from(error: ModelLookupError) -> Self {
        match error {
            ModelLookupError::Store(error) => error.into(),
            error => Self::not_found(error),
        }
    }
}

impl From<ExpertError> for ApiError {
    fn from(error: ExpertError) -> Self {
        match error {
            ExpertError::Store(error) => error.into(),
            ExpertError::Builtin | ExpertError::NotYours => Self::forbidden(error),
            ExpertError::Gone => Self::new(StatusCode::CONFLICT, error),
            error => Self::bad_request(error),
        }
    }
}

impl From<PromptError> for ApiError {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Store(error) => error.into(),
            PromptError::NotYours => Self::forbidden(error),
            error => Self::bad_request(error),
        }
    }
}

impl From<AttachmentError> for ApiError {
    fn from(error: AttachmentError) -> Self {
        let status = match &error {
            AttachmentError::TooLarge { .. } | AttachmentError::ImageTooLarge { .. } => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            AttachmentError::Quota(_) => StatusCode::INSUFFICIENT_STORAGE,
            AttachmentError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            AttachmentError::Reader { .. } | AttachmentError::NotWritten { .. } => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            AttachmentError::Empty
            | AttachmentError::ExportTooLarge { .. }
            | AttachmentError::TooMany { .. }
            | AttachmentError::Encrypted
            | AttachmentError::Damaged
            | AttachmentError::NoText
            | AttachmentError::Unpacked
            | AttachmentError::TooSlow { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            AttachmentError::Memory(_) | AttachmentError::Store(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        match error {
            AttachmentError::Store(error) => error.into(),
            AttachmentError::Memory(error) => error.into(),
            error => Self::new(status, error),
        }
    }
}

impl From<WebImageError> for ApiError {
    fn from(error: WebImageError) -> Self {
        match error {
            WebImageError::Address { .. } => Self::bad_request(error),
            error => Self::new(StatusCode::BAD_GATEWAY, error),
        }
    }
}

impl From<InstructionsError> for ApiError {
    fn from(error: InstructionsError) -> Self {
        match error {
            InstructionsError::Store(error) => error.into(),
            InstructionsError::Parameters(error) => error.into(),
            error => Self::bad_request(error),
        }
    }
}

impl From<FolderError> for ApiError {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Store(error) => error.into(),
            FolderError::Instructions(error) => error.into(),
            error => Self::bad_request(error),
        }
    }
}

impl From<SkillFault> for ApiError {
    fn from(error: SkillFault) -> Self {
        match error {
            SkillFault::Store(error) => error.into(),
            SkillFault::NotYours
            | SkillFault::OwnerIsNoAdmin
            | SkillFault::PathForAdmins
            | SkillFault::ProgramsForAdmins { .. }
            | SkillFault::TeamForAdmins
            | SkillFault::NetworkForAdmins => Self::forbidden(error),
            SkillFault::NoSuchFile { .. } | SkillFault::NoSuchVersion => Self::not_found(error),
            SkillFault::Files { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error),
            error => Self::bad_request(error),
        }
    }
}

impl From<EvaluationError> for ApiError {
    fn from(error: EvaluationError) -> Self {
        match error {
            EvaluationError::Lookup(error) => error.into(),
            error => Self::bad_request(error),
        }
    }
}

impl From<ModelEditError> for ApiError {
    fn from(error: ModelEditError) -> Self {
        match error {
            ModelEditError::Store(error) => error.into(),
            error => Self::bad_request(error),
        }
    }
}

impl From<SourceError> for ApiError {
    fn from(error: SourceError) -> Self {
        let status = match error {
            SourceError::Store(error) => return error.into(),
            SourceError::Invalid(_) | SourceError::Unread(_) => StatusCode::BAD_REQUEST,
            SourceError::Forbidden(_) => StatusCode::FORBIDDEN,
            SourceError::Unreachable(_) => StatusCode::BAD_GATEWAY,
            SourceError::Idle(_) => StatusCode::CONFLICT,
        };
        Self::new(status, error.detail())
    }
}
