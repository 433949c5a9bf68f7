//! Installed skills: versions that come and go, ids that stay, and who sees what.

use std::collections::BTreeMap;

use tenon_domain::{SourceId, ToolId, UserId, UserRole, Visibility};
use tenon_store::{
    Enrollment, Error, NewSkillVersion, NewUserRow, SkillToolRow, Store, StoredSkill, Vault,
};

use crate::backup::{backup, restore};
use crate::postgres::Postgres;

fn version(name: &str, version: &str, tools: &[&str]) -> NewSkillVersion {
    NewSkillVersion {
        name: name.into(),
        title: format!("{name} 技能"),
        version: Some(version.into()),
        hash: format!("{name}-{version}"),
        archive: [version.as_bytes(), &[0, 255]].concat(),
        tools: tools.iter().map(|tool| tool_row(tool)).collect(),
    }
}

fn tool_row(name: &str) -> SkillToolRow {
    SkillToolRow {
        name: name.into(),
        title: None,
        description: "Counts.".into(),
        kind: "script",
        parameters: r#"{"type":"object"}"#.into(),
        command: Some("python3 main.py".into()),
        endpoint: None,
        method: None,
    }
}

/// Ids by the native name of a tool, of all that the skill ever had.
async fn ids(store: &Store, skill: &StoredSkill) -> BTreeMap<String, ToolId> {
    let ids = store.tool_ids_of(&[&skill.id]).await.unwrap();
    ids.into_iter().map(|((_, name), id)| (name, id)).collect()
}

/// The tools of the version that is used, with their ids, as the table has them.
async fn tools(url: &str, skill: &StoredSkill) -> BTreeMap<String, ToolId> {
    use sea_orm::{ConnectionTrait, Database, Statement};
    let database = Database::connect(url).await.unwrap();
    let query = format!(
        "SELECT name, id FROM skill_tools WHERE skill_id = '{}'",
        skill.id
    );
    let query = Statement::from_string(database.get_database_backend(), query);
    let rows = database.query_all_raw(query).await.unwrap();
    rows.iter()
        .map(|row| {
            let (name, id): (String, String) = (
                row.try_get("", "name").unwrap(),
                row.try_get("", "id").unwrap(),
            );
            (name, ToolId(id))
        })
        .collect()
}

async fn versions(store: &Store, skill: &StoredSkill) -> Vec<String> {
    let versions = store.skill_versions(&skill.id).await.unwrap();
    versions.into_iter().map(|of| of.version.unwrap()).collect()
}

async fn names(store: &Store, user: &UserId) -> Vec<String> {
    let skills = store.skills_of(user).await.unwrap();
    skills.into_iter().map(|skill| skill.name).collect()
}

#[tokio::test]
async fn the_life_of_a_skill_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tenon.db");
    let store = Store::open_file(&file).await.unwrap();
    life(&store, &format!("sqlite://{}", file.display())).await;
    people(&store).await;
}

#[tokio::test]
async fn the_life_of_a_skill_on_postgres() {
    let postgres = Postgres::start();
    let store = Store::open(&postgres.url()).await.unwrap();
    life(&store, &postgres.url()).await;
    people(&store).await;
}

