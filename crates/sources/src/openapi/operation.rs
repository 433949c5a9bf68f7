//! What a document says about one operation, as far as a call needs it.

use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use tenon_domain::ToolDefinition;

/// A whole document, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    pub title: String,
    pub version: String,
    pub description: String,
    /// By their names, which are unique.
    pub operations: Vec<Operation>,
    /// What did not become a tool.
    pub skipped: Vec<Skipped>,
    /// Sentences about what its tools go without, though the document has it.
    pub notes: Vec<String>,
    /// What the document calls its ways to prove who asks.
    pub schemes: Vec<Scheme>,
}

/// An operation that is not offered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// "GET /pets/{id}"
    pub place: String,
    /// A sentence.
    pub why: String,
}

/// One tool, and how its input becomes a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    pub tool: ToolDefinition,
    pub method: Method,
    /// As it is written: "/pets/{id}".
    pub path: String,
    /// Where it is served, the first one first: absolute, or relative to where
    /// the document came from. Variables have their defaults. Never empty.
    pub servers: Vec<String>,
    pub parameters: Vec<Parameter>,
    /// What the document demands as `Accept` or `Content-Type`, where it leaves no choice.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Option<Body>,
    /// Each is one sufficient set of schemes, by name. None at all: nothing is asked for.
    pub security: Vec<Vec<Need>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    pub scheme: String,
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What it is called in the tool's input: its name, unless that was taken.
    pub input: String,
    pub name: String,
    pub place: Place,
    pub written: Written,
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Path,
    Query,
    Header,
    Cookie,
}

/// How the value of a parameter, or of a field of a form, becomes text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    As {
        style: Style,
        explode: bool,
        /// Reserved characters stay as they are.
        reserved: bool,
    },
    /// As a whole of this media type: JSON, nearly always.
    Media(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
    /// Tabs between values: Swagger 2.0 has it.
    TabDelimited,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// As the document says it: "application/merge-patch+json".
    pub media_type: String,
    pub kind: BodyKind,
    pub required: bool,
    pub input: BodyInput,
}

#[derive(Debug, Clone, PartialEq)]
pub enum BodyKind {
    Json,
    /// `application/x-www-form-urlencoded`; fields that are not named are written as forms are.
    Form(Vec<Field>),
    Multipart(Vec<Field>),
    Text,
    /// Base64 in the input.
    Bytes,
}

/// A field of a form that differs from the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub written: Option<Written>,
    /// Base64 in the input; sent as a file.
    pub is_file: bool,
    /// Of its part, where the document says so.
    pub media_type: Option<String>,
}

/// Where a body stands in the tool's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyInput {
    /// Its properties stand beside the parameters: each input name with the
    /// property's own. What is in the input and nowhere here, and is no
    /// parameter, goes into the body under its own name.
    Merged(Vec<(String, String)>),
    /// It is one field of the input.
    Whole(String),
}

/// A way to prove who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheme {
    pub name: String,
    pub kind: SchemeKind,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemeKind {
    Key {
        place: Place,
        name: String,
    },
    Bearer,
    Basic,
    /// Tenon gets a token for itself with an id and a secret.
    Client {
        token_url: String,
        scopes: Vec<String>,
    },
    /// Nothing that could be done without a person or a certificate; its name.
    Other(String),
}
