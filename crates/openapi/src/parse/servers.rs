//! Where a document says its operations are served.

use serde_json::{Map, Value};

/// The first is called; the others are a person's choice.
const MAX_SERVERS: usize = 16;
const MAX_URL_BYTES: usize = 2000;

/// The nearest list that has something in it: of the operation, its path, the document.
pub(super) fn servers(lists: &[Option<&Value>]) -> Option<Vec<String>> {
    lists.iter().flatten().find_map(|list| {
        let servers = list.as_array()?.iter().filter_map(server);
        let servers: Vec<String> = servers.take(MAX_SERVERS).collect();
        (!servers.is_empty()).then_some(servers)
    })
}

/// The same as Swagger 2.0 says it: `schemes`, `host` and `basePath`.
pub(super) fn from_host(schemes: Option<&Value>, document: &Map<String, Value>) -> Vec<String> {
    let text = |word| document.get(word).and_then(Value::as_str).map(str::trim);
    let base = text("basePath").unwrap_or_default();
    let slash = if base.starts_with('/') { "" } else { "/" };
    let base = format!("{slash}{base}");
    let host = text("host").filter(|host| !host.is_empty() && host.len() <= MAX_URL_BYTES);
    let Some(host) = host else {
        return vec![base];
    };
    // Some write more into it than the host.
    if host.contains("://") {
        return vec![format!("{}{base}", host.trim_end_matches('/'))];
    }
    let schemes = schemes
        .or(document.get("schemes"))
        .and_then(Value::as_array);
    let is_declared = |scheme: &str| {
        schemes.is_some_and(|is_declared| is_declared.iter().any(|own| own == scheme))
    };
    let mut servers: Vec<String> = ["https", "http"]
        .into_iter()
        .filter(|scheme| is_declared(scheme))
        .map(|scheme| format!("{scheme}://{host}{base}"))
        .collect();
    if servers.is_empty() {
        // Without `schemes`: the scheme that the document was fetched with, then https.
        servers.push(format!("//{host}{base}"));
        servers.push(format!("https://{host}{base}"));
    }
    servers
}

fn server(server: &Value) -> Option<String> {
    let url = server.get("url")?.as_str()?.trim();
    if url.len() > MAX_URL_BYTES {
        return None;
    }
    let empty = Map::new();
    let variables = server.get("variables").and_then(Value::as_object);
    let variables = variables.unwrap_or(&empty);
    let mut filled = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        match variables.get(name).and_then(default) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(&format!("{{{name}}}")),
        }
        rest = after;
    }
    filled.push_str(rest);
    let filled = if filled.is_empty() {
        "/".into()
    } else {
        filled
    };
    (filled.len() <= MAX_URL_BYTES).then_some(filled)
}

fn default(variable: &Value) -> Option<String> {
    let first = || variable.get("enum")?.as_array()?.first();
    match variable.get("default").or_else(first)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_have_their_defaults() {
        let check = |list: Value, expected: Option<&[&str]>| {
            let expected = expected.map(|urls| urls.iter().map(|&url| url.to_owned()).collect());
            assert_eq!(servers(&[None, Some(&list)]), expected, "{list}");
        };
        check(json!([]), None);
        check(json!("x"), None);
        check(
            json!([{ "url": "https://a.example/v1" }, { "url": "/v2" }]),
            Some(&["https://a.example/v1", "/v2"]),
        );
        check(
            json!([{ "url": "https://{host}:{port}/{unknown}/{", "variables": { "host": { "enum": ["a.example", "b"] }, "port": { "default": 8443 } } }]),
            Some(&["https://a.example:8443/{unknown}/{"]),
        );
        check(json!([{ "url": "" }]), Some(&["/"]));
    }

    #[test]
    fn hosts_of_swagger_become_addresses() {
        let check = |document: Value, expected: &[&str]| {
            assert_eq!(
                from_host(None, document.as_object().unwrap()),
                expected,
                "{document}"
            );
        };
        check(json!({}), &["/"]);
        check(json!({ "basePath": "/v2" }), &["/v2"]);
        check(
            json!({ "host": "a.example", "basePath": "v2", "schemes": ["http", "https", "ws"] }),
            &["https://a.example/v2", "http://a.example/v2"],
        );
        check(
            json!({ "host": "a.example:81" }),
            &["//a.example:81/", "https://a.example:81/"],
        );
        check(
            json!({ "host": "http://a.example/" }),
            &["http://a.example/"],
        );
    }
}
