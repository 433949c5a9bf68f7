//! Words as values of a type.

use serde_json::{Number, Value};

use crate::lexer::tokens;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use crate::vocabulary::{self, has_word};

const MAX_LIST_ITEMS: usize = 64;

/// The value that a text says, if it is one of the parameter's type.
pub(super) fn value_of(one: &ToolParameter, text: &str) -> Option<Value> {
    value_of_type(&one.value_type, one.role, text)
}

fn value_of_type(value_type: &ParameterType, role: ParameterRole, text: &str) -> Option<Value> {
    match value_type {
        ParameterType::Text if role == ParameterRole::Url && !text.contains("://") => {
            Some(format!("https://{text}").into())
        }
        ParameterType::Text => Some(text.into()),
        ParameterType::Number => number(role, text),
        ParameterType::Integer => number(role, text).filter(|number| !number.is_f64()),
        ParameterType::Boolean => one_of(&[Value::Bool(true), Value::Bool(false)], text),
        ParameterType::OneOf(values) => one_of(values, text),
        ParameterType::List(item) => {
            let plain = text.replace(" and ", ",");
            let entries = plain.split([',', '，', '、', ';', '；', '\n']);
            let entries = entries.map(str::trim).filter(|entry| !entry.is_empty());
            let values = entries.take(MAX_LIST_ITEMS);
            let values = values.map(|entry| value_of_type(item, role, entry));
            let values: Option<Vec<Value>> = values.collect();
            values.filter(|values| !values.is_empty()).map(Value::Array)
        }
        ParameterType::Object => serde_json::from_str(text).ok().filter(Value::is_object),
    }
}

/// The number that a text begins with, in the unit that the parameter counts in.
fn number(role: ParameterRole, text: &str) -> Option<Value> {
    /// Beyond this, floats skip whole numbers.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let tokens = tokens(text);
    let mut number = tokens.first()?.number()?;
    let unit = tokens.get(1).map_or("", |unit| &unit.lower);
    if let ParameterRole::Duration(counted_in) = role
        && let Some(seconds) = vocabulary::seconds_in(unit)
    {
        number *= seconds * 1_000.0 / f64::from(counted_in);
    }
    if number.fract() == 0.0 && number < MAX_EXACT {
        Some(Value::from(number as i64))
    } else {
        Number::from_f64(number).map(Value::Number)
    }
}

/// The value that a text is, or that one of its words says.
fn one_of(values: &[Value], text: &str) -> Option<Value> {
    let lower = text.to_lowercase();
    let says = |said: &str, value: &Value| {
        let plain = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_lowercase);
        let is_switch = has_word("on off true false", &plain);
        plain == said || (is_switch && vocabulary::is_in(&plain, said))
    };
    let find = |said: &str| values.iter().find(|value| says(said, value));
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    find(&lower).or_else(|| words.find_map(find)).cloned()
}

/// A text that was said, or an outline of the kind that was asked for. Without a language
/// model nothing is made up: for "a poem" the answer is to ask for the words.
pub(super) fn draft(phrase: &str) -> Option<String> {
    let lower = phrase.to_lowercase();
    let mut words = lower.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_kind = has_word("a an some me", first)
        && words
            .take(3)
            .any(|word| vocabulary::is_in("unwritten", word));
    let measures = ["一首", "一篇", "一封", "一段"];
    let is_counted = measures.iter().any(|measure| lower.starts_with(measure));
    let is_unwritten = is_kind || is_counted;
    outline(&lower).or_else(|| (!is_unwritten).then(|| phrase.to_owned()))
}

/// Honest empty lines for a list that was only asked for by its kind.
pub(super) fn outline(phrase: &str) -> Option<String> {
    let plain = phrase.trim().trim_end_matches(['.', '!', '。']);
    let plain = plain.trim_start_matches("a ").trim_start_matches("my ");
    let (title, items) = match plain {
        "to-do list" | "todo list" | "to-do" | "todo" | "checklist" => {
            ("To-do", ["First task", "Second task", "Third task"])
        }
        "待办" | "待办清单" | "待办事项" | "待辦清單" | "待辦事項" => {
            ("待办", ["第一件事", "第二件事", "第三件事"])
        }
        _ => return None,
    };
    let items = items.map(|item| format!("- [ ] {item}\n"));
    Some(format!("# {title}\n\n{}", items.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_outlined_and_poems_are_not_invented() {
        let todo = "# To-do\n\n- [ ] First task\n- [ ] Second task\n- [ ] Third task\n";
        let check = |phrase: &str, expected: Option<&str>| {
            assert_eq!(draft(phrase).as_deref(), expected, "{phrase}");
        };
        check("a to-do list", Some(todo));
        check("to-do list.", Some(todo));
        check("a poem about cats", None);
        check("me a poem", None);
        check("an email to Bob", None);
        check("一首诗", None);
        check("hello world", Some("hello world"));
        check("a nice day", Some("a nice day"));
    }
}
