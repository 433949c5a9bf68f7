//! Resources and prompts of the servers behind, as one list each: for the hub and the bridge.

mod context_changes;
mod names;
mod resource_watches;

pub(crate) use context_changes::ContextChanges;
pub(crate) use resource_watches::ResourceWatches;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Map, Value, json};
use tenon_domain::SourceId;
use tenon_mcp::server::{Listing, PromptRequest, ServerCapabilities};
use tenon_mcp::{CallToolResult, McpContentBlock, RpcError};
use tenon_tools::{ContextEntry, ContextKind, ContextSource, ResourceWatch, ToolSource};

use names::{LabelledSource, label, parse_uri, prompt_names};

/// A server that has not listed by then is left out, this time.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// The sources that have resources or prompts.
#[derive(Default)]
pub(crate) struct McpContext(Vec<LabelledSource>);

/// A prompt of a server behind.
struct OfferedPrompt<'a> {
    /// As it is offered.
    name: String,
    of: &'a LabelledSource,
    entry: ContextEntry,
}

impl McpContext {
    /// Of a server that offers all this, and tools.
    pub(crate) const CAPABILITIES: ServerCapabilities = ServerCapabilities {
        tools: true,
        resources: true,
        resource_subscriptions: true,
        prompts: true,
        completions: true,
        logging: false,
    };

    /// Several sources, with names that keep them apart.
    pub(crate) fn of_all(sources: &[&Arc<dyn ToolSource>]) -> Self {
        Self(label(sources))
    }

    /// One source, with the names it gives itself.
    pub(crate) fn of_one(source: &Arc<dyn ToolSource>) -> Self {
        Self(vec![LabelledSource {
            label: None,
            source: Arc::clone(source),
        }])
    }

    /// Names the resources in a result of a source as they are offered.
    pub(crate) fn offer_resources(&self, source: &SourceId, result: &mut CallToolResult) {
        let mut sources = self.0.iter();
        let Some(of) = sources.find(|of| of.source.info().id == *source) else {
            return;
        };
        for block in &mut result.content {
            match block {
                McpContentBlock::Resource(Some(resource)) => {
                    resource.uri = of.offered_uri(&resource.uri);
                }
                McpContentBlock::ResourceLink(link) => link.uri = of.offered_uri(&link.uri),
                _ => {}
            }
        }
    }

    /// Resources or templates.
    pub(crate) async fn resources(&self, kind: ContextKind) -> Arc<Listing> {
        let field = match kind {
            ContextKind::ResourceTemplates => "uriTemplate",
            ContextKind::Resources | ContextKind::Prompts => "uri",
        };
        let lists = self.lists(kind).await;
        let entries = lists.into_iter().flat_map(|(of, entries)| {
            let entries: Vec<Value> = entries
                .iter()
                .map(|entry| {
                    let uri = of.offered_uri(&entry.key);
                    let mut fields = titled(of, entry);
                    fields.insert(field.into(), uri.into());
                    Value::Object(fields)
                })
                .collect();
            entries
        });
        Arc::new(Listing::new(entries))
    }

    pub(crate) async fn prompts(&self) -> Arc<Listing> {
        let prompts = self.prompt_fields().await.into_iter();
        Arc::new(Listing::new(prompts.map(Value::Object)))
    }

    /// Prompts, as they are offered.
    pub(crate) async fn prompt_fields(&self) -> Vec<Map<String, Value>> {
        let prompts = self.offered_prompts().await.into_iter();
        let fields = prompts.map(|prompt| {
            let mut fields = titled(prompt.of, &prompt.entry);
            fields.insert("name".into(), prompt.name.into());
            fields
        });
        fields.collect()
    }

    pub(crate) async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, RpcError> {
        let (of, context, own) = self.find_resource(uri)?;
        let read = context.read_resource(own).await;
        let mut contents = read.map_err(|error| {
            RpcError::invalid_params(error.message).with_data(json!({ "uri": uri }))
        })?;
        for content in &mut contents {
            of.offer_uris(content);
        }
        Ok(contents)
    }

