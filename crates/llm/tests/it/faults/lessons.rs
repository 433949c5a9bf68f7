//! Requests that are refused, and go out again without what was refused.

use serde_json::{Value, json};
use tenon_domain::{
    Message, OmittedTool, Part, ToolAnswer, ToolId, ToolOutput, UserImage, WireFormat,
};
use tenon_llm::ExclusionReason;
use tenon_llm::{DeferredTools, ModelRequest, connect};

use super::{FORMATS, ask_for, hi, names, once, with_image};
use crate::fake::{Act, Fake, ask, tool};

#[tokio::test]
async fn a_tool_that_is_refused_is_left_out_and_no_other() {
    let named = "Invalid schema for function 'clock': In context=('properties', 'x'), array schema missing items.";
    for (format, error, said) in [
        (
            WireFormat::Openai,
            json!({"message": named, "type": "invalid_request_error", "param": "tools[1].function.parameters", "code": "invalid_function_parameters"}),
            format!("tools[1].function.parameters {named}"),
        ),
        (
            WireFormat::Openai,
            json!({"message": named, "type": "invalid_request_error", "param": null}),
            named.to_owned(),
        ),
        (
            WireFormat::Anthropic,
            json!({"type": "invalid_request_error", "message": "tools.1.custom.input_schema: JSON schema is invalid."}),
            "tools.1.custom.input_schema: JSON schema is invalid.".to_owned(),
        ),
    ] {
        let refuse = Act::json(400, &json!({"type": "error", "error": error}));
        let fake = Fake::start([refuse, Act::hello(format)]).await;
        let provider = connect(fake.remote(format));
        let expected = [OmittedTool {
            tool_id: ToolId::new("clock"),
            display_name: "Fake/clock".into(),
            why: ExclusionReason::Refused { said: said.into() }.into(),
        }];
        // The second question knows it from the start.
        for asked in [2, 3] {
            let heard = ask(&*provider, hi()).await;
            heard.is_answer("Hello");
            assert_eq!(heard.left_out, expected);
            assert_eq!(fake.asked().len(), asked);
        }
        let asked = fake.asked();
        let offered: Vec<Vec<&str>> = asked.iter().map(|asked| names(&asked.body)).collect();
        assert_eq!(
            offered,
            [vec!["weather", "clock"], vec!["weather"], vec!["weather"]]
        );
    }
}

#[tokio::test]
async fn a_server_that_takes_no_tools_is_told_of_them_in_the_prompt() {
    for (status, said) in [
        (
            400,
            "registry.ollama.ai/library/gemma:2b does not support tools",
        ),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (500, "tools param requires --jinja flag"),
        (
            404,
            "No endpoints found that support tool use. Try disabling \"weather\".",
        ),
    ] {
        let refuse = Act::json(status, &json!({"error": {"message": said}}));
        let fake = Fake::start([refuse, Act::hello(WireFormat::Openai)]).await;
        let provider = connect(fake.remote(WireFormat::Openai));
        // The second question knows it from the start.
        for asked in [2, 3] {
            let heard = ask(&*provider, hi()).await;
            heard.is_answer("Hello");
            assert_eq!(heard.left_out, [], "{said}");
            assert_eq!(fake.asked().len(), asked, "{said}");
        }
        let body = &fake.asked()[1].body;
        assert!(body.get("tools").is_none(), "{said}");
        let system = body["messages"][0]["content"].as_str().unwrap();
        assert!(system.contains("\"name\":\"clock\""), "{system}");
    }
}

#[tokio::test]
async fn tools_are_refused_one_after_the_other() {
    let refuse = |name: &str| {
        Act::json(
            400,
            &json!({"error": {"message": format!("Invalid schema for function '{name}'")}}),
        )
    };
    let fake = Fake::start([
        refuse("weather"),
        refuse("clock"),
        Act::hello(WireFormat::Openai),
    ])
    .await;
    let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
    heard.is_answer("Hello");
    let left_out: Vec<&str> = heard
        .left_out
        .iter()
        .map(|tool| tool.tool_id.as_str())
        .collect();
    assert_eq!(left_out, ["weather", "clock"]);
    assert_eq!(fake.asked()[2].body.get("tools"), None);
}

