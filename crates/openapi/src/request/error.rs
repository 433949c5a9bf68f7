//! Why no request can be made of an input.

/// Why no request can be made; as text it is a sentence that a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("The input of this tool is an object with a field for each parameter.")]
    NotAnObject,
    #[error("The input does not fit the tool's schema: `{0}` is missing.")]
    Missing(String),
    #[error("The input is too long: the address it makes has more than {max_bytes} bytes.")]
    UrlTooLong { max_bytes: usize },
    #[error("The cookies are too long.")]
    CookiesTooLong,
    #[error("`{0}` is a form: an object with a value for each field.")]
    NotAForm(String),
    #[error(
        "`{0}` is a file: its bytes are written as a text in base64, or as `data:image/png;base64,…`."
    )]
    NotAFile(String),
    #[error(
        "`{field}` goes into a header: it must be one line without control characters, of at most {max_bytes} bytes."
    )]
    InvalidHeaderValue { field: String, max_bytes: usize },
    #[error("The path {0} cannot be made: a part of it would be `.` or `..`. Give another value.")]
    DotSegment(String),
    #[error("`{0}` is empty, but it is part of the address: give a value.")]
    EmptyPathParameter(String),
    #[error(transparent)]
    HeaderName(#[from] HeaderNameError),
    #[error(transparent)]
    ServerUrl(#[from] ServerUrlError),
    #[error(
        "This tool cannot be called: its description does not say what {{{name}}} in {path} is."
    )]
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
    #[error("This tool cannot be called with the header `{0}`: that is no name of a header.")]
    Invalid(String),
    /// A hop-by-hop header: whoever sets it could smuggle requests.
    #[error("This tool cannot be called with the header `{0}`: it belongs to the connection.")]
    HopByHop(String),
}

/// Why the server of an operation has no usable URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "This tool cannot be called: its description says that it is served at `{server}`, which {problem}."
)]
pub struct ServerUrlError {
    pub server: String,
    pub problem: ServerUrlProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlProblem {
    /// A variable without a default.
    #[error("has a part that nothing is said about")]
    UnknownVariable,
    #[error("is no address: {0}")]
    Invalid(#[from] url::ParseError),
    #[error("is neither http nor https")]
    Scheme,
}
