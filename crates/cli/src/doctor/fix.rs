//! Suggested fixes: the lines that make a server usable for a page.

use serde::Serialize;
use url::Url;

use super::address::origin;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::ServerFramework;
use tenon_server::guard::lets_page_ask;

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

/// Whose trouble it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    pub(super) maker: ServerFramework,
    /// A key was given along.
    pub(super) has_key: bool,
    pub(super) url: &'a Url,
    pub(super) page: &'a Url,
}

pub(super) fn fixes(trouble: &DoctorProblem, case: Case<'_>) -> Vec<Fix> {
    let Case {
        maker, url, page, ..
    } = case;
    let port = url.port_or_known_default().unwrap_or_default();
    let local = match url.port() {
        Some(port) => format!("http://localhost:{port}"),
        None => "http://localhost".to_owned(),
    };
    match trouble.kind {
        ProblemKind::Cors
        | ProblemKind::PreflightHeader
        | ProblemKind::PreflightRefused
        | ProblemKind::ExposeHeader => cors(maker, &origin(page), port),
        ProblemKind::NotRunning => vec![Fix::new(
            "Start it, for example an MCP server behind mcpo:",
            &[&format!("mcpo --port {port} -- uvx mcp-server-time")],
        )],
        ProblemKind::BlockedPort => vec![Fix::new(
            "Start it at another port:",
            &["mcpo --port 8000 -- uvx mcp-server-time"],
        )],
        ProblemKind::UseHttp => {
            let other = url.as_str().replacen("https://", "http://", 1);
            vec![Fix::new("Use this address:", &[&other])]
        }
        ProblemKind::UseHttps => {
            let other = url.as_str().replacen("http://", "https://", 1);
            let there = Fix::new("Use this address:", &[&other]);
            without_tls(url, vec![there])
        }
        ProblemKind::TlsNotTrusted => {
            let trusted = Fix::new(
                "Or give it a certificate that this machine trusts:",
                &["mkcert -install", "mkcert localhost 127.0.0.1 ::1"],
            );
            without_tls(url, vec![trusted])
        }
        ProblemKind::Policy => {
            vec![Fix::new(
                "Let it listen on the machine of the browser, and use",
                &[&local],
            )]
        }
        ProblemKind::MixedContent => {
            vec![Fix::new(
                "Run it on the machine of the browser, and use",
                &[&local],
            )]
        }
        ProblemKind::PermissionNeedsHttps => vec![Fix::new(
            "Serve Tenon over https, or open it on the machine where it runs:",
            &["http://127.0.0.1:8366"],
        )],
        ProblemKind::NeedsKey if case.has_key => vec![Fix::new(
            "Give the key that the server was started with, for mcpo that of",
            &["mcpo --api-key KEY …"],
        )],
        ProblemKind::NeedsKey => vec![Fix::new(
            "Enter the key with the server in Tenon. To try it here, add",
            &["--header 'Authorization: Bearer KEY'"],
        )],
        ProblemKind::Ok
        | ProblemKind::PermissionAsk
        | ProblemKind::NotHttp
        | ProblemKind::TooSlow
        | ProblemKind::Cut
        | ProblemKind::WrongPath
        | ProblemKind::NotToolServer
        | ProblemKind::BadSpec
        | ProblemKind::BadHandshake => Vec::new(),
    }
}

/// What is with TLS helps only where Tenon's policy lets its page use that.
fn without_tls(url: &Url, with_tls: Vec<Fix>) -> Vec<Fix> {
    let plain = Fix::new(
        "Serve it without TLS: pages over https may ask http://localhost. For mcpo, leave out",
        &["--ssl-certfile FILE --ssl-keyfile FILE"],
    );
    let mut secure = url.clone();
    let is_useful = secure.set_scheme("https").is_ok() && lets_page_ask(&secure);
    let with_tls = with_tls.into_iter().filter(|_| is_useful);
    std::iter::once(plain).chain(with_tls).collect()
}

/// What lets a page in, for the server that it is, or for each that it may be.
fn cors(maker: ServerFramework, page: &str, port: u16) -> Vec<Fix> {
    let mcpo = || {
        Fix::new(
            "mcpo: start it with this option, once for each origin. Without it all are allowed.",
            &[&format!("mcpo --port {port} --cors-allow-origins {page} …")],
        )
    };
    let fastmcp = || {
        Fix::new(
            "FastMCP (Python):",
            &[
                "from starlette.middleware import Middleware",
                "from starlette.middleware.cors import CORSMiddleware",
                "",
                "cors = Middleware(",
                "    CORSMiddleware,",
                &format!("    allow_origins=[\"{page}\"],"),
                "    allow_methods=[\"*\"],",
                "    allow_headers=[\"*\"],",
                "    expose_headers=[\"mcp-session-id\"],",
                ")",
                &format!("mcp.run(transport=\"http\", port={port}, middleware=[cors])"),
            ],
        )
    };
    let fastapi = || {
        Fix::new(
            "FastAPI (Python):",
            &[
                "from fastapi.middleware.cors import CORSMiddleware",
                "",
                "app.add_middleware(",
                "    CORSMiddleware,",
                &format!("    allow_origins=[\"{page}\"],"),
                "    allow_methods=[\"*\"],",
                "    allow_headers=[\"*\"],",
                ")",
            ],
        )
    };
    let express = || {
        Fix::new(
            "Express (Node), before its routes:",
            &[
                "import cors from \"cors\"; // npm install cors",
                "",
                &format!(
                    "app.use(cors({{ origin: \"{page}\", exposedHeaders: [\"mcp-session-id\"] }}));"
                ),
            ],
        )
    };
    match maker {
        ServerFramework::Mcpo => vec![mcpo()],
        ServerFramework::FastMcp => vec![fastmcp()],
        ServerFramework::FastApi => vec![fastapi()],
        ServerFramework::Express => vec![express()],
        ServerFramework::Unknown => vec![mcpo(), fastmcp(), express()],
    }
}
