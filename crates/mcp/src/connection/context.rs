//! Resources, prompts and completion over a connection.
//!
//! Results are trimmed to what the methods define: `_meta`, time-to-live and result type belong
//! to one hop and one protocol version.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};

use super::McpConnection;
use crate::entry::{EntryKind, ListEntry, ListVersions};
use crate::error::{Error, ProtocolError, json_reason};
use crate::jsonrpc::{ParamsBuilder, RpcError};
use crate::listing;
use crate::peer::ProtocolEra;
use crate::session::RpcRequest;

/// More resources than these nobody watches at one server.
const MAX_WATCHED_RESOURCES: usize = 256;

impl McpConnection {
    /// Whether the server has such a list.
    pub fn has_list(&self, kind: EntryKind) -> bool {
        self.capabilities.get(kind.capability()).is_some()
    }

    /// All entries, page after page. Empty where the server has no such list.
    pub async fn list(&self, kind: EntryKind, timeout: Duration) -> Result<Vec<ListEntry>, Error> {
        if !self.has_list(kind) {
            return Ok(Vec::new());
        }
        let listing = listing::list_all(&self.session, kind, timeout);
        let listed = tokio::time::timeout(timeout, listing).await;
        listed.unwrap_or(Err(Error::Timeout))
    }

    /// Counts up whenever one of these lists may have changed.
    pub fn list_versions(&self) -> watch::Receiver<ListVersions> {
        self.session.pending.list_versions()
    }

    /// The contents of a resource.
    pub async fn read_resource(
        &self,
        uri: &str,
        timeout: Duration,
    ) -> Result<Map<String, Value>, Error> {
        let params = ParamsBuilder::new().with("uri", uri);
        let request = RpcRequest::new("resources/read", params).with_name(uri);
        self.request(request, &["contents"], timeout).await
    }

    /// The messages of a prompt.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Map<String, Value>, Error> {
        let mut params = ParamsBuilder::new().with("name", name);
        if !arguments.is_null() {
            params = params.with("arguments", arguments);
        }
        let request = RpcRequest::new("prompts/get", params).with_name(name);
        let fields = ["description", "messages"];
        self.request(request, &fields, timeout).await
    }

    /// Values that complete an argument of a prompt or a template.
    pub async fn complete(
        &self,
        reference: &Value,
        argument: &Value,
        context: &Value,
        timeout: Duration,
    ) -> Result<Map<String, Value>, Error> {
        let mut params = ParamsBuilder::new()
            .with("ref", reference)
            .with("argument", argument);
        if !context.is_null() {
            params = params.with("context", context);
        }
        let request = RpcRequest::new("completion/complete", params);
        self.request(request, &["completion"], timeout).await
    }

    /// Has the server notify of updates of these resources, and of no others.
    pub async fn watch_resources(
        &self,
        uris: BTreeSet<String>,
        timeout: Duration,
    ) -> Result<(), Error> {
        let uris: BTreeSet<String> = uris.into_iter().take(MAX_WATCHED_RESOURCES).collect();
        let before = self.watched_resources.send_replace(uris.clone());
        // The other era subscribes by its one long request.
        if self.era == ProtocolEra::Stateless
            || self.capabilities.pointer("/resources/subscribe") != Some(&Value::Bool(true))
        {
            return Ok(());
        }
        let changes = uris
            .difference(&before)
            .map(|uri| ("resources/subscribe", uri));
        let ended = before.difference(&uris);
        let changes = changes.chain(ended.map(|uri| ("resources/unsubscribe", uri)));
        for (method, uri) in changes {
            let params = ParamsBuilder::new().with("uri", uri);
            let answer = self
                .session
                .request(RpcRequest::new(method, params), timeout)
                .await;
            match answer {
                // The server may refuse subscriptions; then there are no updates.
                Ok(_) | Err(Error::Rpc(RpcError { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The URIs of watched resources that were updated, from now on.
    pub fn resource_updates(&self) -> broadcast::Receiver<String> {
        self.session.pending.resource_updates()
    }

    async fn request(
        &self,
        request: RpcRequest<'_>,
        fields: &[&str],
        timeout: Duration,
    ) -> Result<Map<String, Value>, Error> {
        let response = self.session.request(request, timeout).await?;
        let mut result: Map<String, Value> = serde_json::from_str(response.get())
            .map_err(|error| ProtocolError::InvalidResult(json_reason(&error)))?;
        if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
            let method = "elicitation/create".to_owned();
            return Err(ProtocolError::UnsupportedInputRequest(method).into());
        }
        result.retain(|name, _| fields.contains(&name.as_str()));
        Ok(result)
    }
}
