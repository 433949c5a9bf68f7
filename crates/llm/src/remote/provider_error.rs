//! Classifies errors of model servers and words them for people.

use std::io;
use std::time::Duration;

use serde_json::Value;

use crate::remote::{says_no_images, says_no_tools};
use crate::{ModelFault, Remote};
use tenon_domain::text::{line, shorten};
use tenon_domain::{CodedError, ErrorDetail, ErrorParam};

/// A provider's own words are quoted up to here.
const MAX_QUOTE_CHARS: usize = 300;

/// What is searched for the reason.
const MAX_BODY_CHARS: usize = 4096;

/// How often a server is asked that is loading its model: llama.cpp says so.
const LOADING_INTERVAL: Duration = Duration::from_secs(3);

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ProviderError {
    /// May well work in a moment.
    Busy {
        fault: ModelFault,
        retry_after: Option<Duration>,
    },
    /// The chat is longer than the model can read.
    ContextFull {
        fault: ModelFault,
        /// How many tokens it can read, where its server says so.
        context_tokens: Option<u64>,
    },
    /// Something in the request is not understood. `said` is the provider's
    /// text: it may name the culprit, and the request go out again without it.
    Rejected { fault: ModelFault, said: String },
    /// Asking again would not help.
    Refused { fault: ModelFault },
}

/// What an error is about.
enum ErrorCategory {
    NoCredit,
    ContextFull,
    Unauthorized,
    NoModel,
    NotFound,
    Redirected,
    RateLimited,
    Loading,
    ServerError,
    Rejected,
}

const NO_CREDIT_WORDS: [&str; 6] = [
    "insufficient_quota",
    "insufficient balance",
    "exceeded your current quota",
    "credit balance",
    "billing_error",
    "arrearage",
];

const CONTEXT_FULL_WORDS: [&str; 12] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "too many tokens",
    "input length and `max_tokens` exceed",
    "input is too long",
    "exceed_context_size",
    "exceeds the available context",
    "exceeds the maximum number of tokens",
];

const KEY_CODES: [&str; 3] = [
    "authentication_error",
    "invalid_api_key",
    "permission_error",
];

const NO_MODEL_CODES: [&str; 3] = ["model_not_found", "not_found_error", "invalid_model"];

const RATE_LIMIT_WORDS: [&str; 3] = ["rate_limit", "too many requests", "rate limit"];

const SERVER_ERROR_WORDS: [&str; 5] = [
    "overloaded",
    "api_error",
    "server_error",
    "unavailable",
    "timeout",
];

/// A server's error as far as it can be made out.
#[derive(Debug, Default, Clone)]
pub(crate) struct ProviderErrorBody {
    pub status: u16,
    /// `error.type` and `error.code`, lower case.
    pub codes: String,
    /// `error.param`: where in the request.
    pub place: String,
    pub text: String,
    /// How many tokens the model can read.
    pub context_tokens: Option<u64>,
    pub retry_after: Option<Duration>,
}

impl ProviderErrorBody {
    /// Reads an error object in any of the forms there are.
    pub(crate) fn read(status: u16, body: &str) -> Self {
        let json: Option<Value> = serde_json::from_str(body).ok();
        match json {
            Some(json) => Self::of_json(status, &json),
            None => Self {
                status,
                text: error_text(body),
                ..Self::default()
            },
        }
    }

