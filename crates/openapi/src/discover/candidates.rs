//! Candidate addresses of a document, where the given address has none.

use url::Url;

use crate::discover::PAGES;

/// Beside the address, the likelier first.
const FILE_NAMES: &[&str] = &[
    "openapi.json",
    "openapi.yaml",
    "swagger.json",
    "v3/api-docs",
    "api/openapi.json",
    "docs/openapi.json",
    "api-docs",
    "swagger/v1/swagger.json",
    "openapi",
    "openapi.yml",
    "swagger.yaml",
    "v2/api-docs",
    "api/v1/openapi.json",
    "openapi/v1.json",
    "api/swagger.json",
    "swagger/doc.json",
    "api-json",
    "api/schema/",
    "q/openapi",
];

/// The address itself first, unless the document was elsewhere at the same server last time.
pub fn candidates(given: &Url, last: Option<&Url>) -> Vec<Url> {
    let mut candidates = vec![given.clone()];
    for folder in [folder(given), String::from("/")] {
        for name in FILE_NAMES {
            let mut candidate = given.clone();
            candidate.set_fragment(None);
            candidate.set_path(&format!("{folder}{name}"));
            if !candidates.contains(&candidate) {
                candidates.push(candidate);
            }
        }
    }
    // For a deeper address, only the likelier names are tried at the root of the site.
    let most = FILE_NAMES.len() + 2;
    candidates.truncate(most);
    let is_last = |candidate: &Url| {
        let same =
            |last: &Url| last.origin() == candidate.origin() && last.path() == candidate.path();
        last.is_some_and(same)
    };
    if let Some(at) = candidates.iter().position(is_last) {
        let candidate = candidates.remove(at);
        candidates.insert(0, candidate);
    }
    candidates
}

/// Whether an address names a document and nothing else.
pub fn names_a_document(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    [".json", ".yaml", ".yml"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// The folder an address stands for, with a slash behind it.
fn folder(given: &Url) -> String {
    let path = given.path().trim_end_matches('/');
    let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
    let is_page = PAGES.contains(&last) || last.contains('.');
    if is_page {
        format!("{before}/")
    } else {
        format!("{path}/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, last: Option<&str>, first: &[&str], last_one: &str) {
        let given = Url::parse(given).unwrap();
        let last = last.map(|last| Url::parse(last).unwrap());
        let found = candidates(&given, last.as_ref());
        let paths: Vec<&str> = found
            .iter()
            .map(|candidate| &candidate.as_str()["http://h".len()..])
            .collect();
        assert_eq!(paths[..first.len()], *first, "{given}");
        assert_eq!(paths.last(), Some(&last_one), "{given}");
        assert!(paths.len() <= FILE_NAMES.len() + 2, "{paths:?}");
    }

    #[test]
    fn a_document_is_looked_for_beside_the_address() {
        let usual = [
            "/openapi.json",
            "/openapi.yaml",
            "/swagger.json",
            "/v3/api-docs",
            "/api/openapi.json",
            "/docs/openapi.json",
            "/api-docs",
            "/swagger/v1/swagger.json",
        ];
        let after = |first| [&[first][..], &usual].concat();
        check("http://h/", None, &after("/"), "/q/openapi");
        check("http://h/docs", None, &after("/docs"), "/q/openapi");
        check(
            "http://h/time?k=1",
            None,
            &[
                "/time?k=1",
                "/time/openapi.json?k=1",
                "/time/openapi.yaml?k=1",
            ],
            "/openapi.json?k=1",
        );
        check(
            "http://h/a/openapi.json?k",
            Some("http://h/a/swagger.json"),
            &[
                "/a/swagger.json?k",
                "/a/openapi.json?k",
                "/a/openapi.yaml?k",
            ],
            "/openapi.yaml?k",
        );
        check(
            "http://h/",
            Some("http://other/openapi.json"),
            &after("/"),
            "/q/openapi",
        );
    }
}
