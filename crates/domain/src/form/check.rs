//! Validates the answer to a form.
//!
//! A `pattern` is left to the tool: it is no part of what forms may ask.

use serde_json::{Map, Value};

use super::fields::{FieldChoice, FieldKind, FormFields, FormInputField, TextFormat};
use crate::coded_errors;
use crate::error::{CodedError, ErrorDetail, ErrorParam};
use crate::text::shorten;

/// A label or a list of choices quoted back at a person is cut to this.
const MAX_QUOTE_CHARS: usize = 80;

coded_errors! {
    /// Why an answer does not fit its form.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FormAnswerError {
        NotAnObject = "form_not_object" => "The answer has to be an object with the fields of the form.",
        UnknownField { name } = "form_unknown_field" => "The form has no field “{name}”.",
        Missing { label } = "form_field_missing" => "“{label}” is missing; fill it in.",
        NotText { label } = "form_not_text" => "“{label}” must be text.",
        Empty { label } = "form_field_empty" => "“{label}” must not be empty.",
        TooShort { label, min } = "form_too_short" => "“{label}” needs at least {min} characters.",
        TooLong { label, max } = "form_too_long" => "“{label}” may have at most {max} characters.",
        NotEmail { label } = "form_not_email" => "“{label}” must be an e-mail address, like ada@example.org.",
        NotUri { label } = "form_not_uri" => "“{label}” must be an address, like https://example.org.",
        NotDate { label } = "form_not_date" => "“{label}” must be a date, like 2026-07-28.",
        NotDateTime { label } = "form_not_date_time" => "“{label}” must be a date with a time, like 2026-07-28T10:30:00Z.",
        NotNumber { label } = "form_not_number" => "“{label}” must be a number.",
        NotWhole { label } = "form_not_whole" => "“{label}” must be a whole number.",
        TooSmall { label, min } = "form_too_small" => "“{label}” must be at least {min}.",
        TooLarge { label, max } = "form_too_large" => "“{label}” must be at most {max}.",
        NotYesNo { label } = "form_not_yes_no" => "“{label}” must be true or false.",
        NotAChoice { label, choices } = "form_not_a_choice" => "“{label}” must be one of {choices}.",
        NotChoices { label, choices } = "form_not_choices" => "“{label}” must be a list of some of {choices}.",
        TooFew { label, min, choices } = "form_too_few" => "“{label}” needs at least {min} of {choices}.",
        TooMany { label, max, choices } = "form_too_many" => "“{label}” may have at most {max} of {choices}.",
    }
}

impl FormFields {
    /// The answer, if it fits. Null is an empty answer.
    pub fn fit(&self, content: Value) -> Result<Value, ErrorDetail> {
        let content = match content {
            Value::Null => Value::Object(Map::new()),
            content => content,
        };
        self.check(&content)?;
        Ok(content)
    }

    fn check(&self, content: &Value) -> Result<(), ErrorDetail> {
        let Value::Object(content) = content else {
            return Err(FormAnswerError::NotAnObject.into());
        };
        let is_known = |name: &str| self.0.iter().any(|field| field.name == name);
        if let Some(odd) = content.keys().find(|name| !is_known(name)) {
            let name = quote(odd).into();
            return Err(FormAnswerError::UnknownField { name }.into());
        }
        self.0
            .iter()
            .try_for_each(|field| match content.get(&field.name) {
                Some(value) => field.check(value),
                None if field.required => {
                    let label = quote(field.label()).into();
                    Err(FormAnswerError::Missing { label }
                        .detail()
                        .in_field(&field.name))
                }
                None => Ok(()),
            })
    }
}

impl FormInputField {
    pub fn check(&self, value: &Value) -> Result<(), ErrorDetail> {
        let label = quote(self.label()).into();
        misfit(&self.kind, value, label).map_err(|error| error.detail().in_field(&self.name))
    }
}