async fn life(store: &Store, url: &str) {
    let (ada, bob) = (UserId::new("ada"), UserId::new("bob"));
    let new = version("count", "1", &["words", "lines"]);
    let added = store.add_skill(&ada, Visibility::Private, Some("/skills/count"), false, new);
    let skill = added.await.unwrap();
    let expected = StoredSkill {
        id: skill.id.clone(),
        owner: Some(ada.clone()),
        visibility: Visibility::Private,
        name: "count".into(),
        title: "count 技能".into(),
        enabled: true,
        hash: "count-1".into(),
        network_allowed: false,
        sealed_values: None,
        origin: Some("/skills/count".into()),
        created_at: skill.created_at,
        updated_at: skill.created_at,
    };
    assert_eq!(skill, expected);
    assert_eq!(store.skill(&ada, &skill.id).await.unwrap(), expected);
    let first = ids(store, &skill).await;
    assert_eq!(tools(url, &skill).await, first);
    assert_eq!(first.keys().collect::<Vec<_>>(), ["lines", "words"]);

    // A new version: what stays keeps its id, what is gone is gone.
    let new = version("count", "2", &["words", "letters"]);
    let updated = store.update_skill(&skill.id, None, true, new);
    let updated = updated.await.unwrap();
    assert_eq!(
        (&*updated.hash, updated.network_allowed, &updated.origin),
        ("count-2", true, &skill.origin)
    );
    let second = tools(url, &skill).await;
    assert_eq!(second.keys().collect::<Vec<_>>(), ["letters", "words"]);
    assert_eq!(second["words"], first["words"]);
    let archive = |hash: &'static str| store.skill_archive(&skill.id, hash);
    assert_eq!(archive("count-1").await.unwrap(), b"1\0\xff");
    assert_eq!(archive("count-2").await.unwrap(), b"2\0\xff");

    // Going back: the tool that was gone has the id that it had.
    let new = version("count", "1", &["words", "lines"]);
    store
        .update_skill(&skill.id, None, true, new)
        .await
        .unwrap();
    assert_eq!(tools(url, &skill).await, first);
    assert_eq!(versions(store, &skill).await, ["1", "2"]);

    // Ten are kept, and the one that is used among them.
    for number in 3..=13 {
        let new = version("count", &number.to_string(), &["words"]);
        store
            .update_skill(&skill.id, None, true, new)
            .await
            .unwrap();
    }
    let kept: Vec<String> = (4..=13).rev().map(|number| number.to_string()).collect();
    assert_eq!(versions(store, &skill).await, kept);
    let gone = archive("count-1").await;
    assert!(matches!(
        gone,
        Err(Error::NotFound("version of this skill"))
    ));

    // A name is used once by the team, and once by each for themself.
    let again = async |owner: &UserId, visibility| {
        let new = version("count", "1", &[]);
        store.add_skill(owner, visibility, None, false, new).await
    };
    let taken = again(&ada, Visibility::Private).await;
    assert!(matches!(taken, Err(Error::Taken("skill"))));
    let team = again(&bob, Visibility::Team).await.unwrap();
    let taken = again(&ada, Visibility::Team).await;
    assert!(matches!(taken, Err(Error::Taken("skill"))));
    again(&bob, Visibility::Private).await.unwrap();
    assert_eq!(names(store, &ada).await, ["count", "count"]);
    assert_eq!(names(store, &UserId::new("eve")).await, ["count"]);
    let unseen = store.skill(&bob, &skill.id).await;
    assert!(matches!(unseen, Err(Error::NotFound("skill"))));

    // It becomes the team's where no other has its name, and keeps its ids.
    let share = |mut skill: StoredSkill| {
        skill.visibility = Visibility::Team;
        Ok::<_, Error>(skill)
    };
    let refused = store.change_skill(&skill.id, share).await;
    assert!(matches!(refused, Err(Error::Taken("skill"))));
    store.remove_skill(&team.id).await.unwrap();
    let before = ids(store, &skill).await;
    let shared = store.change_skill(&skill.id, share).await.unwrap();
    assert_eq!(shared.source().owner, None);
    assert_eq!(store.skill(&bob, &skill.id).await.unwrap(), shared);
    assert_eq!(ids(store, &skill).await, before);

    // It goes with all but its ids, which are nobody else's.
    store.remove_skill(&skill.id).await.unwrap();
    let gone = store.skill(&ada, &skill.id).await;
    assert!(matches!(gone, Err(Error::NotFound("skill"))));
    assert_eq!(versions(store, &skill).await, [""; 0]);
    assert_eq!(tools(url, &skill).await, BTreeMap::new());
    let again = store.remove_skill(&skill.id).await;
    assert!(matches!(again, Err(Error::NotFound("skill"))));
    let new = version("count", "1", &["words"]);
    let other = store.add_skill(&ada, Visibility::Private, None, false, new);
    let other = other.await.unwrap();
    assert_ne!(ids(store, &other).await["words"], first["words"]);
}

