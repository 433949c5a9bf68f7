//! What the built-in tools say of themselves.

use serde_json::Value;

use crate::harness::BuiltinHarness;

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
        let (_, keywords) = spec.description.rsplit_once(" (").unwrap();
        assert!(
            keywords.ends_with(')') && !keywords.is_ascii(),
            "{}",
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
