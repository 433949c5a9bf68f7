//! Links of the kind `service-desc`, by which an address says where its machine-readable
//! description is (RFC 8631): in a header, in a web page, or in a JSON that lists links as
//! those of the OGC do.

use http::header::{HeaderMap, LINK};
use serde_json::Value;
use url::Url;

const REL: &str = "service-desc";

/// Each link is fetched, so a page must not cause many requests.
const MAX_LINKS: usize = 4;

/// How much of a page, and of a header, is looked at.
const MAX_PAGE_BYTES: usize = 256 * 1024;
const MAX_HEADER_BYTES: usize = 8 * 1024;

/// `Link: </openapi.json>; rel="service-desc"`
pub fn in_headers(headers: &HeaderMap, base: &Url) -> Vec<Url> {
    let values = headers.get_all(LINK).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let values = values.filter(|value| value.len() <= MAX_HEADER_BYTES);
    let mut found = Vec::new();
    for value in values {
        let mut rest = value;
        while let Some((_, after)) = rest.split_once('<') {
            let Some((target, after)) = after.split_once('>') else {
                break;
            };
            // Until the next one begins.
            let (parameters, next) = after.split_at(end_of_parameters(after));
            rest = next;
            let parameter = |wanted: &str| parameter(parameters, wanted);
            if is_description(parameter("rel").as_deref(), parameter("type").as_deref()) {
                found.extend(base.join(target.trim()).ok());
            }
        }
    }
    first(found)
}

/// `<link rel="service-desc" href="/openapi.json">`
pub fn in_page(page: &[u8], base: &Url) -> Vec<Url> {
    let page = String::from_utf8_lossy(&page[..page.len().min(MAX_PAGE_BYTES)]);
    let mut found = Vec::new();
    let mut rest = page.as_ref();
    while let Some((_, after)) = rest.split_once('<') {
        rest = after;
        let is_link = |name: &str| {
            let head = after.get(..name.len());
            let end = after.as_bytes().get(name.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(name))
                && end.is_some_and(u8::is_ascii_whitespace)
        };
        if !is_link("link") && !is_link("a") {
            continue;
        }
        let (tag, _) = after.split_once('>').unwrap_or((after, ""));
        let attribute = |wanted: &str| attribute(tag, wanted);
        if is_description(attribute("rel").as_deref(), attribute("type").as_deref())
            && let Some(target) = attribute("href")
        {
            found.extend(base.join(target.replace("&amp;", "&").trim()).ok());
        }
    }
    first(found)
}

/// `{"links": [{"rel": "service-desc", "href": "/openapi"}]}`, or HAL's `_links`.
pub fn in_json(value: &Value, base: &Url) -> Vec<Url> {
    let text = |link: &Value, word: &str| link.get(word).and_then(Value::as_str).map(str::to_owned);
    let links = value.get("links").and_then(Value::as_array);
    let links = links.into_iter().flatten();
    let links = links
        .filter(|link| is_description(text(link, "rel").as_deref(), text(link, "type").as_deref()));
    let of_hal = value.get("_links").and_then(|links| links.get(REL));
    let targets = links.chain(of_hal).filter_map(|link| text(link, "href"));
    let found = targets.filter_map(|target| base.join(target.trim()).ok());
    first(found.collect())
}

/// What people read is a web page, whatever else is said of it.
fn is_description(rel: Option<&str>, media_type: Option<&str>) -> bool {
    let rels = rel.unwrap_or_default().split_ascii_whitespace();
    let is_page = media_type.is_some_and(|kind| kind.starts_with("text/html"));
    rels.into_iter().any(|rel| rel.eq_ignore_ascii_case(REL)) && !is_page
}

fn first(found: Vec<Url>) -> Vec<Url> {
    let mut first: Vec<Url> = Vec::new();
    for mut url in found {
        url.set_fragment(None);
        let is_address = matches!(url.scheme(), "http" | "https");
        if is_address && !first.contains(&url) && first.len() < MAX_LINKS {
            first.push(url);
        }
    }
    first
}