/// What somebody leaves behind when they go.
async fn people(store: &Store) {
    let account = async |email: &str, who: Enrollment<'_>| {
        let new = NewUserRow {
            email,
            name: "Somebody",
            role: UserRole::Admin,
            password_hash: Some("-"),
            oidc_subject: None,
        };
        store.create_user(new, who).await.unwrap().id
    };
    let ada = account("ada@x.org", Enrollment::First).await;
    let olga = account("olga@x.org", Enrollment::Another).await;
    let add = async |owner: &UserId, visibility, name: &str| {
        let new = version(name, "1", &["words"]);
        let added = store.add_skill(owner, visibility, None, false, new);
        added.await.unwrap()
    };
    let private = add(&olga, Visibility::Private, "hers").await;
    let team = add(&olga, Visibility::Team, "shared").await;
    let adas = add(&ada, Visibility::Private, "adas").await;
    for skill in [&team, &adas] {
        for user in [&ada, &olga] {
            let put = store.put_skill_user_settings(&skill.id, user, |id| format!("about {id}"));
            put.await.unwrap();
        }
    }
    let of = async |skill: &StoredSkill, user: &UserId| {
        let found = store.skill_user_settings(&skill.id, user).await.unwrap();
        found.map(|(id, sealed)| assert_eq!(sealed, format!("about {id}")))
    };
    assert_eq!(of(&team, &olga).await, Some(()));

    store.delete_user(&olga).await.unwrap();
    let skills = store.skills().await.unwrap();
    assert!(skills.iter().all(|skill| skill.id != private.id));
    let left = store.skill(&ada, &team.id).await.unwrap();
    assert_eq!((left.owner, left.visibility), (None, Visibility::Team));
    assert_eq!(of(&team, &olga).await, None);
    assert_eq!(of(&team, &ada).await, Some(()));
    assert_eq!(of(&adas, &ada).await, Some(()));
    let removed = store.skill_archive(&private.id, "hers-1").await;
    assert!(matches!(removed, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn a_backup_has_the_files_of_skills_from_one_engine_to_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Store::open_file(&folder.path().join("a.db")).await.unwrap();
    let postgres = Postgres::start();
    let postgres = Store::open(&postgres.url()).await.unwrap();
    let ada = UserId::new("ada");
    let new = version("count", "1", &["words", "lines"]);
    let added = sqlite.add_skill(&ada, Visibility::Team, None, true, new);
    let skill = added.await.unwrap();
    let new = version("count", "2", &["words"]);
    let updated = sqlite.update_skill(&skill.id, None, true, new);
    let skill = updated.await.unwrap();
    let put = sqlite.put_skill_user_settings(&skill.id, &ada, |_| "sealed".into());
    put.await.unwrap();

    let file = backup(&sqlite, folder.path(), "backup").await;
    restore(&postgres, &folder, &file).await;
    let skills = postgres.skills().await.unwrap();
    assert_eq!(skills, std::slice::from_ref(&skill));
    assert_eq!(
        postgres.skill_versions(&skill.id).await.unwrap(),
        sqlite.skill_versions(&skill.id).await.unwrap()
    );
    for (hash, expected) in [("count-1", b"1\0\xff"), ("count-2", b"2\0\xff")] {
        let archive = postgres.skill_archive(&skill.id, hash).await.unwrap();
        assert_eq!(archive, expected);
    }
    assert_eq!(ids(&postgres, &skill).await, ids(&sqlite, &skill).await);
    assert_eq!(
        postgres.skill_user_settings(&skill.id, &ada).await.unwrap(),
        sqlite.skill_user_settings(&skill.id, &ada).await.unwrap()
    );
}

#[tokio::test]
async fn a_rotated_key_seals_the_values_of_skills_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open("sqlite::memory:").await.unwrap();
    let vault = Vault::open(folder.path(), None).unwrap();
    let ada = UserId::new("ada");
    let new = version("count", "1", &[]);
    let added = store.add_skill(&ada, Visibility::Private, None, false, new);
    let id = added.await.unwrap().id;
    let set = |mut skill: StoredSkill| {
        let about = format!("skill:{}", skill.id);
        skill.sealed_values = Some(vault.seal(&about, "everybody's"));
        Ok::<_, Error>(skill)
    };
    let before = store.change_skill(&id, set).await.unwrap().sealed_values;
    let seal = |row: &str| vault.seal(&format!("skill-user:{row}"), "ada's");
    let put = store.put_skill_user_settings(&id, &ada, seal);
    put.await.unwrap();
    let old = store.skill_user_settings(&id, &ada).await.unwrap();

    let rotated = store.rotate(&vault).await.unwrap();
    assert_eq!((rotated.moved, rotated.left), (2, vec![]));
    let sealed = store.skill(&ada, &id).await.unwrap().sealed_values;
    assert_ne!(sealed, before);
    let opened = vault.open_sealed(&format!("skill:{id}"), &sealed.unwrap());
    assert_eq!(opened.unwrap(), "everybody's");
    let sealed = store.skill_user_settings(&id, &ada).await.unwrap();
    assert_ne!(sealed, old);
    let (row, sealed) = sealed.unwrap();
    let opened = vault.open_sealed(&format!("skill-user:{row}"), &sealed);
    assert_eq!(opened.unwrap(), "ada's");
    let other = SourceId::new("another");
    assert_eq!(store.skill_user_settings(&other, &ada).await.unwrap(), None);
}
