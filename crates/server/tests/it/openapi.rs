//! The OpenAPI document of Tenon's own API.
//!
//! Paths and who may use them come from the list of routes, parameters, bodies and responses from
//! the signatures of the handlers, schemas from the types that the page has in TypeScript.

mod document;
mod json_schema;
mod summaries;

use crate::check_committed;

/// Where `/api/openapi.json` has it from.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi.json");

#[test]
fn the_committed_document_is_that_of_the_code() {
    let fresh = serde_json::to_string_pretty(&document::document()).unwrap() + "\n";
    check_committed(FILE, &fresh);
}
