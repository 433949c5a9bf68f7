//! Tables: what a piece of a document becomes.

mod bodies;
mod elsewhere;
mod operations;
mod schemas;

use serde_json::Value;

use super::parse;
use crate::operation::{Operation, ParsedDocument};

fn whole(document: Value) -> ParsedDocument {
    parse(&document).unwrap()
}

#[track_caller]
fn only(document: Value) -> Operation {
    let mut parsed = whole(document);
    assert_eq!(parsed.skipped, []);
    assert_eq!(parsed.operations.len(), 1);
    parsed.operations.remove(0)
}
