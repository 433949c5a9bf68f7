//! Probing an MCP server as the page does: stateless first, then with the handshake, over
//! Streamable HTTP or SSE.

use serde_json::Value;
use tenon_mcp::ProtocolEra;
use tenon_mcp::message::STATELESS_VERSION;
use tenon_sources::browser::DiscoveredTools;
use url::Url;

use super::browser::Browser;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::UsableServer;
use session::ProbeSession;

mod event_stream;
mod session;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageTransport {
    Streamable,
    Sse,
}

impl Browser {
    /// Tries one transport after the other. The problem of the first is told, unless another
    /// one works.
    pub(super) async fn find_mcp(
        &mut self,
        url: &Url,
        transports: &[PageTransport],
    ) -> Result<UsableServer, DoctorProblem> {
        let mut first = None;
        for transport in transports {
            let found = match transport {
                PageTransport::Streamable => self.find_streamable(url).await,
                PageTransport::Sse => self.find_sse(url).await,
            };
            match found {
                Err(problem) if problem.kind.is_elsewhere() => {
                    first.get_or_insert(problem);
                }
                found => return found,
            }
        }
        Err(first.unwrap_or_else(|| ProblemKind::NotToolServer.with("It was not asked.")))
    }

    async fn find_streamable(&mut self, url: &Url) -> Result<UsableServer, DoctorProblem> {
        let mut session = ProbeSession::streamable(self, url.clone());
        let discovered = session.begin(ProtocolEra::Stateless).await?;
        let result = discovered.result.as_ref().ok();
        let versions = result.and_then(|result| result["supportedVersions"].as_array());
        let is_stateless =
            versions.is_some_and(|versions| versions.iter().any(|one| one == STATELESS_VERSION));
        let log = &mut session.browser.log;
        match (&discovered.problem, result) {
            (None, Some(result)) if is_stateless => {
                let verdict = format!("lets it through: MCP {STATELESS_VERSION}");
                log.note(discovered.step, true, &verdict);
                let tools = session.list_tools(ProtocolEra::Stateless).await?;
                session.check_call().await?;
                return self.read_tools(tools, url, has_tools(result));
            }
            // Nor is what comes after it for the page.
            (Some(problem), Some(_)) if problem.kind == ProblemKind::Cors => {
                return Err(problem.clone());
            }
            _ => {}
        }
        // A server of the handshake era may know no better response than these.
        if discovered.is_not_mcp() && !matches!(discovered.status, 400 | 406 | 415 | 422) {
            return session.not_mcp(&discovered);
        }
        if discovered.problem.is_none() {
            let verdict = format!("lets it through: older than MCP {STATELESS_VERSION}");
            log.note(discovered.step, true, &verdict);
        }
        // A page that is not let through goes on with the handshake.
        let listed = list_after_handshake(&mut session).await;
        session.end().await;
        let url = session.url.clone();
        let problem = match listed {
            Ok((tools, has_tools)) => return self.read_tools(tools, &url, has_tools),
            Err(problem) => problem,
        };
        let is_handshake_gone = is_stateless
            && matches!(
                problem.kind,
                ProblemKind::BadHandshake | ProblemKind::WrongPath
            );
        match discovered.problem {
            // There is no handshake any more: what was in the way before is what counts.
            Some(before) if is_handshake_gone => Err(before),
            _ => Err(problem),
        }
    }

    async fn find_sse(&mut self, url: &Url) -> Result<UsableServer, DoctorProblem> {
        let mut session = ProbeSession::sse(self, url).await?;
        let (tools, has_tools) = list_after_handshake(&mut session).await?;
        let url = session.url.clone();
        self.read_tools(tools, &url, has_tools)
    }

    fn read_tools(
        &mut self,
        tools: Vec<Value>,
        url: &Url,
        has_tools: bool,
    ) -> Result<UsableServer, DoctorProblem> {
        let steps = &self.log.steps;
        let step = steps.iter().rposition(|step| step.is("tools/list"));
        let step = step.unwrap_or(steps.len() - 1);
        let previewed = self.preview_tools(DiscoveredTools::Mcp { tools }, url, step);
        let mut server =
            previewed.map_err(|why| ProblemKind::BadHandshake.with(why.to_string()))?;
        if !has_tools {
            let lacks = "It does not list `tools` among its capabilities.";
            server
                .notes
                .insert(0, ProblemKind::BadHandshake.with(lacks));
        }
        Ok(server)
    }
}

/// The tools, and whether the server says that it has any.
async fn list_after_handshake(
    session: &mut ProbeSession<'_>,
) -> Result<(Vec<Value>, bool), DoctorProblem> {
    let response = session.begin(ProtocolEra::Handshake).await?;
    if response.is_not_mcp() {
        return session.not_mcp(&response);
    }
    if let Some(problem) = &response.problem {
        return Err(problem.clone());
    }
    let step = response.step;
    let log = &mut session.browser.log;
    let result = match &response.result {
        Ok(result) => result,
        Err(why) => {
            let why = format!("It answers `initialize` not as an MCP server does: {why}");
            return log.fail(step, ProblemKind::BadHandshake.with(why));
        }
    };
    let Some(version) = result["protocolVersion"].as_str() else {
        let why = "Its answer to `initialize` names no protocolVersion.";
        return log.fail(step, ProblemKind::BadHandshake.with(why));
    };
    log.note(step, true, &format!("lets it through: MCP {version}"));
    // The page has got so far, whatever became of what was asked before.
    log.forgive(step);
    session.initialized(&response, version).await?;
    let tools = session.list_tools(ProtocolEra::Handshake).await?;
    Ok((tools, has_tools(result)))
}

fn has_tools(introduction: &Value) -> bool {
    introduction.pointer("/capabilities/tools").is_some()
}
