//! From "who are you?" to a token that is good, and back.

use serde_json::json;
use tenon_sources::mcp::Tokens;
use tenon_sources::mcp::oauth::{Asking, Client, Standing, Trouble, begin, end};

use super::{REDIRECT, address, anywhere, asking, depart, log_in, status, visit};
use crate::authority::Authority;

#[tokio::test]
async fn a_challenge_leads_to_a_token_that_is_good() {
    let authority = Authority::start().await;
    let (pass, drawer) = log_in(&authority).await;
    let token = pass.token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 200);
    assert_eq!(drawer.access(), Some(token));
    assert_eq!(pass.standing().await, Standing::In);
    let book = authority.book();
    assert_eq!(book.registrations.len(), 1);
    let asked = &book.registrations[0];
    assert_eq!(asked["client_name"], "Tenon");
    assert_eq!(asked["redirect_uris"], json!([REDIRECT]));
    assert_eq!(asked["application_type"], "native");
}

#[tokio::test]
async fn what_is_asked_for_is_what_the_challenge_says() {
    let authority = Authority::start().await;
    let departure = depart(&authority).await.unwrap();
    let query: std::collections::HashMap<_, _> = url::Url::parse(&departure.url)
        .unwrap()
        .query_pairs()
        .into_owned()
        .collect();
    assert_eq!(query["scope"], "read");
    assert_eq!(query["resource"], authority.server());
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["state"], departure.state);
    assert!(departure.state.len() >= 20, "{}", departure.state);

    // Without a hint there it is what the server's document lists.
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let bare = format!("Bearer resource_metadata=\"{pointer}\"");
    authority.behave(|ways| ways.challenge = Some(bare));
    let departure = depart(&authority).await.unwrap();
    assert!(
        departure.url.contains("scope=read+write"),
        "{}",
        departure.url
    );
}

#[tokio::test]
async fn a_server_that_gives_no_pointer_is_found_all_the_same() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.challenge = Some("Bearer".into()));
    let departure = depart(&authority).await.unwrap();
    assert!(
        departure
            .url
            .starts_with(&format!("{}/authorize?", authority.url))
    );

    // An issuer of OpenID under a path of its own.
    let issuer = format!("{}/openid", authority.url);
    authority.behave(|ways| ways.resource = json!({"authorization_servers": [issuer]}));
    let departure = depart(&authority).await.unwrap();
    let returned = visit(&departure).await;
    let wrong = end(&anywhere(), departure.away, returned)
        .await
        .unwrap_err();
    assert!(
        matches!(wrong, Trouble::Untrusted(_)),
        "its name has no path: {wrong:?}"
    );
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_as_it_is_wanted() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.gives_secrets = true);
    let (pass, _) = log_in(&authority).await;
    assert!(pass.token().await.is_some());

    let post = json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]});
    authority.behave(|ways| ways.metadata = post);
    let (pass, _) = log_in(&authority).await;
    assert!(pass.token().await.is_some());
}

#[tokio::test]
async fn a_client_that_somebody_registered_is_not_registered_again() {
    let authority = Authority::start().await;
    let client = Client::new("known", Some("hidden".into()));
    let server = address(&authority);
    let known = Asking {
        client: Some(&client),
        ..asking(&server)
    };
    let departure = begin(&anywhere(), known).await.unwrap();
    assert!(
        departure.url.contains("client_id=known"),
        "{}",
        departure.url
    );
    assert!(!departure.url.contains("hidden"), "{}", departure.url);
    assert_eq!(authority.book().registrations.len(), 0);

    let nobody = json!({"registration_endpoint": null});
    authority.behave(|ways| ways.metadata = nobody);
    let refused = depart(&authority).await.unwrap_err();
    assert!(matches!(refused, Trouble::NotRegistered(_)), "{refused:?}");

    let described = json!({"client_id_metadata_document_supported": true});
    authority.behave(|ways| ways.metadata = described);
    let known = Asking {
        described_at: Some("https://tenon.example.com/api/sources/client"),
        ..asking(&server)
    };
    let departure = begin(&anywhere(), known).await.unwrap();
    assert!(
        departure.url.contains("client_id=https%3A%2F%2Ftenon"),
        "{}",
        departure.url
    );
}

