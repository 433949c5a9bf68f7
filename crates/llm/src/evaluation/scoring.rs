//! Whether what a model did is what a prompt asked for.

use serde_json::Value;
use tenon_domain::{PromptKind, PromptOutcome, ToolCall};

use super::prompts::{EvaluationPrompt, ExpectedCall, ExpectedValue};
use super::tools::as_number;

/// The calls and the answer of a model for one prompt.
#[derive(Debug, Default)]
pub(super) struct PromptTranscript {
    pub calls: Vec<ToolCall>,
    pub answer: String,
    pub end: TranscriptEnd,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TranscriptEnd {
    #[default]
    Answered,
    TimedOut,
    Failed,
}

impl EvaluationPrompt {
    pub(super) fn outcome(&self, transcript: &PromptTranscript) -> PromptOutcome {
        let is_first_call_right = self.is_first_call_right(transcript);
        match transcript.end {
            TranscriptEnd::TimedOut => PromptOutcome::TimedOut,
            TranscriptEnd::Failed => PromptOutcome::Failed,
            TranscriptEnd::Answered if is_first_call_right => {
                if self.is_answer_right(transcript) {
                    PromptOutcome::Passed
                } else {
                    PromptOutcome::WrongAnswer
                }
            }
            TranscriptEnd::Answered if transcript.calls.is_empty() => PromptOutcome::NoCall,
            TranscriptEnd::Answered if self.calls.is_empty() => PromptOutcome::UnneededCall,
            TranscriptEnd::Answered => PromptOutcome::WrongCall,
        }
    }

    /// Where talk is asked for, none is right; one that was answered, that is.
    pub(super) fn is_first_call_right(&self, transcript: &PromptTranscript) -> bool {
        let Some(first) = transcript.calls.first() else {
            return self.calls.is_empty() && transcript.end == TranscriptEnd::Answered;
        };
        let candidates = match self.kind {
            PromptKind::SeveralCalls => self.calls,
            _ => self.calls.get(..1).unwrap_or_default(),
        };
        candidates.iter().any(|expected| expected.matches(first))
    }

    /// All calls were made, and the answer has what came of them.
    pub(super) fn is_answer_right(&self, transcript: &PromptTranscript) -> bool {
        let was_made = |expected: &ExpectedCall| {
            let mut calls = transcript.calls.iter();
            calls.any(|call| expected.matches(call))
        };
        let answer = Answer::new(&transcript.answer);
        transcript.end == TranscriptEnd::Answered
            && !answer.text.trim().is_empty()
            && (!self.calls.is_empty() || transcript.calls.is_empty())
            && self.calls.iter().all(was_made)
            && self
                .facts
                .iter()
                .all(|words| words.iter().any(|word| answer.contains(word)))
    }
}

impl ExpectedCall {
    /// Arguments beside the expected ones do no harm.
    fn matches(&self, call: &ToolCall) -> bool {
        call.tool_id.as_str() == self.tool
            && self.arguments.iter().all(|(name, expected)| {
                let value = call.input.get(*name);
                value.is_some_and(|value| expected.matches(value))
            })
    }
}

impl ExpectedValue {
    fn matches(&self, value: &Value) -> bool {
        match self {
            Self::Number(number) => {
                as_number(value).is_some_and(|value| (value - number).abs() < 1e-9)
            }
            Self::Text(any) => value.as_str().is_some_and(|text| {
                let text = text.to_lowercase();
                any.iter().any(|expected| text.contains(expected))
            }),
        }
    }
}

/// An answer in lower case, with the numbers in it.
struct Answer {
    text: String,
    numbers: Vec<f64>,
}

impl Answer {
    fn new(answer: &str) -> Self {
        let text = answer.to_lowercase();
        let numbers = without_thousands_separators(&text);
        let numbers = numbers.split(|char: char| !char.is_ascii_digit() && char != '.');
        let numbers = numbers.filter_map(|number| number.trim_matches('.').parse().ok());
        Self {
            numbers: numbers.collect(),
            text,
        }
    }

    /// A number counts only as a whole: 4 is not in 42.
    fn contains(&self, fact: &str) -> bool {
        match fact.parse::<f64>() {
            Ok(number) => self.numbers.contains(&number),
            Err(_) => self.text.contains(fact),
        }
    }
}

/// 37,500 and 37 500 are 37500.
fn without_thousands_separators(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |index: usize| chars.get(index).is_some_and(char::is_ascii_digit);
    let is_separator = |index: usize| {
        matches!(
            chars[index],
            ',' | ' ' | '\'' | '\u{a0}' | '\u{202f}' | '\u{2009}'
        ) && index > 0
            && is_digit(index - 1)
            && (1..=3).all(|ahead| is_digit(index + ahead))
            && !is_digit(index + 4)
    };
    let kept = (0..chars.len()).filter(|index| !is_separator(*index));
    kept.map(|index| chars[index]).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_domain::{CallId, ToolId};

    use super::super::prompts::PROMPTS;
    use super::super::tools::{simulate, specs};
    use super::*;

    fn prompt(start: &str) -> &'static EvaluationPrompt {
        let mut found = PROMPTS
            .iter()
            .filter(|prompt| prompt.text.starts_with(start));
        found.next().unwrap()
    }

