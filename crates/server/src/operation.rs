//! Describes a handler's inputs and outputs, read from its signature.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::handler::Handler;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::Sse;
use axum::response::{AppendHeaders, Response};
use futures::future::BoxFuture;
use tenon_app::auth::CurrentUser;
use ts_rs::{Config, TS};

use crate::openai::CompletionBody;
use crate::request::{FileBody, HttpCaller, Id, JsonBody, QueryParams};
use crate::socket::Handshake;
use crate::state::ServerState;
use crate::tagged_json::TaggedJson;

/// The parts of an operation, as TypeScript.
#[derive(Debug, Default)]
pub struct OperationParts {
    /// The type of the id in its path.
    pub path: Option<String>,
    /// An object of its query parameters.
    pub query: Option<String>,
    pub body: Option<OperationBody>,
    pub response: OperationResponse,
}

#[derive(Debug)]
pub enum OperationBody {
    Json {
        schema: String,
        required: bool,
    },
    /// A chat completion request of OpenAI's API.
    ChatCompletion,
    /// The bytes of a file.
    File,
}

#[derive(Debug, Default)]
pub enum OperationResponse {
    #[default]
    Empty,
    Json(String),
    EventStream,
    /// Whatever the handler decides.
    Any,
}

/// A handler that tells what it takes and gives.
pub(crate) trait DocumentedHandler<T>:
    Handler<T, ServerState, Future = BoxFuture<'static, Response>>
{
    fn describe() -> OperationParts;
}

macro_rules! documented_handlers {
    ($(($($input:ident)*))*) => {$(
        impl<F, Fut, Output, M, $($input),*> DocumentedHandler<(M, $($input,)*)> for F
        where
            F: Handler<(M, $($input,)*), ServerState, Future = BoxFuture<'static, Response>>
                + FnOnce($($input),*) -> Fut,
            Fut: Future<Output = Output>,
            Output: HandlerOutput,
            $($input: HandlerInput,)*
        {
            fn describe() -> OperationParts {
                let mut parts = OperationParts::default();
                $($input::describe(&mut parts);)*
                parts.response = Output::describe();
                parts
            }
        }
    )*};
}

documented_handlers! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E G)
}

/// An argument of a handler. Most tell a client nothing.
pub(crate) trait HandlerInput {
    fn describe(_parts: &mut OperationParts) {}
}

impl<T> HandlerInput for State<T> {}
impl HandlerInput for CurrentUser {}
impl HandlerInput for HttpCaller {}
impl HandlerInput for HeaderMap {}
impl HandlerInput for Handshake {}
/// Only undocumented handlers have more than one id in their path.
impl<T> HandlerInput for Path<T> {}

impl<T: TS> HandlerInput for Id<T> {
    fn describe(parts: &mut OperationParts) {
        parts.path = Some(name::<T>());
    }
}

impl<T: TS> HandlerInput for QueryParams<T> {
    fn describe(parts: &mut OperationParts) {
        parts.query = Some(T::inline(&Config::new()));
    }
}

impl<T: TS> HandlerInput for Result<Query<T>, QueryRejection> {
    fn describe(parts: &mut OperationParts) {
        parts.query = Some(T::inline(&Config::new()));
    }
}

impl<T: TS> HandlerInput for JsonBody<T> {
    fn describe(parts: &mut OperationParts) {
        parts.body = Some(OperationBody::Json {
            schema: name::<T>(),
            required: true,
        });
    }
}

impl<T: TS> HandlerInput for Option<JsonBody<T>> {
    fn describe(parts: &mut OperationParts) {
        parts.body = Some(OperationBody::Json {
            schema: name::<T>(),
            required: false,
        });
    }
}

impl HandlerInput for Request {
    fn describe(parts: &mut OperationParts) {
        parts.body = Some(OperationBody::Json {
            schema: "unknown".to_owned(),
            required: true,
        });
    }
}

impl HandlerInput for FileBody {
    fn describe(parts: &mut OperationParts) {
        parts.body = Some(OperationBody::File);
    }
}

impl HandlerInput for CompletionBody {
    fn describe(parts: &mut OperationParts) {
        parts.body = Some(OperationBody::ChatCompletion);
    }
}

/// What a handler gives where it succeeds.
pub(crate) trait HandlerOutput {
    fn describe() -> OperationResponse;
}

impl<T: HandlerOutput, E> HandlerOutput for Result<T, E> {
    fn describe() -> OperationResponse {
        T::describe()
    }
}

impl<T: TS> HandlerOutput for Json<T> {
    fn describe() -> OperationResponse {
        OperationResponse::Json(name::<T>())
    }
}

impl<T: TS> HandlerOutput for TaggedJson<T> {
    fn describe() -> OperationResponse {
        OperationResponse::Json(name::<T>())
    }
}

impl HandlerOutput for StatusCode {
    fn describe() -> OperationResponse {
        OperationResponse::Empty
    }
}

impl<T: HandlerOutput> HandlerOutput for (StatusCode, T) {
    fn describe() -> OperationResponse {
        T::describe()
    }
}

impl<H, const N: usize, T: HandlerOutput> HandlerOutput for (AppendHeaders<[H; N]>, T) {
    fn describe() -> OperationResponse {
        T::describe()
    }
}

impl<H, const N: usize> HandlerOutput for AppendHeaders<[H; N]> {
    fn describe() -> OperationResponse {
        OperationResponse::Empty
    }
}

impl<S> HandlerOutput for Sse<S> {
    fn describe() -> OperationResponse {
        OperationResponse::EventStream
    }
}

impl HandlerOutput for Response {
    fn describe() -> OperationResponse {
        OperationResponse::Any
    }
}

fn name<T: TS>() -> String {
    T::name(&Config::new())
}
