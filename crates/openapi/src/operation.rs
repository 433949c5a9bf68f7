//! A parsed document: its operations, as far as a call needs them.

use std::fmt;
use std::sync::Arc;

use http::Method;
use http::header::{HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::note::{DocumentNote, OperationError};

/// The result of [`crate::parse::parse`].
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedDocument {
    pub title: String,
    pub version: String,
    pub description: String,
    /// Their names are unique.
    pub operations: Vec<Operation>,
    /// Operations that cannot be called.
    pub skipped: Vec<SkippedOperation>,
    /// Parts of inputs that could not be read, such as an optional parameter in a file that is
    /// missing.
    pub notes: Vec<DocumentNote>,
    pub schemes: Vec<SecurityScheme>,
}

/// An operation that is not offered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedOperation {
    /// "GET /pets/{id}"; empty for all beyond the last that is read.
    pub operation: String,
    pub reason: OperationError,
}

/// One operation: its description for callers, and how its input becomes a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The `operationId`, or made of method and path. Unique in its document.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub input_schema: OperationSchema,
    pub deprecated: bool,
    pub method: Method,
    /// The template as written: "/pets/{id}".
    pub path: String,
    /// Base URLs, the preferred one first: absolute, or relative to the URL of the document.
    /// Variables have their defaults. Never empty.
    pub servers: Vec<String>,
    pub parameters: Vec<OpenapiParameter>,
    /// `Accept` or `Content-Type`, where the document requires one fixed value.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Option<RequestBody>,
    /// Alternatives: each is one sufficient set of schemes. Empty: no authentication.
    pub security: Vec<Vec<SecurityRequirement>>,
}

/// The JSON Schema of an operation's input, as compact text: parsed, it would take five times the
/// memory, and documents have thousands of operations. Clones share the text.
#[derive(Clone)]
pub struct OperationSchema(Arc<RawValue>);

impl OperationSchema {
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Parses the schema, on every call; `null` if it is nested too deeply for the JSON parser.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }

    /// The shared text.
    pub fn into_raw(self) -> Arc<RawValue> {
        self.0
    }
}

impl From<Value> for OperationSchema {
    fn from(schema: Value) -> Self {
        let text = to_raw_value(&schema).expect("a JSON value can always be written");
        Self(text.into())
    }
}

/// As JSON: members in another order are the same schema.
impl PartialEq for OperationSchema {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.value() == other.value()
    }
}

impl fmt::Debug for OperationSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Operation {
    /// Safe in the sense of HTTP (RFC 9110): it only reads.
    pub fn is_safe(&self) -> bool {
        ["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"].contains(&self.method.as_str())
    }

    /// Idempotent in the sense of HTTP: sent twice it does no more than sent once.
    pub fn is_idempotent(&self) -> bool {
        self.is_safe() || ["PUT", "DELETE"].contains(&self.method.as_str())
    }
}

/// A scheme that an operation asks for, by its name in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityRequirement {
    pub scheme: String,
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct OpenapiParameter {
    /// The name of its field in the input: its own name, unless that was taken.
    pub input: String,
    pub name: String,
    pub location: ParameterLocation,
    pub serialization: Serialization,
    pub required: bool,
}

/// The `in` of a parameter or of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterLocation {
    Path,
    Query,
    Header,
    Cookie,
}

/// How the value of a parameter, or of a field of a form, becomes text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Serialization {
    Styled {
        style: ParameterStyle,
        explode: bool,
        /// `allowReserved`: reserved characters are not percent-encoded.
        reserved: bool,
    },
    /// As one value of this media type: JSON, nearly always.
    Media(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterStyle {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
    /// Tabs between values: `collectionFormat: tsv` of Swagger 2.0.
    TabDelimited,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RequestBody {
    /// As the document says it: "application/merge-patch+json".
    pub media_type: String,
    pub kind: BodyKind,
    pub required: bool,
    pub input: BodyInput,
}

#[derive(Debug, Clone, PartialEq)]
pub enum BodyKind {
    Json,
    /// `application/x-www-form-urlencoded`; fields that are not listed have the default style.
    Form(Vec<FormField>),
    Multipart(Vec<FormField>),
    Text,
    /// Base64 in the input.
    Bytes,
}

/// A field of a form that is not serialized by default.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    pub name: String,
    pub serialization: Option<Serialization>,
    /// Base64 in the input; sent as a file.
    pub is_file: bool,
    /// Of its part, where the document says so.
    pub media_type: Option<String>,
}

/// Where the body is in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyInput {
    /// Its properties are fields beside the parameters: each input name with the
    /// property's own. A field of the input that is neither listed here nor a parameter goes
    /// into the body under its own name.
    Merged(Vec<(String, String)>),
    /// It is one field of the input.
    Whole(String),
}

/// A security scheme of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityScheme {
    pub name: String,
    pub kind: SecuritySchemeKind,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecuritySchemeKind {
    ApiKey {
        location: ParameterLocation,
        name: String,
    },
    Bearer,
    Basic,
    /// OAuth 2.0 client credentials (RFC 6749, section 4.4).
    ClientCredentials {
        token_url: String,
        scopes: Vec<String>,
    },
    /// One that needs a person or a certificate; its name.
    Other(String),
}
