//! Which tools a model is offered.

use std::sync::Arc;

use tenon_domain::{
    CallId, Layer, Message, Part, ToolAccess, ToolCall, ToolId, ToolSetting, ToolSettings,
};
use tenon_tools::{Connection, OfferLimits, OfferSize};

use crate::hub::{Hub, Odd, by_model};

const NAMES: [&str; 30] = [
    "add_card",
    "archive_board",
    "assign_label",
    "book_flight",
    "book_hotel",
    "cancel_flight",
    "close_issue",
    "convert_currency",
    "create_board",
    "create_issue",
    "delete_card",
    "find_books",
    "find_recipes",
    "get_weather",
    "invite_member",
    "list_boards",
    "list_cards",
    "list_issues",
    "lock_door",
    "merge_branch",
    "move_card",
    "open_garage",
    "play_music",
    "rename_board",
    "send_mail",
    "set_alarm",
    "start_vacuum",
    "track_order",
    "translate_text",
    "turn_on_light",
];

async fn hub() -> (Hub, Connection) {
    let hub = Hub::new();
    let connected = hub.registry.connect(Arc::new(Odd::new("odd", &NAMES)));
    let connected = connected.await.unwrap();
    (hub, connected)
}

fn user(text: &str) -> Message {
    Message::user(text)
}

const FULL: OfferSize = full(usize::MAX);

const fn full(max_tools: usize) -> OfferSize {
    OfferSize::Full(OfferLimits {
        max_tools,
        ..OfferLimits::NONE
    })
}

fn offered(hub: &Hub, access: ToolAccess, messages: &[Message], size: OfferSize) -> Vec<String> {
    let tools = hub.registry.toolset(access).offer(messages, size).tools;
    let ids = tools.iter().map(|tool| tool.name.clone());
    ids.collect()
}

#[tokio::test]
async fn a_small_model_is_offered_a_dozen_by_the_words_of_the_user() {
    let (hub, _connected) = hub().await;
    let compact = |messages: &[Message]| offered(&hub, by_model(), messages, OfferSize::Compact);
    let all = offered(&hub, by_model(), &[user("hello")], FULL);
    assert_eq!(all.len(), NAMES.len());

    let weather = compact(&[user("What is the weather in Oslo?")]);
    assert_eq!(weather.len(), 12);
    assert!(weather.contains(&"get_weather".into()), "{weather:?}");
    assert!(weather.is_sorted());

    // What was found for the message before stays.
    let later = compact(&[
        user("What is the weather in Oslo?"),
        user("Then turn on the light, please."),
    ]);
    for tool in ["get_weather", "turn_on_light"] {
        assert!(later.contains(&tool.into()), "{tool}: {later:?}");
    }
    assert_eq!(later.len(), 12);
}

#[tokio::test]
async fn a_model_hears_of_skills_whatever_is_said() {
    let (hub, _connected) = hub().await;
    let names = ["skill_a", "skill_b", "skill_c", "skill_d", "skill_e"];
    let skills = hub.registry.connect(Arc::new(Odd::new("skills", &names)));
    let _skills = skills.await.unwrap();
    let text = [user("Turn on the light"), user("And the weather in Oslo?")];
    for size in [OfferSize::Compact, full(12)] {
        let told = offered(&hub, by_model(), &text, size);
        for tool in ["skill_a", "skill_d", "get_weather", "turn_on_light"] {
            assert!(told.contains(&tool.into()), "{size:?} {tool}: {told:?}");
        }
    }
    // They leave room for others.
    let compact = offered(&hub, by_model(), &[user("hello")], OfferSize::Compact);
    assert!(!compact.contains(&"skill_e".into()), "{compact:?}");
}

#[tokio::test]
async fn what_is_cut_off_is_not_chosen_by_the_alphabet() {
    let (hub, _connected) = hub().await;
    let max = 15;
    let text = [user("Turn on the light, please.")];
    let kept = offered(&hub, by_model(), &text, full(max));
    assert!(kept.len() <= max, "{kept:?}");
    assert!(kept.contains(&"turn_on_light".into()), "{kept:?}");
}

#[tokio::test]
async fn tools_that_were_named_used_or_switched_on_are_always_offered() {
    let (hub, _connected) = hub().await;
    let used = Message::Assistant {
        parts: vec![Part::call(ToolCall {
            id: CallId::new("c"),
            tool_id: ToolId::new("mcp_odd_start_vacuum"),
            input: serde_json::json!({}),
        })],
    };
    let on = ToolSetting {
        enabled: Some(true),
        policy: None,
    };
    let track = ToolId::new("mcp_odd_track_order");
    let settings = ToolSettings::new([(Layer::User, track, on)]);
    let offered = offered(
        &hub,
        by_model().with_settings(settings),
        &[used, user("Use translate_text for 你好")],
        OfferSize::Compact,
    );
    for tool in ["start_vacuum", "track_order", "translate_text"] {
        assert!(offered.contains(&tool.into()), "{tool}: {offered:?}");
    }
}

#[tokio::test]
async fn what_a_person_chose_is_offered_whole() {
    let (hub, _connected) = hub().await;
    let chosen = NAMES[..20]
        .iter()
        .map(|name| ToolId::new(format!("mcp_odd_{name}")));
    let access = by_model().only(chosen);
    let offered = offered(&hub, access, &[user("hello")], OfferSize::Compact);
    assert_eq!(offered, NAMES[..20]);
}

/// As the page writes the message when a skill is chosen with `/`.
#[tokio::test]
async fn a_skill_that_a_message_names_by_the_id_of_its_tool_is_offered_among_any_number() {
    let (hub, _connected) = hub().await;
    let names = (0..40).map(|number| &*format!("skill_{number}").leak());
    let names: Vec<&str> = names.collect();
    let skills = hub.registry.connect(Arc::new(Odd::new("skills", &names)));
    let _skills = skills.await.unwrap();
    for text in [
        "Use the skill “Meeting notes” (mcp_skills_skill_39): here is what was said",
        "使用技能“会议纪要”（mcp_skills_skill_39）：这是会议内容",
    ] {
        for size in [OfferSize::Compact, full(12)] {
            let told = offered(&hub, by_model(), &[user(text)], size);
            let is_offered = told.contains(&"skill_39".into());
            assert!(is_offered, "{size:?} {text}: {told:?}");
            let before = offered(&hub, by_model(), &[user("hello")], size);
            assert!(!before.contains(&"skill_39".into()), "{before:?}");
        }
    }
}
