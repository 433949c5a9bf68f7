//! Errors as data: a code, its parameters, and the field of a form it is about.
//!
//! A crate declares its codes with [`coded_errors!`](crate::coded_errors), each with its English
//! template. `make types` hands all templates to the page, which has the same codes in its other
//! languages. Callers decide by code; a sentence is made where a person reads it.

mod param;
mod template;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;

pub use param::ErrorParam;
pub use template::ErrorTemplate;
use template::render;

/// One error, as it is sent and stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct ErrorDetail {
    pub code: String,
    /// English, made from the code's template and the parameters: one sentence that says what to
    /// do.
    pub message: String,
    #[ts(type = "Record<string, ErrorParam>")]
    pub params: BTreeMap<String, ErrorParam>,
    /// The field of the request, or of a form, that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub field: Option<String>,
}

/// Instead of a sentence that cannot be made without what was taken out of it.
const WITHHELD: &str = "What went wrong is not shown to everybody: ask an administrator.";

/// An error that knows its code, its parameters and its field.
pub trait CodedError: std::error::Error {
    fn detail(&self) -> ErrorDetail;
}

/// Declares an enum of errors: each variant with its parameters ([`ErrorParam`]s, unless a type is
/// given), its code, the field it is about where that is always the same, and its
/// [template](ErrorTemplate). Variants that `wrap` another [`CodedError`] have its code and words.
///
/// ```
/// tenon_domain::coded_errors! {
///     /// Why an account is not made.
///     #[derive(Debug)]
///     pub enum SignUpError {
///         EmailTaken = "email_taken" in "email" => "There is an account with this address already.",
///         NameTooLong { max: usize } = "name_too_long" => "A name has {max} characters at most.",
///     }
/// }
/// let error = SignUpError::NameTooLong { max: 5 };
/// assert_eq!(error.to_string(), "A name has 5 characters at most.");
/// ```
#[macro_export]
macro_rules! coded_errors {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$variant_attribute:meta])*
                $variant:ident $({ $($param:ident $(: $type:ty)?),+ $(,)? })? = $code:literal $(in $field:literal)? => $text:literal
            ),+ $(,)?
        }
        $(wraps {
            $(
                $(#[$wrapper_attribute:meta])*
                $wrapper:ident($inner:ty)
            ),+ $(,)?
        })?
    ) => {
        $(#[$attribute])*
        $visibility enum $name {
            $(
                $(#[$variant_attribute])*
                $variant $({ $($param: $crate::coded_errors!(@param $($type)?)),+ })?,
            )+
            $($(
                $(#[$wrapper_attribute])*
                $wrapper($inner),
            )+)?
        }

        impl $name {
            /// The codes and their English templates, for the page.
            pub const TEMPLATES: &'static [$crate::ErrorTemplate] = &[$(
                $crate::ErrorTemplate {
                    code: $code,
                    text: $text,
                    params: &[$($(stringify!($param)),+)?],
                }
            ),+];
        }

        impl $crate::CodedError for $name {
            fn detail(&self) -> $crate::ErrorDetail {
                match self {
                    $(Self::$variant $({ $($param),+ })? => {
                        let params = [$($((stringify!($param), $crate::ErrorParam::from($param.clone()))),+)?];
                        let detail = $crate::ErrorDetail::new($code, $text, params);
                        $(let detail = detail.in_field($field);)?
                        detail
                    })+
                    $($(Self::$wrapper(error) => $crate::CodedError::detail(error),)+)?
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::CodedError::detail(self).message)
            }
        }

        impl ::std::error::Error for $name {}

        impl From<$name> for $crate::ErrorDetail {
            fn from(error: $name) -> Self {
                $crate::CodedError::detail(&error)
            }
        }

        impl From<$name> for $crate::ErrorParam {
            fn from(error: $name) -> Self {
                $crate::CodedError::detail(&error).into()
            }
        }
    };
    (@param) => { $crate::ErrorParam };
    (@param $type:ty) => { $type };
}

coded_errors! {
    /// What older versions stored: a sentence and no code.
    #[derive(Debug)]
    pub enum OtherError {
        Other { message: String } = "other" => "{message}",
    }
}

impl ErrorDetail {
    pub fn new<const N: usize>(
        code: &str,
        template: &str,
        params: [(&str, ErrorParam); N],
    ) -> Self {
        let params = params.map(|(name, value)| (name.to_owned(), value));
        let params = BTreeMap::from(params);
        Self {
            code: code.to_owned(),
            message: render(template, &params),
            params,
            field: None,
        }
    }

    /// A sentence without a code.
    pub fn other(message: impl Into<String>) -> Self {
        let message = message.into();
        OtherError::Other { message }.into()
    }

    /// With every text in it changed, such as to take a secret out.
    pub fn map_texts(self, change: &dyn Fn(String) -> String) -> Self {
        let params = self.params.into_iter().map(|(name, value)| {
            let value = match value {
                ErrorParam::Text(text) => ErrorParam::Text(change(text)),
                ErrorParam::Error(error) => error.map_texts(change).into(),
                ErrorParam::List(errors) => {
                    let errors = errors.into_iter().map(|error| error.map_texts(change));
                    ErrorParam::List(errors.collect())
                }
            };
            (name, value)
        });
        Self {
            params: params.collect(),
            message: change(self.message),
            ..self
        }
    }