#[tokio::test]
async fn a_code_is_taken_only_to_whom_it_came_from() {
    let authority = Authority::start().await;
    let check = async |issuer: Option<&str>, is_right: bool| {
        let issuer = issuer.map(str::to_owned);
        authority.behave(|ways| ways.issuer = Some(issuer.clone()));
        let departure = depart(&authority).await.unwrap();
        let returned = visit(&departure).await;
        let ended = end(&anywhere(), departure.away, returned).await;
        assert_eq!(ended.is_ok(), is_right, "{issuer:?} {ended:?}");
    };
    check(Some(&authority.url), true).await;
    check(Some("https://elsewhere.example"), false).await;
    check(Some(""), false).await;
    // It said that it would name itself.
    check(None, false).await;
    let never = json!({"authorization_response_iss_parameter_supported": null});
    authority.behave(|ways| ways.metadata = never);
    check(None, true).await;
    check(Some("https://elsewhere.example"), false).await;
}

#[tokio::test]
async fn a_refusal_there_is_told_in_one_line() {
    let authority = Authority::start().await;
    let departure = depart(&authority).await.unwrap();
    let mut returned = visit(&departure).await;
    returned.code = None;
    returned.error = Some("access_denied".into());
    returned.error_description = Some("not\ntoday".into());
    let refused = end(&anywhere(), departure.away, returned)
        .await
        .unwrap_err();
    assert_eq!(refused, Trouble::Refused("access_denied not today".into()));
}

#[tokio::test]
async fn a_code_is_good_once() {
    let authority = Authority::start().await;
    let (first, second) = (
        depart(&authority).await.unwrap(),
        depart(&authority).await.unwrap(),
    );
    let returned = visit(&first).await;
    // Somebody else's code fits no other departure: its verifier is another.
    let refused = end(&anywhere(), second.away, returned).await.unwrap_err();
    assert!(matches!(refused, Trouble::Ended(_)), "{refused:?}");
}

#[tokio::test]
async fn logging_out_revokes_what_was_given() {
    let authority = Authority::start().await;
    let (pass, drawer) = log_in(&authority).await;
    let token = pass.token().await.unwrap();
    pass.give_back().await.unwrap();
    assert_eq!(pass.token().await, None);
    assert_eq!(pass.instead_of(&token).await, None);
    assert_eq!(drawer.access(), None);
    assert_eq!(pass.standing().await, Standing::Out);
    assert_eq!(authority.book().revoked.len(), 2);
    assert!(authority.book().revoked.contains(&token));
    assert_eq!(status(&authority, &token).await, 401);

    // It is forgotten here even where nobody can be told.
    let (pass, drawer) = log_in(&authority).await;
    authority.stop();
    let told = pass.give_back().await;
    assert!(matches!(told, Err(Trouble::Unreachable(_))), "{told:?}");
    assert_eq!(drawer.access(), None);
    assert_eq!(pass.token().await, None);
}

#[tokio::test]
async fn a_step_up_asks_for_more_and_keeps_what_there_is() {
    let authority = Authority::start().await;
    let (pass, _) = log_in(&authority).await;
    authority.behave(|ways| ways.needs_scope = Some("write".into()));
    let token = pass.token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 403);
    let held = pass.grant().await.unwrap();
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"write\", resource_metadata=\"{pointer}\""
    );
    let server = address(&authority);
    let more = Asking {
        challenge: Some(&challenge),
        held: held.as_ref(),
        ..asking(&server)
    };
    let departure = begin(&anywhere(), more).await.unwrap();
    let returned = visit(&departure).await;
    let grant = end(&anywhere(), departure.away, returned).await.unwrap();
    assert_eq!(grant.scopes, ["write", "read"]);
    pass.take(grant).await.unwrap();
    let token = pass.token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 200);
}
