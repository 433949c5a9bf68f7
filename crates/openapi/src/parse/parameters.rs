//! The parameters of one operation, and what Swagger 2.0 lists among them.

use std::collections::HashMap;

use http::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use tenon_text as text;

use super::references::pointer;
use super::{MAX_PARAMETERS, ParseContext, SpecVersion};
use crate::note::{OperationError, OperationPart, ParameterError};
use crate::operation::{ParameterLocation, ParameterStyle, Serialization};
use crate::request::header;

const MAX_DESCRIPTION_CHARS: usize = 1000;

/// A parameter as the document gives it.
pub(super) struct DeclaredParameter<'d> {
    pub(super) name: String,
    pub(super) location: ParameterLocation,
    pub(super) serialization: Serialization,
    pub(super) required: bool,
    pub(super) schema: Vec<&'d Value>,
    /// Its description and the like, which stand beside its schema.
    pub(super) annotations: Map<String, Value>,
}

#[derive(Default)]
pub(super) struct ParameterLists<'d> {
    pub(super) parameters: Vec<DeclaredParameter<'d>>,
    /// The body, where it is a parameter.
    pub(super) body: Option<&'d Map<String, Value>>,
    /// The fields of a form, where they are parameters.
    pub(super) form: Vec<&'d Value>,
    /// Those of HTTP itself that the document leaves no choice about.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// Why parameters that an operation can do without were left out.
    pub(super) dropped: Vec<ParameterError>,
}

/// All that hold for an operation. The error says why it cannot be called.
pub(super) fn read<'d>(
    reading: &ParseContext<'d>,
    path: &str,
    lists: &[Option<&'d Value>],
) -> Result<ParameterLists<'d>, OperationError> {
    let mut read = ParameterLists::default();
    for value in unique(reading, path, lists, &mut read.dropped)? {
        let Some(object) = value.as_object() else {
            continue;
        };
        let text = |word| object.get(word).and_then(Value::as_str).unwrap_or_default();
        let location = match text("in") {
            "path" => ParameterLocation::Path,
            "query" => ParameterLocation::Query,
            "header" => ParameterLocation::Header,
            "cookie" => ParameterLocation::Cookie,
            "body" => {
                read.body = Some(object);
                continue;
            }
            "formData" | "form" => {
                read.form.push(value);
                continue;
            }
            other => {
                let other = text::line(other, 40);
                if is_required(object) {
                    return Err(OperationError::UnknownLocation(other));
                }
                read.dropped.push(ParameterError::UnknownLocation(other));
                continue;
            }
        };
        if location == ParameterLocation::Header && reading.sets_itself(text("name")) {
            read.headers.extend(reading.demanded(object, text("name")));
            continue;
        }
        // A path parameter without a placeholder in the path has no place to be sent in.
        if location == ParameterLocation::Path && !path.contains(&format!("{{{}}}", text("name"))) {
            continue;
        }
        read.parameters
            .push(reading.given(value, object, text("name"), location));
    }
    add_missing(path, &mut read.parameters);
    // A stable sort: path parameters come first, so they keep their names.
    read.parameters.sort_by_key(|given| match given.location {
        ParameterLocation::Path => 0,
        ParameterLocation::Query => 1,
        ParameterLocation::Header => 2,
        ParameterLocation::Cookie => 3,
    });
    Ok(read)
}

/// Followed, and each (name, in) once: the later list, that of the operation, counts.
/// What cannot be read is dropped, unless it is said there that it is needed.
fn unique<'d>(
    reading: &ParseContext<'d>,
    path: &str,
    lists: &[Option<&'d Value>],
    dropped: &mut Vec<ParameterError>,
) -> Result<Vec<&'d Value>, OperationError> {
    let mut unique: Vec<&'d Value> = Vec::new();
    let mut places: HashMap<(&'d str, &'d str), usize> = HashMap::new();
    for list in lists.iter().flatten() {
        let Value::Array(list) = list else {
            continue;
        };
        for parameter in list {
            let is_needed = |parameter: &Value| parameter.as_object().is_some_and(is_required);
            let found = match reading.reader.references.follow(parameter) {
                Ok(found) => found,
                Err(error) if is_needed(parameter) => {
                    return Err(OperationPart::Parameter.unresolved(error));
                }
                Err(error) => {
                    dropped.push(ParameterError::Reference(error));
                    continue;
                }
            };
            let text = |word| found.get(word).and_then(Value::as_str);
            let (Some(name), Some(location)) = (text("name"), text("in")) else {
                if !is_needed(found) {
                    dropped.push(ParameterError::Unnamed);
                    continue;
                }
                let paths = pointer(&["paths", path]);
                return Err(OperationError::UnnamedParameter(paths));
            };
            match places
                .get(&(name, location))
                .and_then(|at| unique.get_mut(*at))
            {
                Some(known) => *known = found,
                None => {
                    places.insert((name, location), unique.len());
                    unique.push(found);
                }
            }
            if unique.len() > MAX_PARAMETERS {
                return Err(OperationError::TooManyParameters {
                    max: MAX_PARAMETERS,
                });
            }
        }
    }
    Ok(unique)
}

/// Adds a required text parameter for each placeholder of the path that has no description.
fn add_missing(path: &str, parameters: &mut Vec<DeclaredParameter<'_>>) {
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return;
        };
        let is_there = |given: &DeclaredParameter<'_>| {
            given.location == ParameterLocation::Path && given.name == name
        };
        if !name.is_empty() && !parameters.iter().any(is_there) && parameters.len() < MAX_PARAMETERS
        {
            let mut annotations = Map::new();
            annotations.insert("type".into(), "string".into());
            parameters.push(DeclaredParameter {
                name: name.to_owned(),
                location: ParameterLocation::Path,
                serialization: Serialization::Styled {
                    style: ParameterStyle::Simple,
                    explode: false,
                    reserved: false,
                },
                required: true,
                schema: Vec::new(),
                annotations,
            });
        }
        rest = after;
    }
}