    /// Without the texts of these parameters. The sentence is made again from the template of its
    /// code; where `templates` has none, a sentence with one of them in it is withheld.
    pub fn without(&self, names: &[&str], templates: &[ErrorTemplate]) -> Self {
        let params = self.params.iter().map(|(name, value)| {
            let value = match value {
                _ if names.contains(&name.as_str()) => ErrorParam::Text(String::new()),
                ErrorParam::Error(error) => error.without(names, templates).into(),
                ErrorParam::List(errors) => {
                    let errors = errors.iter().map(|error| error.without(names, templates));
                    ErrorParam::List(errors.collect())
                }
                ErrorParam::Text(_) => value.clone(),
            };
            (name.clone(), value)
        });
        let params: BTreeMap<String, ErrorParam> = params.collect();
        let template = templates.iter().find(|template| template.code == self.code);
        let message = match template {
            Some(template) => render(template.text, &params),
            None if params == self.params => self.message.clone(),
            // It cannot be made again, and what it was made of is not to be seen.
            None => WITHHELD.to_owned(),
        };
        Self {
            message,
            params,
            ..self.clone()
        }
    }

    pub fn in_field(self, field: impl Into<String>) -> Self {
        Self {
            field: Some(field.into()),
            ..self
        }
    }
}

impl fmt::Display for ErrorDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorDetail {}

impl CodedError for ErrorDetail {
    fn detail(&self) -> ErrorDetail {
        self.clone()
    }
}

/// Older versions stored a bare sentence, or one without a code.
impl<'de> Deserialize<'de> for ErrorDetail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Sentence(String),
            Detail {
                code: Option<String>,
                message: String,
                #[serde(default)]
                params: BTreeMap<String, ErrorParam>,
                field: Option<String>,
            },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Sentence(message) => Self::other(message),
            Stored::Detail {
                code: None,
                message,
                ..
            } => Self::other(message),
            Stored::Detail {
                code: Some(code),
                message,
                params,
                field,
            } => Self {
                code,
                message,
                params,
                field,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    coded_errors! {
        #[derive(Debug)]
        enum TestError {
            Plain = "plain" => "Nothing to fill in.",
            Quoted { host, said } = "quoted" in "key" => "{host} refused the key[ (\"{said}\")].",
            Cause { why } = "cause" => "It stopped. {why}",
        }
    }

    #[test]
    fn a_sentence_is_made_of_its_template() {
        assert_eq!(TestError::TEMPLATES[1].params, ["host", "said"]);
        let check = |error: TestError, expected: &str| assert_eq!(error.to_string(), expected);
        check(TestError::Plain, "Nothing to fill in.");
        let quoted = |said: &str| TestError::Quoted {
            host: "h".into(),
            said: said.into(),
        };
        check(quoted(""), "h refused the key.");
        check(
            quoted("{host} [no]"),
            "h refused the key (\"{host} [no]\").",
        );
        let why = quoted("").detail().into();
        check(TestError::Cause { why }, "It stopped. h refused the key.");
        let list = |errors: [&str; 3]| TestError::Cause {
            why: errors.map(ErrorDetail::other).to_vec().into(),
        };
        check(list(["A.", "B?", "C."]), "It stopped. A. B? C.");
        check(list(["a", "b", "c"]), "It stopped. a; b; c");
    }

    #[test]
    fn an_error_is_data_that_survives_being_stored() {
        let why = TestError::Quoted {
            host: "h".into(),
            said: "no".into(),
        };
        let why = why.detail();
        let stored = json!({
            "code": "quoted",
            "message": "h refused the key (\"no\").",
            "params": {"host": "h", "said": "no"},
            "field": "key",
        });
        assert_eq!(serde_json::to_value(&why).unwrap(), stored);
        for why in [why.clone().into(), vec![why.clone(), why].into()] {
            let cause = TestError::Cause { why }.detail();
            let stored = serde_json::to_value(&cause).unwrap();
            let read: ErrorDetail = serde_json::from_value(stored).unwrap();
            assert_eq!(read, cause);
        }
    }

    #[test]
    fn what_is_left_out_is_in_no_sentence() {
        let quoted = |said: &str| {
            let (host, said) = ("h".into(), said.into());
            TestError::Quoted { host, said }.detail()
        };
        let cause = |why: ErrorDetail| TestError::Cause { why: why.into() }.detail();
        let check = |error: ErrorDetail, templates: &[ErrorTemplate], expected: &str| {
            let public = error.without(&["said"], templates);
            assert_eq!(public.message, expected);
            assert!(!format!("{public:?}").contains("sk-1"), "{public:?}");
        };
        let (all, cause_alone) = (TestError::TEMPLATES, &TestError::TEMPLATES[2..]);
        check(cause(quoted("sk-1")), all, "It stopped. h refused the key.");
        let withheld = format!("It stopped. {WITHHELD}");
        check(cause(quoted("sk-1")), cause_alone, &withheld);
        check(cause(quoted("sk-1")), &[], WITHHELD);
        let list = TestError::Cause {
            why: vec![quoted("sk-1"), quoted("")].into(),
        };
        let expected = "It stopped. h refused the key. h refused the key.";
        check(list.detail(), all, expected);
        check(cause(quoted("")), &[], "It stopped. h refused the key.");
    }

    #[test]
    fn what_older_versions_stored_is_read() {
        let expected = ErrorDetail::other("It broke.");
        for old in [json!("It broke."), json!({"message": "It broke."})] {
            assert_eq!(
                serde_json::from_value::<ErrorDetail>(old).unwrap(),
                expected
            );
        }
    }
}
