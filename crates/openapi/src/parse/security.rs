//! Parses the security requirements of a document.

use serde_json::{Map, Value};
use tenon_text as text;

use super::references::ReferenceResolver;
use crate::operation::{
    ParameterLocation, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};

const MAX_SCHEMES: usize = 100;
const MAX_SETS: usize = 32;
const MAX_SCOPES: usize = 200;
const MAX_DESCRIPTION_CHARS: usize = 1000;

/// The ways a document knows, by the names it gives them.
pub(super) fn schemes<'d>(
    references: &ReferenceResolver<'d>,
    document: &'d Map<String, Value>,
) -> Vec<SecurityScheme> {
    let components = document
        .get("components")
        .and_then(|all| all.get("securitySchemes"));
    let listed = components.or_else(|| document.get("securityDefinitions"));
    let listed = listed.and_then(Value::as_object).into_iter().flatten();
    let read = listed.take(MAX_SCHEMES).filter_map(|(name, scheme)| {
        let scheme = references.object(scheme)?;
        let description = scheme.get("description").and_then(Value::as_str);
        Some(SecurityScheme {
            name: name.clone(),
            kind: kind(scheme),
            description: text::block(description.unwrap_or_default(), MAX_DESCRIPTION_CHARS),
        })
    });
    read.collect()
}

/// The sets of schemes of which one is enough. What an operation says replaces what
/// the document says.
pub(super) fn needs(
    operation: Option<&Value>,
    document: Option<&Value>,
) -> Vec<Vec<SecurityRequirement>> {
    let requirements = operation
        .filter(|requirements| requirements.is_array())
        .or(document);
    let sets = requirements.and_then(Value::as_array).into_iter().flatten();
    let sets = sets.take(MAX_SETS).filter_map(Value::as_object);
    sets.map(|set| {
        let needs = set
            .iter()
            .take(MAX_SETS)
            .map(|(scheme, scopes)| SecurityRequirement {
                scheme: scheme.clone(),
                scopes: texts(scopes.as_array().into_iter().flatten()),
            });
        needs.collect()
    })
    .collect()
}

fn kind(scheme: &Map<String, Value>) -> SecuritySchemeKind {
    let text = |word| scheme.get(word).and_then(Value::as_str).unwrap_or_default();
    match text("type").to_ascii_lowercase().as_str() {
        "apikey" => {
            let location = match text("in").to_ascii_lowercase().as_str() {
                "query" => Some(ParameterLocation::Query),
                "header" => Some(ParameterLocation::Header),
                "cookie" => Some(ParameterLocation::Cookie),
                _ => None,
            };
            match location {
                Some(location) if !text("name").is_empty() => SecuritySchemeKind::ApiKey {
                    location,
                    name: text("name").to_owned(),
                },
                _ => SecuritySchemeKind::Other("apiKey".into()),
            }
        }
        "basic" => SecuritySchemeKind::Basic,
        "http" => match text("scheme").to_ascii_lowercase().as_str() {
            "bearer" => SecuritySchemeKind::Bearer,
            "basic" => SecuritySchemeKind::Basic,
            other => SecuritySchemeKind::Other(text::line(&format!("http {other}"), 80)),
        },
        "oauth2" => client(scheme).unwrap_or_else(|| SecuritySchemeKind::Other("oauth2".into())),
        _ => SecuritySchemeKind::Other(text::line(text("type"), 80)),
    }
}

/// The client credentials flow, the only one that needs no person.
fn client(scheme: &Map<String, Value>) -> Option<SecuritySchemeKind> {
    let flow = match scheme.get("flows") {
        Some(flows) => flows.get("clientCredentials")?.as_object()?,
        None => {
            let flow = scheme.get("flow")?.as_str()?;
            ["application", "clientCredentials"]
                .contains(&flow)
                .then_some(scheme)?
        }
    };
    let token_url = flow.get("tokenUrl")?.as_str()?.trim();
    let scopes = flow.get("scopes").and_then(Value::as_object);
    let scopes = scopes.into_iter().flat_map(Map::keys).take(MAX_SCOPES);
    (!token_url.is_empty()).then(|| SecuritySchemeKind::ClientCredentials {
        token_url: token_url.to_owned(),
        scopes: scopes
            .filter(|scope| !scope.starts_with("x-"))
            .cloned()
            .collect(),
    })
}

fn texts<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<String> {
    let texts = values.take(MAX_SCOPES).filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemes_of_both_kinds_of_documents_are_understood() {
        let check = |scheme: Value, expected: SecuritySchemeKind| {
            assert_eq!(kind(scheme.as_object().unwrap()), expected, "{scheme}");
        };
        let client = |scopes: &[&str]| SecuritySchemeKind::ClientCredentials {
            token_url: "https://a.example/token".into(),
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        };
        let key = |location, name: &str| SecuritySchemeKind::ApiKey {
            location,
            name: name.into(),
        };
        check(
            json!({ "type": "apiKey", "in": "header", "name": "X-Key" }),
            key(ParameterLocation::Header, "X-Key"),
        );
        check(
            json!({ "type": "apiKey", "in": "query", "name": "key" }),
            key(ParameterLocation::Query, "key"),
        );
        check(
            json!({ "type": "apiKey", "in": "cookie", "name": "sid" }),
            key(ParameterLocation::Cookie, "sid"),
        );
        check(
            json!({ "type": "apiKey" }),
            SecuritySchemeKind::Other("apiKey".into()),
        );
        check(
            json!({ "type": "http", "scheme": "Bearer" }),
            SecuritySchemeKind::Bearer,
        );
        check(
            json!({ "type": "http", "scheme": "basic" }),
            SecuritySchemeKind::Basic,
        );
        check(
            json!({ "type": "http", "scheme": "digest" }),
            SecuritySchemeKind::Other("http digest".into()),
        );
        check(json!({ "type": "basic" }), SecuritySchemeKind::Basic);
        check(
            json!({ "type": "oauth2", "flows": { "implicit": {}, "clientCredentials": { "tokenUrl": "https://a.example/token", "scopes": { "read": "" } } } }),
            client(&["read"]),
        );
        check(
            json!({ "type": "oauth2", "flow": "application", "tokenUrl": "https://a.example/token" }),
            client(&[]),
        );
        check(
            json!({ "type": "oauth2", "flow": "implicit" }),
            SecuritySchemeKind::Other("oauth2".into()),
        );
        check(
            json!({ "type": "mutualTLS" }),
            SecuritySchemeKind::Other("mutualTLS".into()),
        );
        check(json!({}), SecuritySchemeKind::Other(String::new()));
    }

    #[test]
    fn an_operation_says_for_itself_what_it_needs() {
        let need = |scheme: &str, scopes: &[&str]| SecurityRequirement {
            scheme: scheme.into(),
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        };
        let whole = json!([{ "key": [] }]);
        assert_eq!(needs(None, Some(&whole)), [[need("key", &[])]]);
        assert_eq!(
            needs(Some(&json!([])), Some(&whole)),
            Vec::<Vec<SecurityRequirement>>::new()
        );
        let own = json!([{ "a": ["x", 1, "y"], "b": [] }, {}]);
        assert_eq!(
            needs(Some(&own), Some(&whole)),
            [vec![need("a", &["x", "y"]), need("b", &[])], vec![]]
        );
        assert_eq!(
            needs(Some(&json!("all")), None),
            Vec::<Vec<SecurityRequirement>>::new()
        );
    }
}
