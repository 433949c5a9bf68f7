//! What the built-in tools say of themselves.

use serde_json::Value;
use tenon_domain::{BlobId, CallId, Content, Message, ToolAnswer, ToolId, ToolOutput};
use tenon_tools::OfferLimits;
use tenon_tools::OfferSize::{self, Compact};

use crate::harness::BuiltinHarness;

const FULL: OfferSize = OfferSize::Full(OfferLimits::NONE);

#[tokio::test]
async fn every_tool_has_its_id_and_its_display_name() {
    let harness = BuiltinHarness::new().await;
    let specs = harness.toolset.specs();
    let listed: Vec<String> = specs
        .iter()
        .map(|spec| format!("{} = {}", spec.id, spec.display_name))
        .collect();
    assert_eq!(
        listed,
        [
            "builtin_calculate = Math/Calculate",
            "builtin_claim_done = Flow/Claim done",
            "builtin_convert_time = Time/Convert time",
            "builtin_current_time = Time/Current time",
            "builtin_fetch_url = Web/Fetch URL",
            "builtin_list_files = Files/List files",
            "builtin_read_file = Files/Read file",
            "builtin_read_result = Results/Read result",
            "builtin_search_files = Files/Search files",
            "builtin_search_result = Results/Search result",
            "builtin_sleep = Flow/Sleep",
            "builtin_write_file = Files/Write file",
        ]
    );
}

#[tokio::test]
async fn every_schema_is_closed_and_explains_each_property() {
    let harness = BuiltinHarness::new().await;
    for spec in harness.toolset.specs() {
        let schema = spec.input_schema.value();
        assert_eq!(schema["type"], "object", "{}", spec.id);
        assert_eq!(schema["additionalProperties"], false, "{}", spec.id);
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}: {name}", spec.id);
            assert!(property["examples"].is_array(), "{}: {name}", spec.id);
        }
        let tool = harness.toolset.get(&spec.id).unwrap();
        let keywords = tool.source.keywords(&spec.name);
        assert!(!keywords.is_ascii(), "{}", spec.id);
        assert!(
            spec.description.is_ascii(),
            "{}: synonyms are no part of it",
            spec.id
        );
    }
}

#[tokio::test]
async fn the_annotations_are_true() {
    let harness = BuiltinHarness::new().await;
    let that = |test: fn(&Value) -> bool| -> Vec<String> {
        let specs = harness.toolset.specs();
        let chosen = specs
            .iter()
            .filter(|spec| test(&serde_json::to_value(spec.annotations).unwrap()));
        chosen.map(|spec| spec.name.clone()).collect()
    };
    assert_eq!(that(|a| a["readOnly"] == false), ["write_file"]);
    assert_eq!(that(|a| a["destructive"] == true), ["write_file"]);
    assert_eq!(that(|a| a["idempotent"] == false), ["write_file"]);
    assert_eq!(that(|a| a["openWorld"] == true), ["fetch_url"]);
    assert_eq!(that(|a| a["endsTurn"] == true), ["claim_done"]);
}

#[tokio::test]
async fn a_model_is_told_of_a_tool_when_it_can_be_of_use() {
    let harness = BuiltinHarness::new().await;
    let user = |text: &str| Message::user(text);
    let cut = || Message::Tools {
        answers: vec![ToolAnswer {
            call_id: CallId::new("c"),
            tool_id: ToolId::new("builtin_fetch_url"),
            result: Ok(ToolOutput {
                content: vec![Content::Blob {
                    blob_id: BlobId::new("b"),
                    media_type: "text/plain".into(),
                    name: None,
                    bytes: 100_000,
                }],
            }),
        }],
    };
    let check = |messages: &[Message], size: OfferSize, expected: &[&str]| {
        let offered = harness.toolset.offer(messages, size).tools;
        let sometimes = [
            "claim_done",
            "read_result",
            "search_files",
            "search_result",
            "sleep",
        ];
        let names = offered.iter().map(|spec| spec.name.as_str());
        let found: Vec<&str> = names.filter(|name| sometimes.contains(name)).collect();
        assert_eq!(found, expected, "{messages:?}");
        assert_eq!(offered.len() - found.len(), 7);
    };
    check(&[user("hello")], FULL, &["search_files", "sleep"]);
    check(&[user("hello")], Compact, &[]);
    check(&[user("Wait for ten seconds.")], Compact, &["sleep"]);
    check(&[user("请等待十秒")], Compact, &["sleep"]);
    check(
        &[user("I am done, thanks")],
        FULL,
        &["search_files", "sleep"],
    );
    check(
        &[user("Which file mentions milk?")],
        Compact,
        &["search_files"],
    );
    check(&[user("哪些文件提到了 milk？")], Compact, &["search_files"]);
    check(
        &[user("Then call builtin_claim_done.")],
        Compact,
        &["claim_done"],
    );
    check(
        &[user("Read it"), cut(), user("Go on")],
        Compact,
        &["read_result", "search_result"],
    );
}
