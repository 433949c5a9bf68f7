//! Columns that hold an enum, spelled as the API spells it.

use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

pub(crate) fn read<'de, T: Deserialize<'de>>(word: &'de str) -> Result<T> {
    let parsed = T::deserialize(StrDeserializer::<ValueError>::new(word));
    parsed.map_err(|error| Error::Corrupt(serde::de::Error::custom(error)))
}

pub(crate) fn write(word: impl Serialize) -> Result<String> {
    Ok(serde_json::from_value(serde_json::to_value(word)?)?)
}
