//! More tools than a model can be told of: which it is told of, and how it finds the others.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_domain::{
    CallId, Caller, ErrorKind, Layer, Message, Part, Policy, SourceId, ToolAccess, ToolAnswer,
    ToolCall, ToolFilter, ToolId, ToolOutput, ToolSetting, ToolSettings, ToolSpec,
};
use tenon_tools::{Connection, OfferLimits, OfferSize, TOOL_CALL, TOOL_SEARCH, Toolset};

use crate::hub::{Hub, Odd, ada, by_model, call, context};

const NAMES: [&str; 12] = [
    "archive_board",
    "book_flight",
    "book_hotel",
    "convert_currency",
    "create_issue",
    "find_recipes",
    "lock_door",
    "merge_branch",
    "open_garage",
    "play_music",
    "send_mail",
    "translate_text",
];

/// Each tool takes ten.
fn ten(_: &ToolSpec) -> usize {
    10
}

fn within(tools: usize) -> OfferSize {
    OfferSize::Full(OfferLimits {
        max_tools: 128,
        max_tokens: Some(tools * 10),
        tokens: ten,
    })
}

async fn hub() -> (Hub, Vec<Connection>) {
    let hub = Hub::showing(10_000);
    let mut connected = Vec::new();
    for source in [
        Odd::new("home", &NAMES),
        Odd::new("garden", &["water_plants", "echo"]),
    ] {
        connected.push(hub.registry.connect(Arc::new(source)).await.unwrap());
    }
    (hub, connected)
}

fn toolset(hub: &Hub, access: ToolAccess) -> Toolset {
    hub.registry.toolset(access).with_search()
}

fn names(specs: &[Arc<ToolSpec>]) -> Vec<&str> {
    specs.iter().map(|spec| spec.name.as_str()).collect()
}

async fn text(toolset: &Toolset, tool: &str, input: Value) -> String {
    let output = toolset.call(&call(tool, input), &context()).await.unwrap();
    output.content[0].as_text().unwrap().to_owned()
}

/// The messages of a search that found a tool.
fn found(output: &str) -> Message {
    Message::Tools {
        answers: vec![ToolAnswer {
            call_id: CallId::new("s"),
            tool_id: ToolId::new(TOOL_SEARCH),
            result: Ok(ToolOutput::text(output)),
        }],
    }
}

#[tokio::test]
async fn within_the_budget_nothing_changes() {
    let (hub, _connected) = hub().await;
    let toolset = toolset(&hub, by_model());
    let all = toolset.offer(&[Message::user("hello")], within(14)).tools;
    assert_eq!(all.len(), 14);
    assert!(all.iter().is_sorted_by_key(|tool| &tool.id));
}

#[tokio::test]
async fn past_it_the_words_decide_and_the_rest_can_be_searched_for() {
    let (hub, _connected) = hub().await;
    let toolset = toolset(&hub, by_model());
    let offered = toolset.offer(&[Message::user("Open the garage, please")], within(5));
    assert_eq!(offered.tools.len() + offered.deferred.len(), 14 + 3);
    let offered = offered.tools;
    let offered = names(&offered);
    assert_eq!(offered[..3], ["tool_call", "tool_describe", "tool_search"]);
    assert!(offered.contains(&"open_garage"), "{offered:?}");
    assert!(offered.len() <= 5, "{offered:?}");
}

#[tokio::test]
async fn what_was_found_or_used_stays_and_comes_after_what_was_there() {
    let (hub, _connected) = hub().await;
    let toolset = toolset(&hub, by_model());
    let mut messages = vec![Message::user("Open the garage, please")];
    let before = toolset.offer(&messages, within(8)).tools;
    messages.push(found("mcp_garden_water_plants (The garden/water_plants)\n"));
    let after = toolset.offer(&messages, within(8)).tools;
    assert_eq!(names(&after)[..before.len()], names(&before));
    assert_eq!(names(&after).last(), Some(&"water_plants"));

    let used = ToolCall {
        id: CallId::new("u"),
        tool_id: ToolId::new("mcp_home_send_mail"),
        input: json!({}),
    };
    let parts = vec![Part::call(used)];
    messages.push(Message::Assistant { parts });
    messages.push(Message::user("Thank you"));
    let last = toolset.offer(&messages, within(8)).tools;
    assert_eq!(names(&last)[..after.len()], names(&after));
    assert!(names(&last).contains(&"send_mail"));
    // A search that named what is no tool, or is not theirs, brings nothing in.
    messages.push(found("mcp_garden_rm_rf (x)\nnot a line of ours"));
    assert_eq!(toolset.offer(&messages, within(8)).tools, last);
}

