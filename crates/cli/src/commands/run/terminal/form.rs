//! A form that a person fills in at a terminal, line by line.

use serde_json::{Map, Value, json};
use tenon_domain::form::fields::{FieldChoice, FieldKind, FormFields, FormInputField};
use tenon_domain::{CallId, CallRecord, ErrorDetail, Form, FormAnswer, FormId, FormRequest};

use super::shown;

/// Typed in the place of an answer.
const DECLINE: &str = "/decline";

#[derive(Debug)]
pub(super) struct FormPrompt {
    pub(super) call: CallId,
    pub(super) form: FormId,
    tool: String,
    message: String,
    asks: FieldPrompt,
}

#[derive(Debug)]
enum FieldPrompt {
    /// One after the other; `at` is the one whose line comes next.
    Fields {
        fields: Vec<FormInputField>,
        at: usize,
        content: Map<String, Value>,
    },
    /// Only whether they agree.
    Agree { url: Option<String> },
}

/// What a line did.
#[derive(Debug, PartialEq)]
pub(super) enum FormProgress {
    /// It was the last one.
    All(FormAnswer),
    Next,
    /// It was no answer; a sentence says why.
    Wrong(String),
}

impl FormPrompt {
    pub(super) fn new(call: &CallRecord, form: &Form) -> Self {
        let asks = match &form.request {
            FormRequest::Visit { url } => FieldPrompt::Agree {
                url: Some(url.clone()),
            },
            // One that cannot be read is not shown to anybody, here neither.
            FormRequest::Fields { schema } => match FormFields::read(schema) {
                Ok(FormFields(fields)) if !fields.is_empty() => FieldPrompt::Fields {
                    fields,
                    at: 0,
                    content: Map::new(),
                },
                Ok(_) | Err(_) => FieldPrompt::Agree { url: None },
            },
        };
        Self {
            call: call.id.clone(),
            form: form.id.clone(),
            tool: call.display_name.clone(),
            message: form.message.clone(),
            asks,
        }
    }

    /// What stands above the first line to fill in.
    pub(super) fn opening(&self) -> String {
        let mut opening = format!("? {} asks:\n", shown(&self.tool));
        for line in self.message.lines() {
            opening.push_str(&format!("  {}\n", shown(line)));
        }
        let how = match &self.asks {
            FieldPrompt::Fields { .. } => {
                "Enter alone takes what is in brackets, or leaves a field out.".into()
            }
            FieldPrompt::Agree { url: Some(url) } => format!("{}\n  Open this page.", shown(url)),
            FieldPrompt::Agree { url: None } => "Nothing has to be filled in.".to_owned(),
        };
        opening.push_str(&format!("  {how} {DECLINE} says no.\n"));
        opening
    }

    pub(super) fn prompt(&self) -> String {
        match &self.asks {
            FieldPrompt::Agree { url: Some(_) } => "Done there? [y]es / [n]o: ".into(),
            FieldPrompt::Agree { url: None } => "Agree? [y]es / [n]o: ".into(),
            FieldPrompt::Fields { fields, at, .. } => {
                fields.get(*at).map(prompt).unwrap_or_default()
            }
        }
    }

    /// Takes a line in. None: there will be no more.
    pub(super) fn take(&mut self, line: Option<&str>) -> FormProgress {
        let Some(line) = line.map(str::trim).filter(|line| *line != DECLINE) else {
            return FormProgress::All(FormAnswer::Decline);
        };
        let (fields, at, content) = match &mut self.asks {
            FieldPrompt::Agree { .. } => return agree(line),
            FieldPrompt::Fields {
                fields,
                at,
                content,
            } => (fields, at, content),
        };
        if let Some(field) = fields.get(*at) {
            match read(field, line) {
                Err(why) => return FormProgress::Wrong(shown(&why.to_string())),
                Ok(None) => {}
                Ok(Some(value)) => {
                    content.insert(field.name.clone(), value);
                }
            }
            *at += 1;
        }
        if *at < fields.len() {
            return FormProgress::Next;
        }
        // Where the answer is refused after all, it begins anew.
        *at = 0;
        let content = Value::Object(std::mem::take(content));
        FormProgress::All(FormAnswer::Accept { content })
    }
}

fn agree(line: &str) -> FormProgress {
    match line.to_lowercase().as_str() {
        "y" | "yes" => FormProgress::All(FormAnswer::Accept {
            content: Value::Null,
        }),
        "n" | "no" => FormProgress::All(FormAnswer::Decline),
        _ => FormProgress::Next,
    }
}

