//! Scopes: what a token may be used for.

/// All scopes go into the query of one authorization URL.
const MAX_SCOPES: usize = 60;
const MAX_SCOPE_BYTES: usize = 200;

/// The scopes to request: those the server asks for, then those already granted, so that a log-in
/// for more does not lose any.
pub(super) fn wanted(asked: &[String], held: &[String]) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in asked.iter().chain(held) {
        if is_scope(scope) && !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes.truncate(MAX_SCOPES);
    scopes
}

/// The scopes of a token response; without any, those that were requested.
pub(super) fn granted(answer: Option<&str>, asked: &[String]) -> Vec<String> {
    match answer {
        None => asked.to_vec(),
        Some(text) => {
            let scopes: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            wanted(&scopes, &[])
        }
    }
}

fn is_scope(scope: &str) -> bool {
    // As RFC 6749 has them: visible letters without quotes and backslashes.
    let is_letter = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    (1..=MAX_SCOPE_BYTES).contains(&scope.len()) && scope.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_held_is_asked_for_again_and_what_is_no_scope_is_not() {
        let check = |asked: &str, held: &str, expected: &str| {
            let found = wanted(&words(asked), &words(held));
            assert_eq!(found.join(","), expected, "{asked} {held}");
        };
        check("read,write", "", "read,write");
        check("write", "read,write", "write,read");
        check("", "", "");
        check(
            "a b,c\"d,e\\f,g\u{1b}",
            "https://example.com/a:b",
            "https://example.com/a:b",
        );
        check(&"x".repeat(201), "", "");
    }

    #[test]
    fn an_answer_without_scopes_grants_what_was_asked_for() {
        let asked = words("read,write");
        assert_eq!(granted(None, &asked), asked);
        assert_eq!(granted(Some(" read  more "), &asked), words("read,more"));
        assert_eq!(granted(Some(""), &asked), Vec::<String>::new());
    }
}