    /// The source of a resource, and the resource's URI there.
    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
    ) -> Result<(&'a LabelledSource, &'a dyn ContextSource, &'a str), RpcError> {
        let missing = || RpcError::resource_not_found(uri);
        let (of, own) = self.locate(uri).ok_or_else(missing)?;
        let context = of.source.context().ok_or_else(missing)?;
        Ok((of, context, own))
    }

    fn locate<'a>(&'a self, uri: &'a str) -> Option<(&'a LabelledSource, &'a str)> {
        if let [only @ LabelledSource { label: None, .. }] = self.0.as_slice() {
            return Some((only, uri));
        }
        let (label, own) = parse_uri(uri)?;
        let mut sources = self.0.iter();
        let of = sources.find(|of| of.label.as_ref() == Some(&label))?;
        Some((of, own))
    }

    /// Has updates of a resource be part of the changes while the guard is kept.
    pub(crate) fn watch_resource(&self, uri: &str) -> Result<ResourceWatch, RpcError> {
        let (_, context, own) = self.find_resource(uri)?;
        Ok(context.watch_resource(own))
    }

    pub(crate) async fn get_prompt(
        &self,
        prompt: PromptRequest,
    ) -> Result<Map<String, Value>, RpcError> {
        let (of, own) = self.find_prompt(&prompt.name).await?;
        let missing = || RpcError::unknown_prompt(&prompt.name);
        let context = of.source.context().ok_or_else(missing)?;
        let filled = context.get_prompt(&own, prompt.arguments.clone()).await;
        let mut filled = filled.map_err(|error| RpcError::invalid_params(error.message))?;
        if let Some(Value::Array(messages)) = filled.get_mut("messages") {
            for message in messages {
                if let Some(content) = message.get_mut("content") {
                    of.offer_uris(content);
                }
            }
        }
        Ok(filled)
    }

    pub(crate) async fn complete(&self, params: Value) -> Result<Value, RpcError> {
        let unknown =
            || RpcError::invalid_params("`ref` names no prompt and no resource template.");
        let Value::Object(mut params) = params else {
            return Err(unknown());
        };
        let reference = params.get("ref").cloned().unwrap_or_default();
        let field = |name: &str| reference.get(name).and_then(Value::as_str);
        let (of, name, own) = match (field("type"), field("name"), field("uri")) {
            (Some("ref/prompt"), Some(prompt), _) => {
                let (of, own) = self.find_prompt(prompt).await?;
                (of, "name", own)
            }
            (Some("ref/resource"), _, Some(uri)) => {
                let (of, _, own) = self.find_resource(uri)?;
                (of, "uri", own.to_owned())
            }
            _ => return Err(unknown()),
        };
        params["ref"][name] = own.into();
        let context = of.source.context().ok_or_else(unknown)?;
        let completed = context.complete(&params).await;
        completed.map_err(|error| RpcError::invalid_params(error.message))
    }

    async fn find_prompt(&self, name: &str) -> Result<(&LabelledSource, String), RpcError> {
        let mut prompts = self.offered_prompts().await.into_iter();
        let found = prompts.find(|prompt| prompt.name == name);
        let found = found.ok_or_else(|| RpcError::unknown_prompt(name))?;
        Ok((found.of, found.entry.key))
    }

    async fn offered_prompts(&self) -> Vec<OfferedPrompt<'_>> {
        let mut taken = HashSet::new();
        let mut prompts = Vec::new();
        for (of, entries) in self.lists(ContextKind::Prompts).await {
            let own: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
            let names = prompt_names(of, &own, &mut taken);
            let named = names.into_iter().zip(entries.iter().cloned());
            prompts.extend(named.map(|(name, entry)| OfferedPrompt { name, of, entry }));
        }
        prompts
    }

    /// All sources are asked at once. One that fails shortens the list.
    async fn lists(&self, kind: ContextKind) -> Vec<(&LabelledSource, Arc<[ContextEntry]>)> {
        let lists = self.0.iter().map(|of| async move {
            let context = of.source.context()?;
            let listed = tokio::time::timeout(LIST_TIMEOUT, context.list(kind)).await;
            match listed {
                Ok(Ok(entries)) => Some((of, entries)),
                Ok(Err(error)) => {
                    let source = &of.source.info().id;
                    tracing::debug!(%source, ?kind, %error, "a server does not list");
                    None
                }
                Err(_late) => None,
            }
        });
        join_all(lists).await.into_iter().flatten().collect()
    }
}

pub(crate) fn has_resources(result: &CallToolResult) -> bool {
    let mut blocks = result.content.iter();
    blocks.any(|block| {
        matches!(
            block,
            McpContentBlock::ResourceLink(_) | McpContentBlock::Resource(Some(_))
        )
    })
}

/// "Git/Commit message": source title, slash, title. Of one source alone it is the title.
fn titled(of: &LabelledSource, entry: &ContextEntry) -> Map<String, Value> {
    let mut fields = entry.fields.clone();
    if of.label.is_none() {
        return fields;
    }
    let field = |name: &str| fields.get(name).and_then(Value::as_str);
    let title = field("title").or(field("name")).unwrap_or(&entry.key);
    let title = format!("{}/{title}", of.source.info().title);
    fields.insert("title".into(), title.into());
    fields
}
