//! The `WWW-Authenticate` header of a server that asks for a log-in (RFC 6750, RFC 9728).

/// The parameters that say where to log in and for what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Each `resource_metadata` there is, in order.
    pub(super) resource_metadata: Vec<String>,
    pub(super) scopes: Vec<String>,
    pub(super) error: Option<String>,
}

impl Challenge {
    pub(super) fn parse(header: &str) -> Self {
        let mut challenge = Self::default();
        for (name, value) in auth_params(header) {
            match name.as_str() {
                "resource_metadata" => challenge.resource_metadata.push(value),
                "scope" if challenge.scopes.is_empty() => {
                    challenge.scopes = value.split_whitespace().map(str::to_owned).collect();
                }
                "error" if challenge.error.is_none() => challenge.error = Some(value),
                _ => {}
            }
        }
        challenge
    }

    /// The token is good, but not for this.
    pub(super) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// All `name=value` of a header, whatever schemes they belong to. Values may be quoted.
fn auth_params(header: &str) -> Vec<(String, String)> {
    let mut params = Vec::new();
    let mut rest = header;
    while let Some(start) = rest.find(is_name_char) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        let Some(value) = after.trim_start().strip_prefix('=') else {
            continue;
        };
        let Some((value, after)) = read_value(value.trim_start()) else {
            break;
        };
        params.push((name.to_ascii_lowercase(), value));
        rest = after;
    }
    params
}

fn read_value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(|c: char| matches!(c, ',' | ';') || c.is_whitespace());
        let (value, rest) = text.split_at(end.unwrap_or(text.len()));
        return Some((value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut is_escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if is_escaped => {
                value.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => return Some((value, &quoted[at + 1..])),
            _ => value.push(c),
        }
    }
    None
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, metadata: &[&str], scopes: &[&str], error: Option<&str>) {
        let challenge = Challenge::parse(header);
        assert_eq!(challenge.resource_metadata, metadata, "{header}");
        assert_eq!(challenge.scopes, scopes, "{header}");
        assert_eq!(challenge.error.as_deref(), error, "{header}");
    }

    #[test]
    fn parameters_are_found_however_they_are_written() {
        check("Bearer", &[], &[], None);
        check("", &[], &[], None);
        check(
            r#"Bearer error="insufficient_scope", scope="read write", resource_metadata="https://a.example/x,y""#,
            &["https://a.example/x,y"],
            &["read", "write"],
            Some("insufficient_scope"),
        );
        check(
            r#"Basic realm="a, scope=\"b\"", Bearer Resource_Metadata=/meta, error_description="error=x", scope = one"#,
            &["/meta"],
            &["one"],
            None,
        );
        check(r#"Bearer scope="never ends"#, &[], &[], None);
    }
}
