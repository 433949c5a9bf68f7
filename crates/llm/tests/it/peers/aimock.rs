//! aimock, strict: what it does not expect it refuses.

use std::time::{Duration, Instant};

use serde_json::json;
use tenon_domain::{ErrorKind, Part, StopReason, ToolError, ToolUse, Usage, WireFormat};
use tenon_llm::embeddings::{EmbeddingFault, embed};
use tenon_llm::{Error, ModelDelta, connect};

use super::proxy::Proxy;
use super::{FORMATS, Peer, answered, ask, base_url, degrees, hear, remote, said, text, wishes};

#[tokio::test]
async fn text_comes_as_it_was_said_and_is_counted() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("say hello")).await;
        let reply = heard.whole();
        let hello = "Hello from a model that nobody here wrote.";
        assert_eq!(reply.stop, Some(StopReason::End), "{format:?}");
        // In Anthropic's format told twice, at the beginning and at the end: not to be added up.
        let counted = Usage {
            input_tokens: 12,
            output_tokens: 9,
            ..Usage::default()
        };
        assert_eq!(reply.usage, counted, "{format:?}");
        assert_eq!(said(reply), [Part::text(hello)], "{format:?}");
        let pieces = heard.deltas.iter();
        let pieces = pieces
            .filter(|delta| matches!(delta, ModelDelta::Text(_)))
            .count();
        assert_eq!(pieces, 6, "{format:?}: each piece as it comes");
    }
}

#[tokio::test]
async fn text_survives_its_pieces() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let provider = peer.provider(format);
        let check = async |asked, expected| {
            let reply = hear(&*provider, ask(asked)).await.whole();
            assert_eq!(text(&reply), expected, "{format:?}");
        };
        check("say it in four scripts", "naïve, Ελλάδα, 你好,世界, नमस्ते").await;
        let lines = "First line.\n\ndata: [DONE]\n\nevent: error\n\tLast line.";
        check("say a line break", lines).await;
        // Cut between the two surrogates of a character.
        check("say it with a wave", "Hello 👋 there").await;
    }
}

#[tokio::test]
async fn a_model_that_runs_out_of_room_says_so() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let reply = hear(&*peer.provider(format), ask("talk until you are cut off"))
            .await
            .whole();
        assert_eq!(text(&reply), "As far as I", "{format:?}");
        assert_eq!(reply.stop, Some(StopReason::Length), "{format:?}");
    }
}

/// The result is only taken under the id that the call was made with.
#[tokio::test]
async fn a_call_is_made_its_result_told_and_the_answer_spoken() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let provider = peer.provider(format);
        let request = ask("weather in Oslo");
        let reply = hear(&*provider, request.clone()).await.whole();
        let expected = [("weather".to_owned(), json!({"city": "Oslo"}))];
        assert_eq!(wishes(&reply), expected, "{format:?}");
        assert_eq!(text(&reply), "", "{format:?}");
        assert_eq!(reply.stop, Some(StopReason::ToolCalls), "{format:?}");

        let told = answered(request.clone(), &reply, degrees);
        let last = hear(&*provider, told).await.whole();
        assert_eq!(
            said(last),
            [Part::text("It is 7 degrees in Oslo.")],
            "{format:?}"
        );

        let failed = answered(request, &reply, |_| {
            let message = "the weather is unreachable";
            Err(ToolError::new(ErrorKind::Unavailable, message))
        });
        let last = hear(&*provider, failed).await.whole();
        assert_eq!(text(&last), "The weather cannot be had now.", "{format:?}");
    }
}

