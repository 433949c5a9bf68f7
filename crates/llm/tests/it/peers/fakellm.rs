//! fakellm: fragments of four pieces a call, ids of its own, no usage in OpenAI's format.

use serde_json::json;
use tenon_domain::{Message, Part, StopReason, Usage, WireFormat};
use tenon_llm::{ModelDelta, ModelRequest};

use super::{Peer, answered, ask, degrees, hear, text, tool, wishes};

/// It speaks no Responses.
const FORMATS: [WireFormat; 2] = [WireFormat::Openai, WireFormat::Anthropic];

#[tokio::test]
async fn text_comes_as_it_was_said() {
    let peer = Peer::fakellm();
    for format in FORMATS {
        let heard = hear(&*peer.provider(format), ask("say hello")).await;
        let reply = heard.whole();
        let hello = "Hello from a model that nobody here wrote.";
        assert_eq!(reply.parts, [Part::text(hello)], "{format:?}");
        assert_eq!(reply.stop, Some(StopReason::End), "{format:?}");
        let words = heard.deltas.iter();
        let words = words
            .filter(|delta| matches!(delta, ModelDelta::Text(_)))
            .count();
        assert_eq!(words, 8, "{format:?}: each word as it comes");

        let heard = hear(&*peer.provider(format), ask("say it in four scripts")).await;
        assert_eq!(
            text(&heard.whole()),
            "naïve, Ελλάδα, 你好,世界, नमस्ते 👋",
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn what_is_counted_is_told() {
    let peer = Peer::fakellm();
    let check = async |format, expected| {
        let heard = hear(&*peer.provider(format), ask("say hello")).await;
        assert_eq!(heard.whole().usage, expected, "{format:?}");
    };
    // It counts only for the one.
    check(WireFormat::Openai, Usage::default()).await;
    let counted = Usage {
        input_tokens: 1,
        output_tokens: 10,
        ..Usage::default()
    };
    check(WireFormat::Anthropic, counted).await;
}

#[tokio::test]
async fn a_call_is_made_its_result_told_and_the_answer_spoken() {
    for format in FORMATS {
        // It remembers the results of a conversation, and knows one by its first sentence.
        let peer = Peer::fakellm();
        let provider = peer.provider(format);
        let request = ask("weather in Oslo");
        let reply = hear(&*provider, request.clone()).await.whole();
        let expected = [("weather".to_owned(), json!({"city": "Oslo"}))];
        assert_eq!(wishes(&reply), expected, "{format:?}");
        assert_eq!(reply.stop, Some(StopReason::ToolCalls), "{format:?}");

        let reply = hear(&*provider, answered(request, &reply, degrees))
            .await
            .whole();
        assert_eq!(
            reply.parts,
            [Part::text("It is 7 degrees in Oslo.")],
            "{format:?}"
        );
        assert_eq!(reply.stop, Some(StopReason::End), "{format:?}");
    }
}

#[tokio::test]
async fn calls_made_at_once_are_answered_at_once() {
    for format in FORMATS {
        // It remembers the results of a conversation, and knows one by its first sentence.
        let peer = Peer::fakellm();
        let provider = peer.provider(format);
        let request = ask("weather in both cities");
        let reply = hear(&*provider, request.clone()).await.whole();
        let expected = ["Oslo", "Lima"].map(|city| ("weather".to_owned(), json!({"city": city})));
        assert_eq!(wishes(&reply), expected, "{format:?}");
        // In OpenAI's format fakellm swallows what it says beside a call.
        let said = match format {
            WireFormat::Openai | WireFormat::Responses => "",
            WireFormat::Anthropic => "Let me look at both.",
        };
        assert_eq!(text(&reply), said);

        let reply = hear(&*provider, answered(request, &reply, degrees))
            .await
            .whole();
        assert_eq!(
            text(&reply),
            "Lima is 15 degrees warmer than Oslo.",
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_without_arguments_is_called_with_none() {
    let peer = Peer::fakellm();
    for format in FORMATS {
        let request = ModelRequest {
            system: String::new(),
            language: None,
            messages: vec![Message::user("is anybody there")],
            tools: vec![tool("ping", json!({"type": "object"}))],
            ..ModelRequest::default()
        };
        let reply = hear(&*peer.provider(format), request).await.whole();
        assert_eq!(
            wishes(&reply),
            [("ping".to_owned(), json!({}))],
            "{format:?}"
        );
    }
}