#[tokio::test]
async fn more_tools_than_a_model_can_be_told_of_are_left_out() {
    let fake = Fake::start([Act::hello(WireFormat::Openai)]).await;
    let tools = (0..130)
        .map(|number| tool(&format!("tool{number}")))
        .collect();
    let heard = ask_for(&fake, WireFormat::Openai, ModelRequest { tools, ..hi() }).await;
    heard.is_answer("Hello");
    assert_eq!(names(&fake.asked()[0].body).len(), 128);
    let left_out: Vec<&str> = heard
        .left_out
        .iter()
        .map(|tool| tool.tool_id.as_str())
        .collect();
    assert_eq!(left_out, ["tool128", "tool129"]);
}

/// One refusal, then an answer; and the next question is right from the start.
async fn adapts(
    format: WireFormat,
    refusal: Value,
    request: ModelRequest,
    is_mended: fn(&Value) -> bool,
) {
    let fake = Fake::start([Act::json(400, &refusal), Act::hello(format)]).await;
    let provider = connect(fake.remote(format));
    ask(&*provider, request.clone()).await.is_answer("Hello");
    ask(&*provider, request).await.is_answer("Hello");
    let mended: Vec<bool> = fake
        .asked()
        .iter()
        .map(|asked| is_mended(&asked.body))
        .collect();
    assert_eq!(mended, [false, true, true], "{refusal}");
}

#[tokio::test]
async fn what_a_server_does_not_know_is_not_sent_again() {
    let unknown = json!({"error": {"message": "Unknown parameter: 'stream_options'.", "param": "stream_options"}});
    let extra = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]});
    for refusal in [unknown, extra] {
        adapts(WireFormat::Openai, refusal, hi(), |body| {
            body.get("stream_options").is_none()
        })
        .await;
    }
    let order = json!({"object": "error", "message": "Unexpected role 'user' after role 'tool'", "type": "invalid_request_message_order", "code": "3230"});
    adapts(WireFormat::Openai, order, with_image(), |body| {
        let messages = body["messages"].as_array().unwrap();
        !messages
            .windows(2)
            .any(|pair| pair[0]["role"] == "tool" && pair[1]["role"] == "user")
    })
    .await;
    let most = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for m"}});
    adapts(WireFormat::Anthropic, most, hi(), |body| {
        body["max_tokens"] == 4096
    })
    .await;
    let cache = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "system.0.cache_control: Extra inputs are not permitted"}});
    adapts(WireFormat::Anthropic, cache, hi(), |body| {
        !body.to_string().contains("cache_control")
    })
    .await;
    // The thoughts of a model that has none, and those of an account that may not read them.
    let encrypted = json!({"error": {"message": "Encrypted content is not supported with this model.", "type": "invalid_request_error", "param": "include", "code": null}});
    adapts(WireFormat::Responses, encrypted, hi(), |body| {
        body.get("include").is_none() && body.get("reasoning").is_none()
    })
    .await;
    let summary = json!({"error": {"message": "Your organization must be verified to generate reasoning summaries.", "type": "invalid_request_error", "param": "reasoning.summary", "code": "unsupported_value"}});
    adapts(WireFormat::Responses, summary, hi(), |body| {
        body.get("include").is_some() && body.get("reasoning").is_none()
    })
    .await;
    let image = json!({"error": {"message": "Invalid content type. image_url is only supported by certain models.", "param": "messages.[3].content.[1].type"}});
    let blind = json!({"error": {"message": "This model does not support image input"}});
    for (format, refusal) in [(WireFormat::Openai, image), (WireFormat::Anthropic, blind)] {
        adapts(format, refusal, with_image(), |body| {
            !body.to_string().contains("aGk=")
        })
        .await;
    }
}

