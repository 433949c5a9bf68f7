//! What can go wrong with a model's server, and what that means for a person.

use std::time::Duration;

use serde_json::Value;

use crate::Remote;

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
        let error = json.get("error").unwrap_or(json);
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

    /// What it means. The order matters: a full account is a 429 too.
    pub(crate) fn fault(mut self, remote: &Remote) -> Fault {
        self.text = without_key(&self.text, remote);
        let said = self.text.to_lowercase();
        let any = |words: &[&str]| {
            words
                .iter()
                .any(|word| said.contains(word) || self.codes.contains(word))
        };
        let name = &remote.name;
        let host = remote.host();
        let quote = quote(&self.text);
        let refused = |message: String| Fault::Refused { message };

        if self.status == 402
            || any(&[
                "insufficient_quota",
                "insufficient balance",
                "exceeded your current quota",
                "credit balance",
                "billing_error",
                "arrearage",
            ])
        {
            return refused(format!(
                "The account at {host} has no credit left{quote}. Top it up there, or choose another model."
            ));
        }
        if any(&[
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
        ]) && self.status != 429
            || self.status == 413
        {
            return Fault::Full {
                message: format!(
                    "This chat is longer than {name} can read. Start a new chat, or choose a model that reads more."
                ),
            };
        }
        if self.status == 401
            || self.status == 403
            || any(&[
                "authentication_error",
                "invalid_api_key",
                "permission_error",
            ])
        {
            return refused(match remote.key {
                Some(_) => format!(
                    "{host} refused the key{quote}. Check the key of {name}, or enter a new one."
                ),
                None => format!("{host} wants a key{quote}. Enter one for {name}."),
            });
        }
        if any(&[
            "model_not_found",
            "not_found_error",
            "no such model",
            "unknown model",
        ]) || (said.contains("model") && any(&["not found", "does not exist", "not exist"]))
        {
            let pull = match said.contains("pull") {
                true => format!(" `ollama pull {}` fetches it.", remote.model),
                false => String::new(),
            };
            return refused(format!(
                "{host} has no model `{}`{quote}.{pull} Choose one that it offers.",
                remote.model
            ));
        }
        if self.status == 404 || self.status == 405 {
            return refused(format!(
                "There is no model server at {}{quote}. Check the address; it often ends in /v1.",
                remote.base_url
            ));
        }
        if (300..400).contains(&self.status) {
            return refused(format!(
                "{} sends on to another address. Enter that one instead.",
                remote.base_url
            ));
        }
        if self.status == 429 || any(&["rate_limit", "too many requests", "rate limit"]) {
            return self.busy(format!(
                "{host} takes no more requests for now{quote}. Wait a little and try again."
            ));
        }
        if self.status >= 500
            || self.status == 408
            || self.status == 409
            || any(&["overloaded", "api_error", "server_error", "unavailable", "timeout"])
            // Something broke after the request had been accepted.
            || (self.status < 300 && !self.codes.contains("invalid_request"))
        {
            return self.busy(format!(
                "{host} has trouble of its own{quote}. Try again, or choose another model."
            ));
        }
        let said = format!("{} {}", self.place, self.text);
        Fault::Rejected {
            message: format!("{host} did not accept the request{quote}."),
            said,
        }
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
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let why = clean(&cause.to_string());
        if error.is_builder() {
            return Self::Refused {
                message: format!(
                    "`{}` is not an address that can be asked. It has to look like http://localhost:11434/v1.",
                    remote.base_url
                ),
            };
        }
        let message = if error.is_connect() {
            format!(
                "Nothing answers at {} ({why}). Check that the server runs and the address is right.",
                remote.base_url
            )
        } else {
            format!("The connection to {host} broke ({why}). Try again.")
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
                shorten(&clean(&without_key(what, remote)))
            ),
        }
    }

    pub(crate) fn message(self) -> String {
        match self {
            Self::Busy { message, .. }
            | Self::Full { message }
            | Self::Rejected { message, .. }
            | Self::Refused { message } => message,
        }
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
        text => format!(" (\"{}\")", shorten(text)),
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
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
