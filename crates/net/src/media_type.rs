//! Media types, as `Content-Type` and documents write them.

/// A media type without its parameters, in lower case: `Text/HTML; charset=GBK` → `text/html`.
pub fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_are_no_part_of_an_essence() {
        let check = |media_type: &str, expected: &str| assert_eq!(essence(media_type), expected);
        check("Text/HTML; charset=GBK", "text/html");
        check(" application/json ;q=1;b", "application/json");
        check("", "");
    }
}
