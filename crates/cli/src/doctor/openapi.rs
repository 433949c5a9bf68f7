//! Probing an OpenAPI server, and those behind an mcpo, as the page does.

use std::collections::HashSet;

use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use tenon_sources::browser::{DiscoveredTools, preview};
use tenon_sources::openapi::discover::{has_paths, sub_documents};
use tenon_sources::openapi::operation::{
    Operation, ParameterLocation, ParsedDocument, SecuritySchemeKind,
};
use tenon_sources::openapi::{document, parse, request};
use url::Url;

use super::browser::{Browser, BrowserRequest, BrowserResponse};
use super::problem::{DoctorProblem, ProblemKind};
use super::server::{ServerFramework, ServerProtocol, UsableServer};

/// As a page asks that has nothing special to say.
const ANYTHING: &str = "*/*";

/// Kinds of calls of which it is asked whether a page may make them. Servers with more
/// treat them alike.
const MAX_CALLS: usize = 4;

/// What anybody reads of what is left out.
const MAX_NOTES: usize = 5;

/// A description that was read, and where.
struct ReadDocument {
    url: Url,
    text: String,
    value: Value,
    step: usize,
}

impl Browser {
    /// `maker` is told also where the page cannot use the server.
    pub(super) async fn find_document(
        &mut self,
        url: Url,
        maker: &mut ServerFramework,
    ) -> Result<UsableServer, DoctorProblem> {
        let main = self.describe(url, maker).await?;
        if has_paths(&main.value) {
            if is_of_mcpo(&main.value) {
                *maker = ServerFramework::Mcpo;
            }
            let mut finding = self.offered(&main)?;
            self.try_calls(&main, &mut finding).await?;
            return Ok(finding);
        }
        let subs = sub_documents(&main.value, &main.url);
        if subs.is_empty() {
            return Err(DoctorProblem::new(
                ProblemKind::NotToolServer,
                "Its OpenAPI document has no operations, and names no servers behind it.",
            ));
        }
        *maker = ServerFramework::Mcpo;
        let servers = match subs.len() {
            1 => "1 server".to_owned(),
            many => format!("{many} servers"),
        };
        let verdict = format!("lets it through: an mcpo with {servers}");
        self.ledger.note(main.step, true, &verdict);
        let mut whole = UsableServer::default();
        let (mut failed, mut tried) = (Vec::new(), false);
        for sub in subs {
            let found = self.find_behind(sub.url, !tried).await;
            match found {
                Ok(found) => {
                    tried = true;
                    whole.tools += found.tools;
                    whole.notes.extend(found.notes);
                }
                Err(trouble) => {
                    let message = format!("`{}` behind it: {}", sub.name, trouble.message);
                    failed.push(DoctorProblem::new(trouble.kind, message));
                }
            }
        }
        match (tried, failed.is_empty()) {
            (false, false) => Err(failed.swap_remove(0)),
            _ => {
                whole.notes.extend(failed);
                Ok(whole)
            }
        }
    }

    /// They are all served by the same program: what one lets a page do, all do.
    async fn find_behind(&mut self, url: Url, calls: bool) -> Result<UsableServer, DoctorProblem> {
        let described = self.describe(url, &mut ServerFramework::Mcpo).await?;
        let mut finding = self.offered(&described)?;
        if calls {
            self.try_calls(&described, &mut finding).await?;
        }
        Ok(finding)
    }

