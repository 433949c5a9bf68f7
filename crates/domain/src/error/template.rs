//! The English sentences of error codes.

use std::collections::BTreeMap;

use super::ErrorParam;

/// An English sentence with `{name}` for each parameter. A part in square brackets is left out
/// when a parameter in it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorTemplate {
    pub code: &'static str,
    pub text: &'static str,
    pub params: &'static [&'static str],
}

/// Fills in a template.
pub(super) fn render(template: &str, params: &BTreeMap<String, ErrorParam>) -> String {
    let value = |name: &str| params.get(name).map(ToString::to_string);
    let fill = |mut rest: &str| {
        let mut text = String::new();
        let mut is_whole = true;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let name = after.split_once('}');
            match name.and_then(|(name, after)| Some((value(name)?, after))) {
                Some((value, after)) => {
                    is_whole &= !value.is_empty();
                    text.push_str(&value);
                    rest = after;
                }
                None => {
                    text.push('{');
                    rest = after;
                }
            }
        }
        (text + rest, is_whole)
    };
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('[') {
        let (optional, after) = after.split_once(']').unwrap_or((after, ""));
        text.push_str(&fill(before).0);
        let (optional, is_whole) = fill(optional);
        if is_whole {
            text.push_str(&optional);
        }
        rest = after;
    }
    text += &fill(rest).0;
    text.trim_end().to_owned()
}