/// An older model of OpenAI's, with more tools than it is told of.
#[tokio::test]
async fn a_server_that_finds_no_tools_is_told_of_ours_that_do() {
    let refusal = json!({"error": {"message": "Tool 'tool_search' is not supported with this model.", "type": "invalid_request_error", "param": "tools", "code": null}});
    let hello = Act::hello(WireFormat::Responses);
    let fake = Fake::start([Act::json(400, &refusal), hello]).await;
    let mut remote = fake.remote(WireFormat::Responses);
    remote.parameters.insert("tool_search".into(), json!(true));
    let mut request = hi();
    request.tools.push(tool("tool_search"));
    request.deferred = DeferredTools {
        tools: vec![tool("open"), tool("shut")],
        finders: vec![ToolId::new("tool_search")],
    };
    ask(&*connect(remote), request).await.is_answer("Hello");
    let asked = fake.asked();
    let [first, second] = asked.as_slice() else {
        panic!("{asked:?}");
    };
    let found = first.body["tools"].as_array().unwrap();
    assert_eq!(names(&first.body)[..2], ["weather", "clock"]);
    assert_eq!(found[2], json!({"type": "tool_search"}));
    assert_eq!(found[3]["type"], "namespace");
    assert_eq!(names(&found[3]), ["open", "shut"]);
    assert_eq!(names(&second.body), ["weather", "clock", "tool_search"]);
    assert_eq!(first.body.get("tool_search"), None);
}

#[tokio::test]
async fn thoughts_that_are_not_taken_back_stay_away() {
    let thought = json!({"choices": [{"delta": {"reasoning": "Hm."}}]});
    let call = json!({"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": "clock", "arguments": "{}"}},
    ]}, "finish_reason": "tool_calls"}]});
    let refusal = json!({"error": {"message": "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]"}});
    let fake = Fake::start([
        Act::stream(&format!(
            "data: {thought}\n\ndata: {call}\n\ndata: [DONE]\n\n"
        )),
        Act::json(400, &refusal),
        Act::hello(WireFormat::Openai),
    ])
    .await;
    let provider = connect(fake.remote(WireFormat::Openai));
    let mut request = hi();
    let parts = ask(&*provider, request.clone()).await.reply.parts;
    let answers = parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| ToolAnswer {
            call_id: call.id.clone(),
            tool_id: call.tool_id.clone(),
            result: Ok(ToolOutput::text("noon")),
        });
    let answers = answers.collect();
    request.messages.push(Message::Assistant { parts });
    request.messages.push(Message::Tools { answers });
    ask(&*provider, request).await.is_answer("Hello");
    let told: Vec<bool> = fake
        .asked()
        .iter()
        .map(|asked| asked.body["messages"].to_string().contains("reasoning"))
        .collect();
    assert_eq!(told, [false, true, false]);
}

#[tokio::test]
async fn a_refusal_is_not_trouble_because_of_a_word_in_it() {
    let named = "Invalid schema for function 'clock': In context=('properties', 'timeout'), schema must have a 'type' key.";
    let missing = "Invalid schema for function 'clock': In context=('properties', 'model'), '#/$defs/Model' does not exist.";
    for said in [named, missing] {
        let refusal = Act::json(400, &json!({"error": {"message": said}}));
        let fake = Fake::start([refusal, Act::hello(WireFormat::Openai)]).await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        heard.is_answer("Hello");
        assert_eq!(heard.left_out.len(), 1, "{said}");
        assert_eq!(fake.asked().len(), 2, "{said}");
    }
}

#[tokio::test]
async fn a_server_that_cannot_show_pictures_is_told_without() {
    let said = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj";
    let refusal = Act::json(
        500,
        &json!({"error": {"code": 500, "message": said, "type": "server_error"}}),
    );
    let fake = Fake::start([refusal, Act::hello(WireFormat::Openai)]).await;
    let heard = ask_for(&fake, WireFormat::Openai, with_image()).await;
    heard.is_answer("Hello");
    assert_eq!(fake.asked().len(), 2);
    assert!(!fake.asked()[1].body.to_string().contains("aGk="));
}