/// `Colour (1 Red, 2 Green) [Red]: `
fn prompt(field: &FormInputField) -> String {
    let mut prompt = field.label().to_owned();
    if let Some(description) = &field.description {
        prompt.push_str(&format!(" – {description}"));
    }
    let hint = match &field.kind {
        FieldKind::Text { .. } => None,
        FieldKind::Number { whole: true, .. } => Some("a whole number".into()),
        FieldKind::Number { whole: false, .. } => Some("a number".into()),
        FieldKind::YesNo => Some("y or n".into()),
        FieldKind::One(choices) => Some(numbered(choices)),
        FieldKind::Several { choices, .. } => {
            Some(format!("{}; some, with commas", numbered(choices)))
        }
    };
    if let Some(hint) = hint {
        prompt.push_str(&format!(" ({hint})"));
    }
    match &field.default {
        Some(Value::String(text)) => prompt.push_str(&format!(" [{text}]")),
        Some(other) => prompt.push_str(&format!(" [{other}]")),
        None if field.required => {}
        None => prompt.push_str(" [nothing]"),
    }
    format!("{}: ", shown(&prompt))
}

fn numbered(choices: &[FieldChoice]) -> String {
    let numbered = choices
        .iter()
        .zip(1..)
        .map(|(choice, number)| format!("{number} {}", choice.title));
    numbered.collect::<Vec<_>>().join(", ")
}

/// Why a line is no answer.
#[derive(Debug, thiserror::Error)]
enum LineError {
    #[error("{0} is needed.")]
    Missing(String),
    #[error("{0}")]
    Misfit(#[from] ErrorDetail),
}

/// What a line means for a field. None: it is left out.
fn read(field: &FormInputField, line: &str) -> Result<Option<Value>, LineError> {
    if line.is_empty() {
        return match (&field.default, field.required) {
            (Some(default), _) => Ok(Some(default.clone())),
            (None, false) => Ok(None),
            (None, true) => Err(LineError::Missing(field.label().to_owned())),
        };
    }
    let text = || json!(line);
    let value = match &field.kind {
        FieldKind::Text { .. } => text(),
        FieldKind::Number { .. } => match (line.parse::<i64>(), line.parse::<f64>()) {
            (Ok(number), _) => json!(number),
            (Err(_), Ok(number)) => json!(number),
            (Err(_), Err(_)) => text(),
        },
        FieldKind::YesNo => match line.to_lowercase().as_str() {
            "y" | "yes" | "true" => json!(true),
            "n" | "no" | "false" => json!(false),
            _ => text(),
        },
        FieldKind::One(choices) => choose(choices, line).unwrap_or_else(text),
        FieldKind::Several { choices, .. } => line
            .split(',')
            .map(str::trim)
            .map(|one| choose(choices, one).unwrap_or_else(|| json!(one)))
            .collect(),
    };
    field.check(&value)?;
    Ok(Some(value))
}

/// By its value, its title or its number, in this order: a value may look like a number.
fn choose(choices: &[FieldChoice], line: &str) -> Option<Value> {
    let by_value = choices.iter().find(|choice| choice.value == line);
    let by_title = || {
        let line = line.to_lowercase();
        choices
            .iter()
            .find(|choice| choice.title.to_lowercase() == line)
    };
    let by_number = || choices.get(line.parse::<usize>().ok()?.checked_sub(1)?);
    let choice = by_value.or_else(by_title).or_else(by_number)?;
    Some(choice.value.clone())
}

#[cfg(test)]
mod tests {
    use tenon_domain::{MessageId, RunsOn, ToolCall, ToolId};

    use super::*;

    fn filling(request: FormRequest) -> FormPrompt {
        let call = ToolCall {
            id: CallId::new("call"),
            tool_id: ToolId::new("mcp_clerk_form"),
            input: json!({}),
        };
        let call = CallRecord::requested(call, MessageId::new("m"), "Clerk/form", RunsOn::Server);
        let form = Form {
            id: FormId::new("form"),
            message: "Who are you?\nBe \u{1b}[2Jhonest.".into(),
            request,
        };
        FormPrompt::new(&call, &form)
    }

