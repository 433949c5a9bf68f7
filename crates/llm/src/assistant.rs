//! The assistant that is always there: rules, no weights.
//!
//! It matches the user's words to the tools at hand, reads the arguments from
//! the message, asks back when one is missing, and says what came of it. It
//! never pretends to be a language model. It remembers nothing: every step is
//! worked out from the messages, so a turn can go on after a restart.
//!
//! The way of a message: [`history`] → [`plan`] (→ [`clause`] → [`choice`] →
//! [`arguments`]) → [`phrases`].

mod history;
mod plan;

mod choice;
mod clause;
mod tone;

mod arguments;
mod draft;
mod maths;
mod schema;

mod lexicon;
mod phrases;
mod token;

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use tenon_domain::StopReason;
use tokio::sync::Semaphore;

use crate::{CallFragment, Delta, Deltas, Error, Provider, Request};
use choice::Shelf;
use clause::Clause;
use plan::{Call, Next};

/// Pieces a text is spoken in. With [`PAUSE`] this bounds how long it takes.
const MOST_PIECES: usize = 40;
/// A few words: enough to see it stream.
const SHORTEST_PIECE: usize = 16;
const PAUSE: Duration = Duration::from_millis(8);
/// So many tools are gone through in a few milliseconds.
const AT_ONCE: usize = 200;

/// Answers without a language model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Assistant;

#[async_trait]
impl Provider for Assistant {
    fn name(&self) -> &str {
        "Built-in assistant"
    }

    async fn stream(&self, request: Request) -> Result<Deltas, Error> {
        let step = think_apart(request).await?;
        let stop = if step.calls.is_empty() {
            StopReason::End
        } else {
            StopReason::ToolCalls
        };
        let spoken = stream::iter(pieces(&step.text)).then(|piece| async move {
            tokio::time::sleep(PAUSE).await;
            Delta::Text(piece)
        });
        let calls = step.calls.into_iter().zip(0_u64..).map(|(call, index)| {
            Delta::Call(CallFragment {
                index: Some(index),
                id: None,
                name: Some(call.tool),
                arguments: call.arguments.to_string(),
                kept: None,
            })
        });
        // No usage: no tokens were used.
        let last = calls.chain([Delta::Stop(stop)]).collect::<Vec<_>>();
        Ok(spoken.chain(stream::iter(last)).map(Ok).boxed())
    }
}

/// What to say and what to call now.
#[derive(Debug, Default)]
struct Step {
    text: String,
    calls: Vec<Call>,
}

/// With thousands of tools at hand a thought takes its time, which others need the
/// thread for.
async fn think_apart(request: Request) -> Result<Step, Error> {
    static TURNS: Semaphore = Semaphore::const_new(2);
    if request.tools.len() <= AT_ONCE {
        return Ok(think(&request));
    }
    let turn = TURNS.acquire().await.ok();
    let thinking = tokio::task::spawn_blocking(move || {
        let step = think(&request);
        drop(turn);
        step
    });
    let failed = |_panic| Error::Refused("The assistant could not make sense of this.".into());
    thinking.await.map_err(failed)
}

fn think(request: &Request) -> Step {
    let shelf = Shelf::new(request.tools.iter().map(AsRef::as_ref));
    let exchanges = history::exchanges(&request.messages);
    let Some(last) = exchanges.last() else {
        return Step {
            text: phrases::introduction(tone::Language::English, tone::Manner::Greeting, &shelf),
            ..Step::default()
        };
    };
    let language = tone::language(last.said);
    let said = |text: String| Step {
        text,
        ..Step::default()
    };
    match plan::next(&shelf, &exchanges) {
        Next::Call(calls) => Step {
            calls,
            ..Step::default()
        },
        Next::Ask { tool, parameter } => {
            let question = phrases::question(language, &tool.spec.display_name, &parameter);
            if last.made.is_empty() {
                return said(question);
            }
            said(format!(
                "{}\n\n{question}",
                phrases::report(language, &shelf, &last.made)
            ))
        }
        Next::Report => said(phrases::report(language, &shelf, &last.made)),
        Next::Talk => said(phrases::introduction(
            language,
            tone::manner(&Clause::new(last.said)),
            &shelf,
        )),
        Next::Drop => said(phrases::dropped(language)),
    }
}

