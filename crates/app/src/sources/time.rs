//! Conversion of times to milliseconds, as the store and the page use them.

use std::time::SystemTime;

use chrono::{DateTime, Utc};

pub(super) fn millis(at: SystemTime) -> i64 {
    DateTime::<Utc>::from(at).timestamp_millis()
}

pub(super) fn moment(millis: i64) -> SystemTime {
    DateTime::from_timestamp_millis(millis)
        .unwrap_or_default()
        .into()
}
