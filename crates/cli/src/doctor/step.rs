//! One request, its response, and what a browser makes of it.

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

#[derive(Debug, Serialize)]
pub(crate) struct DoctorStep {
    pub(super) asked: SentRequest,
    #[serde(flatten)]
    pub(super) came: StepOutcome,
    pub(super) verdict: String,
    pub(super) ok: bool,
    /// Not what it was asked for, but in nobody's way.
    #[serde(skip)]
    pub(super) harmless: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct SentRequest {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Headers,
    /// Of MCP messages, which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StepOutcome {
    Got { status: u16, headers: Headers },
    Error(String),
}

/// Several of one name are one with commas, as browsers have it.
#[derive(Debug, Default)]
pub(super) struct Headers(pub(super) Vec<(String, String)>);

impl Headers {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut joined: Vec<(&str, String)> = Vec::new();
        for (name, value) in &self.0 {
            match joined.iter_mut().find(|(one, _)| one == name) {
                Some((_, values)) => *values = format!("{values}, {value}"),
                None => joined.push((name, value.clone())),
            }
        }
        let mut map = serializer.serialize_map(Some(joined.len()))?;
        for (name, value) in &joined {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl DoctorStep {
    /// "POST /mcp initialize"
    pub(super) fn question(&self) -> String {
        let SentRequest { method, url, .. } = &self.asked;
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        match self.asked.message {
            Some(message) => format!("{method} /{path} {message}"),
            None => format!("{method} /{path}"),
        }
    }

    /// Whether the page got to see the answer, good or bad.
    pub(super) fn is_readable(&self) -> bool {
        match &self.came {
            StepOutcome::Got { headers, .. } => {
                headers.get("access-control-allow-origin").is_some()
            }
            StepOutcome::Error(_) => false,
        }
    }

    /// Servers that are asked without TLS where they speak it answer so, or not at all.
    pub(super) fn may_want_tls(&self) -> bool {
        matches!(
            self.came,
            StepOutcome::Got { status: 400, .. } | StepOutcome::Error(_)
        )
    }

    pub(super) fn is(&self, message: &str) -> bool {
        self.asked.message == Some(message)
    }

    /// "200 application/json"
    pub(super) fn answer(&self) -> String {
        match &self.came {
            StepOutcome::Error(why) => why.clone(),
            StepOutcome::Got { status, headers } => {
                // Of a preflight nobody reads more than the headers.
                let is_read = self.asked.method != "OPTIONS";
                let kind = headers.get(CONTENT_TYPE.as_str()).filter(|_| is_read);
                let kind = kind.unwrap_or_default();
                let essence = kind.split(';').next().unwrap_or_default().trim();
                format!("{status} {essence}").trim_end().to_owned()
            }
        }
    }
}

/// The media type of an answer, without its parameters.
pub(super) fn essence(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let value = String::from_utf8_lossy(value.unwrap_or_default()).to_ascii_lowercase();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_owned()
}
