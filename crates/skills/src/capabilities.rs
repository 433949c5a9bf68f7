//! Tools from the description of a server: `capabilities[]` with an HTTP `invocation` each.
//!
//! `{"capabilities": [{"id": "weather", "parameters": {…}, "invocation": {"type": "http", "method":
//! "GET", "url": "/weather/{city}", "mapping": {"unit": "query"}}}]}`. MCP has an object under this
//! name, so that the two are never mistaken for each other.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tenon_text::line;

use crate::error::{SkillError, SkillProblem};
use crate::fields::Fields;
use crate::http;
use crate::tool::{self, SkillTool, SkillToolRun};
use crate::yaml::YamlNode;

const MAX_CAPABILITIES: usize = 500;

/// Whether a description of a server has capabilities that can be called.
pub fn has_capabilities(description: &Value) -> bool {
    let capabilities = description.get("capabilities").and_then(Value::as_array);
    let is_callable = |capability: &Value| {
        capability.get("id").is_some_and(Value::is_string)
            && capability.get("invocation").is_some_and(Value::is_object)
    };
    capabilities.is_some_and(|capabilities| capabilities.iter().any(is_callable))
}

/// The tools of a description, each on its own: one that is wrong does not keep the others out.
/// URLs may be relative to the server.
pub fn tools(description: &Value) -> Vec<Result<SkillTool, SkillError>> {
    let capabilities = description.get("capabilities").and_then(Value::as_array);
    let capabilities = capabilities.map(Vec::as_slice).unwrap_or_default();
    let mut names = BTreeSet::new();
    let capabilities = capabilities.iter().take(MAX_CAPABILITIES).enumerate();
    let tools = capabilities.map(|(index, capability)| {
        let place = format!("capabilities[{index}]");
        let tool = tool(&place, capability)?;
        if names.insert(tool.name.clone()) {
            return Ok(tool);
        }
        let problem = SkillProblem::DuplicateCapability(tool.name);
        Err(SkillError::at(&place, 0, problem))
    });
    tools.collect()
}

fn tool(place: &str, capability: &Value) -> Result<SkillTool, SkillError> {
    let node = YamlNode::from(capability);
    let fields = Fields::of(place, "capability", &node)?;
    let id = fields.text(&["id"])?.ok_or_else(|| {
        fields.error(
            0,
            SkillProblem::Missing {
                key: "id",
                example: "`\"id\": \"weather\"`",
            },
        )
    })?;
    let name = json!({ "name": usable_name(&id) });
    let name = tool::parse_name(
        Fields::of(place, "capability", &YamlNode::from(&name))?,
        "name",
    )?;
    let parameters = tool::parse_parameters(&name, fields)?;
    let invocation = fields.entry("invocation").ok_or_else(|| {
        let problem = SkillProblem::ToolNeeds {
            tool: name.clone(),
            key: "invocation",
            example: "`{\"type\": \"http\", \"method\": \"GET\", \"url\": \"/weather\"}`",
        };
        fields.error(0, problem)
    })?;
    let invocation = Fields::of(place, "invocation", &invocation.node)?;
    match invocation.text(&["type"])?.as_deref() {
        Some("http") | None => {}
        Some(other) => {
            let found = line(other, 40);
            return Err(fields.error(0, SkillProblem::InvocationType { tool: name, found }));
        }
    }
    let mapping = http::parse(&name, invocation, &parameters, true)?;
    Ok(SkillTool {
        title: fields
            .text(&["title", "name"])?
            .map(|title| line(&title, 200)),
        description: tool::description(fields)?,
        timeout: None,
        name,
        parameters,
        run: SkillToolRun::Http(Box::new(mapping)),
    })
}

/// "weather.get" → "weather_get".
fn usable_name(id: &str) -> String {
    let usable = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    id.trim().chars().map(usable).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Variables;
    use url::Url;

    fn description() -> Value {
        json!({
            "serverInfo": {"name": "home"},
            "capabilities": [
                {
                    "id": "weather.get", "name": "Weather", "description": "The weather of a city.",
                    "parameters": {"type": "object", "properties": {
                        "city": {"type": "string"}, "unit": {"type": "string"}, "key": {"type": "string"},
                    }, "required": ["city"]},
                    "invocation": {"type": "http", "method": "GET", "url": "/weather/{city}",
                        "mapping": {"unit": "query.units", "key": {"in": "header", "name": "X-Key"}}},
                },
                {"id": "no_schema", "invocation": {"type": "http", "url": "/x"}},
                {"id": "ws", "parameters": {"type": "object"}, "invocation": {"type": "ws", "url": "/x"}},
                {"id": "weather.get", "parameters": {"type": "object"}, "invocation": {"url": "/x"}},
            ],
        })
    }

    #[test]
    fn a_capability_is_a_tool_that_calls_its_server() {
        assert!(has_capabilities(&description()));
        assert!(!has_capabilities(&json!({"capabilities": {"tools": {}}})));
        let tools = tools(&description());
        let Ok(SkillTool {
            name,
            title,
            run: SkillToolRun::Http(mapping),
            ..
        }) = &tools[0]
        else {
            panic!("{tools:?}");
        };
        assert_eq!(
            (name.as_str(), title.as_deref()),
            ("weather_get", Some("Weather"))
        );
        let base = Url::parse("http://localhost:8000/sse").unwrap();
        let arguments = json!({"city": "a/b", "unit": "C", "key": "k"});
        let request = mapping
            .request(Some(&base), &Variables::new(), &arguments)
            .unwrap();
        assert_eq!(
            request.url.as_str(),
            "http://localhost:8000/weather/a%2Fb?units=C"
        );
        assert_eq!(request.headers["x-key"], "k");
    }

    #[test]
    fn each_wrong_capability_is_told() {
        let errors = tools(&description()).into_iter().filter_map(Result::err);
        let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
        assert_eq!(
            errors,
            [
                "capabilities[1]: The tool `no_schema` has no schema: add `parameters`, at least `parameters: {type: object, properties: {}}`.",
                "capabilities[2]: The invocation of `ws` is of type `ws`: only `http` can be called.",
                "capabilities[3]: The capability `weather_get` is there twice: give each its own id.",
            ]
        );
    }
}
