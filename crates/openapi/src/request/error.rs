//! Why no request can be made of an input.

/// Why no request can be made; as text it is a sentence that a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("The input of this tool is an object with a field for each parameter.")]
    NotAnObject,
    #[error("The input does not fit the tool's schema: `{0}` is missing.")]
    Missing(String),
    #[error("The input is too long: the resulting address would have more than {max_bytes} bytes.")]
    UrlTooLong { max_bytes: usize },
    #[error("The cookies are too long.")]
    CookiesTooLong,
    #[error("`{0}` is a form: an object with a value for each field.")]
    NotAForm(String),
    #[error("`{0}` is a file: give its bytes as base64 text, or as `data:image/png;base64,…`.")]
    NotAFile(String),
    #[error(
        "`{field}` goes into a header: it must be one line without control characters, of at most {max_bytes} bytes."
    )]
    InvalidHeaderValue { field: String, max_bytes: usize },
    #[error(
        "The path {0} cannot be built: one of its segments would be `.` or `..`. Give another value."
    )]
    DotSegment(String),
    #[error("`{0}` is empty, but it is part of the address: give a value.")]
    EmptyPathParameter(String),
    #[error(transparent)]
    HeaderName(#[from] HeaderNameError),
    #[error(transparent)]
    ServerUrl(#[from] ServerUrlError),
    #[error("This tool cannot be called: its description does not define {{{name}}} in {path}.")]
    UndeclaredPathParameter { name: String, path: String },
}

impl BuildError {
    /// Whether another input could help. Otherwise the document is to blame.
    pub fn is_invalid_input(&self) -> bool {
        match self {
            Self::NotAnObject
            | Self::Missing(_)
            | Self::UrlTooLong { .. }
            | Self::CookiesTooLong
            | Self::NotAForm(_)
            | Self::NotAFile(_)
            | Self::InvalidHeaderValue { .. }
            | Self::DotSegment(_)
            | Self::EmptyPathParameter(_) => true,
            Self::HeaderName(_) | Self::ServerUrl(_) | Self::UndeclaredPathParameter { .. } => {
                false
            }
        }
    }
}

/// Why a header may not be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderNameError {
    #[error("This tool cannot be called with the header `{0}`: that is not a valid header name.")]
    Invalid(String),
    /// A hop-by-hop header, which could be used for request smuggling.
    #[error("This tool cannot be called with the header `{0}`: it belongs to the connection.")]
    HopByHop(String),
}

/// Why the server of an operation has no usable URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "This tool cannot be called: its description names the server `{server}`, which {problem}."
)]
pub struct ServerUrlError {
    pub server: String,
    pub problem: ServerUrlProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlProblem {
    /// A variable without a default.
    #[error("contains an undefined variable")]
    UnknownVariable,
    #[error("is not a valid address: {0}")]
    Invalid(#[from] url::ParseError),
    #[error("is neither http nor https")]
    Scheme,
}