    /// `{"error":{…}}`, `{"error":"…"}`, `[{"error":…}]`, `{"message":…}`, `{"detail":…}`
    pub(crate) fn of_json(status: u16, json: &Value) -> Self {
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").filter(|error| !error.is_null());
        let error = error.unwrap_or(json);
        let word = |name: &str| match error.get(name) {
            Some(Value::String(word)) => word.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let text = match error {
            Value::String(text) => text.clone(),
            error => ["message", "detail", "msg"]
                .iter()
                .filter_map(|name| error.get(*name))
                .map(|text| {
                    text.as_str()
                        .map_or_else(|| text.to_string(), str::to_owned)
                })
                .next()
                .unwrap_or_default(),
        };
        // OpenRouter and others put the real one inside.
        let inner = error.pointer("/metadata/raw").and_then(Value::as_str);
        let text = match inner {
            Some(inner) if !text.contains(inner) => format!("{text}: {inner}"),
            _ => text,
        };
        let code = word("code");
        Self {
            status: match code.parse() {
                Ok(code @ 400..600) if status < 400 => code,
                _ => status,
            },
            codes: format!("{} {code} {}", word("type"), word("status")).to_lowercase(),
            place: word("param"),
            context_tokens: error
                .get("n_ctx")
                .and_then(Value::as_u64)
                .or_else(|| context_limit(&text)),
            text: line(&text, MAX_BODY_CHARS),
            retry_after: None,
        }
    }

    /// Converts the response into an error with advice.
    pub(crate) fn into_error(mut self, remote: &Remote) -> ProviderError {
        self.text = without_key(&self.text, remote);
        self.place = without_key(&self.place, remote);
        let (name, model) = (ErrorParam::from(&remote.name), &remote.model);
        let (host, address) = (remote.host().into(), (&remote.base_url).into());
        let said = quote(&self.text).into();
        let refused = |fault| ProviderError::Refused { fault };
        match self.category(remote) {
            ErrorCategory::NoCredit => refused(ModelFault::NoCredit { host, said }),
            ErrorCategory::ContextFull => ProviderError::ContextFull {
                fault: ModelFault::ContextFull { name, said },
                context_tokens: self.context_tokens,
            },
            ErrorCategory::Unauthorized if remote.key.is_some() => {
                refused(ModelFault::KeyRefused { host, name, said })
            }
            ErrorCategory::Unauthorized => refused(ModelFault::KeyNeeded { host, name, said }),
            ErrorCategory::NoModel => {
                let model = model.into();
                refused(if self.text.contains("pull") {
                    ModelFault::NotPulled { host, model, said }
                } else {
                    ModelFault::NoModel { host, model, said }
                })
            }
            ErrorCategory::NotFound => refused(ModelFault::NoServer { address, said }),
            ErrorCategory::Redirected => refused(ModelFault::Redirected { address }),
            ErrorCategory::RateLimited => self.busy(match wait_text(self.retry_after) {
                None => ModelFault::RateLimited { host, said },
                Some(wait) => ModelFault::RateLimitedFor {
                    host,
                    said,
                    wait: wait.into(),
                },
            }),
            ErrorCategory::Loading => ProviderError::Busy {
                fault: ModelFault::Loading { name },
                retry_after: self.retry_after.or(Some(LOADING_INTERVAL)),
            },
            ErrorCategory::ServerError => self.busy(ModelFault::ServerError { host, said }),
            ErrorCategory::Rejected => ProviderError::Rejected {
                fault: ModelFault::Rejected { host, said },
                said: format!("{} {}", self.place, self.text),
            },
        }
    }

    /// The order matters: a full account is a 429 too, and a server that
    /// cannot show its model a picture may call that trouble of its own.
    fn category(&self, remote: &Remote) -> ErrorCategory {
        let said = self.text.to_lowercase();
        let has_code = |words: &[&str]| words.iter().any(|word| self.codes.contains(word));
        let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
        // A request that was refused for its content may have any word in it: the
        // name of a property, a line of the chat.
        let is_trusted = !(400..500).contains(&self.status);
        let says_reliably = |words: &[&str]| is_trusted && says(words);

        if says_no_tools(&said) || says_no_images(&said) {
            ErrorCategory::Rejected
        } else if self.status == 402 || has_code(&NO_CREDIT_WORDS) || says(&NO_CREDIT_WORDS) {
            ErrorCategory::NoCredit
        } else if self.status == 413
            || self.status != 429 && (has_code(&CONTEXT_FULL_WORDS) || says(&CONTEXT_FULL_WORDS))
        {
            ErrorCategory::ContextFull
        } else if matches!(self.status, 401 | 403) || has_code(&KEY_CODES) {
            ErrorCategory::Unauthorized
        } else if has_code(&NO_MODEL_CODES) || self.names_model(&said, remote) {
            ErrorCategory::NoModel
        } else if matches!(self.status, 404 | 405) {
            ErrorCategory::NotFound
        } else if (300..400).contains(&self.status) {
            ErrorCategory::Redirected
        } else if self.status == 429
            || has_code(&RATE_LIMIT_WORDS)
            || says_reliably(&RATE_LIMIT_WORDS)
        {
            ErrorCategory::RateLimited
        } else if self.status == 503 && says(&["loading model"]) {
            ErrorCategory::Loading
        } else if matches!(self.status, 408 | 409 | 500..)
            || has_code(&SERVER_ERROR_WORDS)
            // Something broke after the request had been accepted.
            || (self.status < 300 && !has_code(&["invalid_request"]))
        {
            ErrorCategory::ServerError
        } else {
            ErrorCategory::Rejected
        }
    }

    /// Whether it says that there is no such model, and means this one.
    fn names_model(&self, said: &str, remote: &Remote) -> bool {
        let is_missing = [
            "not found",
            "not exist",
            "no such",
            "unknown",
            "invalid",
            "不存在",
        ]
        .iter()
        .any(|word| said.contains(word));
        let model = remote.model.to_lowercase();
        let is_meant = match self.status {
            404 => said.contains("model") || said.contains("模型"),
            _ => {
                let is_named = model.len() > 2 && said.contains(&model);
                is_named && said.contains("model")
                    || said.contains("model not exist")
                    || said.contains("模型不存在")
            }
        };
        is_missing && is_meant
    }

    fn busy(&self, fault: ModelFault) -> ProviderError {
        ProviderError::Busy {
            fault,
            retry_after: self.retry_after,
        }
    }
}

impl ProviderError {
    /// The connection broke, or never was.
    pub(crate) fn connection(remote: &Remote, error: &reqwest::Error) -> Self {
        // `reqwest` tells the outermost layer; what matters is the innermost one.
        let mut cause: &(dyn std::error::Error + 'static) = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        // Common I/O errors are worded by us; the cause is quoted only for unusual ones.
        let usual = cause.downcast_ref::<io::Error>().is_some_and(|error| {
            use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
            matches!(
                error.kind(),
                ConnectionRefused | ConnectionReset | UnexpectedEof | BrokenPipe
            )
        });
        let why = if usual {
            String::new()
        } else {
            line(&cause.to_string(), MAX_QUOTE_CHARS)
        };
        if error.is_builder() {
            return Self::unsendable(remote);
        }
        let (host, address) = (remote.host().into(), (&remote.base_url).into());
        let why = why.into();
        let fault = if error.is_connect() {
            ModelFault::Unreachable { address, why }
        } else {
            ModelFault::ConnectionBroke { host, why }
        };
        Self::Busy {
            fault,
            retry_after: None,
        }
    }

    /// The request cannot be built or sent to this address.
    pub(crate) fn unsendable(remote: &Remote) -> Self {
        let address = (&remote.base_url).into();
        let fault = ModelFault::Unsendable { address };
        Self::Refused { fault }
    }

    /// The response is not in the format of such a server.
    pub(crate) fn unexpected_response(remote: &Remote, what: &str) -> Self {
        let said = line(&without_key(what, remote), MAX_QUOTE_CHARS);
        let fault = ModelFault::NotAModel {
            host: remote.host().into(),
            said: said.into(),
        };
        Self::Refused { fault }
    }

    pub(crate) fn detail(self) -> ErrorDetail {
        match self {
            Self::Busy { fault, .. }
            | Self::ContextFull { fault, .. }
            | Self::Rejected { fault, .. }
            | Self::Refused { fault } => fault.detail(),
        }
    }
}

/// "This model's maximum context length is 8192 tokens", "the available context size (4096 tokens)"
fn context_limit(said: &str) -> Option<u64> {
    let marks = ["maximum context length is ", "available context size ("];
    let (_, rest) = marks.iter().find_map(|mark| said.split_once(mark))?;
    let end = rest.find(|char: char| !char.is_ascii_digit());
    rest[..end.unwrap_or(rest.len())].parse().ok()
}

fn wait_text(wait: Option<Duration>) -> Option<String> {
    match wait?.as_secs() {
        0..5 => None,
        seconds @ 5..120 => Some(format!("{seconds} s")),
        seconds @ 120..7_200 => Some(format!("{} min", seconds.div_ceil(60))),
        seconds => Some(format!("{} h", seconds.div_ceil(3_600))),
    }
}

/// Some servers repeat the key in their error message.
fn without_key(text: &str, remote: &Remote) -> String {
    match remote.key.as_deref() {
        // A short key may be part of any word, so it is not redacted.
        Some(key) if key.len() >= 8 => text.replace(key, "…"),
        _ => text.to_owned(),
    }
}

fn quote(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '。']);
    shorten(text, MAX_QUOTE_CHARS).into_owned()
}

/// An error page is not an error message.
fn error_text(body: &str) -> String {
    if body.trim_start().starts_with('<') {
        String::new()
    } else {
        line(body, MAX_BODY_CHARS)
    }
}
