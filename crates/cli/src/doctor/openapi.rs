//! Probing an OpenAPI server, and those behind an mcpo, as the page does.

use std::collections::HashSet;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use serde_json::Value;
use tenon_openapi::discover::{has_paths, sub_documents};
use tenon_openapi::operation::{Operation, ParameterLocation, ParsedDocument, SecuritySchemeKind};
use tenon_openapi::{document, parse, request};
use tenon_sources::browser::{DiscoveredTools, preview};
use url::Url;

use super::browser::Browser;
use super::fix::ServerFramework;
use super::problem::{DoctorProblem, ProblemKind};
use super::server::UsableServer;

/// Kinds of calls that are tried with a preflight. Servers with more treat them alike.
const MAX_CALLS: usize = 4;

/// A document that was read, and where.
struct ReadDocument {
    url: Url,
    text: String,
    value: Value,
}

impl Browser {
    pub(super) async fn find_document(&self, url: Url) -> Result<UsableServer, DoctorProblem> {
        let main = self.read_document(url).await?;
        if has_paths(&main.value) {
            return self.try_document(&main, true).await;
        }
        let subs = sub_documents(&main.value, &main.url);
        let servers = match subs.len() {
            0 => {
                return Err(ProblemKind::NotToolServer.with(
                    "Its OpenAPI document has no operations, and names no servers behind it.",
                ));
            }
            1 => "1 server".to_owned(),
            many => format!("{many} servers"),
        };
        let verdict = format!("lets it through: an mcpo with {servers}");
        self.note(true, &verdict);
        let mut whole = UsableServer::default();
        let (mut failed, mut is_tried) = (Vec::new(), false);
        for sub in subs {
            // All documents come from one program, so the CORS check of the first one holds for the
            // others.
            let found = match self.read_document(sub.url).await {
                Ok(document) => self.try_document(&document, !is_tried).await,
                Err(problem) => Err(problem),
            };
            match found {
                Ok(server) => {
                    is_tried = true;
                    whole.tools += server.tools;
                    whole.notes.extend(server.notes);
                }
                Err(DoctorProblem { kind, message }) => {
                    failed.push(kind.with(format!("`{}` behind it: {message}", sub.name)));
                }
            }
        }
        if !is_tried && !failed.is_empty() {
            return Err(failed.swap_remove(0));
        }
        whole.notes.extend(failed);
        Ok(whole)
    }