#[tokio::test]
async fn a_picture_of_the_user_is_never_left_out() {
    let check = async |said: &str, expected: &str, takes_images: bool| {
        for format in FORMATS {
            let refusal = Act::json(400, &json!({"error": {"message": said}}));
            let fake = Fake::start([refusal, Act::hello(format)]).await;
            let image = UserImage {
                media_type: "image/png".into(),
                data: "aGk=".into(),
                name: None,
            };
            let mut request = hi();
            request.messages = vec![Message::User {
                text: "What is it?".into(),
                images: vec![image],
                files: Vec::new(),
            }];
            let provider = connect(fake.remote(format));
            let heard = ask(&*provider, request).await;
            assert!(heard.refused().contains(expected), "{}", heard.refused());
            assert_eq!(fake.asked().len(), 1, "{said}");
            assert_eq!(provider.takes_images(), takes_images, "{said}");
        }
    };
    let blind = "This model does not support image input";
    check(blind, "accepts no images", false).await;
    check("Could not process image", "Could not process image", true).await;
}

#[tokio::test]
async fn an_earlier_picture_is_told_in_words_to_a_model_that_sees_none() {
    for format in FORMATS {
        let said = "This model does not support image input";
        let refusal = Act::json(400, &json!({"error": {"message": said}}));
        let fake = Fake::start([refusal, Act::hello(format), Act::hello(format)]).await;
        let image = UserImage {
            media_type: "image/png".into(),
            data: "aGk=".into(),
            name: Some("cat.png".into()),
        };
        let mut request = hi();
        request.messages = vec![
            Message::User {
                text: "What is it?".into(),
                images: vec![image],
                files: Vec::new(),
            },
            Message::Assistant {
                parts: vec![Part::text("A cat.")],
            },
            Message::user("And how old do they get?"),
        ];
        let provider = connect(fake.remote(format));
        ask(&*provider, request.clone()).await.is_answer("Hello");
        // It is known the next time.
        ask(&*provider, request).await.is_answer("Hello");
        let asked = fake.asked();
        assert_eq!(asked.len(), 3);
        for told in &asked[1..] {
            let told = told.body.to_string();
            assert!(told.contains("[picture: cat.png]"), "{told}");
            assert!(!told.contains("aGk="), "{told}");
        }
    }
}

#[tokio::test]
async fn any_number_of_tools_may_be_refused() {
    let tools: Vec<_> = (0..40)
        .map(|number| tool(&format!("tool{number}")))
        .collect();
    let refusals = (0..20).map(|number| {
        let said = format!("Invalid schema for function 'tool{number}'");
        Act::json(400, &json!({"error": {"message": said}}))
    });
    let fake = Fake::start(refusals.chain([Act::hello(WireFormat::Openai)])).await;
    let request = ModelRequest { tools, ..hi() };
    let heard = ask_for(&fake, WireFormat::Openai, request).await;
    heard.is_answer("Hello");
    assert_eq!(heard.left_out.len(), 20);
}

#[tokio::test]
async fn a_refusal_that_names_nothing_stands() {
    for format in FORMATS {
        let fake = Fake::start([Act::json(400, &json!({"error": {"message": "Bad."}}))]).await;
        once(
            &fake,
            &ask_for(&fake, format, hi()).await,
            "127.0.0.1 rejected the request (\"Bad\").",
        );
    }
}

#[tokio::test]
async fn a_refusal_that_repeats_itself_stands() {
    for said in [
        "stream_options",
        "max_tokens: 8192 > 4096",
        "tools[0]: no",
        "image",
    ] {
        let fake = Fake::start([Act::json(400, &json!({"error": {"message": said}}))]).await;
        let heard = ask_for(&fake, WireFormat::Openai, hi()).await;
        assert_eq!(
            heard.refused(),
            format!("127.0.0.1 rejected the request (\"{said}\").")
        );
        assert!(fake.asked().len() <= 3, "{said}: {}", fake.asked().len());
    }
}
