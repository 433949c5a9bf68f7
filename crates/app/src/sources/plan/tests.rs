use tenon_domain::{ErrorDetail, SourceKind};

use super::*;
use crate::sources::read_model::SourceOrigin;

fn entry(owner: Option<&str>, url: &str, wants_login: bool) -> SourceEntry {
    SourceEntry {
        id: SourceId::new("s"),
        kind: SourceKind::Mcp,
        name: "s".into(),
        title: "S".into(),
        owner: owner.map(UserId::new),
        origin: SourceOrigin::Added,
        enabled: true,
        wants_login,
        trust_hints: true,
        config: serde_json::from_value(
            serde_json::json!({"kind": "mcp", "transport": "http", "url": url}),
        )
        .map_err(|error: serde_json::Error| ErrorDetail::other(error.to_string())),
        notes: Vec::new(),
    }
}

/// Ada is an admin, Bob is not; Eve is disabled. Bob has a secret and is logged in.
fn facts() -> PlanInputs {
    let own = |user: &str, name: &str| (Some(UserId::new(user)), name.to_owned());
    PlanInputs {
        people: BTreeMap::from([(UserId::new("ada"), true), (UserId::new("bob"), false)]),
        secrets: BTreeMap::from([
            ((None, "KEY".to_owned()), 1),
            (own("bob", "KEY"), 2),
            (own("eve", "KEY"), 3),
        ]),
        grants: BTreeSet::from([
            (SourceId::new("s"), UserId::new("bob")),
            (SourceId::new("s"), UserId::new("eve")),
            (SourceId::new("other"), UserId::new("ada")),
        ]),
    }
}

#[test]
fn a_server_runs_once_or_for_each_who_has_what_it_needs() {
    let check = |entry: SourceEntry, expected: &[&str]| {
        let wanted = plan([&entry].into_iter(), &facts());
        let ids: Vec<&str> = wanted.keys().map(SourceId::as_str).collect();
        assert_eq!(ids, expected, "{entry:?}");
        for (id, one) in &wanted {
            assert_eq!((&one.info.id, &one.info.owner), (id, &one.user));
            assert_eq!(one.source, entry.id);
        }
    };
    check(entry(None, "https://a.example", false), &["s"]);
    check(entry(None, "https://a.example/?k=${KEY}", false), &["s"]);
    check(
        entry(None, "https://a.example/?k=${user.KEY}", false),
        &["s:bob"],
    );
    check(entry(None, "https://a.example/?k=${user.NONE}", false), &[]);
    // Who has not set it has what stands in for it.
    check(
        entry(None, "https://a.example/?k=${user.KEY:-none}", false),
        &["s:ada", "s:bob"],
    );
    check(entry(None, "https://a.example", true), &["s:bob"]);
    check(entry(None, "https://a.example/?k=${user.NONE}", true), &[]);
    check(entry(Some("bob"), "https://a.example", false), &["s"]);
    check(
        entry(Some("bob"), "https://a.example/?k=${user.KEY}", true),
        &["s"],
    );
    check(
        entry(Some("ada"), "https://a.example/?k=${user.KEY}", false),
        &[],
    );
    check(entry(Some("ada"), "https://a.example", true), &[]);
    check(entry(Some("eve"), "https://a.example", false), &[]);
    let off = SourceEntry {
        enabled: false,
        ..entry(None, "https://a.example", false)
    };
    check(off, &[]);
    let sealed = SourceEntry {
        config: Err(ErrorDetail::other("sealed with another key")),
        ..entry(None, "https://a.example", false)
    };
    check(sealed, &[]);
}

#[test]
fn only_what_an_admin_wrote_reaches_into_our_networks() {
    let check = |entry: SourceEntry, trust: Trust, network: Network| {
        let wanted = plan([&entry].into_iter(), &facts());
        let one = wanted.values().next().expect("it runs");
        assert_eq!((one.trust, one.network), (trust, network), "{entry:?}");
    };
    use Network::{Anywhere, PublicOnly};
    check(entry(None, "http://10.0.0.1", false), Trust::Full, Anywhere);
    check(
        entry(Some("ada"), "http://10.0.0.1", false),
        Trust::Full,
        Anywhere,
    );
    check(
        entry(Some("bob"), "http://10.0.0.1", false),
        Trust::Own,
        PublicOnly,
    );
    // Bob's secret is a part of the address: he says where it leads.
    check(
        entry(None, "http://${user.KEY}/", false),
        Trust::Full,
        PublicOnly,
    );
    check(entry(None, "http://10.0.0.1", true), Trust::Full, Anywhere);
}

#[test]
fn hints_are_believed_where_an_admin_says_so_and_where_the_server_is() {
    let check = |entry: SourceEntry, expected: bool| {
        let wanted = plan([&entry].into_iter(), &facts());
        let one = wanted.values().next().expect("it runs");
        assert_eq!(one.trust_hints, expected, "{entry:?}");
    };
    let plain = |owner| entry(owner, "https://a.example", false);
    check(plain(None), true);
    check(plain(Some("ada")), true);
    check(plain(Some("bob")), false);
    // Bob says where it leads.
    check(entry(None, "https://${user.KEY}/", false), false);
    let not_trusted = SourceEntry {
        trust_hints: false,
        ..plain(None)
    };
    check(not_trusted, false);
}

#[test]
fn another_secret_is_another_plan() {
    let entry = entry(None, "https://a.example/?k=${KEY}", false);
    let mut facts = facts();
    let before = plan([&entry].into_iter(), &facts);
    assert_eq!(plan([&entry].into_iter(), &facts), before);
    facts.secrets.insert((None, "KEY".into()), 9);
    let after = plan([&entry].into_iter(), &facts);
    assert_ne!(after, before);
    facts.secrets.insert((None, "OTHER".into()), 9);
    assert_eq!(plan([&entry].into_iter(), &facts), after);
}

#[test]
fn what_nobody_has_set_is_named() {
    let check = |entry: SourceEntry, user: &str, expected: &[&str]| {
        let unset = facts().unset(&entry, &UserId::new(user));
        let unset: Vec<String> = unset.iter().map(ToString::to_string).collect();
        assert_eq!(unset, expected, "{entry:?}");
    };
    let url = "https://a.example/${KEY}?k=${user.KEY}&n=${NOBODY_SET_IT}&o=${NO:-1}";
    check(
        entry(None, url, false),
        "ada",
        &["${user.KEY}", "${NOBODY_SET_IT}"],
    );
    check(entry(None, url, false), "bob", &["${NOBODY_SET_IT}"]);
    // Everybody's is not for what somebody wrote for themself.
    check(
        entry(Some("bob"), "https://a.example/${KEY}", false),
        "bob",
        &["${KEY}"],
    );
    check(entry(None, "https://${user.KEY}/", false), "bob", &[]);
}

#[test]
fn an_address_is_somebodys_own_where_they_fill_it_in() {
    let check = |url: &str, is_personal: bool| {
        let config = entry(None, url, false).config.unwrap();
        assert_eq!(address_is_personal(&config), is_personal, "{url}");
    };
    check("https://a.example/${user.KEY}", true);
    check("https://a.example/${user.KEY:-1}", true);
    check("https://a.example/${KEY}", false);
    check("https://a.example/$${user.KEY}", false);
}
