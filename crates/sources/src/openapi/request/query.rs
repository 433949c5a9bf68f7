//! The query of a request, and forms that are written like one.

use serde_json::Value;

use super::media;
use super::style::Manner;
use crate::openapi::operation::Written;
use tenon_net::percent::{Keep, encode};

/// The value of a parameter or field as pairs that are encoded already.
pub(super) fn pairs(name: &str, value: &Value, written: &Written) -> Vec<(String, String)> {
    match written {
        Written::As {
            style,
            explode,
            reserved,
        } => Manner::new(*style, *explode, reserved.then_some(Keep::ReservedInQuery))
            .pairs(name, value),
        Written::Media(media_type) => vec![(
            encode(name, Keep::Unreserved),
            encode(&media(media_type, value), Keep::Unreserved),
        )],
    }
}

pub(super) fn joined(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("&")
}