#[tokio::test]
async fn calls_made_at_once_are_answered_at_once() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let provider = peer.provider(format);
        let request = ask("weather in both cities");
        let reply = hear(&*provider, request.clone()).await.whole();
        let expected = ["Oslo", "Lima"].map(|city| ("weather".to_owned(), json!({"city": city})));
        assert_eq!(wishes(&reply), expected, "{format:?}");
        assert_eq!(text(&reply), "Let me look at both.", "{format:?}");
        assert_eq!(reply.stop, Some(StopReason::ToolCalls), "{format:?}");

        let last = hear(&*provider, answered(request, &reply, degrees))
            .await
            .whole();
        assert_eq!(
            text(&last),
            "Lima is 15 degrees warmer than Oslo.",
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn words_between_calls_stay_between_them() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let request = ask("look, talk, and look again");
        let reply = hear(&*peer.provider(format), request).await.whole();
        let order: Vec<String> = said(reply)
            .into_iter()
            .map(|part| match part {
                Part::Call { call, .. } => call.input["city"].as_str().unwrap().to_owned(),
                Part::Text { text, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            order,
            ["Oslo", "And now the other one.", "Lima"],
            "{format:?}"
        );
    }
}

/// aimock refuses a chat whose thoughts do not come back signed and first.
#[tokio::test]
async fn thoughts_are_shown_and_told_back_as_they_came() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let mut remote = remote(peer.base_url(format), format);
        if format == WireFormat::Anthropic {
            let thinking = json!({"type": "enabled", "budget_tokens": 1024});
            remote.parameters.insert("thinking".into(), thinking);
        }
        let provider = connect(remote);
        let request = ask("think about Oslo");
        let reply = hear(&*provider, request.clone()).await.whole();
        let thoughts: Vec<&str> = reply
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Thinking { text, .. } => Some(text.as_str()),
                Part::Text { .. }
                | Part::Image(_)
                | Part::File { .. }
                | Part::Call { .. }
                | Part::Opaque { .. } => None,
            })
            .collect();
        assert_eq!(
            thoughts,
            ["Oslo is in the north, so better look."],
            "{format:?}"
        );
        assert_eq!(text(&reply), "I look.", "{format:?}");
        assert_eq!(wishes(&reply).len(), 1, "{format:?}");

        let last = hear(&*provider, answered(request, &reply, degrees))
            .await
            .whole();
        assert_eq!(text(&last), "It is cold.", "{format:?}");
    }
}

#[tokio::test]
async fn a_conversation_can_move_to_a_model_of_another_format() {
    let peer = Peer::aimock();
    let pairs = FORMATS
        .into_iter()
        .flat_map(|first| FORMATS.map(|second| (first, second)));
    for (first, second) in pairs.filter(|(first, second)| first != second) {
        let request = ask("think about Oslo");
        let reply = hear(&*peer.provider(first), request.clone()).await.whole();
        let told = answered(request, &reply, degrees);
        let last = hear(&*peer.provider(second), told).await.whole();
        assert_eq!(said(last), [Part::text("It is cold.")], "{second:?}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_keeps_what_was_said() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("break off in the middle")).await;
        let said = text(&heard.reply);
        assert!(
            said.starts_with("This sentence will never") && !said.contains("cut"),
            "{format:?}: {said}"
        );
        assert!(
            matches!(heard.error, Some(Error::Interrupted(_))),
            "{format:?}: {:?}",
            heard.error
        );
    }
}

#[tokio::test]
async fn a_call_that_breaks_off_is_an_error_too() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("call and hang up")).await;
        assert!(
            matches!(heard.error, Some(Error::Interrupted(_))),
            "{format:?}: {:?}",
            heard.error
        );
        assert_eq!(heard.reply.stop, None, "{format:?}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_before_a_word_is_begun_again() {
    for format in FORMATS {
        let peer = Peer::aimock();
        let heard = hear(&*peer.provider(format), ask("break off before a word")).await;
        assert_eq!(
            said(heard.whole()),
            [Part::text("Said after all.")],
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    for format in FORMATS {
        // It counts how often it was asked.
        let peer = Peer::aimock();
        let started = Instant::now();
        let heard = hear(&*peer.provider(format), ask("too many at first")).await;
        assert_eq!(text(&heard.whole()), "Now there is room.", "{format:?}");
        let retries = heard.deltas.iter().filter_map(|delta| match delta {
            ModelDelta::Retry(after) => Some(*after),
            _ => None,
        });
        let retries: Vec<Duration> = retries.collect();
        assert_eq!(retries.len(), 1, "{format:?}");
        assert!(
            retries[0] >= Duration::from_secs(1),
            "{format:?}: {retries:?}"
        );
        assert!(started.elapsed() >= Duration::from_secs(1), "{format:?}");
    }
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again() {
    for format in FORMATS {
        let peer = Peer::aimock();
        let heard = hear(&*peer.provider(format), ask("overloaded at first")).await;
        assert_eq!(text(&heard.whole()), "Back again.", "{format:?}");
    }
}

#[tokio::test]
async fn a_server_that_wants_an_hour_is_not_waited_for() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("too many for ever")).await;
        let Some(Error::Busy(why)) = heard.error else {
            panic!("{format:?}: {:?}", heard.error);
        };
        assert!(
            why.message
                .ends_with("(\"Rate limit reached for this key\"). Wait 60 min and try again."),
            "{format:?}: {why}"
        );
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_named() {
    let peer = Peer::aimock();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("no such model")).await;
        let Some(Error::Refused(why)) = heard.error else {
            panic!("{format:?}: {:?}", heard.error);
        };
        assert!(
            why.message.contains("The model `nobody` does not exist"),
            "{format:?}: {why}"
        );
    }
}

