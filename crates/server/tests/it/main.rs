//! What is generated from the code and committed: the TypeScript of the page, and the OpenAPI
//! document. `make types` writes it anew; a test fails when it is stale.
//!
//! The generators are here and not in the crate: no server needs them, and they take every handler
//! with them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod openapi;
mod typescript;

/// Fails if a committed file is not what the code says now.
fn check_committed(file: &str, fresh: &str) {
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(file, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(file).unwrap();
    assert!(
        committed == fresh,
        "the API changed: run `make types` and commit {file}"
    );
}