impl<'d> ParseContext<'d> {
    fn given(
        &self,
        value: &'d Value,
        object: &'d Map<String, Value>,
        name: &str,
        location: ParameterLocation,
    ) -> DeclaredParameter<'d> {
        let mut annotations = annotations(object);
        let content = object.get("content").and_then(Value::as_object);
        let content = content.and_then(|content| content.iter().next());
        let (schema, serialization) = match (object.get("schema"), content) {
            (None, Some((media_type, media))) => {
                let serialization = Serialization::Media(text::line(media_type, 200));
                (media.get("schema"), serialization)
            }
            (Some(schema), _) if self.version != SpecVersion::Swagger2 => {
                (Some(schema), style(object, location))
            }
            // Swagger 2.0 has no schema here, and some newer documents have none either.
            _ if object.contains_key("type") || object.contains_key("enum") => {
                (Some(value), self.serialization(object, location))
            }
            (schema, _) => (schema, self.serialization(object, location)),
        };
        if schema.is_none() {
            annotations.insert("type".into(), "string".into());
        }
        DeclaredParameter {
            name: name.to_owned(),
            location,
            serialization,
            required: location == ParameterLocation::Path || is_required(object),
            schema: schema.into_iter().collect(),
            annotations,
        }
    }

    fn serialization(
        &self,
        object: &Map<String, Value>,
        location: ParameterLocation,
    ) -> Serialization {
        match self.version {
            SpecVersion::Swagger2 => collection(object, location),
            SpecVersion::Openapi30 | SpecVersion::Openapi31 => style(object, location),
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
            Some(schema) => self.reader.references.object(schema)?,
            None => object,
        };
        let only = match schema.get("enum") {
            Some(Value::Array(values)) if values.len() == 1 => values.first(),
            _ => None,
        };
        let value = schema.get("const").or(only).or(schema.get("default"))?;
        Some((name, header::value(value.as_str()?)?))
    }

    /// Whether the HTTP client sets this header itself.
    fn sets_itself(&self, name: &str) -> bool {
        let is = |header| name.eq_ignore_ascii_case(header);
        let has_schemes = self.document.contains_key("securityDefinitions");
        let is_swagger = self.version == SpecVersion::Swagger2;
        is("accept") || is("content-type") || (is("authorization") && (!is_swagger || has_schemes))
    }
}

pub(super) fn is_required(object: &Map<String, Value>) -> bool {
    object.get("required") == Some(&Value::Bool(true))
}

/// The description and the like of a parameter, which stand beside its schema.
pub(super) fn annotations(object: &Map<String, Value>) -> Map<String, Value> {
    let mut annotations = Map::new();
    if let Some(Value::String(text)) = object.get("description")
        && !text.trim().is_empty()
    {
        annotations.insert(
            "description".into(),
            text::block(text, MAX_DESCRIPTION_CHARS).into(),
        );
    }
    if object.get("deprecated") == Some(&Value::Bool(true)) {
        annotations.insert("deprecated".into(), true.into());
    }
    let named = object.get("examples").and_then(Value::as_object);
    let named = named.and_then(|examples| examples.values().next()?.get("value"));
    if let Some(example) = object.get("example").or(named)
        && (example.is_string() || example.is_number())
        && example.as_str().is_none_or(|text| text.len() <= 200)
    {
        annotations.insert("examples".into(), json!([example]));
    }
    annotations
}

/// How it is written since 3.0; each place has its own defaults.
fn style(object: &Map<String, Value>, location: ParameterLocation) -> Serialization {
    let style_name = object.get("style").and_then(Value::as_str);
    let style = match (location, style_name) {
        (ParameterLocation::Path, Some("label")) => ParameterStyle::Label,
        (ParameterLocation::Path, Some("matrix")) => ParameterStyle::Matrix,
        (ParameterLocation::Path | ParameterLocation::Header, _) => ParameterStyle::Simple,
        (ParameterLocation::Query, style_name) => named(style_name),
        (ParameterLocation::Cookie, _) => ParameterStyle::Form,
    };
    let flag = |word| object.get(word).and_then(Value::as_bool);
    Serialization::Styled {
        style,
        explode: flag("explode").unwrap_or(style == ParameterStyle::Form),
        reserved: flag("allowReserved").unwrap_or(false),
    }
}

/// The styles of queries and forms.
pub(super) fn named(style: Option<&str>) -> ParameterStyle {
    match style {
        Some("spaceDelimited") => ParameterStyle::SpaceDelimited,
        Some("pipeDelimited") => ParameterStyle::PipeDelimited,
        Some("deepObject") => ParameterStyle::DeepObject,
        _ => ParameterStyle::Form,
    }
}

/// How Swagger 2.0 writes lists.
pub(super) fn collection(
    object: &Map<String, Value>,
    location: ParameterLocation,
) -> Serialization {
    let plain = match location {
        ParameterLocation::Path | ParameterLocation::Header => ParameterStyle::Simple,
        ParameterLocation::Query | ParameterLocation::Cookie => ParameterStyle::Form,
    };
    let (style, explode) = match object.get("collectionFormat").and_then(Value::as_str) {
        Some("ssv") => (ParameterStyle::SpaceDelimited, false),
        Some("tsv") => (ParameterStyle::TabDelimited, false),
        Some("pipes") => (ParameterStyle::PipeDelimited, false),
        Some("multi") => (plain, plain == ParameterStyle::Form),
        _ => (plain, false),
    };
    Serialization::Styled {
        style,
        explode,
        reserved: false,
    }
}
