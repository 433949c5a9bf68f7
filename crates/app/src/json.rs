//! Reading of JSON that several requests need.

use serde::{Deserialize, Deserializer};

/// For a field of type `Option<Option<T>>`: tells "left out" (`None`) from `null` (`Some(None)`).
pub fn double_option<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
