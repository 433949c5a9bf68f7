//! The body of one operation: in which media type it is sent, and what a form's fields are.

use serde_json::{Map, Value};
use tenon_net::media_type::essence;
use tenon_text as text;

use super::parameters::{self, ParameterLists, annotations, collection, is_required};
use super::schema::FlatSchema;
use super::{ParseContext, SpecVersion};
use crate::note::{OperationError, OperationPart};
use crate::operation::{FormField, ParameterLocation, ParameterStyle, Serialization};

/// A body as the document gives it.
pub(super) struct DeclaredBody<'d> {
    pub(super) media_type: String,
    pub(super) family: MediaFamily,
    /// The document names a range of media types, and not one.
    pub(super) is_any: bool,
    /// Some say yes, some no, most nothing.
    pub(super) required: Option<bool>,
    pub(super) annotations: Map<String, Value>,
    pub(super) content: BodySource<'d>,
}

pub(super) enum BodySource<'d> {
    Schema {
        schema: Option<&'d Value>,
        encoding: Option<&'d Map<String, Value>>,
    },
    /// Swagger 2.0 lists the fields of a form as parameters.
    Fields(Vec<&'d Value>),
}

/// What is done with a media type; the better ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MediaFamily {
    Json,
    Multipart,
    Form,
    Text,
    Bytes,
}

pub(super) const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// The error says why the operation cannot be called.
pub(super) fn read<'d>(
    reading: &ParseContext<'d>,
    operation: &'d Map<String, Value>,
    lists: &ParameterLists<'d>,
) -> Result<Option<DeclaredBody<'d>>, OperationError> {
    if let Some(body) = operation.get("requestBody").filter(|body| !body.is_null()) {
        let body = reading.reader.references.follow(body);
        let body = body.map_err(|error| OperationPart::Body.unresolved(error))?;
        return Ok(body.as_object().and_then(request_body));
    }
    if !lists.form.is_empty() {
        return Ok(Some(form(reading, operation, &lists.form)));
    }
    let Some(body) = lists.body else {
        return Ok(None);
    };
    let (media_type, family) = consumed(reading, operation, |family| {
        !matches!(family, MediaFamily::Form | MediaFamily::Multipart)
    });
    Ok(Some(DeclaredBody {
        media_type,
        family,
        is_any: false,
        required: Some(is_required(body)),
        annotations: annotations(body),
        content: BodySource::Schema {
            schema: body.get("schema"),
            encoding: None,
        },
    }))
}

fn request_body(body: &Map<String, Value>) -> Option<DeclaredBody<'_>> {
    let content = body.get("content")?.as_object()?;
    let ranked = content
        .iter()
        .map(|(name, media)| (rank(name), name, media));
    let ((family, _), name, media) = ranked.min_by_key(|(rank, _, _)| *rank)?;
    Some(DeclaredBody {
        media_type: text::line(name, 200),
        family,
        is_any: name.contains('*'),
        required: body.get("required").and_then(Value::as_bool),
        annotations: annotations(body),
        content: BodySource::Schema {
            schema: media.get("schema"),
            encoding: media.get("encoding").and_then(Value::as_object),
        },
    })
}

fn form<'d>(
    reading: &ParseContext<'d>,
    operation: &'d Map<String, Value>,
    fields: &[&'d Value],
) -> DeclaredBody<'d> {
    let has_file = fields.iter().any(|field| is_file(field));
    let fits = |family| {
        if has_file {
            family == MediaFamily::Multipart
        } else {
            matches!(family, MediaFamily::Form | MediaFamily::Multipart)
        }
    };
    let (media_type, family) = match consumed(reading, operation, fits) {
        (media_type, family) if fits(family) => (media_type, family),
        _ if has_file => (MULTIPART.into(), MediaFamily::Multipart),
        _ => (FORM.into(), MediaFamily::Form),
    };
    DeclaredBody {
        media_type,
        family,
        is_any: false,
        required: Some(fields.iter().filter_map(|f| f.as_object()).any(is_required)),
        annotations: Map::new(),
        content: BodySource::Fields(fields.to_vec()),
    }
}

/// The best media type that Swagger 2.0 says is taken and that fits.
fn consumed(
    reading: &ParseContext<'_>,
    operation: &Map<String, Value>,
    fits: impl Fn(MediaFamily) -> bool,
) -> (String, MediaFamily) {
    let lists = [operation.get("consumes"), reading.document.get("consumes")];
    let list = lists.into_iter().flatten().find_map(Value::as_array);
    let names = list
        .into_iter()
        .flatten()
        .take(100)
        .filter_map(Value::as_str);
    let ranked = names.map(|name| (rank(name), name));
    let best = ranked
        .filter(|((family, _), _)| fits(*family))
        .min_by_key(|(rank, _)| *rank);
    match best {
        Some(((family, _), name)) if !name.contains('*') => (text::line(name, 200), family),
        _ => (JSON.into(), MediaFamily::Json),
    }
}

