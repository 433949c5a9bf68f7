//! The JSON of a request. The tools in it are the same at every step: they
//! were written once, and are only copied.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(crate) struct ModelRequestBody<'a> {
    pub fields: Map<String, Value>,
    pub tools: Vec<&'a RawValue>,
}

impl Serialize for ModelRequestBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
        }
        map.end()
    }
}
