use super::*;
use serde_json::json;

fn read(tools: &[Value]) -> ToolPages {
    let mut reader = ToolListReader::default();
    for tool in tools {
        let raw = RawValue::from_string(tool.to_string()).unwrap();
        reader.add(&raw);
    }
    reader.finish()
}

fn texts(page: &ToolPages) -> Vec<String> {
    page.list.problems.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(tool: Value, problem: &str) {
    let good = json!({ "name": "good", "inputSchema": { "type": "object" } });
    let page = read(&[tool.clone(), good]);
    let names: Vec<&str> = page
        .list
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["good"], "{tool}");
    assert_eq!(texts(&page), [problem], "{tool}");
}

#[test]
fn a_bad_tool_costs_only_itself() {
    check(
        json!("tool"),
        "Tool 1 is left out, because it cannot be read: invalid type: string \"tool\", expected a map at line 1 column 6.",
    );
    let quoted = format!("invalid type: string \"{}…", "x".repeat(278));
    check(
        json!("x".repeat(500_000)),
        &format!("Tool 1 is left out, because it cannot be read: {quoted}."),
    );
    check(json!({}), "Tool 1 is left out, because it has no name.");
    check(
        json!({ "name": 5 }),
        "Tool 1 is left out, because it has no name.",
    );
    check(
        json!({ "name": "a\u{7}b" }),
        "`ab` is left out: its name contains control characters.",
    );
    check(
        json!({ "name": "b", "inputSchema": { "type": "string" } }),
        "`b` is left out: its input is not an object but a string.",
    );
    check(
        json!({ "name": "b", "inputSchema": false }),
        "`b` is left out: its schema allows no input at all.",
    );
    check(
        json!({ "name": "x".repeat(600) }),
        &format!("`{}…` is left out: its name is too long.", "x".repeat(60)),
    );
}

#[test]
fn a_name_that_stands_twice_counts_once() {
    let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
    let page = read(&[tool.clone(), tool]);
    assert_eq!(page.list.tools.len(), 1);
    assert_eq!(
        texts(&page),
        ["`a` is offered twice. The first one counts."]
    );
}

#[test]
fn a_name_that_deceives_the_eye_is_kept_and_shown_clean() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let names = ["plain", "pay\u{202e}lap", "ec\u{200b}ho", "\u{200b}"];
    let page = read(&names.map(tool));
    let tools = &page.list.tools;
    let kept: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(kept, names);
    let shown: Vec<Option<&str>> = tools.iter().map(|tool| tool.title.as_deref()).collect();
    let unseen = "A tool without a name to be seen";
    assert_eq!(shown, [None, Some("paylap"), Some("echo"), Some(unseen)]);
}

#[test]
fn strange_names_and_texts_are_taken_as_they_are_or_cleaned() {
    let long = "n".repeat(300);
    let page = read(&[
        json!({ "name": "../../etc", "inputSchema": { "type": "object" }, "title": " A\u{1b}[1m\ntitle ", "description": "One\u{0}\n two" }),
        json!({ "name": long, "inputSchema": { "type": "object" }, "title": 7, "annotations": { "readOnlyHint": true, "title": "" } }),
    ]);
    let [first, second] = &page.list.tools[..] else {
        panic!("{page:?}");
    };
    assert_eq!(first.title.as_deref(), Some("A[1m title"));
    assert_eq!(first.description, "One\n two");
    assert!(first.annotations.destructive && first.annotations.open_world);
    assert_eq!(second.name, long);
    assert_eq!(second.title, Some(format!("{}…", "n".repeat(120))));
    assert!(second.annotations.read_only && !second.annotations.destructive);
    assert_eq!(texts(&page), Vec::<String>::new());
}

#[tokio::test]
async fn a_long_list_does_not_block_the_runtime() {
    let schema = json!({ "type": "object", "properties": { "a": { "enum": vec!["x"; 1000] } } });
    let tools: Vec<Value> = (0..1500)
        .map(|number| json!({ "name": format!("t{number}"), "inputSchema": schema }))
        .collect();
    let page = to_raw_value(&json!({ "tools": tools, "nextCursor": "on" })).unwrap();
    let mut longest = Duration::ZERO;
    let ticks = async {
        loop {
            let began = std::time::Instant::now();
            tokio::time::sleep(Duration::from_millis(5)).await;
            longest = longest.max(began.elapsed());
        }
    };
    let (reader, next) = tokio::select! {
        read = ToolListReader::default().read_page(page) => read.unwrap(),
        () = ticks => unreachable!("it goes on for ever"),
    };
    assert!(longest > Duration::ZERO, "others had their turn");
    assert_eq!(next.as_deref(), Some("on"));
    assert_eq!(reader.finish().list.tools.len(), 1500);
}
