//! The query of a request, and forms that are written like one.

use serde_json::Value;
use tenon_net::percent::{PercentEncodeSet, encode};

use super::media;
use super::style::StyleWriter;
use crate::operation::Serialization;

/// The value of a parameter or field as pairs that are encoded already.
pub(super) fn pairs(
    name: &str,
    value: &Value,
    serialization: &Serialization,
) -> Vec<(String, String)> {
    match serialization {
        Serialization::Styled {
            style,
            explode,
            reserved,
        } => StyleWriter::new(
            *style,
            *explode,
            reserved.then_some(PercentEncodeSet::ReservedInQuery),
        )
        .pairs(name, value),
        Serialization::Media(media_type) => vec![(
            encode(name, PercentEncodeSet::Unreserved),
            encode(&media(media_type, value), PercentEncodeSet::Unreserved),
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
