use super::*;
use serde_json::json;

fn fragment(
    index: Option<u64>,
    id: Option<&str>,
    name: Option<&str>,
    arguments: &str,
) -> ModelDelta {
    ModelDelta::Call(CallFragment {
        index,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.into(),
        provider_block: None,
    })
}

#[track_caller]
fn check(deltas: Vec<ModelDelta>, expected: &[(&str, Value)]) {
    let mut assembler = Assembler::default();
    for delta in deltas {
        assembler.push(delta);
    }
    let reply = assembler.finish(|| CallId::new("fresh"));
    let calls: Vec<(&str, Value)> = reply
        .parts
        .iter()
        .filter_map(Part::as_call)
        .map(|call| (call.tool_id.as_str(), call.input.clone()))
        .collect();
    assert_eq!(calls, expected);
}

#[test]
fn fragments_join_whatever_the_server_calls_them() {
    let ab = [("a", json!({"x": 1})), ("b", json!({}))];
    // As documented.
    check(
        vec![
            fragment(Some(0), Some("1"), Some("a"), ""),
            fragment(Some(0), None, None, "{\"x\""),
            fragment(Some(0), None, None, ":1}"),
            fragment(Some(1), Some("2"), Some("b"), "{}"),
        ],
        &ab,
    );
    // Interleaved, numbered from 1.
    check(
        vec![
            fragment(Some(1), Some("1"), Some("a"), "{\"x\""),
            fragment(Some(2), Some("2"), Some("b"), "{"),
            fragment(Some(1), None, None, ":1}"),
            fragment(Some(2), None, None, "}"),
        ],
        &ab,
    );
    // Two calls under one number: the new id opens a new call.
    check(
        vec![
            fragment(Some(0), Some("1"), Some("a"), "{\"x\":1}"),
            fragment(Some(0), Some("2"), Some("b"), ""),
            fragment(Some(0), None, None, "{}"),
        ],
        &ab,
    );
    // No number, the id on every fragment.
    check(
        vec![
            fragment(None, Some("1"), Some("a"), "{\"x\""),
            fragment(None, Some("1"), None, ":1}"),
            fragment(None, Some("2"), Some("b"), "{}"),
        ],
        &ab,
    );
    // Neither number nor id.
    check(
        vec![
            fragment(None, None, Some("a"), "{\"x\""),
            fragment(None, None, None, ":1}"),
            fragment(None, None, Some("b"), ""),
        ],
        &ab,
    );
    // The name again with every fragment, and in pieces.
    check(
        vec![
            fragment(Some(0), Some("1"), Some("na"), ""),
            fragment(Some(0), None, Some("me"), "{}"),
            fragment(Some(0), None, Some("name"), ""),
        ],
        &[("name", json!({}))],
    );
    // Another id with every fragment, and the name with the first.
    check(
        vec![
            fragment(Some(0), Some("1"), Some("a"), ""),
            fragment(Some(0), Some("2"), None, "{\"x\""),
            fragment(Some(0), Some("3"), None, ":1}"),
            fragment(Some(1), Some("4"), Some("b"), ""),
            fragment(Some(1), Some("5"), None, "{}"),
        ],
        &ab,
    );
}

#[test]
fn of_two_ids_the_first_is_told_back() {
    let mut assembler = Assembler::default();
    for (id, field) in [("1", "a"), ("2", "b")] {
        assembler.push(ModelDelta::Call(CallFragment {
            index: Some(0),
            id: Some(id.into()),
            provider_block: Some(ProviderBlock {
                maker: "m".into(),
                block: json!({"id": id, field: true}),
            }),
            ..CallFragment::default()
        }));
    }
    let reply = assembler.finish(|| CallId::new("fresh"));
    let [
        Part::Call {
            provider_block: Some(provider_block),
            ..
        },
    ] = reply.parts.as_slice()
    else {
        panic!("{reply:?}")
    };
    assert_eq!(
        provider_block.block,
        json!({"id": "1", "a": true, "b": true})
    );
}

#[test]
fn calls_without_end_take_no_longer_each() {
    const CALLS: u64 = 100_000;
    // By number and id, by either alone, and under one number.
    type KnownCall = fn(u64) -> (Option<u64>, Option<String>);
    let ways: [KnownCall; 4] = [
        |call| (Some(call), Some(call.to_string())),
        |call| (Some(call), None),
        |call| (None, Some(call.to_string())),
        |call| (Some(0), Some(call.to_string())),
    ];
    for known in ways {
        let begun = std::time::Instant::now();
        let mut assembler = Assembler::default();
        for call in 0..CALLS {
            let (index, id) = known(call);
            assembler.push(fragment(index, id.as_deref(), Some("a"), ""));
        }
        assert_eq!(assembler.calls() as u64, CALLS);
        // Linear takes about a second; quadratic would take half a minute.
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }
}

#[test]
fn arguments_that_are_no_json_stay_as_they_came() {
    check(
        vec![fragment(Some(0), None, Some("a"), "{\"x\": ")],
        &[("a", json!("{\"x\": "))],
    );
    check(
        vec![fragment(Some(0), None, Some("a"), " \n")],
        &[("a", json!({}))],
    );
    check(
        vec![fragment(Some(0), None, Some("a"), "[1]")],
        &[("a", json!([1]))],
    );
}

#[test]
fn text_thinking_and_calls_keep_their_order() {
    let mut assembler = Assembler::default();
    assembler.push(ModelDelta::Thinking("hm".into()));
    assembler.push(ModelDelta::Text("I ".into()));
    assert_eq!(
        assembler.push(ModelDelta::Text("look.".into())),
        Some(Growth {
            part: 1,
            text: "look.".into()
        })
    );
    assembler.push(fragment(Some(0), None, Some("a"), "{}"));
    assembler.push(ModelDelta::Text("And then".into()));
    assembler.push(ModelDelta::Stop(StopReason::ToolCalls));
    let reply = assembler.finish(|| CallId::new("c1"));
    assert_eq!(
        reply.parts,
        vec![
            Part::thinking("hm"),
            Part::text("I look."),
            Part::call(ToolCall {
                id: CallId::new("c1"),
                tool_id: ToolId::new("a"),
                input: json!({})
            }),
            Part::text("And then"),
        ]
    );
    assert_eq!(reply.stop, Some(StopReason::ToolCalls));
}
