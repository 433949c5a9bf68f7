//! The list of tools of each caller, written as JSON once for as long as it stays the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tenon_domain::UserId;
use tenon_mcp::server::Listing;
use tenon_tools::{Tool, Toolset};

use super::hub_caller::HubCaller;

/// How many callers' lists are kept: that of a large hub takes megabytes.
const MAX_LISTINGS: usize = 64;

#[derive(Default)]
pub(super) struct ToolListings(Mutex<HashMap<ListingKey, ToolListing>>);

/// A user, and through which door or key they come.
type ListingKey = (UserId, String);

struct ToolListing {
    tools: Vec<Arc<Tool>>,
    listing: Arc<Listing>,
}

impl ToolListings {
    pub(super) fn get(&self, caller: &HubCaller, toolset: &Toolset) -> Arc<Listing> {
        let user = caller.user();
        let key = (user.id.clone(), user.entry_point().to_string());
        let tools = callable_tools(toolset);
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = listings.get(&key).filter(|known| is_same(&known.tools, &tools)) {
            return known.listing.clone();
        }
        let listing = Arc::new(Listing::new(tools.iter().map(|tool| describe(tool))));
        if listings.len() >= MAX_LISTINGS {
            // To write one again costs little more than to find out which is needed least.
            listings.clear();
        }
        let listed = listing.clone();
        listings.insert(key, ToolListing { tools, listing });
        listed
    }
}

/// What a caller is offered.
pub(super) fn callable_tools(toolset: &Toolset) -> Vec<Arc<Tool>> {
    toolset.callable_now().into_iter().cloned().collect()
}

/// A tool that changes is another one in the registry.
pub(super) fn is_same(before: &[Arc<Tool>], now: &[Arc<Tool>]) -> bool {
    let mut pairs = before.iter().zip(now);
    before.len() == now.len() && pairs.all(|(before, now)| Arc::ptr_eq(before, now))
}

fn describe(tool: &Tool) -> Value {
    let spec = &tool.spec;
    let mut schema = spec.input_schema.value();
    // Clients refuse a whole list for one schema without it.
    if let Value::Object(schema) = &mut schema {
        schema.insert("type".into(), "object".into());
    } else {
        schema = json!({"type": "object"});
    }
    let annotations = spec.annotations;
    let mut described = json!({
        "name": spec.id,
        "title": spec.display_name,
        "description": spec.description,
        "inputSchema": schema,
        "annotations": {
            "title": spec.display_name,
            "readOnlyHint": annotations.read_only,
            "destructiveHint": annotations.destructive,
            "idempotentHint": annotations.idempotent,
            "openWorldHint": annotations.open_world,
        },
    });
    // Before 2026-07-28 it has to be the schema of an object.
    let output = tool.source.output_schema(&spec.name).map(|schema| schema.value());
    if let Some(output) = output.filter(|output| output["type"] == "object") {
        described["outputSchema"] = output;
    }
    described
}
