//! Runs of characters without a space: words, numbers, paths, addresses.

use super::{Kind, narrow};

/// What a run without spaces is.
pub(super) fn classify(run: &str) -> Kind {
    /// Slashes that mean "or" or "per".
    const NOT_PATHS: [&str; 9] = [
        "and/or",
        "he/she",
        "his/her",
        "km/h",
        "w/o",
        "n/a",
        "yes/no",
        "on/off",
        "true/false",
    ];
    if run.is_empty() || run.contains(char::is_whitespace) || run.contains('@') {
        return Kind::Word;
    }
    let numeric = |part: &str| !part.is_empty() && part.chars().all(|c| narrow(c).is_ascii_digit());
    if numeric(run)
        || run
            .split_once('.')
            .is_some_and(|(whole, rest)| numeric(whole) && numeric(rest))
    {
        return Kind::Number;
    }
    let first = run.split(['/', '\\']).next().unwrap_or_default();
    if is_domain(first) {
        return Kind::Url;
    }
    if run.contains(['/', '\\']) {
        let words = run
            .split(['/', '\\'])
            .any(|part| part.chars().any(char::is_alphabetic));
        let known = NOT_PATHS.iter().any(|word| run.eq_ignore_ascii_case(word));
        return if words && !known {
            Kind::Path
        } else {
            Kind::Word
        };
    }
    let Some((name, extension)) = run.rsplit_once('.') else {
        return Kind::Word;
    };
    let fits = (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.chars().any(|c| c.is_ascii_alphabetic());
    // "e.g" and "a.m" are no files.
    let abbreviation = name.len() == 1 && extension.len() == 1;
    let decimal = name.chars().all(|c| c.is_ascii_digit()) && !name.is_empty();
    if fits && !abbreviation && !decimal {
        Kind::Path
    } else {
        Kind::Word
    }
}

fn is_domain(text: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "com", "org", "net", "io", "dev", "ai", "app", "cn", "edu", "gov", "info", "tw",
    ];
    text.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
    })
}