#[tokio::test]
async fn the_key_opens_the_door_and_a_wrong_one_does_not() {
    let peer = Peer::aimock_with_key("sk-test");
    for format in FORMATS {
        let reply = hear(&*peer.provider(format), ask("say hello"))
            .await
            .whole();
        assert_eq!(reply.stop, Some(StopReason::End), "{format:?}");

        for key in [Some("sk-wrong".to_owned()), None] {
            let mut remote = remote(peer.base_url(format), format);
            remote.key = key;
            let heard = hear(&*connect(remote), ask("say hello")).await;
            let Some(Error::Refused(why)) = heard.error else {
                panic!("{format:?}: {:?}", heard.error);
            };
            assert!(
                why.message.contains("key") && !why.message.contains("sk-wrong"),
                "{format:?}: {why}"
            );
        }
    }
}

#[tokio::test]
async fn a_model_without_tools_is_shown_none() {
    let peer = Peer::aimock();
    let proxy = Proxy::before(&peer).await;
    for format in FORMATS {
        let mut remote = remote(base_url(&proxy.url, format), format);
        remote.tools = ToolUse::None;
        let heard = hear(&*connect(remote), ask("say hello")).await;
        assert_eq!(heard.whole().stop, Some(StopReason::End), "{format:?}");
        let seen = proxy.take();
        assert_eq!(seen.len(), 1, "{format:?}");
        assert_eq!(seen[0].body.get("tools"), None, "{format:?}");
    }
}

/// aimock answers only what asks for JSON of a given form and shows no tools.
#[tokio::test]
async fn a_model_that_cannot_call_is_held_to_a_form() {
    let peer = Peer::aimock();
    let mut remote = remote(peer.base_url(WireFormat::Openai), WireFormat::Openai);
    remote.tools = ToolUse::Constrained;
    let provider = connect(remote);
    let request = ask("weather in Oslo");
    let reply = hear(&*provider, request.clone()).await.whole();
    let expected = [("weather".to_owned(), json!({"city": "Oslo"}))];
    assert_eq!(wishes(&reply), expected);
    assert_eq!(text(&reply), "");

    let last = hear(&*provider, answered(request, &reply, degrees))
        .await
        .whole();
    assert_eq!(last.parts, [Part::text("It is 7 degrees in Oslo.")]);
}

#[tokio::test]
async fn texts_get_vectors_or_the_reason_why_not() {
    let peer = Peer::aimock();
    let remote = remote(peer.base_url(WireFormat::Openai), WireFormat::Openai);
    let texts = ["close the garage", "打开车库 (garage)"].map(String::from);
    let vectors = embed(&remote, &texts).await.unwrap();
    assert_eq!(vectors, [[0.5, -0.25, 1.0], [0.5, -0.25, 1.0]]);
    let failed = embed(&remote, &["something else".to_owned()]).await;
    let Err(EmbeddingFault::Failed(why)) = failed else {
        panic!("{failed:?}");
    };
    assert_eq!(why.code, "model_server_error");
}
