//! What becomes of a call, by who makes it and what is set.

use std::sync::Arc;

use serde_json::json;
use tenon_domain::pattern::Pattern;
use tenon_domain::{
    Caller, EntryPoint, ErrorKind, KeyId, KeyScope, Layer, Policy, SettingTarget, SourceId,
    SourceKind, ToolAccess, ToolError, ToolId, ToolSetting, ToolSettings,
};
use tenon_tools::{PreparedCall, Toolset};

use crate::hub::{Hub, Odd, ada, call, context};

const ECHO: &str = "mcp_odd_echo";

/// The setting of one layer.
type Said = (Layer, Option<bool>, Option<Policy>);

const fn policy(layer: Layer, policy: Policy) -> Said {
    (layer, None, Some(policy))
}

const fn off(layer: Layer) -> Said {
    (layer, Some(false), None)
}

fn patterns(allow: &[&str]) -> Arc<[Pattern]> {
    allow.iter().map(|pattern| Pattern::new(*pattern)).collect()
}

fn key(allow: &[&str]) -> Caller {
    let scope = KeyScope {
        allow: patterns(allow).to_vec(),
        ..KeyScope::default()
    };
    Caller::Key {
        scope: Arc::new(scope),
    }
}

fn unattended(entry: EntryPoint, allow: &[&str]) -> Caller {
    let allow = patterns(allow);
    Caller::UnattendedModel { entry, allow }
}

fn toolset(hub: &Hub, caller: &Caller, said: &[Said]) -> Toolset {
    toolset_with(hub, caller, said, &ToolId::new(ECHO).into())
}

/// The same, as said of the tool or of its source.
fn toolset_with(hub: &Hub, caller: &Caller, said: &[Said], target: &SettingTarget) -> Toolset {
    let settings = said.iter().map(|(layer, enabled, policy)| {
        let (enabled, policy) = (*enabled, *policy);
        (*layer, target.clone(), ToolSetting { enabled, policy })
    });
    let access = ToolAccess::all(&ada(), caller.clone());
    hub.registry
        .toolset(access.with_settings(ToolSettings::new(settings)))
}

/// "runs", "asks", or why it is refused.
async fn outcome(toolset: &Toolset) -> Result<&'static str, ToolError> {
    let echo = call(ECHO, json!({"text": "hi"}));
    match toolset.prepare(&echo, &context().cancel).await? {
        PreparedCall::Ready(_) => Ok("runs"),
        PreparedCall::Ask(_) => Ok("asks"),
    }
}

#[tokio::test]
async fn every_caller_obeys_every_policy() {
    use Layer::{Chat, Organisation, User};
    let hub = Hub::new();
    let odd = Odd::new("odd", &["echo"]);
    let _connected = hub.registry.connect(Arc::new(odd)).await.unwrap();
    let callers = [
        Caller::Person,
        key(&[]),
        key(&["mcp_other_*", "mcp_odd_*"]),
        Caller::chat_model(),
        Caller::ChatModel {
            allow: patterns(&[ECHO]),
        },
        unattended(EntryPoint::Shell, &[]),
        unattended(EntryPoint::Shell, &["*"]),
    ];
    let check = async |said: &[Said], expected: [&str; 7]| {
        let targets = [
            ToolId::new(ECHO).into(),
            SettingTarget::Source(SourceId::new("odd")),
        ];
        let callers = callers.iter().zip(expected);
        for ((caller, expected), target) in
            callers.flat_map(|one| targets.iter().map(move |of| (one, of)))
        {
            let outcome = outcome(&toolset_with(&hub, caller, said, target)).await;
            let outcome = match &outcome {
                Ok(outcome) => outcome,
                Err(error) if error.kind == ErrorKind::Denied => "refused",
                Err(error) if error.kind == ErrorKind::UnknownTool => "not there",
                Err(error) => panic!("{error}"),
            };
            assert_eq!(outcome, expected, "{caller:?} {said:?} {target:?}");
        }
    };
    let runs = ["runs"; 7];
    let refused = ["refused"; 7];
    let asks = ["runs", "refused", "runs", "asks", "runs", "refused", "runs"];
    let [not_there, there] = ["not there", "refused"];
    let gone = [
        there, there, there, not_there, not_there, not_there, not_there,
    ];
    check(&[], runs).await;
    for layer in [Organisation, User] {
        check(&[policy(layer, Policy::Allow)], runs).await;
        check(&[policy(layer, Policy::Ask)], asks).await;
        check(&[policy(layer, Policy::Deny)], refused).await;
        check(&[off(layer)], gone).await;
        check(&[off(layer), policy(layer, Policy::Deny)], gone).await;
    }
    let overruled = [
        policy(Organisation, Policy::Ask),
        policy(User, Policy::Allow),
    ];
    check(&overruled, runs).await;
    for (denies, allows) in [(Organisation, User), (Organisation, Chat), (User, Chat)] {
        let is_final = [policy(denies, Policy::Deny), policy(allows, Policy::Allow)];
        check(&is_final, refused).await;
    }
    check(&[off(Organisation), (User, Some(true), None)], runs).await;
}

