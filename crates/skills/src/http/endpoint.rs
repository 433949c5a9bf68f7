//! The URL template of a tool: `{parameter}` is an argument, `${VARIABLE}` a setting or secret.

use url::Url;

use super::Variables;
use crate::error::EndpointProblem;
use crate::variable::is_variable_name;

/// A template in two: where requests go, which no argument can change, and the rest.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UrlTemplate {
    /// "https://api.example.com"; empty where the template is relative. May have variables.
    pub(super) server: String,
    /// With each variable as the parameter `{$NAME}`.
    pub(super) path: String,
    pub(super) placeholders: Vec<String>,
    /// Those in the path.
    pub(super) variables: Vec<String>,
}

impl UrlTemplate {
    pub(super) fn parse(template: &str, allow_relative: bool) -> Result<Self, EndpointProblem> {
        if template
            .chars()
            .any(|c| c.is_control() || c.is_whitespace())
        {
            return Err(EndpointProblem::Characters);
        }
        let (server, rest) = split(template).ok_or(EndpointProblem::NotAbsolute)?;
        if server.is_empty() && !allow_relative {
            return Err(EndpointProblem::NotAbsolute);
        }
        check_server(server)?;
        let mut endpoint = Self {
            server: server.to_owned(),
            path: String::new(),
            placeholders: Vec::new(),
            variables: Vec::new(),
        };
        for part in parts(rest) {
            match part? {
                TemplatePart::Literal(text) => endpoint.path.push_str(text),
                TemplatePart::Parameter(name) => {
                    endpoint.path.push_str(&format!("{{{name}}}"));
                    endpoint.placeholders.push(name.to_owned());
                }
                TemplatePart::Variable(name) => {
                    endpoint.path.push_str(&format!("{{${name}}}"));
                    endpoint.variables.push(name.to_owned());
                }
            }
        }
        Ok(endpoint)
    }
}

/// The name of a variable that has no value.
#[derive(Debug)]
pub(super) struct MissingVariable(pub(super) String);

/// The template with the values of its variables. Error: the first that has none.
pub(super) fn expand(template: &str, variables: &Variables) -> Result<String, MissingVariable> {
    let mut text = String::new();
    for part in parts(template) {
        match part {
            Ok(TemplatePart::Variable(name)) => {
                let value = variables.get(name);
                text.push_str(value.ok_or_else(|| MissingVariable(name.to_owned()))?);
            }
            Ok(TemplatePart::Literal(literal)) => text.push_str(literal),
            // Braces are text in a header.
            Ok(TemplatePart::Parameter(name)) => text.push_str(&format!("{{{name}}}")),
            Err(_) => return Ok(template.to_owned()),
        }
    }
    Ok(text)
}

pub(super) fn variables_of(template: &str) -> impl Iterator<Item = &str> {
    parts(template).filter_map(|part| match part {
        Ok(TemplatePart::Variable(name)) => Some(name),
        _ => None,
    })
}

enum TemplatePart<'a> {
    Literal(&'a str),
    Parameter(&'a str),
    Variable(&'a str),
}

fn parts(template: &str) -> impl Iterator<Item = Result<TemplatePart<'_>, EndpointProblem>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(open) = rest.find(['{', '}']) else {
            return Some(Ok(TemplatePart::Literal(std::mem::take(&mut rest))));
        };
        let is_variable = rest[..open].ends_with('$');
        let start = if is_variable { open - 1 } else { open };
        if start > 0 {
            let (literal, after) = rest.split_at(start);
            rest = after;
            return Some(Ok(TemplatePart::Literal(literal)));
        }
        let inside = rest[open..]
            .strip_prefix('{')
            .and_then(|inside| inside.split_once('}'));
        let Some((name, after)) =
            inside.filter(|(name, _)| !name.is_empty() && !name.contains('{'))
        else {
            rest = "";
            return Some(Err(EndpointProblem::Braces));
        };
        rest = after;
        Some(if !is_variable {
            Ok(TemplatePart::Parameter(name))
        } else if is_variable_name(name) {
            Ok(TemplatePart::Variable(name))
        } else {
            Err(EndpointProblem::VariableName(name.to_owned()))
        })
    })
}

/// Scheme and authority, and what follows.
fn split(template: &str) -> Option<(&str, &str)> {
    if template.starts_with('/') && !template.starts_with("//") {
        return Some(("", template));
    }
    let authority = if template.starts_with("${") {
        template.find('}')? + 1
    } else {
        let lower = template.get(..8)?.to_ascii_lowercase();
        let is_http = lower.starts_with("http://") || lower == "https://";
        is_http.then(|| template.find("://"))?? + 3
    };
    let end = template[authority..].find(['/', '?', '#']);
    Some(template.split_at(end.map_or(template.len(), |end| authority + end)))
}

fn check_server(server: &str) -> Result<(), EndpointProblem> {
    if server.contains('@') {
        return Err(EndpointProblem::UserInfo);
    }
    let mut example = String::new();
    for part in parts(server) {
        match part? {
            TemplatePart::Literal(text) => example.push_str(text),
            TemplatePart::Parameter(name) => {
                return Err(EndpointProblem::ParameterInHost(name.to_owned()));
            }
            // Whatever the variable holds, it is checked with each request.
            TemplatePart::Variable(_) if example.is_empty() => example.push_str("https://host"),
            TemplatePart::Variable(_) if example.ends_with(':') => example.push_str("80"),
            TemplatePart::Variable(_) => example.push_str("host"),
        }
    }
    if !example.is_empty() {
        Url::parse(&example)?;
    }
    Ok(())
}