    fn person() -> FormPrompt {
        filling(FormRequest::Fields {
            schema: json!({
                "properties": {
                    "name": {"type": "string", "title": "Your name"},
                    "age": {"type": "integer", "minimum": 18, "default": 42},
                    "sure": {"type": "boolean", "description": "Really?"},
                    "colour": {"oneOf": [{"const": "r", "title": "Red"}, {"const": "1", "title": "Green"}]},
                    "days": {"type": "array", "items": {"enum": ["mo", "tu"]}},
                },
                "required": ["name"],
            }),
        })
    }

    #[test]
    fn a_form_is_filled_in_line_by_line() {
        let check = |lines: &[&str], expected: Value| {
            let mut filling = person();
            let (last, first) = lines.split_last().unwrap();
            for line in first {
                assert_eq!(filling.take(Some(line)), FormProgress::Next, "{line}");
            }
            let content = expected;
            assert_eq!(
                filling.take(Some(last)),
                FormProgress::All(FormAnswer::Accept { content })
            );
        };
        let empty = json!({"name": "Ada", "age": 42});
        check(&[" Ada ", "", "", "", ""], empty);
        let whole =
            json!({"name": "Ada", "age": 20, "sure": true, "colour": "r", "days": ["mo", "tu"]});
        check(&["Ada", "20", "Y", "red", "2, mo"], {
            let mut whole = whole.clone();
            whole["days"] = json!(["tu", "mo"]);
            whole
        });
        check(&["Ada", "20", "yes", "r", "mo,2"], whole);
        // What is the value of one is not the number of another.
        let green = json!({"name": "Ada", "age": 42, "colour": "1"});
        check(&["Ada", "", "", "1", ""], green.clone());
        check(&["Ada", "", "", "2", ""], green);
    }

    #[test]
    fn a_line_that_does_not_fit_is_asked_for_again() {
        let mut filling = person();
        let check = |filling: &mut FormPrompt, line: &str, expected: &str| {
            assert_eq!(
                filling.take(Some(line)),
                FormProgress::Wrong(expected.into())
            );
        };
        check(&mut filling, "", "Your name is needed.");
        assert_eq!(filling.take(Some("Ada")), FormProgress::Next);
        check(&mut filling, "many", "“age” must be a number.");
        check(&mut filling, "7", "“age” must be at least 18.");
        assert_eq!(filling.take(Some("20")), FormProgress::Next);
        check(&mut filling, "perhaps", "“sure” must be true or false.");
        assert_eq!(filling.take(Some("n")), FormProgress::Next);
        check(&mut filling, "3", "“colour” must be one of Red, Green.");
        assert_eq!(
            filling.take(Some("/decline")),
            FormProgress::All(FormAnswer::Decline)
        );
    }

    #[test]
    fn no_more_lines_mean_no() {
        assert_eq!(person().take(None), FormProgress::All(FormAnswer::Decline));
        let mut visit = filling(FormRequest::Visit {
            url: "https://example.org".into(),
        });
        assert_eq!(visit.take(Some("what?")), FormProgress::Next);
        assert_eq!(visit.take(None), FormProgress::All(FormAnswer::Decline));
        let done = FormAnswer::Accept {
            content: Value::Null,
        };
        assert_eq!(visit.take(Some("y")), FormProgress::All(done));
        assert_eq!(
            visit.take(Some("no")),
            FormProgress::All(FormAnswer::Decline)
        );
    }

    #[test]
    fn what_is_shown_says_what_to_do_and_moves_no_cursor() {
        let mut person = person();
        assert_eq!(
            person.opening(),
            "? Clerk/form asks:\n  Who are you?\n  Be \u{FFFD}[2Jhonest.\n  \
             Enter alone takes what is in brackets, or leaves a field out. /decline says no.\n"
        );
        let mut prompts = vec![person.prompt()];
        for line in ["Ada", "", "", ""] {
            person.take(Some(line));
            prompts.push(person.prompt());
        }
        assert_eq!(
            prompts,
            [
                "Your name: ",
                "age (a whole number) [42]: ",
                "sure – Really? (y or n) [nothing]: ",
                "colour (1 Red, 2 Green) [nothing]: ",
                "days (1 mo, 2 tu; some, with commas) [nothing]: ",
            ]
        );
        let visit = filling(FormRequest::Visit {
            url: "https://example.org".into(),
        });
        assert!(
            visit
                .opening()
                .ends_with("  https://example.org\n  Open this page. /decline says no.\n")
        );
        assert_eq!(visit.prompt(), "Done there? [y]es / [n]o: ");
    }
}
