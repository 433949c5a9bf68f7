//! Where arguments go, in the ways people write it: by argument (`q: query`, `q: query.search`,
//! `q: {in: query, name: search}`) or by place (`query: [q]`, `query: {search: q}`).

use std::collections::BTreeMap;

use tenon_openapi::request::header;

use crate::error::{SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use crate::yaml::{YamlEntry, YamlValue};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentLocation {
    Path,
    Query,
    Header,
    Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArgumentTarget {
    pub(super) location: ArgumentLocation,
    /// Where it differs from the argument's.
    pub(super) name: Option<String>,
}

pub(super) fn parse(
    tool: &str,
    fields: Fields<'_>,
    properties: &[&str],
) -> Result<BTreeMap<String, ArgumentTarget>, SkillError> {
    let Some(entry) = fields.entry("mapping") else {
        return Ok(BTreeMap::new());
    };
    let mut targets = BTreeMap::new();
    for entry in Fields::of(fields.file, "mapping", &entry.node)?.entries() {
        for (argument, target) in targets_of(fields, entry)? {
            if !properties.contains(&argument.as_str()) {
                let problem = SkillProblem::MappedUnknown {
                    tool: tool.to_owned(),
                    parameter: argument,
                };
                return Err(fields.error(entry.line, problem));
            }
            if target.location == ArgumentLocation::Header {
                let name = target.name.as_deref().unwrap_or(&argument);
                header::name(name).map_err(|error| fields.error(entry.line, error))?;
            }
            targets.insert(argument, target);
        }
    }
    Ok(targets)
}

fn targets_of(
    fields: Fields<'_>,
    entry: &YamlEntry,
) -> Result<Vec<(String, ArgumentTarget)>, SkillError> {
    let refuse = || fields.error(entry.line, SkillProblem::Mapping(entry.key.clone()));
    match (&entry.node.value, location(&entry.key)) {
        (YamlValue::List(items), Some(location)) => {
            let target = ArgumentTarget {
                location,
                name: None,
            };
            let arguments = items
                .iter()
                .map(|item| Some((scalar(item)?, target.clone())));
            arguments.collect::<Option<_>>().ok_or_else(refuse)
        }
        (YamlValue::Map(members), _) if members.iter().any(|member| member.key == "in") => {
            let inner = Fields::of(fields.file, &entry.key, &entry.node)?;
            let place = inner.text(&["in"])?.unwrap_or_default();
            let location = location(&place).ok_or_else(refuse)?;
            let name = inner.text(&["name"])?;
            Ok(vec![(entry.key.clone(), ArgumentTarget { location, name })])
        }
        (YamlValue::Map(members), Some(location)) => {
            let arguments = members.iter().map(|member| {
                let name = Some(member.key.clone());
                Some((scalar(&member.node)?, ArgumentTarget { location, name }))
            });
            arguments.collect::<Option<_>>().ok_or_else(refuse)
        }
        (YamlValue::Text(text), _) => {
            let (place, name) = match text.split_once('.') {
                Some((place, name)) => (place, Some(name.to_owned())),
                None => (text.as_str(), None),
            };
            let location = location(place).ok_or_else(refuse)?;
            Ok(vec![(entry.key.clone(), ArgumentTarget { location, name })])
        }
        _ => Err(refuse()),
    }
}

fn location(place: &str) -> Option<ArgumentLocation> {
    match place.trim() {
        "path" => Some(ArgumentLocation::Path),
        "query" => Some(ArgumentLocation::Query),
        "header" | "headers" => Some(ArgumentLocation::Header),
        "body" | "json" => Some(ArgumentLocation::Body),
        _ => None,
    }
}
