//! What can go wrong with a model's server, and what that means for a person.

use std::io;
use std::time::Duration;

use serde_json::Value;

use crate::Remote;
use crate::excerpt::shorten;
use crate::remote::{says_no_images, says_no_tools};

/// A provider's own words are quoted up to here.
const QUOTE: usize = 300;

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// May well work in a moment.
    Busy {
        message: String,
        retry_after: Option<Duration>,
    },
    /// The chat is longer than the model can read.
    Full { message: String },
    /// Something in the request is not understood. `said` is the provider's
    /// text: it may name the culprit, and the request go out again without it.
    Rejected { message: String, said: String },
    /// Asking again would not help.
    Refused { message: String },
}

/// What an error is about.
enum Kind {
    NoCredit,
    Full,
    Key,
    NoModel,
    NoServer,
    Moved,
    Limited,
    Trouble,
    Rejected,
}

const NO_CREDIT: [&str; 6] = [
    "insufficient_quota",
    "insufficient balance",
    "exceeded your current quota",
    "credit balance",
    "billing_error",
    "arrearage",
];

const FULL: [&str; 12] = [
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

const KEY: [&str; 3] = [
    "authentication_error",
    "invalid_api_key",
    "permission_error",
];

const NO_MODEL: [&str; 3] = ["model_not_found", "not_found_error", "invalid_model"];

const LIMITED: [&str; 3] = ["rate_limit", "too many requests", "rate limit"];

const TROUBLE: [&str; 5] = [
    "overloaded",
    "api_error",
    "server_error",
    "unavailable",
    "timeout",
];

/// A server's error as far as it can be made out.
#[derive(Debug, Default, Clone)]
pub(crate) struct Complaint {
    pub status: u16,
    /// `error.type` and `error.code`, lower case.
    pub codes: String,
    /// `error.param`: where in the request.
    pub place: String,
    pub text: String,
    pub retry_after: Option<Duration>,
}

impl Complaint {
    /// Reads an error object in any of the forms there are.
    pub(crate) fn read(status: u16, body: &str) -> Self {
        let json: Option<Value> = serde_json::from_str(body).ok();
        match json {
            Some(json) => Self::of_json(status, &json),
            None => Self {
                status,
                text: plain(body),
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
            text: clean(&text),
            retry_after: None,
        }
    }

    /// What it means, and what to do about it.
    pub(crate) fn fault(mut self, remote: &Remote) -> Fault {
        self.text = without_key(&self.text, remote);
        self.place = without_key(&self.place, remote);
        let (name, host, model) = (&remote.name, remote.host(), &remote.model);
        let quote = quote(&self.text);
        let refused = |message: String| Fault::Refused { message };
        match self.kind(remote) {
            Kind::NoCredit => refused(format!(
                "The account at {host} has no credit left{quote}. Top it up there, or choose another model."
            )),
            Kind::Full => Fault::Full {
                message: format!(
                    "This chat is longer than {name} can read{quote}. Start a new chat, or choose a model that reads more."
                ),
            },
            Kind::Key => refused(match remote.key {
                Some(_) => format!(
                    "{host} refused the key{quote}. Check the key of {name}, or enter a new one."
                ),
                None => format!("{host} wants a key{quote}. Enter one for {name}."),
            }),
            Kind::NoModel => {
                let pull = match self.text.contains("pull") {
                    true => format!(" `ollama pull {model}` fetches it."),
                    false => String::new(),
                };
                refused(format!(
                    "{host} has no model `{model}`{quote}.{pull} Choose one that it offers."
                ))
            }
            Kind::NoServer => refused(format!(
                "There is no model server at {}{quote}. Check the address; it often ends in /v1.",
                remote.base_url
            )),
            Kind::Moved => refused(format!(
                "{} sends on to another address. Enter that one instead.",
                remote.base_url
            )),
            Kind::Limited => self.busy(format!(
                "{host} takes no more requests for now{quote}. Wait {} and try again.",
                how_long(self.retry_after)
            )),
            Kind::Trouble => self.busy(format!(
                "{host} has trouble of its own{quote}. Try again, or choose another model."
            )),
            Kind::Rejected => Fault::Rejected {
                message: format!("{host} did not accept the request{quote}."),
                said: format!("{} {}", self.place, self.text),
            },
        }
    }

    /// The order matters: a full account is a 429 too, and a server that
    /// cannot show its model a picture may call that trouble of its own.
    fn kind(&self, remote: &Remote) -> Kind {
        let said = self.text.to_lowercase();
        let coded = |words: &[&str]| words.iter().any(|word| self.codes.contains(word));
        let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
        // A request that was refused for its content may have any word in it: the
        // name of a property, a line of the chat.
        let is_trusted = !(400..500).contains(&self.status);
        let says_freely = |words: &[&str]| is_trusted && says(words);

        if says_no_tools(&said) || says_no_images(&said) {
            Kind::Rejected
        } else if self.status == 402 || coded(&NO_CREDIT) || says(&NO_CREDIT) {
            Kind::NoCredit
        } else if self.status == 413 || self.status != 429 && (coded(&FULL) || says(&FULL)) {
            Kind::Full
        } else if matches!(self.status, 401 | 403) || coded(&KEY) {
            Kind::Key
        } else if coded(&NO_MODEL) || self.names_model(&said, remote) {
            Kind::NoModel
        } else if matches!(self.status, 404 | 405) {
            Kind::NoServer
        } else if (300..400).contains(&self.status) {
            Kind::Moved
        } else if self.status == 429 || coded(&LIMITED) || says_freely(&LIMITED) {
            Kind::Limited
        } else if matches!(self.status, 408 | 409 | 500..)
            || coded(&TROUBLE)
            // Something broke after the request had been accepted.
            || (self.status < 300 && !coded(&["invalid_request"]))
        {
            Kind::Trouble
        } else {
            Kind::Rejected
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

    fn busy(&self, message: String) -> Fault {
        Fault::Busy {
            message,
            retry_after: self.retry_after,
        }
    }
}

impl Fault {
    /// The connection broke, or never was.
    pub(crate) fn broken(remote: &Remote, error: &reqwest::Error) -> Self {
        let host = remote.host();
        // `reqwest` tells the outermost layer; what matters is the innermost one.
        let mut cause: &(dyn std::error::Error + 'static) = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        // What people meet every day needs no name; the rest may help somebody.
        let usual = cause.downcast_ref::<io::Error>().is_some_and(|error| {
            use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
            matches!(
                error.kind(),
                ConnectionRefused | ConnectionReset | UnexpectedEof | BrokenPipe
            )
        });
        let why = match usual {
            true => String::new(),
            false => format!(" ({})", shorten(&clean(&cause.to_string()), QUOTE)),
        };
        if error.is_builder() {
            return Self::Refused {
                message: format!(
                    "`{}` cannot be asked: its address or its key has signs in it that do not belong there.",
                    remote.base_url
                ),
            };
        }
        let message = if error.is_connect() {
            format!(
                "Nothing answers at {}{why}. Check that the server runs and the address is right.",
                remote.base_url
            )
        } else {
            format!("The connection to {host} broke{why}. Try again.")
        };
        Self::Busy {
            message,
            retry_after: None,
        }
    }

    /// What came is not what such a server says.
    pub(crate) fn nonsense(remote: &Remote, what: &str) -> Self {
        Self::Refused {
            message: format!(
                "{} answered with something that is not a model's answer ({}). Check the address and the kind of server.",
                remote.host(),
                shorten(&clean(&without_key(what, remote)), QUOTE)
            ),
        }
    }

    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Busy { message, .. }
            | Self::Full { message }
            | Self::Rejected { message, .. }
            | Self::Refused { message } => message,
        }
    }
}

fn how_long(wait: Option<Duration>) -> String {
    match wait.map(|wait| wait.as_secs()) {
        None | Some(0..5) => "a little".into(),
        Some(seconds @ 5..120) => format!("{seconds} s"),
        Some(seconds @ 120..7_200) => format!("{} min", seconds.div_ceil(60)),
        Some(seconds) => format!("{} h", seconds.div_ceil(3_600)),
    }
}

/// Some servers repeat the key in their complaint about it.
fn without_key(text: &str, remote: &Remote) -> String {
    match remote.key.as_deref() {
        // A short one is no secret, and may be part of any word.
        Some(key) if key.len() >= 8 => text.replace(key, "…"),
        _ => text.to_owned(),
    }
}

fn quote(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '。']);
    match text {
        "" => String::new(),
        text => format!(" (\"{}\")", shorten(text, QUOTE)),
    }
}

/// One line without control characters.
fn clean(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|char: char| char.is_whitespace() || char.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// An error page is not an error message.
fn plain(body: &str) -> String {
    match body.trim_start().starts_with('<') {
        true => String::new(),
        false => clean(body.get(..4096).unwrap_or(body)),
    }
}
