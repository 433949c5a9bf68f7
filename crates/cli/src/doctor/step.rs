//! One request and its response in the log, with what a browser makes of it and secrets masked.

use reqwest::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE};
use reqwest::{Body, Method, Request, Response};
use serde::Serialize;
use serde_json::{Map, Value};

use super::own_headers::OwnHeaders;
use super::problem::DoctorProblem;

const MAX_URL_CHARS: usize = 500;

#[derive(Debug, Serialize)]
pub(super) struct DoctorStep {
    asked: SentRequest,
    #[serde(flatten)]
    outcome: StepOutcome,
    pub(super) verdict: String,
    pub(super) ok: bool,
    /// Not what it was asked for, but in nobody's way.
    #[serde(skip)]
    pub(super) is_harmless: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct SentRequest {
    method: String,
    url: String,
    headers: Map<String, Value>,
    /// Of MCP messages, which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum StepOutcome {
    Got {
        status: u16,
        headers: Map<String, Value>,
    },
    Error(&'static str),
}

/// The method of the MCP message that a request sends.
pub(super) fn message_of(request: &Request) -> Option<String> {
    let body = request.body().and_then(Body::as_bytes)?;
    let message: Value = serde_json::from_slice(body).ok()?;
    message["method"].as_str().map(str::to_owned)
}

impl SentRequest {
    pub(super) fn new(request: &Request, own: &OwnHeaders) -> Self {
        Self {
            method: request.method().to_string(),
            url: own.mask(request.url().as_str(), MAX_URL_CHARS),
            headers: own.mask_headers(request.headers()),
            message: message_of(request),
        }
    }
}

impl DoctorStep {
    pub(super) fn new(
        asked: SentRequest,
        response: Result<&Response, &'static str>,
        own: &OwnHeaders,
    ) -> Self {
        let outcome = match response {
            Ok(response) => StepOutcome::Got {
                status: response.status().as_u16(),
                headers: own.mask_headers(response.headers()),
            },
            Err(why) => StepOutcome::Error(why),
        };
        Self {
            asked,
            outcome,
            verdict: String::new(),
            ok: true,
            is_harmless: false,
        }
    }

    /// What a browser makes of the response.
    pub(super) fn note(&mut self, ok: bool, verdict: String) {
        // If the browser would not have sent the request, its response gets no verdict.
        if ok || self.ok {
            self.verdict = verdict;
        }
        self.ok = ok;
    }

    pub(super) fn fail(&mut self, problem: &DoctorProblem) {
        // Somewhere else there may be more.
        self.is_harmless = self.ok && problem.kind.is_elsewhere();
        self.note(false, problem.kind.in_short().to_owned());
    }

    pub(super) fn message(&self) -> Option<&str> {
        self.asked.message.as_deref()
    }

    /// "POST /mcp initialize"
    pub(super) fn request(&self) -> String {
        let SentRequest { method, url, .. } = &self.asked;
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let message = self.message().unwrap_or_default();
        format!("{method} /{path} {message}").trim_end().to_owned()
    }

    /// "200 application/json"
    pub(super) fn response(&self) -> String {
        match &self.outcome {
            StepOutcome::Error(why) => (*why).to_owned(),
            // Of a preflight, only the headers matter.
            StepOutcome::Got { status, .. } if self.asked.method == Method::OPTIONS.as_str() => {
                status.to_string()
            }
            StepOutcome::Got { status, headers } => {
                let media_type = headers.get(CONTENT_TYPE.as_str()).and_then(Value::as_str);
                let essence = media_type.and_then(|value| value.split([';', ',']).next());
                let essence = essence.unwrap_or_default().trim();
                format!("{status} {essence}").trim_end().to_owned()
            }
        }
    }

    /// Whether the page got to see the response, good or bad.
    pub(super) fn is_readable(&self) -> bool {
        match &self.outcome {
            StepOutcome::Got { headers, .. } => {
                headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN.as_str())
            }
            StepOutcome::Error(_) => false,
        }
    }

    /// Servers that are asked without TLS where they speak it answer so, or not at all.
    pub(super) fn may_want_tls(&self) -> bool {
        use StepOutcome::{Error, Got};
        matches!(self.outcome, Got { status: 400, .. } | Error(_))
    }
}