/// A text in pieces that end between words, never more than [`MOST_PIECES`].
fn pieces(text: &str) -> Vec<String> {
    let length = SHORTEST_PIECE.max(text.len().div_ceil(MOST_PIECES));
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        piece.push(c);
        let between = c.is_whitespace() || !c.is_ascii();
        // A word that never ends is cut all the same.
        if piece.len() >= length && (between || piece.len() >= length * 4) {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use tenon_domain::{Annotations, Message, RunsOn, ToolId, ToolSpec};

    fn tool(id: &str, description: &str, schema: Value) -> Arc<ToolSpec> {
        Arc::new(ToolSpec {
            id: ToolId::new(id),
            name: id.into(),
            title: id.into(),
            display_name: format!("Test/{id}"),
            description: description.into(),
            input_schema: schema.into(),
            annotations: Annotations::default(),
            runs_on: RunsOn::Server,
        })
    }

    #[test]
    fn a_text_is_spoken_in_pieces_that_are_the_text_again() {
        for text in [
            "",
            "one",
            "一二三四五六七八九十",
            &"word ".repeat(2_000),
            &"x".repeat(9_999),
        ] {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), *text);
            assert!(pieces.len() <= MOST_PIECES);
        }
    }

    /// JSON of any kind, with the keywords of a schema in the wrong places too.
    fn any_schema() -> impl Strategy<Value = Value> {
        let keyword = prop::sample::select(vec![
            "type",
            "properties",
            "required",
            "enum",
            "anyOf",
            "items",
            "default",
            "description",
            "const",
            "path",
            "query",
            "count",
            "city",
            "x",
            "format",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            prop::sample::select(vec![
                "string", "object", "array", "integer", "null", "path", "city", "number", "uri"
            ])
            .prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(keyword.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Sentences made of what the rules look for, and of anything at all.
    fn any_message() -> impl Strategy<Value = String> {
        let word = prop_oneof![
            prop::sample::select(vec![
                "read",
                "write",
                "and",
                "then",
                "it",
                "in",
                "Tokyo",
                "notes.md",
                "\"",
                "'",
                "“",
                "”",
                "with",
                ":",
                "https://x.io",
                "6*7",
                "(",
                "{",
                "}",
                "现在",
                "几点",
                "和",
                "读",
                "三",
                "秒",
                "然后",
                "count",
                "=",
                "5",
                "-",
                ",",
                "path",
                "for",
                "weather",
                "city",
                "，",
                "```",
                "\n",
                "百分之",
                "file",
                "search",
            ])
            .prop_map(str::to_owned),
            any::<String>(),
            "\\PC{0,8}",
        ];
        prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn whatever_is_said_to_whatever_tools_it_ends_in_a_few_sound_calls(
            messages in prop::collection::vec(any_message(), 1..3),
            schemas in prop::collection::vec(any_schema(), 0..4),
        ) {
            let mut tools = vec![
                tool("read_file", "Read a file", json!({"properties": {"path": {"type": "string"}}, "required": ["path"]})),
                tool("current_time", "The time", json!({"properties": {"timezone": {"type": "string"}}})),
                tool("weather", "Weather", json!({"properties": {"city": {"type": "string"}}, "required": ["city"]})),
            ];
            let names = ["search_things", "write_file", "count", "x"];
            tools.extend(schemas.into_iter().zip(names).map(|(schema, name)| tool(name, "Search and write", schema)));

            let mut history = Vec::new();
            for text in messages {
                history.push(Message::User { text });
                let mut calls = 0;
                // One more step than there can be calls.
                for _ in 0..=plan::MOST_CALLS {
                    let step = think(&Request { system: String::new(), messages: history.clone(), tools: tools.clone() });
                    prop_assert!(step.calls.iter().all(|call| call.arguments.is_object()));
                    prop_assert_eq!(step.calls.is_empty(), !step.text.is_empty());
                    calls += step.calls.len();
                    prop_assert!(calls <= plan::MOST_CALLS);
                    let ended = step.calls.is_empty();
                    history.extend(after(step));
                    if ended {
                        break;
                    }
                }
                prop_assert!(matches!(history.last(), Some(Message::Assistant { .. })), "it did not end");
            }
        }
    }

    /// The step as history has it, with every call answered.
    fn after(step: Step) -> Vec<Message> {
        use tenon_domain::{CallId, Part, ToolAnswer, ToolCall, ToolOutput};
        if step.calls.is_empty() {
            return vec![Message::Assistant {
                parts: vec![Part::text(step.text)],
            }];
        }
        let calls = step.calls.into_iter().map(|call| ToolCall {
            id: CallId::new("c"),
            tool_id: ToolId::new(call.tool),
            input: call.arguments,
        });
        let calls: Vec<ToolCall> = calls.collect();
        let answers = calls.iter().map(|call| ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(ToolOutput::text("ok")),
        });
        let answers = Message::Tools {
            answers: answers.collect(),
        };
        vec![
            Message::Assistant {
                parts: calls.into_iter().map(Part::call).collect(),
            },
            answers,
        ]
    }
}