#[tokio::test]
async fn what_a_person_switched_on_is_offered_whatever_it_costs() {
    let (hub, _connected) = hub().await;
    let on = ToolSetting {
        enabled: Some(true),
        policy: None,
    };
    let tools = ["play_music", "lock_door", "find_recipes"];
    let tools = tools.map(|name| (Layer::User, ToolId::new(format!("mcp_home_{name}")), on));
    let access = by_model().with_settings(ToolSettings::new(tools));
    let offered = toolset(&hub, access)
        .offer(&[Message::user("hello")], within(2))
        .tools;
    for name in ["play_music", "lock_door", "find_recipes"] {
        assert!(names(&offered).contains(&name), "{name}: {offered:?}");
    }
}

#[tokio::test]
async fn the_skills_of_an_expert_are_offered_before_the_rest() {
    let (hub, _connected) = hub().await;
    let said = [Message::user("Translate this text and book a hotel")];
    let offered = toolset(&hub, by_model()).offer(&said, within(6)).tools;
    assert!(!names(&offered).contains(&"echo"), "{offered:?}");
    let filter = ToolFilter {
        patterns: None,
        sources: vec![SourceId::new("garden")],
    };
    let of_expert = by_model().filtered(Some(Arc::new(filter)));
    let offered = toolset(&hub, of_expert).offer(&said, within(6)).tools;
    // Everything else can be used as well.
    for name in ["echo", "book_hotel", TOOL_SEARCH] {
        assert!(names(&offered).contains(&name), "{name}: {offered:?}");
    }
}

#[tokio::test]
async fn tools_are_found_described_and_called_by_id() {
    let (hub, _connected) = hub().await;
    let toolset = toolset(&hub, by_model());
    let list = text(&toolset, TOOL_SEARCH, json!({"query": "garage"})).await;
    assert!(list.starts_with("mcp_home_open_garage ("), "{list}");
    let input = json!({"query": "garage", "source": "the garden"});
    let none = text(&toolset, TOOL_SEARCH, input).await;
    assert!(none.contains("No tool was found"), "{none}");
    assert!(none.contains("The garden, The home"), "{none}");

    let input = json!({"ids": ["mcp_home_open_garage", "mcp_home_open_garag"]});
    let described = text(&toolset, "tool_describe", input).await;
    assert!(described.contains(r#""required":["text"]"#), "{described}");
    assert!(
        described.contains("There is no tool `mcp_home_open_garag`"),
        "{described}"
    );

    let arguments = json!({"id": "mcp_garden_echo", "arguments": {"text": "hi"}});
    let mut by_id = call(TOOL_CALL, arguments);
    toolset.resolve(&mut by_id);
    assert_eq!(by_id, call("mcp_garden_echo", json!({"text": "hi"})));
    let mut as_text = call(
        TOOL_CALL,
        json!({"id": "mcp_garden_echo", "arguments": "{\"text\": \"hi\"}"}),
    );
    toolset.resolve(&mut as_text);
    assert_eq!(as_text, by_id);
    // What names no tool stays a call of its own, which says so.
    let mut unknown = call(TOOL_CALL, json!({"id": "mcp_garden_ech"}));
    toolset.resolve(&mut unknown);
    let error = toolset.call(&unknown, &context()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownTool);
    assert!(error.message.contains("mcp_garden_echo"), "{error:?}");
    // The input is checked as in any other call.
    let error = toolset
        .call(&call(TOOL_SEARCH, json!({})), &context())
        .await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::InvalidInput);
}

#[tokio::test]
async fn nobody_finds_what_they_may_not_call() {
    let (hub, _connected) = hub().await;
    let private = Odd::new("safe", &["open_safe"]).of(&tenon_domain::UserId::new("bob"));
    let _bobs = hub.registry.connect(Arc::new(private)).await.unwrap();
    let denied = ToolSetting {
        enabled: None,
        policy: Some(Policy::Deny),
    };
    let off = ToolSetting {
        enabled: Some(false),
        policy: None,
    };
    let settings = || {
        ToolSettings::new([
            (
                Layer::Organisation,
                ToolId::new("mcp_home_open_garage"),
                denied,
            ),
            (Layer::User, ToolId::new("mcp_home_lock_door"), off),
        ])
    };
    let finds = |access: ToolAccess, query: &str| {
        let toolset = toolset(&hub, access.with_settings(settings()));
        let found = toolset.search(query, None, 10);
        let names: Vec<String> = found.iter().map(|tool| tool.spec.name.clone()).collect();
        names
    };
    let found = finds(by_model(), "open the garage safe door");
    for name in ["open_garage", "open_safe", "lock_door"] {
        assert!(!found.contains(&name.into()), "{name}: {found:?}");
    }
    assert_eq!(finds(by_model(), "send mail")[0], "send_mail");

    // A key finds what it may call without anybody being asked.
    let asked = Odd {
        has_trusted_hints: false,
        ..Odd::new("office", &["print_letter"])
    };
    let _office = hub.registry.connect(Arc::new(asked)).await.unwrap();
    let key = Caller::Key {
        scope: Arc::default(),
    };
    let found = finds(ToolAccess::all(&ada(), key), "print a letter");
    assert!(!found.contains(&"print_letter".into()), "{found:?}");
    assert_eq!(finds(by_model(), "print a letter")[0], "print_letter");
}
