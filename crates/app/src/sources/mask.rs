//! Masking of secrets in what is shown: values of variables and headers, and parts of addresses.

use std::collections::BTreeMap;

use url::Url;

use crate::sources::read_model::MaskedValues;

/// Shown in an address in place of a stored secret.
const MASK: &str = "***";

/// Names with their values, where those are not secret.
pub(super) fn mask(values: &BTreeMap<String, String>) -> MaskedValues {
    let shown = |value: &String| is_only_variables(value).then(|| value.clone());
    let hidden = values
        .iter()
        .map(|(name, value)| (name.clone(), shown(value)));
    hidden.collect()
}

/// A value that was not shown and is not stored either.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownValue {
    pub(super) name: String,
}

/// Replaces values that were not shown by the old ones.
pub(super) fn unmask(
    given: MaskedValues,
    old: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, UnknownValue> {
    let meant = given.into_iter().map(|(name, value)| match value {
        Some(value) => Ok((name, value)),
        None => match old.get(&name) {
            Some(value) => Ok((name, value.clone())),
            None => Err(UnknownValue { name }),
        },
    });
    meant.collect()
}

/// An address without user info and without the values of its query.
pub(super) fn mask_url(url: &str) -> String {
    let parts = UrlParts::of(url);
    let user = parts.user.map(masked);
    let query = parts.query.map(|query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value)) if !value.is_empty() => format!("{name}={}", masked(value)),
            Some(_) | None => pair.to_owned(),
        });
        pairs.collect::<Vec<_>>().join("&")
    });
    parts.join(user, query.as_deref())
}

/// The address with masked parts filled in from the old one. None if there is nothing to fill in,
/// or if the address leads elsewhere.
pub(super) fn unmask_url(given: &str, old: &str) -> Option<String> {
    if given == mask_url(old) {
        return Some(old.to_owned());
    }
    let (new, known) = (UrlParts::of(given), UrlParts::of(old));
    let hides = new.user == Some(MASK)
        || new
            .query
            .is_some_and(|query| query.split('&').any(is_masked));
    if !hides {
        return Some(given.to_owned());
    }
    let user = match new.user {
        Some(MASK) => Some(known.user?),
        user => user,
    };
    let kept = |name: &str| {
        let mut pairs = known.query?.split('&');
        pairs.find(|pair| pair.split_once('=').is_some_and(|(known, _)| known == name))
    };
    let query = match new.query {
        None => None,
        Some(query) => {
            let pairs = query.split('&').map(|pair| {
                if is_masked(pair) {
                    kept(pair.split_once('=')?.0)
                } else {
                    Some(pair)
                }
            });
            Some(pairs.collect::<Option<Vec<_>>>()?.join("&"))
        }
    };
    let meant = new.join(user, query.as_deref());
    same_origin(&meant, old).then_some(meant)
}

/// Whether two addresses lead to the same place.
pub(super) fn same_origin(one: &str, other: &str) -> bool {
    let (one_start, other_start) = (start(one), start(other));
    if one_start.contains("${") || other_start.contains("${") {
        // Only the same words are sure to lead to the same place.
        return one_start == other_start;
    }
    // Parsed like in the HTTP client, which decides where requests go.
    match (Url::parse(one), Url::parse(other)) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        (Err(_), _) | (_, Err(_)) => one == other,
    }
}

/// The part of an address before its path.
fn start(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let length = url[from..].find(['/', '?', '#']);
    length.map_or(url, |length| &url[..from + length])
}

/// Whether an address has user info.
pub(super) fn names_user(url: &str) -> bool {
    UrlParts::of(url).user.is_some()
}

/// Whether its query has values.
pub(super) fn has_query_values(url: &str) -> bool {
    UrlParts::of(url)
        .query
        .is_some_and(|query| query.contains('='))
}

