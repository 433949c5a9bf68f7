//! Parameters of errors.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ErrorDetail;

/// What stands for a `{name}` in a template: a text as it is, or errors with words of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum ErrorParam {
    Text(String),
    Error(Box<ErrorDetail>),
    /// Sentences follow each other; what is no sentence is separated by semicolons.
    List(Box<[ErrorDetail]>),
}

impl fmt::Display for ErrorParam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Error(error) => error.fmt(f),
            Self::List(errors) => {
                let mut separator = "";
                for error in errors {
                    write!(f, "{separator}{error}")?;
                    let is_sentence = error.message.ends_with(['.', '!', '?', '…']);
                    separator = if is_sentence { " " } else { "; " };
                }
                Ok(())
            }
        }
    }
}

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl From<$type> for ErrorParam {
            fn from(value: $type) -> Self {
                Self::Text(value.to_string())
            }
        }
    )*};
}
texts!(&str, String, &String, usize, u64, u16, i32, f64);

impl From<ErrorDetail> for ErrorParam {
    fn from(error: ErrorDetail) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Vec<ErrorDetail>> for ErrorParam {
    fn from(errors: Vec<ErrorDetail>) -> Self {
        Self::List(errors.into())
    }
}

impl<T: Into<ErrorParam>> From<Option<T>> for ErrorParam {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Self::Text(String::new()), Into::into)
    }
}