#[tokio::test]
async fn a_refusal_says_what_would_allow_the_call() {
    let hub = Hub::new();
    let odd = Odd::new("odd", &["echo"]);
    let _connected = hub.registry.connect(Arc::new(odd)).await.unwrap();
    let check = async |caller: Caller, said: Said, expected: &str| {
        let refused = outcome(&toolset(&hub, &caller, &[said])).await;
        assert_eq!(refused.unwrap_err().message, expected, "{caller:?}");
    };
    let ask = policy(Layer::User, Policy::Ask);
    let needs = "The odd/echo needs a person's approval, and nobody can be asked here.";
    let with_key = format!(
        "{needs} Make a key that allows it (`\"allow\": [\"mcp_odd_echo\"]` in its scope, `tenon user key … --allow 'mcp_odd_echo'`), or set the policy of `mcp_odd_echo` to `allow`."
    );
    check(key(&[]), ask, &with_key).await;
    let entry = EntryPoint::Key(KeyId::new("k"));
    check(unattended(entry, &[]), ask, &with_key).await;
    let in_shell = format!("{needs} `--allow mcp_odd_echo` or `--yes` would allow it.");
    check(unattended(EntryPoint::Shell, &[]), ask, &in_shell).await;
    let on_page = format!("{needs} Set the policy of `mcp_odd_echo` to `allow`.");
    check(unattended(EntryPoint::Page, &[]), ask, &on_page).await;

    let everybody = "The odd/echo is denied for everybody. Ask an admin to allow it.";
    let deny = |layer| policy(layer, Policy::Deny);
    check(Caller::Person, deny(Layer::Organisation), everybody).await;
    check(key(&["*"]), deny(Layer::Organisation), everybody).await;
    let own = "You denied The odd/echo. Set its policy to `ask` to call it by hand.";
    check(Caller::Person, deny(Layer::User), own).await;
    let owner = "The owner of this key denied The odd/echo. Only they can allow it.";
    check(key(&["*"]), deny(Layer::User), owner).await;
    let model = "The odd/echo is switched off by policy. Do without it.";
    check(Caller::chat_model(), deny(Layer::User), model).await;

    let is_off = "The odd/echo is switched off. Switch it on among your tools to call it.";
    check(Caller::Person, off(Layer::User), is_off).await;
    let for_everybody = "The odd/echo is switched off for everybody. Ask an admin to switch it on.";
    check(key(&["*"]), off(Layer::Organisation), for_everybody).await;
}

#[tokio::test]
async fn that_a_tool_only_reads_counts_where_its_server_is_trusted() {
    let check = async |is_trusted: bool, expected: [(&str, Policy); 2]| {
        let hub = Hub::new();
        let odd = Odd {
            has_trusted_hints: is_trusted,
            ..Odd::new("odd", &["echo"])
        };
        let _connected = hub.registry.connect(Arc::new(odd)).await.unwrap();
        let settings: [&[Said]; 2] = [&[], &[policy(Layer::User, Policy::Allow)]];
        for (said, (expected, policy)) in settings.into_iter().zip(expected) {
            let toolset = toolset(&hub, &Caller::chat_model(), said);
            assert_eq!(outcome(&toolset).await, Ok(expected), "{said:?}");
            let tool = toolset.get(&ToolId::new(ECHO)).unwrap();
            assert_eq!(toolset.policy(tool), policy, "{said:?}");
        }
    };
    let allowed = ("runs", Policy::Allow);
    check(true, [allowed; 2]).await;
    check(false, [("asks", Policy::Ask), allowed]).await;
}