    fn calls(calls: &[(&str, Value)]) -> Vec<ToolCall> {
        let calls = calls.iter().map(|(tool, input)| ToolCall {
            id: CallId::new("c1"),
            tool_id: ToolId::new(*tool),
            input: input.clone(),
        });
        calls.collect()
    }

    #[test]
    fn outcomes() {
        use PromptOutcome::{NoCall, Passed, UnneededCall, WrongAnswer, WrongCall};
        let check = |start: &str, made: &[(&str, Value)], answer: &str, expected| {
            let transcript = PromptTranscript {
                calls: calls(made),
                answer: answer.into(),
                end: TranscriptEnd::Answered,
            };
            let outcome = prompt(start).outcome(&transcript);
            assert_eq!(outcome, expected, "{start} {made:?} {answer}");
        };
        let weather = |city: &str| ("get_weather", json!({"city": city}));
        let oslo = "What is the weather like in Oslo";
        check(oslo, &[weather("Oslo, Norway")], "It is 4 °C.", Passed);
        check(oslo, &[weather("Oslo")], "It is 42 °C.", WrongAnswer);
        check(oslo, &[weather("Bergen")], "It is 4 °C.", WrongCall);
        check(oslo, &[], "It is 4 °C.", NoCall);
        let time = ("get_local_time", json!({"city": "Oslo"}));
        check(oslo, &[time, weather("Oslo")], "It is 4 °C.", WrongCall);

        let convert = |amount: Value| {
            let input = json!({"amount": amount, "from": "usd", "to": "JPY", "date": "now"});
            ("convert_currency", input)
        };
        let yen = "Convert 250";
        check(yen, &[convert(json!(250))], "That is 37,500 yen.", Passed);
        check(yen, &[convert(json!("250.0"))], "37 500.00 JPY", Passed);
        check(yen, &[convert(json!("much"))], "37500", WrongCall);

        let cities = "Compare the weather";
        let both = [weather("Lima"), weather("Cairo")];
        check(cities, &both, "31 and 18 degrees.", Passed);
        check(cities, &both[..1], "31 and 18 degrees.", WrongAnswer);

        let invoice = "Find the invoice";
        let search = ("search_files", json!({"query": "ACME invoice"}));
        let read = ("read_file", json!({"path": "invoices/acme-0471.txt"}));
        check(
            invoice,
            &[search.clone(), read.clone()],
            "318.50 EUR.",
            Passed,
        );
        check(invoice, &[read], "318.50 EUR.", WrongCall);
        check(invoice, &[search], "It is 318.50 EUR.", WrongAnswer);

        check("Good morning", &[], "I am well!", Passed);
        check("Good morning", &[], " ", WrongAnswer);
        check("Good morning", &[weather("Oslo")], "Well!", UnneededCall);
    }

    #[test]
    fn a_prompt_that_was_cut_off_counts_for_its_first_call_alone() {
        let transcript = PromptTranscript {
            calls: calls(&[("get_weather", json!({"city": "Oslo"}))]),
            answer: "4 °C".into(),
            end: TranscriptEnd::TimedOut,
        };
        let oslo = prompt("What is the weather like in Oslo");
        assert_eq!(oslo.outcome(&transcript), PromptOutcome::TimedOut);
        assert!(oslo.is_first_call_right(&transcript));
        assert!(!oslo.is_answer_right(&transcript));
    }

    /// A model that calls what is expected is told every number that its answer has to have.
    #[test]
    fn the_tools_say_what_the_prompts_expect() {
        for prompt in &PROMPTS {
            let mut said = String::new();
            for expected in prompt.calls {
                let spec = specs().into_iter().find(|spec| spec.name == expected.tool);
                let schema = serde_json::to_value(&spec.unwrap().input_schema).unwrap();
                let mut input = json!({});
                for (name, value) in expected.arguments {
                    assert!(schema["properties"].get(*name).is_some(), "{name}");
                    input[*name] = match value {
                        ExpectedValue::Number(number) => json!(number),
                        ExpectedValue::Text(any) => json!(any[0]),
                    };
                }
                // What a second step takes from the first is not written down here.
                if expected.tool == "calculate" && input.get("a").is_none() {
                    let first = Answer::new(&said).numbers[0];
                    let second = if prompt.text.contains("12") { 12 } else { 20 };
                    (input["a"], input["b"]) = (json!(first), json!(second));
                }
                let call = &calls(&[(expected.tool, input)])[0];
                assert!(expected.matches(call), "{call:?}");
                let output = simulate(call).unwrap_or_else(|error| panic!("{error}: {call:?}"));
                said.push_str(&format!("{}\n", serde_json::to_string(&output).unwrap()));
            }
            let answer = Answer::new(&said);
            for fact in prompt.facts.iter().filter(|_| !prompt.calls.is_empty()) {
                let is_said = fact.iter().any(|fact| answer.contains(fact));
                assert!(is_said, "{}: {fact:?} in {said}", prompt.text);
            }
        }
    }

    #[test]
    fn each_six_prompts_have_one_of_each_kind() {
        let kinds = |prompts: &[EvaluationPrompt]| -> Vec<PromptKind> {
            prompts.iter().map(|prompt| prompt.kind).collect()
        };
        for six in PROMPTS.chunks(6) {
            assert_eq!(kinds(six), kinds(&PROMPTS[..6]));
        }
        assert_eq!(specs().len(), 12);
    }
}
