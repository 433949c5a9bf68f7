//! Where metadata is, and whose it is.

use url::Url;

use super::super::error::{LoginError, UntrustedLogin, quote};

pub(super) fn resource_metadata_urls(server: &Url) -> Vec<Url> {
    let name = "/.well-known/oauth-protected-resource";
    let path = server.path().trim_matches('/');
    let paths = if path.is_empty() {
        vec![name.to_owned()]
    } else {
        vec![
            format!("{name}/{path}"),
            format!("/{path}{name}"),
            name.to_owned(),
        ]
    };
    paths.iter().map(|path| with_path(server, path)).collect()
}

const OAUTH_PATH: &str = "/.well-known/oauth-authorization-server";
const OPENID_PATH: &str = "/.well-known/openid-configuration";

pub(super) fn server_metadata_urls(base: &Url) -> Vec<Url> {
    let path = base.path().trim_matches('/');
    let paths = if path.is_empty() {
        vec![OAUTH_PATH.to_owned(), OPENID_PATH.to_owned()]
    } else {
        vec![
            format!("{OAUTH_PATH}/{path}"),
            format!("{OPENID_PATH}/{path}"),
            format!("/{path}{OPENID_PATH}"),
            OAUTH_PATH.to_owned(),
        ]
    };
    paths.iter().map(|path| with_path(base, path)).collect()
}

/// The issuer whose metadata is at this URL. None: it is at no well-known place.
pub(super) fn issuer_of(url: &Url) -> Option<String> {
    let path = url.path();
    let inserted = [OAUTH_PATH, OPENID_PATH].into_iter().find_map(|name| {
        let rest = path.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    });
    let issuer_path = inserted.or_else(|| path.strip_suffix(OPENID_PATH))?;
    Some(with_path(url, issuer_path).to_string())
}

/// RFC 8414, 3.3: metadata is only that of the issuer that was asked.
pub(super) fn check_issuer(named: Option<&str>, expected: &str) -> Result<(), LoginError> {
    let Some(named) = named else {
        return Err(LoginError::Untrusted(UntrustedLogin::NoIssuer));
    };
    // With or without the slash of an empty path it is the same one.
    let without_root = |issuer: &str| {
        let is_root = Url::parse(issuer).is_ok_and(|url| url.path() == "/");
        let trimmed = issuer.strip_suffix('/').filter(|_| is_root);
        trimmed.unwrap_or(issuer).to_owned()
    };
    if without_root(named) == without_root(expected) {
        return Ok(());
    }
    Err(LoginError::Untrusted(UntrustedLogin::OtherIssuer {
        named: quote(named),
        expected: quote(expected),
    }))
}

pub(super) fn with_path(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.set_path(path);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_specifications_put_it() {
        let check = |found: Vec<Url>, expected: &[&str]| {
            let found: Vec<&str> = found.iter().map(Url::path).collect();
            assert_eq!(found, expected);
        };
        let (root, below) = ("https://a.example/", "https://a.example/x/y/?q#f");
        let (root, below): (Url, Url) = (root.parse().unwrap(), below.parse().unwrap());
        check(
            resource_metadata_urls(&root),
            &["/.well-known/oauth-protected-resource"],
        );
        check(
            resource_metadata_urls(&below),
            &[
                "/.well-known/oauth-protected-resource/x/y",
                "/x/y/.well-known/oauth-protected-resource",
                "/.well-known/oauth-protected-resource",
            ],
        );
        check(server_metadata_urls(&root), &[OAUTH_PATH, OPENID_PATH]);
        check(
            server_metadata_urls(&below),
            &[
                "/.well-known/oauth-authorization-server/x/y",
                "/.well-known/openid-configuration/x/y",
                "/x/y/.well-known/openid-configuration",
                OAUTH_PATH,
            ],
        );
        for url in server_metadata_urls(&below).iter().take(3) {
            assert_eq!(issuer_of(url).as_deref(), Some("https://a.example/x/y"));
        }
        let elsewhere = "https://a.example/.well-known/other".parse().unwrap();
        assert_eq!(issuer_of(&elsewhere), None);
    }

    #[test]
    fn an_issuer_is_the_one_that_was_asked() {
        let check = |named: Option<&str>, expected: &str, is_right: bool| {
            let checked = check_issuer(named, expected);
            assert_eq!(checked.is_ok(), is_right, "{named:?} {expected}");
        };
        check(Some("https://a.example"), "https://a.example/", true);
        check(Some("https://a.example/x"), "https://a.example/x", true);
        check(Some("https://a.example/x/"), "https://a.example/x", false);
        check(Some("https://b.example"), "https://a.example/", false);
        check(None, "https://a.example/", false);
    }
}
