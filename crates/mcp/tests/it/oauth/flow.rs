//! From "who are you?" to a token that is good, and back.

use serde_json::json;
use tenon_mcp::TokenProvider;
use tenon_mcp::oauth::{
    GrantStatus, LoginError, LoginRequest, OAuthClient, RefusedLogin, finish_login, start_login,
};

use super::{REDIRECT, address, anywhere, log_in, request, start, status, visit};
use crate::authority::Authority;

#[tokio::test]
async fn a_challenge_leads_to_a_token_that_is_good() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    let token = manager.access_token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 200);
    assert_eq!(store.access(), Some(token));
    assert_eq!(manager.grant_status().await, GrantStatus::LoggedIn);
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
    let redirect = start(&authority).await.unwrap();
    let query: std::collections::HashMap<_, _> = url::Url::parse(&redirect.url)
        .unwrap()
        .query_pairs()
        .into_owned()
        .collect();
    assert_eq!(query["scope"], "read");
    assert_eq!(query["resource"], authority.server());
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(query["state"], redirect.state);
    assert!(redirect.state.len() >= 20, "{}", redirect.state);

    // Without a hint there it is what the server's document lists.
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let bare = format!("Bearer resource_metadata=\"{pointer}\"");
    authority.behave(|ways| ways.challenge = Some(bare));
    let redirect = start(&authority).await.unwrap();
    assert!(
        redirect.url.contains("scope=read+write"),
        "{}",
        redirect.url
    );
}

#[tokio::test]
async fn a_server_that_gives_no_pointer_is_found_all_the_same() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.challenge = Some("Bearer".into()));
    let redirect = start(&authority).await.unwrap();
    assert!(
        redirect
            .url
            .starts_with(&format!("{}/authorize?", authority.url))
    );

    // An issuer of OpenID under a path of its own.
    let issuer = format!("{}/openid", authority.url);
    authority.behave(|ways| ways.resource = json!({"authorization_servers": [issuer]}));
    let redirect = start(&authority).await.unwrap();
    let callback = visit(&redirect).await;
    let wrong = finish_login(&anywhere(), redirect.pending, callback)
        .await
        .unwrap_err();
    assert!(
        matches!(wrong, LoginError::Untrusted(_)),
        "its name has no path: {wrong:?}"
    );
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_as_it_is_wanted() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.gives_secrets = true);
    let (manager, _) = log_in(&authority).await;
    assert!(manager.access_token().await.is_some());

    let post = json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]});
    authority.behave(|ways| ways.metadata = post);
    let (manager, _) = log_in(&authority).await;
    assert!(manager.access_token().await.is_some());
}

#[tokio::test]
async fn a_client_that_somebody_registered_is_not_registered_again() {
    let authority = Authority::start().await;
    let client = OAuthClient::new("known", Some("hidden".into()));
    let server = address(&authority);
    let known = LoginRequest {
        client: Some(&client),
        ..request(&server)
    };
    let redirect = start_login(&anywhere(), known).await.unwrap();
    assert!(redirect.url.contains("client_id=known"), "{}", redirect.url);
    assert!(!redirect.url.contains("hidden"), "{}", redirect.url);
    assert_eq!(authority.book().registrations.len(), 0);

    let nobody = json!({"registration_endpoint": null});
    authority.behave(|ways| ways.metadata = nobody);
    let refused = start(&authority).await.unwrap_err();
    assert!(
        matches!(refused, LoginError::NotRegistered { .. }),
        "{refused:?}"
    );

    let described = json!({"client_id_metadata_document_supported": true});
    authority.behave(|ways| ways.metadata = described);
    let known = LoginRequest {
        client_metadata_url: Some("https://tenon.example.com/api/sources/client"),
        ..request(&server)
    };
    let redirect = start_login(&anywhere(), known).await.unwrap();
    assert!(
        redirect.url.contains("client_id=https%3A%2F%2Ftenon"),
        "{}",
        redirect.url
    );
}

#[tokio::test]
async fn a_code_is_taken_only_to_whom_it_came_from() {
    let authority = Authority::start().await;
    let check = async |issuer: Option<&str>, is_right: bool| {
        let issuer = issuer.map(str::to_owned);
        authority.behave(|ways| ways.issuer = Some(issuer.clone()));
        let redirect = start(&authority).await.unwrap();
        let callback = visit(&redirect).await;
        let ended = finish_login(&anywhere(), redirect.pending, callback).await;
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
    let redirect = start(&authority).await.unwrap();
    let mut callback = visit(&redirect).await;
    callback.code = None;
    callback.error = Some("access_denied".into());
    callback.error_description = Some("not\ntoday".into());
    let refused = finish_login(&anywhere(), redirect.pending, callback)
        .await
        .unwrap_err();
    assert_eq!(
        refused,
        LoginError::Refused(RefusedLogin::Said("access_denied not today".into()))
    );
}

#[tokio::test]
async fn a_code_is_good_once() {
    let authority = Authority::start().await;
    let (first, second) = (
        start(&authority).await.unwrap(),
        start(&authority).await.unwrap(),
    );
    let callback = visit(&first).await;
    // Somebody else's code fits no other redirect: its verifier is another.
    let refused = finish_login(&anywhere(), second.pending, callback)
        .await
        .unwrap_err();
    assert!(matches!(refused, LoginError::Ended(_)), "{refused:?}");
}

#[tokio::test]
async fn logging_out_revokes_what_was_given() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    let token = manager.access_token().await.unwrap();
    manager.log_out().await.unwrap();
    assert_eq!(manager.access_token().await, None);
    assert_eq!(manager.replace_token(&token).await, None);
    assert_eq!(store.access(), None);
    assert_eq!(manager.grant_status().await, GrantStatus::LoggedOut);
    assert_eq!(authority.book().revoked.len(), 2);
    assert!(authority.book().revoked.contains(&token));
    assert_eq!(status(&authority, &token).await, 401);

    // It is forgotten here even where nobody can be told.
    let (manager, store) = log_in(&authority).await;
    authority.stop();
    let told = manager.log_out().await;
    assert!(matches!(told, Err(LoginError::Unreachable(_))), "{told:?}");
    assert_eq!(store.access(), None);
    assert_eq!(manager.access_token().await, None);
}

#[tokio::test]
async fn a_step_up_asks_for_more_and_keeps_what_there_is() {
    let authority = Authority::start().await;
    let (manager, _) = log_in(&authority).await;
    authority.behave(|ways| ways.needs_scope = Some("write".into()));
    let token = manager.access_token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 403);
    let held = manager.grant().await.unwrap();
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"write\", resource_metadata=\"{pointer}\""
    );
    let server = address(&authority);
    let more = LoginRequest {
        challenge: Some(&challenge),
        grant: held.as_ref(),
        ..request(&server)
    };
    let redirect = start_login(&anywhere(), more).await.unwrap();
    let callback = visit(&redirect).await;
    let grant = finish_login(&anywhere(), redirect.pending, callback)
        .await
        .unwrap();
    assert_eq!(grant.scopes, ["write", "read"]);
    manager.set_grant(grant).await.unwrap();
    let token = manager.access_token().await.unwrap();
    assert_eq!(status(&authority, &token).await, 200);
}
