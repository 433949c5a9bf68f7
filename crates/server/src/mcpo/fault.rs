//! Errors as mcpo and FastAPI write them.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tenon_domain::{CodedError, ErrorKind, ToolError};
use tenon_mcp::RpcError;

use super::arguments::ArgumentError;
use crate::api_fault::ApiFault;
use crate::request::ReceiveError;

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum McpoFault {
    NotFound,
    /// Only this method is allowed there.
    WrongMethod(&'static str),
    NoKey,
    WrongKey,
    Forbidden(&'static str),
    BodyTooLong,
    BodyTooSlow,
    BodyBrokeOff,
    Arguments(Vec<ArgumentError>),
    /// The arguments do not fit the schema, in the words of our own validator.
    Schema(Box<ToolError>, Value),
    /// A JSON-RPC error of the server behind.
    Rpc(RpcError),
    /// The tool's own words.
    ToolFailed(String),
    Call(Box<ToolError>),
}

impl McpoFault {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoKey => StatusCode::UNAUTHORIZED,
            Self::WrongKey | Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::BodyTooLong => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BodyBrokeOff => StatusCode::BAD_REQUEST,
            Self::Arguments(_) | Self::Schema(..) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Rpc(error) => match error.code {
                -32700 | -32600 => StatusCode::BAD_REQUEST,
                -32601 => StatusCode::NOT_FOUND,
                -32602 => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            },
            Self::ToolFailed(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Call(error) => match error.kind {
                ErrorKind::UnknownTool => StatusCode::NOT_FOUND,
                ErrorKind::InvalidInput => StatusCode::UNPROCESSABLE_ENTITY,
                ErrorKind::Denied => StatusCode::FORBIDDEN,
                ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
                ErrorKind::Cancelled
                | ErrorKind::Unavailable
                | ErrorKind::Failed
                | ErrorKind::Lost => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }

    fn detail(self) -> Value {
        match self {
            Self::NotFound => json!("Not Found"),
            Self::WrongMethod(_) => json!("Method Not Allowed"),
            Self::NoKey => json!("Missing or invalid Authorization header"),
            Self::WrongKey => json!("Invalid API key"),
            Self::Forbidden(why) => json!(why),
            Self::BodyTooLong => json!("The body of the request is too long."),
            Self::BodyTooSlow => json!(ApiFault::BodyTooSlow.detail().message),
            Self::BodyBrokeOff => json!("There was an error parsing the body"),
            Self::Arguments(errors) => errors.into_iter().map(ArgumentError::into_json).collect(),
            Self::Schema(error, input) => json!([{
                "type": "value_error",
                "loc": ["body"],
                "msg": error.message,
                "input": input,
            }]),
            Self::Rpc(RpcError {
                message,
                data: Some(data),
                ..
            }) => json!({ "message": message, "data": data }),
            Self::Rpc(RpcError { message, .. }) | Self::ToolFailed(message) => {
                json!({ "message": message })
            }
            Self::Call(error) => json!({ "message": error.message }),
        }
    }
}

impl From<ReceiveError> for McpoFault {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::TooLong { .. } => Self::BodyTooLong,
            ReceiveError::TooSlow => Self::BodyTooSlow,
            ReceiveError::BrokeOff => Self::BodyBrokeOff,
        }
    }
}

impl IntoResponse for McpoFault {
    fn into_response(self) -> Response {
        let status = self.status();
        let header = match &self {
            Self::NoKey => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::WrongMethod(allowed) => Some((header::ALLOW, HeaderValue::from_static(allowed))),
            _ => None,
        };
        let body = Json(json!({ "detail": self.detail() }));
        let mut response = (status, body).into_response();
        response.headers_mut().extend(header);
        response
    }
}
