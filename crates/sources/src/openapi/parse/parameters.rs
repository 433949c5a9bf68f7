//! The parameters of one operation, and what Swagger 2.0 lists among them.

use std::collections::HashMap;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::refs::pointer;
use super::{Reading, Version};
use crate::openapi::operation::{Place, Style, Written};
use crate::openapi::request::header;
use crate::text;

/// Nobody fills in more.
const MAX_PARAMETERS: usize = 1000;
const MAX_DESCRIPTION: usize = 1000;

/// A parameter as the document gives it.
pub(super) struct Given<'d> {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) written: Written,
    pub(super) required: bool,
    pub(super) schema: Vec<&'d Value>,
    /// What is said about it beside its schema.
    pub(super) said: Map<String, Value>,
}

#[derive(Default)]
pub(super) struct Lists<'d> {
    pub(super) parameters: Vec<Given<'d>>,
    /// The body, where it is a parameter.
    pub(super) body: Option<&'d Map<String, Value>>,
    /// The fields of a form, where they are parameters.
    pub(super) form: Vec<&'d Value>,
    /// Those of HTTP itself that the document leaves no choice about.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Why parameters that an operation can do without were left out.
    pub(super) dropped: Vec<String>,
}

/// All that hold for an operation. The error says why it cannot be called.
pub(super) fn read<'d>(
    reading: &Reading<'d>,
    path: &str,
    lists: &[Option<&'d Value>],
) -> Result<Lists<'d>, String> {
    let mut read = Lists::default();
    for value in unique(reading, path, lists, &mut read.dropped)? {
        let Some(object) = value.as_object() else {
            continue;
        };
        let text = |word| object.get(word).and_then(Value::as_str).unwrap_or_default();
        let place = match text("in") {
            "path" => Place::Path,
            "query" => Place::Query,
            "header" => Place::Header,
            "cookie" => Place::Cookie,
            "body" => {
                read.body = Some(object);
                continue;
            }
            "formData" | "form" => {
                read.form.push(value);
                continue;
            }
            other => {
                let why = format!("stands in `{}`, which is not known.", text::line(other, 40));
                if is_required(object) {
                    return Err(format!("A parameter it needs {why}"));
                }
                read.dropped.push(format!("it {why}"));
                continue;
            }
        };
        if place == Place::Header && reading.sets_itself(text("name")) {
            read.headers.extend(reading.demanded(object, text("name")));
            continue;
        }
        // What is not in the path has nowhere to go.
        if place == Place::Path && !path.contains(&format!("{{{}}}", text("name"))) {
            continue;
        }
        read.parameters
            .push(reading.given(value, object, text("name"), place));
    }
    add_missing(path, &mut read.parameters);
    // Stable: those of a path come first and so keep their names.
    read.parameters.sort_by_key(|given| match given.place {
        Place::Path => 0,
        Place::Query => 1,
        Place::Header => 2,
        Place::Cookie => 3,
    });
    Ok(read)
}

/// Followed, and each (name, in) once: the later list, that of the operation, counts.
/// What cannot be read is dropped, unless it is said there that it is needed.
fn unique<'d>(
    reading: &Reading<'d>,
    path: &str,
    lists: &[Option<&'d Value>],
    dropped: &mut Vec<String>,
) -> Result<Vec<&'d Value>, String> {
    let mut unique: Vec<&'d Value> = Vec::new();
    let mut places: HashMap<(&'d str, &'d str), usize> = HashMap::new();
    for list in lists.iter().flatten() {
        let Value::Array(list) = list else {
            continue;
        };
        for parameter in list {
            let is_needed = |parameter: &Value| parameter.as_object().is_some_and(is_required);
            let found = match reading.reader.refs.follow(parameter) {
                Ok(found) => found,
                Err(lost) if is_needed(parameter) => return Err(lost.why("A parameter of it")),
                Err(lost) => {
                    dropped.push(lost.why("it"));
                    continue;
                }
            };
            let text = |word| found.get(word).and_then(Value::as_str);
            let (Some(name), Some(place)) = (text("name"), text("in")) else {
                if !is_needed(found) {
                    dropped.push("it has no `name` or no `in`.".to_owned());
                    continue;
                }
                let paths = pointer(&["paths", path]);
                return Err(format!(
                    "A parameter of it (in `{paths}`) has no `name` or no `in`."
                ));
            };
            match places
                .get(&(name, place))
                .and_then(|at| unique.get_mut(*at))
            {
                Some(known) => *known = found,
                None => {
                    places.insert((name, place), unique.len());
                    unique.push(found);
                }
            }
            if unique.len() > MAX_PARAMETERS {
                return Err(format!("It has more than {MAX_PARAMETERS} parameters."));
            }
        }
    }
    Ok(unique)
}

/// What stands in braces in the path and is not described must be filled in all the same.
fn add_missing(path: &str, parameters: &mut Vec<Given<'_>>) {
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return;
        };
        let is_there = |given: &Given<'_>| given.place == Place::Path && given.name == name;
        if !name.is_empty() && !parameters.iter().any(is_there) && parameters.len() < MAX_PARAMETERS
        {
            let mut said = Map::new();
            said.insert("type".into(), "string".into());
            parameters.push(Given {
                name: name.to_owned(),
                place: Place::Path,
                written: Written::As {
                    style: Style::Simple,
                    explode: false,
                    reserved: false,
                },
                required: true,
                schema: Vec::new(),
                said,
            });
        }
        rest = after;
    }
}