/// Whether a text is nothing but `${NAME}`s: those say what is meant, not what it is.
pub(super) fn is_only_variables(text: &str) -> bool {
    let mut rest = text;
    while let Some(inside) = rest.strip_prefix("${") {
        let Some((name, behind)) = inside.split_once('}') else {
            return false;
        };
        // A default value may be a secret.
        if name.contains(":-") {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

/// An address split without a URL parser, because one with variables is not a valid URL yet.
struct UrlParts<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> UrlParts<'a> {
    fn of(url: &'a str) -> Self {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = match place.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, place),
        };
        Self {
            scheme,
            user,
            host,
            path,
            query,
        }
    }

    fn join(&self, user: Option<&str>, query: Option<&str>) -> String {
        let user = user.map(|user| format!("{user}@")).unwrap_or_default();
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let Self {
            scheme, host, path, ..
        } = self;
        format!("{scheme}://{user}{host}{path}{query}")
    }
}

fn masked(secret: &str) -> &str {
    if is_only_variables(secret) {
        secret
    } else {
        MASK
    }
}

fn is_masked(pair: &str) -> bool {
    pair.split_once('=').is_some_and(|(_, value)| value == MASK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_hides_who_comes_and_what_is_asked() {
        let check = |url: &str, shown: &str| {
            assert_eq!(mask_url(url), shown);
            // What was shown means what is kept.
            assert_eq!(unmask_url(shown, url).as_deref(), Some(url), "{shown}");
        };
        check("https://a.example/mcp", "https://a.example/mcp");
        check("https://a.example:8443", "https://a.example:8443");
        check("https://me:pw@a.example/mcp", "https://***@a.example/mcp");
        check(
            "https://${user.PW}@a.example/",
            "https://${user.PW}@a.example/",
        );
        check("https://p@w:x@a.example/", "https://***@a.example/");
        check(
            "https://a.example/mcp?key=1&b=&c",
            "https://a.example/mcp?key=***&b=&c",
        );
        check(
            "https://a.example?k=${KEY}&l=${A}b",
            "https://a.example?k=${KEY}&l=***",
        );
        check("https://${HOST}/mcp?k=${K:-1}", "https://${HOST}/mcp?k=***");
        check("http://[::1]:9/s?a=b=c", "http://[::1]:9/s?a=***");
        check("no address", "://no address");
    }

    #[test]
    fn what_is_kept_is_found_again_in_the_same_place_alone() {
        let old = "https://me:pw@a.example/mcp?key=1&b=2";
        let check = |given: &str, meant: Option<&str>| {
            assert_eq!(unmask_url(given, old).as_deref(), meant, "{given}");
        };
        check(
            "https://***@a.example/other",
            Some("https://me:pw@a.example/other"),
        );
        check(
            "https://a.example/mcp?b=***",
            Some("https://a.example/mcp?b=2"),
        );
        check(
            "https://A.example/mcp?key=***&c=3",
            Some("https://A.example/mcp?key=1&c=3"),
        );
        check("https://b.example/mcp", Some("https://b.example/mcp"));
        check("https://b.example/mcp?key=***", None);
        check("http://a.example/mcp?key=***", None);
        check("https://a.example/mcp?c=***", None);
        check("https://***@b.example/", None);
        check("https://b.example\\@a.example/mcp?key=***", None);
        check("https:b.example/://a.example/?key=***", None);
        check("https://${HOST}@a.example/?key=***", None);
    }

    #[test]
    fn a_place_is_where_a_request_would_go() {
        let check = |one: &str, other: &str, is_same: bool| {
            assert_eq!(same_origin(one, other), is_same, "{one} {other}");
            assert_eq!(same_origin(other, one), is_same, "{other} {one}");
        };
        check("https://a.example/mcp", "https://A.example:443?k=1", true);
        check("https://me@a.example/", "https://a.example/", true);
        check("https://a.example/", "http://a.example/", false);
        check("https://a.example/", "https://a.example:8443/", false);
        check(
            "https://a.example/",
            "https://b.example\\@a.example/",
            false,
        );
        check(
            "https://a.example/",
            "https://b.example\t/@a.example/",
            false,
        );
        check(
            "https://a.example/",
            "https:/b.example/://a.example/",
            false,
        );
        check("https://${HOST}/mcp", "https://${HOST}/v2", true);
        check("https://${HOST}/", "https://${host}/", false);
        check("https://${A}@a.example/", "https://${B}@a.example/", false);
        check("https://${A}@a.example/", "https://a.example/", false);
        check("no address", "no address", true);
    }

    #[test]
    fn a_value_is_shown_where_it_is_nothing_but_names() {
        let check = |value: &str, is_shown: bool| {
            let values = BTreeMap::from([("A".to_owned(), value.to_owned())]);
            assert_eq!(mask(&values)["A"].is_some(), is_shown, "{value:?}");
            assert_eq!(unmask(mask(&values), &values), Ok(values));
        };
        check("${KEY}", true);
        check("${KEY}${user.ID}", true);
        check("", true);
        check("Bearer ${KEY}", false);
        check("${KEY}x", false);
        check("${KEY:-sk-1}", false);
        check("${KEY", false);
        check("sk-1", false);
        let unknown = MaskedValues::from([("B".to_owned(), None)]);
        assert_eq!(
            unmask(unknown, &BTreeMap::new()),
            Err(UnknownValue { name: "B".into() })
        );
    }
}
