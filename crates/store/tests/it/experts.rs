//! Experts and prompts are made, shared and deleted, each seen by whom it is for.

use tenon_domain::pattern::Pattern;
use tenon_domain::{
    ExpertDefinition, Layer, ModelParameters, Policy, SourceId, ToolId, UserId, Visibility,
};
use tenon_store::{Error, NewPromptRow, Store, ToolSettingChange};

pub async fn chapter(store: &Store) {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    let tax = ExpertDefinition {
        name: "tax".into(),
        title: "税务".into(),
        description: "Taxes".into(),
        icon: "scale".into(),
        model: None,
        parameters: ModelParameters {
            temperature: Some(0.5),
            ..ModelParameters::default()
        },
        system_prompt: "Be exact.".into(),
        tools: Some(vec![Pattern::new("builtin_*")]),
        skills: vec![SourceId::new("skill-a"), SourceId::new("skill-b")],
        starters: vec!["How much?".into()],
    };
    let private = store.add_expert(&ada, Visibility::Private, &tax);
    let private = private.await.unwrap();
    assert_eq!(private.definition, tax);
    let again = store.add_expert(&ada, Visibility::Private, &tax).await;
    assert!(matches!(again, Err(Error::Taken("expert"))));
    let team = store
        .add_expert(&bob, Visibility::Team, &tax)
        .await
        .unwrap();

    // One's own comes before the team's; a private one is nobody else's.
    let named = |user| store.expert_named(user, "tax");
    assert_eq!(named(&ada).await.unwrap().id, private.id);
    assert_eq!(named(&bob).await.unwrap().id, team.id);
    let hidden = store.expert(&bob, &private.id).await;
    assert!(matches!(hidden, Err(Error::NotFound("expert"))));
    assert_eq!(
        store.experts(&bob).await.unwrap(),
        std::slice::from_ref(&team)
    );
    let share = |mut expert: tenon_store::StoredExpert| {
        expert.visibility = Visibility::Team;
        Ok::<_, Error>(expert)
    };
    let shared = store.change_expert(&ada, &private.id, share).await;
    assert!(matches!(shared, Err(Error::Taken("expert"))));

    // Its settings of tools count in a chat that has it, and go with it.
    let chat = store.create_chat(&ada, "").await.unwrap().id;
    let given = store.set_chat_expert(&ada, &chat, Some(&private.id));
    given.await.unwrap();
    let deny = ToolSettingChange {
        target: ToolId::new("t").into(),
        enabled: None,
        policy: Some(Some(Policy::Deny)),
    };
    let denied = store.set_tools(Layer::Expert, private.id.as_str(), [deny]);
    denied.await.unwrap();
    let policy = async || {
        let settings = store.tool_settings(&ada, None, Some(&chat)).await.unwrap();
        settings.effective(None, &ToolId::new("t")).policy
    };
    assert_eq!(policy().await, Some((Policy::Deny, Layer::Expert)));
    store.delete_expert(&private.id).await.unwrap();
    assert_eq!(policy().await, None);
    assert_eq!(
        store.chat(&ada, &chat).await.unwrap().expert,
        Some(private.id)
    );
    store.delete_expert(&team.id).await.unwrap();
    store.delete_chat(&ada, &chat).await.unwrap();

    let row = NewPromptRow {
        visibility: Visibility::Private,
        command: "sum",
        title: "",
        text: "Sum up:\0",
    };
    let prompt = store.add_prompt(&ada, row).await.unwrap();
    assert_eq!(prompt.text, "Sum up:\u{FFFD}");
    let taken = store.add_prompt(&ada, row).await;
    assert!(matches!(taken, Err(Error::Taken("prompt"))));
    assert_eq!(store.prompts(&bob).await.unwrap(), []);
    let unseen = store.prompt(&bob, &prompt.id).await;
    assert!(matches!(unseen, Err(Error::NotFound("prompt"))));
    store.delete_prompt(&prompt.id).await.unwrap();
}
