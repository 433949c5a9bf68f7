//! Classifies the variables of a text as shared or personal, which decides who controls its value.

use super::address::{UrlPosition, position};
use super::{TextSegment, Variable, dedup, segments};

/// Each variable of a text once, in the order they are written.
pub fn mentioned_in(text: &str) -> Vec<Variable> {
    let references = segments(text)
        .into_iter()
        .filter_map(|segment| match segment {
            TextSegment::Variable(reference) => Some(reference.variable),
            TextSegment::Text(_) => None,
        });
    dedup(references.collect())
}

/// Variables in the host or port of an address: whoever sets them chooses where requests go.
pub fn mentioned_in_host(address: &str) -> Vec<Variable> {
    let mut found = Vec::new();
    let mut before = String::new();
    for segment in segments(address) {
        let here = position(&before);
        match segment {
            TextSegment::Text(text) => {
                before.push_str(text);
                // Text before an `@` is user info, not the host, so variables in it do not choose
                // the host.
                if here == UrlPosition::Host && host_of(text).contains('@') {
                    found.clear();
                }
            }
            TextSegment::Variable(reference) => {
                // At the very beginning it stands for a whole address.
                before.push_str(match here {
                    UrlPosition::Start => "http://1",
                    UrlPosition::Host | UrlPosition::Path | UrlPosition::Query => "1",
                });
                if matches!(here, UrlPosition::Start | UrlPosition::Host) {
                    found.push(reference.variable);
                }
            }
        }
    }
    dedup(found)
}

/// Whether a text is controlled by the person who uses it: it contains a personal variable without
/// a default.
pub fn is_own(text: &str) -> bool {
    let mut references = segments(text)
        .into_iter()
        .filter_map(|segment| match segment {
            TextSegment::Variable(reference) => Some(reference),
            TextSegment::Text(_) => None,
        })
        .peekable();
    references.peek().is_some()
        && references.all(|reference| reference.is_personal() && reference.otherwise.is_none())
}

fn host_of(text: &str) -> &str {
    let end = text.find(['/', '\\', '?', '#']).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(variables: &[Variable]) -> String {
        let written: Vec<String> = variables.iter().map(ToString::to_string).collect();
        written.join(" ")
    }

    #[test]
    fn a_text_mentions_what_it_would_be_filled_with() {
        let check = |text: &str, expected: &str| {
            assert_eq!(written(&mentioned_in(text)), expected, "{text}");
        };
        check("", "");
        check("a ${B} ${user.C:-d} ${B}", "${B} ${user.C}");
        check("$${user.A} ${user.} ${env:user.A}", "");
    }

    #[test]
    fn a_host_is_what_an_address_leads_to() {
        let check = |address: &str, expected: &str| {
            assert_eq!(written(&mentioned_in_host(address)), expected, "{address}");
        };
        check("https://a.example/${user.A}?k=${B}#${C}", "");
        check("https://${user.A}/mcp", "${user.A}");
        check("https://${user.A}.a.example", "${user.A}");
        check("https://a.example:${user.PORT}/${B}", "${user.PORT}");
        check("https://${A}${user.B:-c/d}.example/", "${A} ${user.B}");
        check("https://${KEY}@${user.A}/", "${user.A}");
        check("https://me:${user.PW}@a.example/", "");
        check("https://${user.A}/@a.example", "${user.A}");
        check("https://${user.A}?@a.example", "${user.A}");
        check("${BASE}/${user.A}", "${BASE}");
        check("https:\\\\${user.A}\\b", "${user.A}");
        check("https://$${user.A}/", "");
    }

    #[test]
    fn what_nobody_has_to_set_is_nobodys_own() {
        let check = |text: &str, is_theirs: bool| assert_eq!(is_own(text), is_theirs, "{text}");
        check("${user.KEY}", true);
        check("Bearer ${user.KEY}${user.REST}", true);
        check("${user.KEY:-sk-1}", false);
        check("${user.KEY} ${KEY}", false);
        check("${KEY}", false);
        check("sk-1", false);
        check("", false);
    }
}
