//! Variables and secrets that a skill declares, in the ways people write them: a list of names, a
//! list of mappings, or a mapping by name.

use serde::Serialize;
use tenon_text::line;
use ts_rs::TS;

use crate::error::{SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use crate::yaml::{YamlEntry, YamlNode, YamlValue};

const MAX_VARIABLES: usize = 100;

/// A value that a skill asks for, passed to scripts in their environment and to requests as
/// `${NAME}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillVariable {
    pub name: String,
    pub description: Option<String>,
    pub is_secret: bool,
    pub is_required: bool,
    pub default: Option<String>,
}

/// Letters, digits and `_`, not beginning with a digit: what every shell and system takes.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= 128 && name.starts_with(is_first) && name.chars().all(is_name)
}

/// Those under `env` and `secrets`.
pub(crate) fn parse(fields: Fields<'_>) -> Result<Vec<SkillVariable>, SkillError> {
    let mut variables: Vec<SkillVariable> = Vec::new();
    for (keys, is_secret) in [
        (&["env", "environment"][..], false),
        (&["secrets"][..], true),
    ] {
        let Some(entry) = fields.any(keys) else {
            continue;
        };
        let declared = match &entry.node.value {
            YamlValue::List(items) => items
                .iter()
                .map(|item| listed_variable(fields, entry, item))
                .collect::<Result<Vec<_>, _>>()?,
            YamlValue::Map(members) => members
                .iter()
                .map(|member| named_variable(fields, member))
                .collect::<Result<Vec<_>, _>>()?,
            _ => return Err(fields.wrong(entry, "a list of names, such as `[API_KEY]`")),
        };
        for variable in declared {
            if !variables.iter().any(|other| other.name == variable.name) {
                variables.push(SkillVariable {
                    is_secret,
                    ..variable
                });
            }
        }
        if variables.len() > MAX_VARIABLES {
            let problem = SkillProblem::TooMany {
                what: "variables",
                max: MAX_VARIABLES,
            };
            return Err(fields.error(entry.line, problem));
        }
    }
    Ok(variables)
}

/// `- API_KEY` or `- name: API_KEY`.
fn listed_variable(
    fields: Fields<'_>,
    list: &YamlEntry,
    item: &YamlNode,
) -> Result<SkillVariable, SkillError> {
    if let Some(name) = scalar(item) {
        return variable(fields, item.line, name, None);
    }
    let inner = Fields::of(fields.file, &list.key, item)?;
    let name = inner.text(&["name"])?.unwrap_or_default();
    variable(fields, inner.line, name, Some(inner))
}

/// `API_KEY: what it is for` or `API_KEY: {description: …}`.
fn named_variable(fields: Fields<'_>, member: &YamlEntry) -> Result<SkillVariable, SkillError> {
    let name = member.key.clone();
    match &member.node.value {
        YamlValue::Map(_) => {
            let inner = Fields::of(fields.file, &name, &member.node)?;
            variable(fields, member.line, name, Some(inner))
        }
        _ => Ok(SkillVariable {
            description: scalar(&member.node).map(|text| line(&text, 500)),
            ..variable(fields, member.line, name, None)?
        }),
    }
}

fn variable(
    fields: Fields<'_>,
    at: u64,
    name: String,
    details: Option<Fields<'_>>,
) -> Result<SkillVariable, SkillError> {
    if !is_variable_name(&name) {
        return Err(fields.error(at, SkillProblem::VariableName(line(&name, 80))));
    }
    let text = |key: &str| details.map_or(Ok(None), |details| details.text(&[key]));
    let is_optional = match details.and_then(|details| details.entry("required")) {
        Some(entry) => entry.node.value == YamlValue::Bool(false),
        None => false,
    };
    let default = text("default")?;
    Ok(SkillVariable {
        name,
        description: text("description")?.map(|text| line(&text, 500)),
        is_secret: false,
        is_required: !is_optional && default.is_none(),
        default,
    })
}
