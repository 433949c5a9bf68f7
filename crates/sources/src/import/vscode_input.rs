//! Placeholders of a VS Code configuration: `${input:ID}`.

use serde_json::{Map, Value};
use tenon_domain::text::line;

use super::note::ImportNote;
use crate::variables::is_name;

/// A description of what is asked for stands in a note.
const MAX_DESCRIPTION: usize = 300;

/// Something VS Code asks a person for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VscodeInput {
    id: String,
    description: Option<String>,
    otherwise: Option<String>,
}

impl VscodeInput {
    /// The `inputs` of a configuration.
    pub(super) fn list(map: &Map<String, Value>) -> Vec<Self> {
        let listed = map.get("inputs").and_then(Value::as_array);
        let text =
            |input: &Value, key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        let input = |input: &Value| {
            let id = text(input, "id").filter(|id| is_name(id))?;
            let description = text(input, "description").map(|text| line(&text, MAX_DESCRIPTION));
            let otherwise = text(input, "default");
            Some(Self {
                id,
                description: description.filter(|text| !text.is_empty()),
                otherwise: otherwise.filter(|text| !text.contains('}') && text.len() <= 500),
            })
        };
        let inputs = listed.into_iter().flatten().filter_map(input);
        inputs.take(200).collect()
    }

    /// How it is written in a server's texts.
    pub(super) fn written(&self) -> String {
        format!("${{input:{}}}", self.id)
    }

    /// The placeholder to import instead. VS Code's suggested value becomes its default.
    pub(super) fn instead(&self) -> Option<String> {
        let otherwise = self.otherwise.as_ref()?;
        Some(format!("${{input.{}:-{otherwise}}}", self.id))
    }

    pub(super) fn note(&self) -> Option<ImportNote> {
        let description = self.description.as_ref()?;
        Some(ImportNote::Input {
            input: self.written().into(),
            description: description.into(),
        })
    }
}
