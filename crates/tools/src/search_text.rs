//! The texts that a tool is found by, and what each counts.
//!
//! The product and `cargo bench --bench retrieval` both index exactly this. The weights were chosen
//! with the requests of `tests/retrieval`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use tenon_domain::{SourceInfo, ToolSpec};

const NAME_WEIGHT: f32 = 4.0;
const TITLE_WEIGHT: f32 = 4.0;
/// A request that names a source wants its tools, even if tools of other sources match more words.
const SOURCE_NAME_WEIGHT: f32 = 5.0;
const SOURCE_TITLE_WEIGHT: f32 = 3.0;
const KEYWORDS_WEIGHT: f32 = 2.0;
const SUMMARY_WEIGHT: f32 = 1.0;
const DETAILS_WEIGHT: f32 = 0.2;
const PARAMETER_NAME_WEIGHT: f32 = 0.1;
const PARAMETER_DESCRIPTION_WEIGHT: f32 = 0.3;

const MAX_NAME_BYTES: usize = 200;
/// The beginning of a description, which says what the tool does.
const MAX_SUMMARY_BYTES: usize = 100;
/// Length of the detail text that is indexed after the description: conditions, examples, links.
const MAX_DETAILS_BYTES: usize = 500;
const MAX_KEYWORDS_BYTES: usize = 1_000;
const MAX_PARAMETERS: usize = 30;
const MAX_PARAMETER_DESCRIPTION_BYTES: usize = 100;
const MAX_PARAMETER_DESCRIPTIONS_BYTES: usize = 1_500;

/// The searchable texts of a tool, each with the weight that a word in it has. Bounded, whatever
/// its source says of it. `keywords` are those of [`crate::ToolSource::keywords`].
pub fn search_fields<'a>(
    spec: &'a ToolSpec,
    source: &'a SourceInfo,
    keywords: &'a str,
) -> Vec<(Cow<'a, str>, f32)> {
    let (summary, rest) = split(&spec.description, MAX_SUMMARY_BYTES);
    let details = split(rest, MAX_DETAILS_BYTES).0;
    let keywords = split(keywords, MAX_KEYWORDS_BYTES).0;
    let mut fields: Vec<(Cow<'a, str>, f32)> = vec![
        (split(&spec.name, MAX_NAME_BYTES).0.into(), NAME_WEIGHT),
        (source.name.as_str().into(), SOURCE_NAME_WEIGHT),
        (
            split(&source.title, MAX_NAME_BYTES).0.into(),
            SOURCE_TITLE_WEIGHT,
        ),
        (summary.into(), SUMMARY_WEIGHT),
        (details.into(), DETAILS_WEIGHT),
        (keywords.into(), KEYWORDS_WEIGHT),
    ];
    // A tool without a title has its name as one.
    if spec.title != spec.name {
        fields.push((split(&spec.title, MAX_NAME_BYTES).0.into(), TITLE_WEIGHT));
    }
    // A schema that cannot be read has no parameters to find the tool by.
    let schema: SearchableSchema<'a> =
        serde_json::from_str(spec.input_schema.as_str()).unwrap_or_default();
    let mut bytes_left = MAX_PARAMETER_DESCRIPTIONS_BYTES;
    for (name, property) in schema.properties.into_iter().take(MAX_PARAMETERS) {
        let name = split(&name, MAX_NAME_BYTES).0.to_owned();
        fields.push((name.into(), PARAMETER_NAME_WEIGHT));
        let property: SearchableProperty = serde_json::from_str(property.get()).unwrap_or_default();
        let mut description = property.description;
        let max_bytes = bytes_left.min(MAX_PARAMETER_DESCRIPTION_BYTES);
        description.truncate(description.floor_char_boundary(max_bytes));
        bytes_left -= description.len();
        fields.push((description.into(), PARAMETER_DESCRIPTION_WEIGHT));
    }
    fields
}

/// A text up to a bound, and what follows.
fn split(text: &str, max_bytes: usize) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(max_bytes))
}

/// The part of a schema that is searched. The rest is skipped, because parsing all of it would
/// dominate the time of indexing.
#[derive(Deserialize, Default)]
struct SearchableSchema<'a> {
    #[serde(borrow, default)]
    properties: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize, Default)]
struct SearchableProperty {
    #[serde(default)]
    description: String,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tenon_domain::{Annotations, RunsOn, SourceId, SourceKind, ToolId};

    use super::*;

    fn source() -> SourceInfo {
        SourceInfo {
            id: SourceId::new("s"),
            kind: SourceKind::Openapi,
            name: "pets".into(),
            title: "Pet Store".into(),
            owner: None,
        }
    }

    fn tool(title: &str, description: &str, schema: Value) -> ToolSpec {
        ToolSpec {
            id: ToolId::new("api_pets_addPet"),
            name: "addPet".into(),
            title: title.into(),
            display_name: format!("Pet Store/{title}"),
            description: description.into(),
            input_schema: schema.into(),
            annotations: Annotations::default(),
            runs_on: RunsOn::Server,
        }
    }

    #[test]
    fn a_tool_is_found_by_its_names_its_description_and_its_parameters() {
        let schema = json!({"properties": {
            "breed": {"description": "Of what kind", "type": "string"},
            "odd": true,
        }});
        let tool = tool("Add a pet", "To the store.", schema);
        let source = source();
        let fields = search_fields(&tool, &source, "animal");
        let texts: Vec<&str> = fields.iter().map(|(text, _)| text.as_ref()).collect();
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let names = [
            "addPet",
            "pets",
            "Pet Store",
            "To the store.",
            "animal",
            "Add a pet",
        ];
        assert_eq!(texts[..6], names);
        assert_eq!(texts[6..], ["breed", "Of what kind", "odd"]);
    }

    #[test]
    fn what_a_source_says_of_a_tool_is_read_up_to_a_bound() {
        let long = "语".repeat(2_000);
        let properties =
            (0..1_000).map(|number| (format!("p{number}"), json!({"description": long})));
        let schema = json!({"properties": Value::Object(properties.collect())});
        let tool = tool("addPet", &long, schema);
        let source = source();
        let fields = search_fields(&tool, &source, &long);
        let bytes: usize = fields.iter().map(|(text, _)| text.len()).sum();
        assert!(bytes < 4_000, "{bytes}");
    }
}