#[tokio::test]
async fn a_tool_that_wraps_a_builtin_one_obeys_what_is_set_of_both() {
    use Layer::{Chat, Expert, Organisation, User};
    use Policy::{Allow, Ask, Deny};
    let hub = Hub::new();
    let mut builtin = Odd::new("basics", &["plain"]);
    builtin.info.kind = SourceKind::Builtin;
    let _builtin = hub.registry.connect(Arc::new(builtin)).await.unwrap();
    let odd = Odd {
        wraps: Some("plain"),
        ..Odd::new("odd", &["echo"])
    };
    let _connected = hub.registry.connect(Arc::new(odd)).await.unwrap();
    let all = ToolAccess::all(&ada(), Caller::Person);
    let all = hub.registry.toolset(all);
    let mut listed = all.listed().into_iter();
    let plain = listed.find(|tool| tool.spec.name == "plain").unwrap();
    let targets: [SettingTarget; 2] = [
        plain.spec.id.clone().into(),
        SettingTarget::Source(SourceId::new("basics")),
    ];
    // As set of the tool that is wrapped, and of the one that wraps it.
    let outcome_of = async |caller: Caller, of: &[Said], own: &[Said], target: &SettingTarget| {
        let said = |said: &[Said], target: SettingTarget| {
            let said: Vec<_> = said.to_vec();
            said.into_iter().map(move |(layer, enabled, policy)| {
                (layer, target.clone(), ToolSetting { enabled, policy })
            })
        };
        let own = said(own, ToolId::new(ECHO).into());
        let settings = ToolSettings::new(said(of, target.clone()).chain(own));
        let access = ToolAccess::all(&ada(), caller).with_settings(settings);
        outcome(&hub.registry.toolset(access)).await
    };
    let check = async |of: &[Said], own: &[Said], expected: &str| {
        for target in &targets {
            let found = outcome_of(Caller::chat_model(), of, own, target).await;
            let found = match &found {
                Ok(found) => found,
                Err(error) if error.kind == ErrorKind::Denied => "refused",
                Err(error) if error.kind == ErrorKind::UnknownTool => "not there",
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, expected, "{of:?} {own:?} {target:?}");
        }
    };
    check(&[], &[], "runs").await;
    for layer in [Organisation, User, Expert, Chat] {
        check(&[policy(layer, Deny)], &[], "refused").await;
        check(&[policy(layer, Deny)], &[policy(Chat, Allow)], "refused").await;
        check(&[policy(layer, Ask)], &[], "asks").await;
        check(&[policy(layer, Ask)], &[policy(User, Ask)], "asks").await;
        check(&[policy(layer, Allow)], &[policy(layer, Ask)], "asks").await;
        check(&[policy(layer, Allow)], &[policy(layer, Deny)], "refused").await;
        check(&[off(layer)], &[], "not there").await;
    }
    // Whoever allows this very tool has seen what it is, unless somebody nearer wants to be asked.
    check(&[policy(User, Ask)], &[policy(User, Allow)], "runs").await;
    check(&[policy(User, Ask)], &[policy(Chat, Allow)], "runs").await;
    check(&[policy(Chat, Ask)], &[policy(User, Allow)], "asks").await;

    let says = async |said: Said, expected: &str| {
        let refused = outcome_of(Caller::Person, &[said], &[], &targets[0]).await;
        assert_eq!(refused.unwrap_err().message, expected);
    };
    let own = "You denied The basics/plain. Set its policy to `ask` to call it by hand.";
    says(policy(User, Deny), own).await;
    let is_off = "The basics/plain is switched off. Switch it on among your tools to call it.";
    says(off(User), is_off).await;
}