/// What a media type is, and how far it is from the plain one of its family.
fn rank(media_type: &str) -> (MediaFamily, u8) {
    let name = essence(media_type);
    let (kind, sub) = name.split_once('/').unwrap_or((&name, ""));
    let suffix = sub.rsplit('+').next().unwrap_or(sub);
    match (kind, sub) {
        ("application", "json") => (MediaFamily::Json, 0),
        ("text", "json") => (MediaFamily::Json, 1),
        _ if suffix == "json" => (MediaFamily::Json, 2),
        ("*", _) | ("application", "*") => (MediaFamily::Json, 3),
        ("multipart", "form-data") => (MediaFamily::Multipart, 0),
        ("multipart", _) => (MediaFamily::Bytes, 1),
        ("application", "x-www-form-urlencoded") => (MediaFamily::Form, 0),
        ("text", "plain") => (MediaFamily::Text, 0),
        ("text", _) => (MediaFamily::Text, 1),
        _ if is_writing(suffix) => (MediaFamily::Text, 2),
        _ => (MediaFamily::Bytes, 0),
    }
}

/// What a model can write though it is not called text.
fn is_writing(sub: &str) -> bool {
    const WRITING: [&str; 14] = [
        "xml",
        "yaml",
        "x-yaml",
        "toml",
        "graphql",
        "sql",
        "javascript",
        "x-ndjson",
        "ndjson",
        "jsonl",
        "x-jsonlines",
        "json-seq",
        "x-javascript",
        "sparql-query",
    ];
    WRITING.contains(&sub)
}

/// The encoding of a form field, if it is not the default.
pub(super) fn field(
    family: MediaFamily,
    name: &str,
    shape: &FieldShape,
    encoding: Option<&Map<String, Value>>,
) -> Option<FormField> {
    let encoding = encoding.and_then(|all| all.get(name)?.as_object());
    let declared = |word| encoding.and_then(|encoding| encoding.get(word));
    let media_type = declared("contentType").and_then(Value::as_str);
    let media_type = media_type
        .and_then(|list| list.split(',').next())
        .map(essence);
    let style = declared("style").and_then(Value::as_str);
    let explode = declared("explode").and_then(Value::as_bool);
    let reserved = declared("allowReserved").and_then(Value::as_bool);
    let serialization = match (style, explode, reserved) {
        (None, None, None) => match (&media_type, family) {
            (Some(name), MediaFamily::Form) if rank(name).0 == MediaFamily::Json => {
                Some(Serialization::Media(name.clone()))
            }
            _ => None,
        },
        _ => {
            let style = parameters::named(style);
            Some(Serialization::Styled {
                style,
                explode: explode.unwrap_or(style == ParameterStyle::Form),
                reserved: reserved.unwrap_or(false),
            })
        }
    };
    let is_media = |name: &String| shape.is_text && rank(name).0 == MediaFamily::Bytes;
    let is_part = family == MediaFamily::Multipart;
    let is_file = is_part && (shape.is_binary || media_type.as_ref().is_some_and(is_media));
    let whole_name = |name: &String| !name.contains('*') && name.contains('/');
    let media_type = media_type.filter(|name| is_part && whole_name(name));
    let media_type = media_type.or_else(|| shape.media_type.clone().filter(|_| is_file));
    (serialization.is_some() || is_file || media_type.is_some()).then(|| FormField {
        name: name.to_owned(),
        serialization,
        is_file,
        media_type,
    })
}

/// What matters of a field's schema for how it is sent.
#[derive(Default)]
pub(super) struct FieldShape {
    is_text: bool,
    is_binary: bool,
    media_type: Option<String>,
}

impl FieldShape {
    /// Of a list it is what is in the list.
    pub(super) fn of(flat: &FlatSchema<'_>, items: Option<&FlatSchema<'_>>) -> Self {
        let flat = items.filter(|_| flat.is_array()).unwrap_or(flat);
        let media_type = flat.words.get("contentMediaType").and_then(Value::as_str);
        Self {
            is_text: flat.is("string"),
            is_binary: flat.is_binary(),
            media_type: media_type.map(str::to_owned),
        }
    }
}

/// The same of a field that is a parameter of Swagger 2.0.
pub(super) fn form_field(
    reading: &ParseContext<'_>,
    field: &Value,
    family: MediaFamily,
) -> Option<FormField> {
    let object = field.as_object()?;
    let is_file = is_file(field) && family == MediaFamily::Multipart;
    let is_list = object.get("type").is_some_and(|kind| kind == "array");
    let is_swagger = reading.version == SpecVersion::Swagger2;
    let serialization =
        (is_list && is_swagger).then(|| collection(object, ParameterLocation::Query));
    (is_file || serialization.is_some()).then(|| FormField {
        name: object
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        serialization,
        is_file,
        media_type: None,
    })
}

fn is_file(field: &Value) -> bool {
    let is = |word, wanted: &str| {
        let text = field.get(word).and_then(Value::as_str);
        text.is_some_and(|text| text.eq_ignore_ascii_case(wanted))
    };
    is("type", "file") || is("format", "binary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_told_apart() {
        let check = |name, family| assert_eq!(rank(name).0, family, "{name}");
        check("application/json", MediaFamily::Json);
        check("Application/JSON; charset=utf-8", MediaFamily::Json);
        check("application/vnd.api+json;version=1", MediaFamily::Json);
        check("*/*", MediaFamily::Json);
        check("multipart/form-data", MediaFamily::Multipart);
        check("application/x-www-form-urlencoded", MediaFamily::Form);
        check("text/csv", MediaFamily::Text);
        check("application/xml", MediaFamily::Text);
        check("application/soap+xml", MediaFamily::Text);
        check("application/octet-stream", MediaFamily::Bytes);
        check("image/png", MediaFamily::Bytes);
        check("", MediaFamily::Bytes);
        assert!(rank("application/json") < rank("application/merge-patch+json"));
    }
}