fn misfit(kind: &FieldKind, value: &Value, label: ErrorParam) -> Result<(), FormAnswerError> {
    use FormAnswerError as Error;
    match kind {
        FieldKind::Text {
            shortest,
            longest,
            format,
        } => {
            let Some(text) = value.as_str() else {
                return Err(Error::NotText { label });
            };
            let length = text.chars().count();
            let (min, max) = ((*shortest).into(), (*longest).into());
            if length == 0 && *shortest == 1 {
                return Err(Error::Empty { label });
            }
            if length < *shortest {
                return Err(Error::TooShort { label, min });
            }
            if length > *longest {
                return Err(Error::TooLong { label, max });
            }
            match format.filter(|format| !format.fits(text)) {
                None => Ok(()),
                Some(TextFormat::Email) => Err(Error::NotEmail { label }),
                Some(TextFormat::Uri) => Err(Error::NotUri { label }),
                Some(TextFormat::Date) => Err(Error::NotDate { label }),
                Some(TextFormat::DateTime) => Err(Error::NotDateTime { label }),
            }
        }
        FieldKind::Number { whole, least, most } => {
            let number = value.as_f64().filter(|number| number.is_finite());
            let Some(number) = number else {
                return Err(Error::NotNumber { label });
            };
            if *whole && number.fract() != 0.0 {
                return Err(Error::NotWhole { label });
            }
            if let Some(least) = least.filter(|least| number < *least) {
                let min = least.into();
                return Err(Error::TooSmall { label, min });
            }
            match most.filter(|most| number > *most) {
                None => Ok(()),
                Some(most) => {
                    let max = most.into();
                    Err(Error::TooLarge { label, max })
                }
            }
        }
        FieldKind::YesNo if value.is_boolean() => Ok(()),
        FieldKind::YesNo => Err(Error::NotYesNo { label }),
        FieldKind::One(choices) if has(choices, value) => Ok(()),
        FieldKind::One(choices) => {
            let choices = names(choices);
            Err(Error::NotAChoice { label, choices })
        }
        FieldKind::Several {
            choices,
            fewest,
            most,
        } => {
            let chosen = value
                .as_array()
                .filter(|chosen| chosen.iter().all(|one| has(choices, one)));
            let choices = names(choices);
            let (min, max) = ((*fewest).into(), (*most).into());
            match chosen.map(Vec::len) {
                None => Err(Error::NotChoices { label, choices }),
                Some(count) if count < *fewest => Err(Error::TooFew {
                    label,
                    min,
                    choices,
                }),
                Some(count) if count > *most => Err(Error::TooMany {
                    label,
                    max,
                    choices,
                }),
                Some(_) => Ok(()),
            }
        }
    }
}

impl TextFormat {
    fn fits(self, text: &str) -> bool {
        let is_odd = |char: char| char.is_whitespace() || char.is_control();
        match self {
            Self::Email => {
                let parts = text.rsplit_once('@');
                let is_address = |(name, host): (&str, &str)| {
                    !name.is_empty() && !name.contains('@') && !host.is_empty()
                };
                parts.is_some_and(is_address) && !text.contains(is_odd)
            }
            Self::Uri => {
                let is_scheme = |scheme: &str| {
                    scheme.starts_with(|char: char| char.is_ascii_alphabetic())
                        && scheme
                            .chars()
                            .all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
                };
                let parts = text.split_once(':');
                parts.is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty())
                    && !text.contains(is_odd)
            }
            Self::Date => is_date(text),
            Self::DateTime => {
                let parts = text.split_once(['T', 't', ' ']);
                parts.is_some_and(|(date, time)| is_date(date) && is_time(time))
            }
        }
    }
}

/// `2026-07-28`
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `10:30:00.5+02:00`, or with `Z` for the place.
fn is_time(text: &str) -> bool {
    let Some(place) = text.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, zone) = text.split_at(place);
    let (time, fraction) = match time.split_once('.') {
        Some((time, fraction)) => (time, Some(fraction)),
        None => (time, None),
    };
    let parts: Vec<&str> = time.split(':').collect();
    let [hour, minute, second] = parts[..] else {
        return false;
    };
    let is_below = |text: &str, end: u32| digits(text, 2).is_some_and(|number| number < end);
    let is_zone = zone.eq_ignore_ascii_case("z")
        || zone[1..]
            .split_once(':')
            .is_some_and(|(hour, minute)| is_below(hour, 24) && is_below(minute, 60));
    // A minute may have a leap second.
    is_below(hour, 24)
        && is_below(minute, 60)
        && is_below(second, 61)
        && fraction.is_none_or(|digits| {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        })
        && is_zone
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn has(choices: &[FieldChoice], value: &Value) -> bool {
    choices.iter().any(|choice| choice.value == *value)
}

fn names(choices: &[FieldChoice]) -> ErrorParam {
    let names: Vec<&str> = choices.iter().map(|choice| choice.title.as_str()).collect();
    quote(&names.join(", ")).into()
}

