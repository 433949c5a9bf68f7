//! The OpenAPI document of Tenon's own API.
//!
//! The document is generated: paths and who may use them from the list of routes, parameters,
//! bodies and responses from the signatures of the handlers, schemas from the types that the page
//! has in TypeScript. `make types` writes it; a test fails when the committed file is stale.

mod document;
mod json_schema;
mod summaries;

pub use document::document;

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/openapi/openapi.json");

    #[test]
    fn the_committed_document_is_that_of_the_code() {
        let fresh = serde_json::to_string_pretty(&document()).unwrap() + "\n";
        if std::env::var_os("UPDATE_TYPES").is_some() {
            std::fs::write(FILE, &fresh).unwrap();
        }
        let committed = std::fs::read_to_string(FILE).unwrap();
        assert!(
            committed == fresh,
            "the API changed: run `make types` and commit {FILE}"
        );
    }
}
