//! Suggested fixes: the lines that make a server usable for a page.

use reqwest::header::HeaderMap;
use serde::Serialize;
use tenon_server::guard::lets_page_ask;
use url::Url;

use super::problem::ProblemKind;
use super::rules::origin;

const FASTMCP: &str = r#"from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

cors = Middleware(
    CORSMiddleware,
    allow_origins=["{page}"],
    allow_methods=["*"],
    allow_headers=["*"],
    expose_headers=["mcp-session-id"],
)
mcp.run(transport="http", port={port}, middleware=[cors])"#;

const FASTAPI: &str = r#"from fastapi.middleware.cors import CORSMiddleware

app.add_middleware(
    CORSMiddleware,
    allow_origins=["{page}"],
    allow_methods=["*"],
    allow_headers=["*"],
)"#;

const EXPRESS: &str = r#"import cors from "cors"; // npm install cors

app.use(cors({ origin: "{page}", exposedHeaders: ["mcp-session-id"] }));"#;

/// One way to mend it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Fix {
    /// What to do with the lines.
    pub(super) what: String,
    pub(super) lines: Vec<String>,
}

impl Fix {
    fn new(what: impl Into<String>, lines: &[&str]) -> Self {
        let lines = lines.iter().map(ToString::to_string).collect();
        let what = what.into();
        Self { what, lines }
    }
}

/// What a server was made with, as far as it shows. It decides which lines mend it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ServerFramework {
    #[default]
    Unknown,
    Mcpo,
    FastMcp,
    FastApi,
    Express,
}

impl ServerFramework {
    /// Of an OpenAPI server, by the headers of its response.
    pub(super) fn of_openapi(headers: &HeaderMap) -> Self {
        Self::of(headers, Self::FastApi)
    }

    pub(super) fn of_mcp(headers: &HeaderMap) -> Self {
        Self::of(headers, Self::FastMcp)
    }

    fn of(headers: &HeaderMap, in_python: Self) -> Self {
        let says = |name: &str, word: &str| {
            let value = headers.get(name).map(|value| value.as_bytes());
            let value = String::from_utf8_lossy(value.unwrap_or_default());
            value.to_ascii_lowercase().contains(word)
        };
        if says("x-powered-by", "express") {
            Self::Express
        } else if says("server", "uvicorn") {
            in_python
        } else {
            Self::Unknown
        }
    }
}

/// The server that was examined, and for whom.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) framework: ServerFramework,
    /// A key was given along.
    pub(super) has_key: bool,
    pub(super) url: &'a Url,
    pub(super) page: &'a Url,
}

pub(super) fn fixes(kind: ProblemKind, case: &Case<'_>) -> Vec<Fix> {
    let url = case.url;
    let port = url.port_or_known_default().unwrap_or_default();
    let local = match url.port() {
        Some(port) => format!("http://localhost:{port}"),
        None => "http://localhost".to_owned(),
    };
    let (what, line) = match kind {
        ProblemKind::Cors
        | ProblemKind::PreflightHeader
        | ProblemKind::PreflightRefused
        | ProblemKind::ExposeHeader => return cors(case.framework, &origin(case.page), port),
        ProblemKind::UseHttps => {
            let other = url.as_str().replacen("http://", "https://", 1);
            return without_tls(url, Fix::new("Use this address:", &[&other]));
        }
        ProblemKind::TlsNotTrusted => {
            let trusted = Fix::new(
                "Or give it a certificate that this machine trusts:",
                &["mkcert -install", "mkcert localhost 127.0.0.1 ::1"],
            );
            return without_tls(url, trusted);
        }
        ProblemKind::NotRunning => (
            "Start it, for example an MCP server behind mcpo:",
            format!("mcpo --port {port} -- uvx mcp-server-time"),
        ),
        ProblemKind::BlockedPort => (
            "Start it at another port:",
            "mcpo --port 8000 -- uvx mcp-server-time".to_owned(),
        ),
        ProblemKind::UseHttp => (
            "Use this address:",
            url.as_str().replacen("https://", "http://", 1),
        ),
        ProblemKind::Policy => (
            "Let it listen on the machine of the browser, and use",
            local,
        ),
        ProblemKind::MixedContent => ("Run it on the machine of the browser, and use", local),
        ProblemKind::PermissionNeedsHttps => (
            "Serve Tenon over https, or open it on the machine where it runs:",
            "http://127.0.0.1:8366".to_owned(),
        ),
        ProblemKind::NeedsKey if case.has_key => (
            "Give the key that the server was started with, for mcpo that of",
            "mcpo --api-key KEY …".to_owned(),
        ),
        ProblemKind::NeedsKey => (
            "Enter the key with the server in Tenon. To try it here, add",
            "--header 'Authorization: Bearer KEY'".to_owned(),
        ),
        _ => return Vec::new(),
    };
    vec![Fix::new(what, &[&line])]
}

/// What is with TLS helps only where Tenon's policy lets its page use that.
fn without_tls(url: &Url, with_tls: Fix) -> Vec<Fix> {
    let plain = Fix::new(
        "Serve it without TLS: pages over https may ask http://localhost. For mcpo, leave out",
        &["--ssl-certfile FILE --ssl-keyfile FILE"],
    );
    let mut secure = url.clone();
    if secure.set_scheme("https").is_ok() && lets_page_ask(&secure) {
        vec![plain, with_tls]
    } else {
        vec![plain]
    }
}

/// What lets a page in, for the server that it is, or for each that it may be.
fn cors(framework: ServerFramework, page: &str, port: u16) -> Vec<Fix> {
    let fix = |what: &str, text: &str| {
        let text = text.replace("{page}", page);
        let text = text.replace("{port}", &port.to_string());
        Fix::new(what, &text.lines().collect::<Vec<_>>())
    };
    let mcpo = || {
        let what =
            "mcpo: start it with this option, once for each origin. Without it all are allowed.";
        fix(what, "mcpo --port {port} --cors-allow-origins {page} …")
    };
    let fastmcp = || fix("FastMCP (Python):", FASTMCP);
    let express = || fix("Express (Node), before its routes:", EXPRESS);
    match framework {
        ServerFramework::Mcpo => vec![mcpo()],
        ServerFramework::FastMcp => vec![fastmcp()],
        ServerFramework::FastApi => vec![fix("FastAPI (Python):", FASTAPI)],
        ServerFramework::Express => vec![express()],
        ServerFramework::Unknown => vec![mcpo(), fastmcp(), express()],
    }
}