fn quote(text: &str) -> String {
    shorten(text, MAX_QUOTE_CHARS).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_that_does_not_fit_is_told_which_field_and_why() {
        let schema = json!({
            "properties": {
                "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 5},
                "age": {"type": "integer", "minimum": 18, "maximum": 99},
                "part": {"type": "number"},
                "sure": {"type": "boolean"},
                "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
                "days": {"type": "array", "minItems": 1, "maxItems": 2,
                         "items": {"type": "string", "enum": ["mo", "tu", "we"]}},
            },
            "required": ["name"],
        });
        let fields = FormFields::read(&schema).unwrap();
        let check = |content: Value, expected: Result<(), &str>| {
            let found = fields.check(&content).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{content}");
        };
        let with = |name: &str, value: Value| json!({"name": "Ada", name: value});
        check(json!({"name": "Ada"}), Ok(()));
        check(json!({"name": "äöü火火"}), Ok(()));
        check(json!({}), Err("“Your name” is missing; fill it in."));
        check(
            json!(null),
            Err("The answer has to be an object with the fields of the form."),
        );
        check(with("more", json!(1)), Err("The form has no field “more”."));
        check(json!({"name": 7}), Err("“Your name” must be text."));
        check(
            json!({"name": "A"}),
            Err("“Your name” needs at least 2 characters."),
        );
        check(
            json!({"name": "Augusta"}),
            Err("“Your name” may have at most 5 characters."),
        );
        check(with("age", json!(42)), Ok(()));
        check(with("age", json!(42.0)), Ok(()));
        check(with("age", json!(17)), Err("“age” must be at least 18."));
        check(with("age", json!(100)), Err("“age” must be at most 99."));
        check(
            with("age", json!(20.5)),
            Err("“age” must be a whole number."),
        );
        check(with("age", json!("20")), Err("“age” must be a number."));
        check(with("age", json!(null)), Err("“age” must be a number."));
        check(with("part", json!(0.5)), Ok(()));
        check(with("sure", json!(false)), Ok(()));
        check(
            with("sure", json!("no")),
            Err("“sure” must be true or false."),
        );
        check(with("colour", json!("r")), Ok(()));
        check(
            with("colour", json!("Red")),
            Err("“colour” must be one of Red, Green."),
        );
        check(with("days", json!(["mo", "we"])), Ok(()));
        check(
            with("days", json!("mo")),
            Err("“days” must be a list of some of mo, tu, we."),
        );
        check(
            with("days", json!(["su"])),
            Err("“days” must be a list of some of mo, tu, we."),
        );
        check(
            with("days", json!([])),
            Err("“days” needs at least 1 of mo, tu, we."),
        );
        check(
            with("days", json!(["mo", "tu", "we"])),
            Err("“days” may have at most 2 of mo, tu, we."),
        );
    }

    #[test]
    fn nothing_is_an_answer_where_nothing_has_to_be_filled_in() {
        let read = |schema: Value| FormFields::read(&schema).unwrap();
        let optional = read(json!({"properties": {"x": {"type": "string"}}}));
        assert_eq!(optional.fit(json!(null)), Ok(json!({})));
        let needed = read(json!({"properties": {"x": {"type": "string"}}, "required": ["x"]}));
        let missing = needed.fit(json!(null)).unwrap_err().to_string();
        assert_eq!(missing, "“x” is missing; fill it in.");
    }

    #[test]
    fn a_text_has_its_format() {
        use TextFormat::{Date, DateTime, Email, Uri};
        let check = |format: TextFormat, good: &[&str], bad: &[&str]| {
            for text in good {
                assert!(format.fits(text), "{format:?} {text:?}");
            }
            for text in bad {
                assert!(!format.fits(text), "{format:?} {text:?}");
            }
        };
        check(
            Email,
            &["ada@example.org", "a+b@localhost"],
            &["", "ada", "@x", "ada@", "a b@x", "a@b@c", "a\n@x"],
        );
        check(
            Uri,
            &["https://example.org/a?b#c", "mailto:ada@x", "urn:a:b"],
            &["", "example.org", "//x", "https:", "1a:b", "https://a b"],
        );
        check(
            Date,
            &["2026-07-28", "2024-02-29", "2000-02-29"],
            &[
                "",
                "2026-7-28",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-04-31",
                "2026-01-00",
                "28.07.2026",
                "+026-07-28",
            ],
        );
        check(
            DateTime,
            &[
                "2026-07-28T10:30:00Z",
                "2026-07-28t10:30:60.25+02:00",
                "2026-07-28 00:00:00-11:30",
            ],
            &[
                "2026-07-28",
                "2026-07-28T10:30:00",
                "2026-07-28T24:00:00Z",
                "2026-07-28T10:30Z",
                "2026-07-28T10:30:00.Z",
                "2026-07-28T10:30:00+2",
                "2026-07-28T10:30:00Zé",
            ],
        );
    }

    #[test]
    fn what_is_quoted_is_short() {
        let schema = json!({"properties": {"x": {"type": "string", "title": "火".repeat(500)}}});
        let fields = FormFields::read(&schema).unwrap();
        let found = fields.check(&json!({"x": 1})).unwrap_err().to_string();
        assert_eq!(
            found.chars().count(),
            MAX_QUOTE_CHARS + "“…” must be text.".chars().count()
        );
    }
}
