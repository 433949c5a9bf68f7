//! The list of tools of each caller, written as JSON once for as long as it stays the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Value, json};
use tenon_domain::{ExpertId, UserId};
use tenon_mcp::server::Listing;
use tenon_tools::{CallableStamp, Tool, Toolset};

use super::hub_caller::HubCaller;

/// How many callers' lists are kept: that of a large hub takes megabytes.
const MAX_LISTINGS: usize = 64;

#[derive(Default)]
pub(super) struct ToolListings(Mutex<HashMap<ListingKey, ToolListing>>);

/// A user, through which door or key they come, and the expert whose tools they see.
type ListingKey = (UserId, String, Option<ExpertId>);

struct ToolListing {
    stamp: CallableStamp,
    tools: SeenTools,
    listing: Arc<Listing>,
}

/// Tools by their places in memory: one that changes is another one in the registry. Weak, so that
/// nobody keeps sources alive that have left.
pub(super) struct SeenTools(Vec<Weak<Tool>>);

impl ToolListings {
    pub(super) fn get(&self, caller: &HubCaller, toolset: &Toolset) -> Arc<Listing> {
        let user = caller.user();
        let expert = caller.expert().map(|expert| expert.id.clone());
        let key = (user.id.clone(), user.entry_point().to_string(), expert);
        let stamp = toolset.callable_stamp();
        let mut listings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = listings.get(&key);
        if let Some(known) = known.filter(|known| known.stamp == stamp) {
            return known.listing.clone();
        }
        let tools = toolset.callable_now();
        let known = known.filter(|known| known.tools.are(&tools));
        let listing = match known {
            Some(known) => known.listing.clone(),
            None => Arc::new(Listing::new(tools.iter().map(|tool| describe(tool)))),
        };
        if listings.len() >= MAX_LISTINGS {
            // To write one again costs little more than to find out which is needed least.
            listings.clear();
        }
        let tools = SeenTools::new(&tools);
        let listed = listing.clone();
        let entry = ToolListing {
            stamp,
            tools,
            listing,
        };
        listings.insert(key, entry);
        listed
    }
}

impl SeenTools {
    pub(super) fn new(tools: &[&Arc<Tool>]) -> Self {
        Self(tools.iter().map(|tool| Arc::downgrade(tool)).collect())
    }

    pub(super) fn are(&self, tools: &[&Arc<Tool>]) -> bool {
        let mut pairs = self.0.iter().zip(tools);
        self.0.len() == tools.len()
            && pairs.all(|(seen, now)| std::ptr::eq(seen.as_ptr(), Arc::as_ptr(now)))
    }
}

/// The tools that find the others.
pub(super) fn search_listing(toolset: &Toolset) -> Listing {
    Listing::new(toolset.search_tools().iter().map(|tool| describe(tool)))
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
    let output = tool
        .source
        .output_schema(&spec.name)
        .map(|schema| schema.value());
    if let Some(output) = output.filter(|output| output["type"] == "object") {
        described["outputSchema"] = output;
    }
    described
}
