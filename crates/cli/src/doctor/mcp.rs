//! Probing an MCP server as the page does: stateless first, then with the handshake, over
//! Streamable HTTP or SSE.

use serde_json::{Value, json};
use tenon_sources::browser::{DiscoveredTools, preview};
use url::Url;

use super::browser::Browser;
use super::openapi::counted;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::{ServerFramework, UsableServer};
use session::{ProbeResponse, ProbeSession};

mod session;
mod stream;

/// The last version with a handshake, and the first without.
const HANDSHAKE_VERSION: &str = "2025-11-25";
const STATELESS_VERSION: &str = "2026-07-28";

/// As many as the page reads.
const MAX_PAGES: usize = 200;

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageTransport {
    Streamable,
    Sse,
}

impl Browser {
    /// Tries one transport after the other. What the first runs into is told, unless
    /// another one works.
    pub(super) async fn find_mcp(
        &mut self,
        url: &Url,
        ways: &[PageTransport],
        maker: &mut ServerFramework,
    ) -> Result<UsableServer, DoctorProblem> {
        let mut first = None;
        for way in ways {
            let found = match way {
                PageTransport::Streamable => self.streamable(url, maker).await,
                PageTransport::Sse => self.sse(url, maker).await,
            };
            match found {
                Ok(finding) => return Ok(finding),
                Err(trouble) if trouble.is_elsewhere() => {
                    first.get_or_insert(trouble);
                }
                Err(trouble) => return Err(trouble),
            }
        }
        Err(first.unwrap_or_else(|| not_mcp("It was not asked.")))
    }

    async fn streamable(
        &mut self,
        url: &Url,
        maker: &mut ServerFramework,
    ) -> Result<UsableServer, DoctorProblem> {
        let mut line = ProbeSession::streamable(self, url.clone());
        let discovered = line.ask_stateless("server/discover").await?;
        line.take_maker(&discovered, maker);
        let versions = discovered.result.as_ref().ok();
        let versions = versions.and_then(|result| result["supportedVersions"].as_array());
        let is_stateless =
            versions.is_some_and(|versions| versions.iter().any(|one| one == STATELESS_VERSION));
        if is_stateless && discovered.trouble.is_none() {
            line.browser.ledger.note(
                discovered.step,
                true,
                &format!("lets it through: MCP {STATELESS_VERSION}"),
            );
            let has_tools = has_tools(discovered.result.as_ref().ok());
            let tools = line.list(Some(STATELESS_VERSION)).await?;
            if let Some(trouble) = line.may_call().await? {
                return Err(trouble);
            }
            return line.browser.read(tools, url, has_tools);
        }
        // Nor is what comes after it for the page.
        let is_closed = |trouble: &DoctorProblem| trouble.kind == ProblemKind::Cors;
        if discovered.result.is_ok() && discovered.trouble.as_ref().is_some_and(is_closed) {
            return Err(discovered.trouble.unwrap_or_else(|| not_mcp("")));
        }
        // A server of before may know no better answer than these.
        if discovered.is_nothing() && !matches!(discovered.status, 400 | 406 | 415 | 422) {
            return Err(line.nothing(&discovered));
        }
        if discovered.trouble.is_none() {
            let verdict = format!("lets it through: older than MCP {STATELESS_VERSION}");
            line.browser.ledger.note(discovered.step, true, &verdict);
        }
        // A page that is not let through goes on with the handshake of before.
        let ended = handshake(&mut line, maker).await;
        line.forget().await;
        match ended {
            // The handshake is no longer there: what was in the way before is what counts.
            Err(trouble)
                if is_stateless
                    && matches!(
                        trouble.kind,
                        ProblemKind::BadHandshake | ProblemKind::WrongPath
                    ) =>
            {
                Err(discovered.trouble.unwrap_or(trouble))
            }
            ended => ended,
        }
    }

    async fn sse(
        &mut self,
        url: &Url,
        maker: &mut ServerFramework,
    ) -> Result<UsableServer, DoctorProblem> {
        let mut line = ProbeSession::sse(self, url, maker).await?;
        handshake(&mut line, maker).await
    }

    /// What Tenon makes of the tools, with the code that it will use.
    fn read(
        &mut self,
        tools: Vec<Value>,
        url: &Url,
        has_tools: bool,
    ) -> Result<UsableServer, DoctorProblem> {
        let step = self.ledger.steps.len() - 1;
        let offered = preview(DiscoveredTools::Mcp { tools }, url);
        let (tools, notes) = offered
            .map_err(|why| DoctorProblem::new(ProblemKind::BadHandshake, why.to_string()))?;
        let last = self
            .ledger
            .steps
            .iter()
            .rposition(|step| step.is("tools/list"));
        let verdict = format!("lets it through: {}", counted(tools.len()));
        self.ledger.note(last.unwrap_or(step), true, &verdict);
        let mut finding = UsableServer {
            tools: tools.len(),
            ..UsableServer::default()
        };
        if !has_tools {
            let lacks = "It does not list `tools` among its capabilities.";
            finding.note(ProblemKind::BadHandshake, lacks);
        }
        self.leave_out(&mut finding, notes);
        Ok(finding)
    }
}

/// Initialize, and the list of tools.
async fn handshake(
    line: &mut ProbeSession<'_>,
    maker: &mut ServerFramework,
) -> Result<UsableServer, DoctorProblem> {
    let params = json!({
        "protocolVersion": HANDSHAKE_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "tenon", "version": "1"},
    });
    let begun = line.ask("initialize", params).await?;
    line.take_maker(&begun, maker);
    if begun.is_nothing() {
        return Err(line.nothing(&begun));
    }
    if let Some(trouble) = &begun.trouble {
        return Err(trouble.clone());
    }
    let result = begun.result.as_ref().map_err(|why| {
        let why = format!("It answers `initialize` not as an MCP server does: {why}");
        DoctorProblem::new(ProblemKind::BadHandshake, why.to_string())
    });
    let result = result.map_err(|trouble| line.browser.ledger.fail(begun.step, trouble))?;
    let Some(version) = result["protocolVersion"].as_str() else {
        let trouble = DoctorProblem::new(
            ProblemKind::BadHandshake,
            "Its answer to `initialize` names no protocolVersion.",
        );
        return Err(line.browser.ledger.fail(begun.step, trouble));
    };
    let verdict = format!("lets it through: MCP {version}");
    line.browser.ledger.note(begun.step, true, &verdict);
    // The page has got so far, whatever became of what was asked before.
    line.browser.ledger.forgive(begun.step);
    let has_tools = has_tools(Some(result));
    line.begin(&begun, version).await?;
    let tools = line.list(None).await?;
    let url = line.url().clone();
    line.browser.read(tools, &url, has_tools)
}

fn has_tools(result: Option<&Value>) -> bool {
    result.is_some_and(|result| result.pointer("/capabilities/tools").is_some())
}

fn not_mcp(why: impl Into<String>) -> DoctorProblem {
    DoctorProblem::new(ProblemKind::NotToolServer, why)
}

impl ProbeResponse {
    /// Nobody there who has ever heard of MCP.
    fn is_nothing(&self) -> bool {
        matches!(self.status, 401 | 403) || (self.result.is_err() && !self.is_message)
    }
}