    async fn describe(
        &mut self,
        url: Url,
        maker: &mut ServerFramework,
    ) -> Result<ReadDocument, DoctorProblem> {
        let ask = BrowserRequest::get(url.clone(), ANYTHING);
        let reply = self.fetch(ask).await?;
        if *maker == ServerFramework::Unknown {
            *maker = ServerFramework::of(&reply.headers, ServerProtocol::Openapi);
        }
        self.check_status(&reply, &BrowserRequest::get(url, ANYTHING))
            .await?;
        let (at, refused) = (reply.url.clone(), reply.trouble.clone());
        let step = reply.step;
        let bytes = self.whole(reply).await?;
        let read = document::read(&bytes);
        let is_document = |value: &Value| document::is_document(value);
        let value = match read {
            Ok(value) if is_document(&value) => value,
            Err(wrong) if looks_like_one(&bytes) => {
                let trouble =
                    refused.unwrap_or(DoctorProblem::new(ProblemKind::BadSpec, wrong.to_string()));
                return Err(self.ledger.fail(step, trouble));
            }
            Ok(_) | Err(_) => {
                let what = "What it answers with is no OpenAPI document.";
                return Err(self
                    .ledger
                    .fail(step, DoctorProblem::new(ProblemKind::NotToolServer, what)));
            }
        };
        if let Some(trouble) = refused {
            if !has_paths(&value) && !sub_documents(&value, &at).is_empty() || is_of_mcpo(&value) {
                *maker = ServerFramework::Mcpo;
            }
            return Err(trouble);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(ReadDocument {
            url: at,
            text,
            value,
            step,
        })
    }

    /// An answer that is none, whoever could read it.
    pub(super) async fn check_status(
        &mut self,
        reply: &BrowserResponse,
        ask: &BrowserRequest,
    ) -> Result<(), DoctorProblem> {
        let status = reply.status;
        if status == 403 && self.is_let_in_without_origin(ask).await {
            let page = self.page();
            let refuses =
                format!("The server itself refuses pages at {page}: without Origin it lets in.");
            return Err(self
                .ledger
                .fail(reply.step, DoctorProblem::new(ProblemKind::Cors, refuses)));
        }
        if matches!(status, 401 | 403) {
            let trouble = self.locked(status, reply.trouble.is_some());
            return Err(self.ledger.fail(reply.step, trouble));
        }
        if status >= 400 {
            let path = self.ledger.own.shown(reply.url.path(), 100);
            let message = format!("There is nothing at {path}: it answers {status}.");
            return Err(self.ledger.fail(
                reply.step,
                DoctorProblem::new(ProblemKind::WrongPath, message),
            ));
        }
        Ok(())
    }

    /// It wants a key, or another one.
    pub(super) fn locked(&self, status: u16, is_hidden: bool) -> DoctorProblem {
        let what = if self.ledger.own.has_key() {
            "does not take the key"
        } else {
            "wants a key"
        };
        let hidden = if is_hidden {
            " A page cannot tell: this answer has no Access-Control-Allow-Origin."
        } else {
            ""
        };
        let message = format!("The server {what} ({status}).{hidden}");
        DoctorProblem::new(ProblemKind::NeedsKey, message)
    }

    /// What Tenon makes of it, with the code that it will use.
    fn offered(&mut self, described: &ReadDocument) -> Result<UsableServer, DoctorProblem> {
        let step = described.step;
        let offered = DiscoveredTools::Openapi {
            document: described.text.clone(),
            url: described.url.to_string(),
        };
        match preview(offered, &described.url) {
            Err(why) => Err(self.ledger.fail(
                step,
                DoctorProblem::new(ProblemKind::BadSpec, why.to_string()),
            )),
            Ok((tools, notes)) => {
                let mut finding = UsableServer {
                    tools: tools.len(),
                    ..UsableServer::default()
                };
                self.leave_out(&mut finding, notes);
                let verdict = format!("lets it through: {}", counted(tools.len()));
                self.ledger.note(step, true, &verdict);
                Ok(finding)
            }
        }
    }

    pub(super) fn leave_out(&self, finding: &mut UsableServer, notes: Vec<String>) {
        let more = notes.len().saturating_sub(MAX_NOTES);
        for note in notes.into_iter().take(MAX_NOTES) {
            finding.note(ProblemKind::BadSpec, self.ledger.own.shown(&note, 300));
        }
        if more > 0 {
            finding.note(
                ProblemKind::BadSpec,
                format!("… and {more} more like these."),
            );
        }
    }

    /// Asks for each kind of call whether a page may make it. None is made.
    async fn try_calls(
        &mut self,
        described: &ReadDocument,
        finding: &mut UsableServer,
    ) -> Result<(), DoctorProblem> {
        let Ok(parsed) = parse::parse(&described.value) else {
            return Ok(());
        };
        let mut seen = HashSet::new();
        let mut wants_key = false;
        for operation in &parsed.operations {
            let Some(ask) = call(operation, &parsed, &described.url) else {
                continue;
            };
            let is_open = operation.security.is_empty()
                || operation.security.iter().any(|needs| needs.is_empty());
            wants_key |= !is_open && !self.ledger.own.has_key();
            let names: Vec<&str> = ask.headers.keys().map(HeaderName::as_str).collect();
            let kind = format!("{} {names:?}", ask.method);
            if seen.len() == MAX_CALLS || !seen.insert(kind) {
                continue;
            }
            if let Some(refused) = self.may(&ask).await? {
                let mut trouble = DoctorProblem::of_refusal(&refused, true, &self.page());
                let begin = "A page can read its description, but not call its tools.";
                trouble.message = format!("{begin} {}", trouble.message);
                return Err(trouble);
            }
        }
        if wants_key {
            let wants = "Its tools want a key: enter it with the server in Tenon.";
            finding.note(ProblemKind::NeedsKey, wants);
        }
        Ok(())
    }
}

/// The request of a call, as far as a preflight tells of it.
fn call(operation: &Operation, parsed: &ParsedDocument, base: &Url) -> Option<BrowserRequest> {
    let server = operation.servers.first().map_or("/", String::as_str);
    let mut url = request::server_url(server, base).ok()?;
    // Elsewhere a page sends nothing.
    if url.origin() != base.origin() {
        return None;
    }
    let path = operation.path.replace(['{', '}'], "");
    url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
    let mut headers: HeaderMap = operation.headers.iter().cloned().collect();
    if let Some(body) = &operation.body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(&body.media_type).ok()?);
    }
    let mut add = |name: &str| {
        if let Ok(name) = name.parse::<HeaderName>() {
            headers.insert(name, HeaderValue::from_static("x"));
        }
    };
    for parameter in &operation.parameters {
        if parameter.location == ParameterLocation::Header && parameter.required {
            add(&parameter.name);
        }
    }
    let needs = operation.security.first().into_iter().flatten();
    for need in needs {
        let scheme = parsed.schemes.iter().find(|one| one.name == need.scheme);
        match scheme.map(|scheme| &scheme.kind) {
            Some(SecuritySchemeKind::Bearer | SecuritySchemeKind::Basic) => {
                add(AUTHORIZATION.as_str())
            }
            Some(SecuritySchemeKind::ApiKey {
                location: ParameterLocation::Header,
                name,
            }) => add(name),
            Some(
                SecuritySchemeKind::ApiKey { .. }
                | SecuritySchemeKind::ClientCredentials { .. }
                | SecuritySchemeKind::Other(_),
            )
            | None => {}
        }
    }
    Some(BrowserRequest {
        method: Method::from_bytes(operation.method.as_str().as_bytes()).ok()?,
        url,
        headers,
        body: None,
        message: None,
    })
}

/// "3 tools"
pub(super) fn counted(tools: usize) -> String {
    match tools {
        0 => "no tools".to_owned(),
        1 => "1 tool".to_owned(),
        many => format!("{many} tools"),
    }
}

/// Whether what cannot be read was meant as a description.
fn looks_like_one(bytes: &[u8]) -> bool {
    let begin = String::from_utf8_lossy(bytes.get(..2000).unwrap_or(bytes)).into_owned();
    let begin = begin.trim_start();
    !begin.starts_with('<') && (begin.contains("openapi") || begin.contains("swagger"))
}

/// An mcpo with one server looks like any other; its operations do not.
fn is_of_mcpo(main: &Value) -> bool {
    let paths = main.get("paths").and_then(Value::as_object);
    let Some(paths) = paths.filter(|paths| !paths.is_empty()) else {
        return false;
    };
    let is_tool = |path: &Value| {
        let id = path.pointer("/post/operationId").and_then(Value::as_str);
        id.is_some_and(|id| id.starts_with("tool_") && id.ends_with("_post"))
    };
    paths.values().all(is_tool)
}