    async fn read_document(&self, url: Url) -> Result<ReadDocument, DoctorProblem> {
        let reply = self.fetch(Request::new(Method::GET, url)).await?;
        self.recognize(reply.headers(), ServerFramework::FastApi, false);
        self.check_status(&reply, "nothing").await?;
        let url = reply.url().clone();
        let read = self.http.read_body(reply.response).await;
        let bytes = read.map_err(|error| self.failed(error.problem))?;
        let value = match document::read(&bytes) {
            Ok(value) if document::is_document(&value) => value,
            Err(error) if looks_like_document(&bytes) => {
                let invalid = ProblemKind::BadSpec.with(error.to_string());
                return Err(self.failed(reply.problem.unwrap_or(invalid)));
            }
            Ok(_) | Err(_) => {
                let what = "What it answers with is no OpenAPI document.";
                return Err(self.failed(ProblemKind::NotToolServer.with(what)));
            }
        };
        if is_of_mcpo(&value) || !sub_documents(&value, &url).is_empty() {
            self.state().framework = ServerFramework::Mcpo;
        }
        if let Some(problem) = reply.problem {
            return Err(problem);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(ReadDocument { url, text, value })
    }

    async fn try_document(
        &self,
        document: &ReadDocument,
        tries_calls: bool,
    ) -> Result<UsableServer, DoctorProblem> {
        let url = &document.url;
        let tools = DiscoveredTools::Openapi {
            document: document.text.clone(),
            url: url.to_string(),
        };
        // With the code that Tenon will use.
        let (tools, left_out) = preview(tools, url)
            .map_err(|why| self.failed(ProblemKind::BadSpec.with(why.to_string())))?;
        let mut server = UsableServer::new(tools.len(), left_out);
        self.note(true, &server.verdict());
        if tries_calls && self.try_calls(document).await? {
            let wants = "Its tools want a key: enter it with the server in Tenon.";
            server.notes.push(ProblemKind::NeedsKey.with(wants));
        }
        Ok(server)
    }

    /// Asks for each kind of call whether a page may make it. None is made. True: they want a
    /// key, and none was given.
    async fn try_calls(&self, document: &ReadDocument) -> Result<bool, DoctorProblem> {
        let Ok(parsed) = parse::parse(&document.value) else {
            return Ok(false);
        };
        let mut seen = HashSet::new();
        let mut wants_key = false;
        for operation in &parsed.operations {
            let Some(request) = call(operation, &parsed, &document.url) else {
                continue;
            };
            let needs = &operation.security;
            let is_open = needs.is_empty() || needs.iter().any(Vec::is_empty);
            wants_key |= !is_open && !self.own.has_key();
            let names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
            let kind = format!("{} {names:?}", request.method());
            if seen.len() == MAX_CALLS || !seen.insert(kind) {
                continue;
            }
            if let Some(refusal) = self.preflight(&request).await? {
                let DoctorProblem { kind, message } = refusal.of_preflight(&self.page());
                return Err(kind.with(format!(
                    "A page can read its description, but not call its tools. {message}"
                )));
            }
        }
        Ok(wants_key)
    }
}

/// The request of a call, as far as a preflight tells of it.
fn call(operation: &Operation, parsed: &ParsedDocument, base: &Url) -> Option<Request> {
    let server = operation.servers.first().map_or("/", String::as_str);
    let mut url = request::server_url(server, base).ok()?;
    // A page sends nothing to another site.
    if url.origin() != base.origin() {
        return None;
    }
    let path = operation.path.replace(['{', '}'], "");
    url.set_path(&format!("{}{path}", url.path().trim_end_matches('/')));
    let mut request = Request::new(operation.method.clone(), url);
    let headers = request.headers_mut();
    headers.extend(operation.headers.iter().cloned());
    if let Some(body) = &operation.body {
        headers.insert(CONTENT_TYPE, HeaderValue::from_str(&body.media_type).ok()?);
    }
    let parameters = operation.parameters.iter();
    let parameters = parameters
        .filter(|one| one.location == ParameterLocation::Header && one.required)
        .map(|one| one.name.as_str());
    let credentials = operation.security.first().into_iter().flatten();
    let credentials = credentials.filter_map(|need| {
        let scheme = parsed.schemes.iter().find(|one| one.name == need.scheme)?;
        match &scheme.kind {
            SecuritySchemeKind::Bearer | SecuritySchemeKind::Basic => Some(AUTHORIZATION.as_str()),
            SecuritySchemeKind::ApiKey {
                location: ParameterLocation::Header,
                name,
            } => Some(name),
            _ => None,
        }
    });
    let names = parameters.chain(credentials);
    for name in names.filter_map(|name| name.parse::<HeaderName>().ok()) {
        headers.insert(name, HeaderValue::from_static("x"));
    }
    Some(request)
}

/// Whether what cannot be read was meant as a document.
fn looks_like_document(bytes: &[u8]) -> bool {
    let begin = String::from_utf8_lossy(bytes.get(..2000).unwrap_or(bytes)).into_owned();
    let begin = begin.trim_start();
    !begin.starts_with('<') && (begin.contains("openapi") || begin.contains("swagger"))
}

/// An mcpo with one server looks like any other; its operations do not.
fn is_of_mcpo(main: &Value) -> bool {
    let paths = main.get("paths").and_then(Value::as_object);
    let is_tool = |path: &Value| {
        let id = path.pointer("/post/operationId").and_then(Value::as_str);
        id.is_some_and(|id| id.starts_with("tool_") && id.ends_with("_post"))
    };
    paths.is_some_and(|paths| !paths.is_empty() && paths.values().all(is_tool))
}
