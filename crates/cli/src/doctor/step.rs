//! The log of all requests, with what a browser makes of each response and secrets masked.

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::Serialize;
use serde_json::{Map, Value};

use super::browser::BrowserRequest;
use super::own_headers::OwnHeaders;
use super::problem::DoctorProblem;

const MAX_URL_CHARS: usize = 500;
const MAX_VERDICT_CHARS: usize = 300;

/// One request, and its response.
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
    message: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StepOutcome {
    Got {
        status: u16,
        headers: Map<String, Value>,
    },
    Error(&'static str),
}

impl DoctorStep {
    /// "POST /mcp initialize"
    pub(super) fn request(&self) -> String {
        let SentRequest { method, url, .. } = &self.asked;
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        match self.asked.message {
            Some(message) => format!("{method} /{path} {message}"),
            None => format!("{method} /{path}"),
        }
    }

    /// "200 application/json"
    pub(super) fn response(&self) -> String {
        match &self.outcome {
            StepOutcome::Error(why) => (*why).to_owned(),
            StepOutcome::Got { status, headers } => {
                // Of a preflight nobody reads more than the headers.
                let is_read = self.asked.method != "OPTIONS";
                let media_type = headers.get(CONTENT_TYPE.as_str()).filter(|_| is_read);
                let media_type = media_type.and_then(Value::as_str).unwrap_or_default();
                let essence = media_type.split([';', ',']).next().unwrap_or_default();
                format!("{status} {}", essence.trim()).trim_end().to_owned()
            }
        }
    }

    /// Whether the page got to see the response, good or bad.
    pub(super) fn is_readable(&self) -> bool {
        match &self.outcome {
            StepOutcome::Got { headers, .. } => headers.contains_key("access-control-allow-origin"),
            StepOutcome::Error(_) => false,
        }
    }

    /// Servers that are asked without TLS where they speak it answer so, or not at all.
    pub(super) fn may_want_tls(&self) -> bool {
        use StepOutcome::{Error, Got};
        matches!(self.outcome, Got { status: 400, .. } | Error(_))
    }

    pub(super) fn is(&self, message: &str) -> bool {
        self.asked.message == Some(message)
    }
}

pub(super) struct StepLog {
    pub(super) own: OwnHeaders,
    pub(super) steps: Vec<DoctorStep>,
}

impl StepLog {
    /// A new step, by its number. The headers are all that were sent.
    pub(super) fn add(
        &mut self,
        request: &BrowserRequest,
        headers: &HeaderMap,
        response: Result<(u16, &HeaderMap), &'static str>,
    ) -> usize {
        self.steps.push(DoctorStep {
            asked: SentRequest {
                method: request.method.to_string(),
                url: self.own.mask(request.url.as_str(), MAX_URL_CHARS),
                headers: self.own.mask_headers(headers),
                message: request.message,
            },
            outcome: match response {
                Ok((status, headers)) => StepOutcome::Got {
                    status,
                    headers: self.own.mask_headers(headers),
                },
                Err(why) => StepOutcome::Error(why),
            },
            verdict: String::new(),
            ok: true,
            is_harmless: false,
        });
        self.steps.len() - 1
    }

    /// What a browser makes of a response.
    pub(super) fn note(&mut self, step: usize, ok: bool, verdict: &str) {
        let verdict = self.own.mask(verdict, MAX_VERDICT_CHARS);
        let step = &mut self.steps[step];
        // What it would not even have asked for, it makes nothing of.
        if ok || step.ok {
            step.verdict = verdict;
        }
        step.ok = ok;
    }

    /// The same for a problem, which is returned.
    pub(super) fn fail<T>(
        &mut self,
        step: usize,
        problem: DoctorProblem,
    ) -> Result<T, DoctorProblem> {
        let was_ok = self.steps[step].ok;
        self.note(step, false, problem.kind.in_short());
        // Somewhere else there may be more.
        self.steps[step].is_harmless = was_ok && problem.kind.is_elsewhere();
        Err(problem)
    }

    /// What went wrong before a step was in nobody's way.
    pub(super) fn forgive(&mut self, before: usize) {
        for step in &mut self.steps[..before] {
            step.is_harmless = true;
        }
    }
}
