//! Variables, secrets and settings: given to the skill that asks for them, and to nobody else.

use serde_json::json;

use super::{Asks, SkillFiles, id_of, path_of};
use crate::people::Person;
use crate::server::Server;

const SHOWS: &str = "import json, os
print(json.dumps({name: os.environ.get(name) for name in ('CITY', 'TOKEN', 'OTHER')}))
";

fn skill(name: &str) -> SkillFiles {
    SkillFiles::new(name)
        .with("env: [{name: CITY, default: Oslo}]")
        .with("secrets: [{name: TOKEN, required: true}]")
        .python("show", SHOWS)
}

#[tokio::test]
async fn a_script_has_the_values_of_its_skill_and_no_others() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let olga = ada.add("Olga").await;
    let (one, two) = (
        ada.install(&skill("one")).await,
        ada.install(&skill("two")).await,
    );
    let show = id_of(&one, "show");
    let missing = ada.call(&show, json!({})).await;
    assert_eq!(missing["error"]["code"], "skill_value_missing", "{missing}");

    let set = json!({"variables": {"TOKEN": "hush-hush", "CITY": "Bergen"}});
    let (status, detail) = ada.patch(&path_of(&one), set).await;
    assert_eq!(status, 200, "{detail}");
    let expected = json!([
        {"name": "CITY", "isSet": true, "value": "Bergen"},
        {"name": "TOKEN", "isSet": true},
    ]);
    assert_eq!(detail["values"], expected);
    // It is sealed where it is stored. What a tool prints of it later is in the traces of its calls.
    let database = std::fs::read(server.data().join("tenon.db")).unwrap_or_default();
    let wal = std::fs::read(server.data().join("tenon.db-wal")).unwrap_or_default();
    for bytes in [database, wal] {
        assert!(!bytes.windows(9).any(|bytes| bytes == b"hush-hush"));
    }
    let given = json!({"CITY": "Bergen", "TOKEN": "hush-hush", "OTHER": null});
    assert_eq!(olga.result(&show, json!({})).await, given);
    let other = json!({"variables": {"TOKEN": "another"}});
    ada.patch(&path_of(&two), other).await;
    let given = json!({"CITY": "Oslo", "TOKEN": "another", "OTHER": null});
    assert_eq!(ada.result(&id_of(&two, "show"), json!({})).await, given);

    // It is told to nobody.
    for person in [&ada, &olga] {
        let (_, shown) = person.get(&path_of(&one)).await;
        assert!(!shown.to_string().contains("hush-hush"), "{shown}");
    }
    // An update keeps it, and null takes it back.
    let updated = ada.install(&skill("one").with("version: 2.0.0")).await;
    let given = json!({"CITY": "Bergen", "TOKEN": "hush-hush", "OTHER": null});
    assert_eq!(ada.result(&id_of(&updated, "show"), json!({})).await, given);
    ada.patch(&path_of(&one), json!({"variables": {"TOKEN": null}}))
        .await;
    assert_eq!(
        ada.call(&show, json!({})).await["error"]["code"],
        "skill_value_missing"
    );
    let unknown = json!({"variables": {"PATH": "/evil"}});
    let (status, refused) = ada.patch(&path_of(&one), unknown).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (400, &json!("skill_no_such_variable"))
    );
}