/// Where the comma is that ends a link, outside of quotes.
fn end_of_parameters(text: &str) -> usize {
    let mut is_quoted = false;
    let end = text.find(|c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    end.unwrap_or(text.len())
}

/// `; rel="service-desc"; type=…`
fn parameter(parameters: &str, wanted: &str) -> Option<String> {
    parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_wanted = name.trim().eq_ignore_ascii_case(wanted);
        is_wanted.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// The value of an attribute of a tag, in quotes or not.
fn attribute(tag: &str, wanted: &str) -> Option<String> {
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before
            .split_ascii_whitespace()
            .next_back()
            .unwrap_or_default();
        let after = after.trim_start();
        let (value, next) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => after[1..].split_once(quote)?,
            _ => {
                let end = after.find(|c: char| c.is_ascii_whitespace());
                after.split_at(end.unwrap_or(after.len()))
            }
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value.to_owned()).filter(|value| !value.is_empty());
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header::HeaderValue;
    use serde_json::json;

    fn base() -> Url {
        Url::parse("http://h/api/").unwrap()
    }

    fn shown(found: Vec<Url>) -> Vec<String> {
        found.into_iter().map(String::from).collect()
    }

    #[test]
    fn headers_link_to_a_description() {
        let check = |values: &[&str], expected: &[&str]| {
            let values = values.iter().map(|value| HeaderValue::from_str(value));
            let values = values.map(|value| (LINK, value.unwrap()));
            let mut headers = HeaderMap::new();
            for (name, value) in values {
                headers.append(name, value);
            }
            assert_eq!(shown(in_headers(&headers, &base())), expected);
        };
        check(&[], &[]);
        check(
            &["</openapi.json>; rel=service-desc"],
            &["http://h/openapi.json"],
        );
        check(
            &[
                "<a,b>; rel=\"next\", <spec>; title=\"x, y\"; Rel=\"other SERVICE-DESC\"",
                "<//o/x#f>; rel=service-desc",
            ],
            &["http://h/api/spec", "http://o/x"],
        );
        check(&["<docs>; rel=service-desc; type=\"text/html\""], &[]);
        check(
            &[
                "<docs>; rel=service-doc",
                "<broken; rel=service-desc",
                "<file:///x>; rel=service-desc",
            ],
            &[],
        );
    }

    #[test]
    fn pages_link_to_a_description() {
        let check = |page: &str, expected: &[&str]| {
            assert_eq!(shown(in_page(page.as_bytes(), &base())), expected, "{page}");
        };
        check("<html><link rel=stylesheet href=a.css>", &[]);
        check(
            "<LINK\n rel = 'service-desc' type=\"application/json\" href=\"openapi?f=json&amp;x=1\" />",
            &["http://h/api/openapi?f=json&x=1"],
        );
        check(
            "<a href=/spec.yaml rel=service-desc>API</a>",
            &["http://h/spec.yaml"],
        );
        check(
            "<linkx rel=service-desc href=a><link rel=service-desc><link rel=\"service-desc",
            &[],
        );
    }

    #[test]
    fn landing_pages_for_machines_link_to_a_description() {
        let landing = json!({ "links": [
            { "rel": "self", "href": "http://h/" },
            { "rel": "service-desc", "type": "application/vnd.oai.openapi+json;version=3.0", "href": "http://h/openapi" },
            { "rel": "service-desc", "type": "text/html", "href": "http://h/openapi?f=html" },
            { "rel": 1 }, null,
        ] });
        assert_eq!(shown(in_json(&landing, &base())), ["http://h/openapi"]);
        let hal = json!({ "_links": { "service-desc": { "href": "/v3/api-docs" } } });
        assert_eq!(shown(in_json(&hal, &base())), ["http://h/v3/api-docs"]);
        assert_eq!(shown(in_json(&json!([1]), &base())), Vec::<String>::new());
    }
}
