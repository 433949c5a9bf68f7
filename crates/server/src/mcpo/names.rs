//! Names as FastAPI derives them from the name of a tool.

/// `str.title()` of Python: a letter is upper case where no letter is before it, and lower case
/// otherwise.
pub(super) fn title_case(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    let mut follows_letter = false;
    for c in name.chars() {
        if follows_letter {
            title.extend(c.to_lowercase());
        } else {
            title.extend(c.to_uppercase());
        }
        follows_letter = c.is_alphabetic();
    }
    title
}

/// The title of a property or a tool: `get_current_time` is "Get Current Time".
pub(super) fn title(name: &str) -> String {
    title_case(&name.replace('_', " "))
}

/// `tool_<name>_post`, with `_` for whatever is no part of a word.
pub(super) fn operation_id(tool: &str) -> String {
    let word = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = tool.chars().map(word).collect();
    format!("tool_{name}_post")
}

/// The title of the schema of a tool's responses.
pub(super) fn response_title(operation_id: &str) -> String {
    title(&format!("response_{operation_id}"))
}

/// The name of a component. OpenAPI allows letters, digits, `.`, `-` and `_`.
pub(super) fn component(tool: &str, suffix: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name = tool.chars().map(|c| if allowed(c) { c } else { '_' });
    name.chain(suffix.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_fastapi() {
        assert_eq!(title("get_current_time"), "Get Current Time");
        assert_eq!(title("get-sum"), "Get-Sum");
        assert_eq!(title("messageType"), "Messagetype");
        assert_eq!(title("a1b_c"), "A1B C");
        assert_eq!(operation_id("get-sum"), "tool_get_sum_post");
        assert_eq!(operation_id("a.b/ü"), "tool_a_b_ü_post");
        assert_eq!(
            response_title(&operation_id("get-sum")),
            "Response Tool Get Sum Post"
        );
        assert_eq!(component("get-sum", "_form_model"), "get-sum_form_model");
        assert_eq!(component("a b/c", "_form_model"), "a_b_c_form_model");
    }
}
