//! Notifications about what has changed, and who wants to hear of what.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::service::{ServerCapabilities, ServerChange};
use crate::jsonrpc;

/// How many resources one client may follow.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1000;

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The notifications that a stateless client subscribes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SubscriptionFilter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resources_list_changed: bool,
    #[serde(skip_serializing_if = "HashSet::is_empty")]
    pub(super) resource_subscriptions: HashSet<String>,
}

impl SubscriptionFilter {
    /// The part of the subscription that the server supports.
    pub(super) fn accepted(mut self, capabilities: ServerCapabilities) -> Self {
        self.tools_list_changed &= capabilities.tools;
        self.prompts_list_changed &= capabilities.prompts;
        self.resources_list_changed &= capabilities.resources;
        if !capabilities.resource_subscriptions {
            self.resource_subscriptions.clear();
        }
        if self.resource_subscriptions.len() > MAX_SUBSCRIPTIONS {
            let all = std::mem::take(&mut self.resource_subscriptions);
            self.resource_subscriptions = all.into_iter().take(MAX_SUBSCRIPTIONS).collect();
        }
        self
    }

    pub(super) fn includes(&self, change: &ServerChange) -> bool {
        match change {
            ServerChange::Tools => self.tools_list_changed,
            ServerChange::Prompts => self.prompts_list_changed,
            ServerChange::Resources => self.resources_list_changed,
            ServerChange::Resource(uri) => self.resource_subscriptions.contains(uri),
        }
    }
}

/// The first message to a subscriber.
pub(super) fn acknowledgement(subscription: &RawValue, filter: &SubscriptionFilter) -> String {
    let meta = subscription_meta(subscription);
    let params = format!(r#"{{{meta},"notifications":{}}}"#, json!(filter));
    jsonrpc::notification("notifications/subscriptions/acknowledged", &params)
}

/// The message about a change; for a subscriber of the stateless era with the id of their request.
pub(super) fn message(change: &ServerChange, subscription: Option<&RawValue>) -> String {
    let method = match change {
        ServerChange::Tools => "notifications/tools/list_changed",
        ServerChange::Prompts => "notifications/prompts/list_changed",
        ServerChange::Resources => "notifications/resources/list_changed",
        ServerChange::Resource(_) => "notifications/resources/updated",
    };
    let uri = match change {
        ServerChange::Resource(uri) => Some(format!(r#""uri":{}"#, json!(uri))),
        _ => None,
    };
    let members: Vec<String> = uri
        .into_iter()
        .chain(subscription.map(subscription_meta))
        .collect();
    jsonrpc::notification(method, &format!("{{{}}}", members.join(",")))
}

fn subscription_meta(subscription: &RawValue) -> String {
    format!(r#""_meta":{{"{SUBSCRIPTION_ID}":{subscription}}}"#)
}

/// The request that a notification wants cancelled.
pub(super) fn cancelled_request<'a>(
    method: &str,
    params: Option<&'a RawValue>,
) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    struct CancelledParams<'a> {
        #[serde(borrow, rename = "requestId")]
        request_id: &'a RawValue,
    }
    if method != "notifications/cancelled" {
        return None;
    }
    let params: CancelledParams<'a> = serde_json::from_str(params?.get()).ok()?;
    Some(params.request_id)
}