impl<'d> Reading<'d> {
    fn given(
        &self,
        value: &'d Value,
        object: &'d Map<String, Value>,
        name: &str,
        place: Place,
    ) -> Given<'d> {
        let mut said = said(object);
        let content = object.get("content").and_then(Value::as_object);
        let content = content.and_then(|content| content.iter().next());
        let (schema, written) = match (object.get("schema"), content) {
            (None, Some((media_type, media))) => {
                let written = Written::Media(text::line(media_type, 200));
                (media.get("schema"), written)
            }
            (Some(schema), _) if self.version != Version::Swagger2 => {
                (Some(schema), style(object, place))
            }
            // Swagger 2.0 has no schema here, and some newer documents have none either.
            _ if object.contains_key("type") || object.contains_key("enum") => {
                (Some(value), self.written(object, place))
            }
            (schema, _) => (schema, self.written(object, place)),
        };
        if schema.is_none() {
            said.insert("type".into(), "string".into());
        }
        Given {
            name: name.to_owned(),
            place,
            written,
            required: place == Place::Path || is_required(object),
            schema: schema.into_iter().collect(),
            said,
        }
    }

    fn written(&self, object: &Map<String, Value>, place: Place) -> Written {
        match self.version {
            Version::Swagger2 => collection(object, place),
            Version::Openapi30 | Version::Openapi31 => style(object, place),
        }
    }

    /// A header of HTTP itself, if the document demands it with one value.
    fn demanded(
        &self,
        object: &'d Map<String, Value>,
        name: &str,
    ) -> Option<(HeaderName, HeaderValue)> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let is_ours = matches!(name.as_str(), "accept" | "content-type");
        if !is_ours || !is_required(object) {
            return None;
        }
        let schema = match object.get("schema") {
            Some(schema) => self.reader.refs.object(schema)?,
            None => object,
        };
        let only = match schema.get("enum") {
            Some(Value::Array(values)) if values.len() == 1 => values.first(),
            _ => None,
        };
        let value = schema.get("const").or(only).or(schema.get("default"))?;
        Some((name, header::value(value.as_str()?)?))
    }

    /// Headers that are not parameters: whoever sends the request knows them.
    fn sets_itself(&self, name: &str) -> bool {
        let is = |header| name.eq_ignore_ascii_case(header);
        let has_schemes = self.document.contains_key("securityDefinitions");
        let is_swagger = self.version == Version::Swagger2;
        is("accept") || is("content-type") || (is("authorization") && (!is_swagger || has_schemes))
    }
}

pub(super) fn is_required(object: &Map<String, Value>) -> bool {
    object.get("required") == Some(&Value::Bool(true))
}

/// What a parameter says beside its schema.
pub(super) fn said(object: &Map<String, Value>) -> Map<String, Value> {
    let mut said = Map::new();
    if let Some(Value::String(text)) = object.get("description")
        && !text.trim().is_empty()
    {
        said.insert(
            "description".into(),
            text::block(text, MAX_DESCRIPTION).into(),
        );
    }
    if object.get("deprecated") == Some(&Value::Bool(true)) {
        said.insert("deprecated".into(), true.into());
    }
    let named = object.get("examples").and_then(Value::as_object);
    let named = named.and_then(|examples| examples.values().next()?.get("value"));
    if let Some(example) = object.get("example").or(named)
        && (example.is_string() || example.is_number())
        && example.as_str().is_none_or(|text| text.len() <= 200)
    {
        said.insert("examples".into(), json!([example]));
    }
    said
}

/// How it is written since 3.0; each place has its own defaults.
fn style(object: &Map<String, Value>, place: Place) -> Written {
    let said = object.get("style").and_then(Value::as_str);
    let style = match (place, said) {
        (Place::Path, Some("label")) => Style::Label,
        (Place::Path, Some("matrix")) => Style::Matrix,
        (Place::Path | Place::Header, _) => Style::Simple,
        (Place::Query, said) => named(said),
        (Place::Cookie, _) => Style::Form,
    };
    let flag = |word| object.get(word).and_then(Value::as_bool);
    Written::As {
        style,
        explode: flag("explode").unwrap_or(style == Style::Form),
        reserved: flag("allowReserved").unwrap_or(false),
    }
}

/// The styles of queries and forms.
pub(super) fn named(style: Option<&str>) -> Style {
    match style {
        Some("spaceDelimited") => Style::SpaceDelimited,
        Some("pipeDelimited") => Style::PipeDelimited,
        Some("deepObject") => Style::DeepObject,
        _ => Style::Form,
    }
}

/// How Swagger 2.0 writes lists.
pub(super) fn collection(object: &Map<String, Value>, place: Place) -> Written {
    let plain = match place {
        Place::Path | Place::Header => Style::Simple,
        Place::Query | Place::Cookie => Style::Form,
    };
    let (style, explode) = match object.get("collectionFormat").and_then(Value::as_str) {
        Some("ssv") => (Style::SpaceDelimited, false),
        Some("tsv") => (Style::TabDelimited, false),
        Some("pipes") => (Style::PipeDelimited, false),
        Some("multi") => (plain, plain == Style::Form),
        _ => (plain, false),
    };
    Written::As {
        style,
        explode,
        reserved: false,
    }
}
