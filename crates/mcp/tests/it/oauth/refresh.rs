//! Tokens that end, and what is done before anybody notices.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tenon_mcp::TokenProvider;
use tenon_mcp::oauth::{GrantStatus, TokenManager};

use super::{anywhere, log_in, status};
use crate::authority::Authority;

#[tokio::test]
async fn twenty_calls_at_once_make_one_refresh() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.lifetime = 0);
    let (manager, store) = log_in(&authority).await;
    authority.behave(|ways| {
        ways.lifetime = 3600;
        ways.slowness = Duration::from_millis(200);
    });
    let asked = (0..20).map(|_| {
        let manager = manager.clone();
        tokio::spawn(async move { manager.access_token().await.unwrap() })
    });
    let tokens: Vec<String> = join_all(asked)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(authority.book().refreshes, 1);
    assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
    assert_eq!(store.access().as_ref(), Some(&tokens[0]));
    assert_eq!(status(&authority, &tokens[0]).await, 200);
}

#[tokio::test]
async fn twenty_refused_calls_make_one_refresh() {
    let authority = Authority::start().await;
    let (manager, _) = log_in(&authority).await;
    let old = manager.access_token().await.unwrap();
    authority.forget_access();
    authority.behave(|ways| ways.slowness = Duration::from_millis(100));
    let asked = (0..20).map(|_| manager.replace_token(&old));
    let tokens = join_all(asked).await;
    assert_eq!(authority.book().refreshes, 1);
    let new = tokens[0].clone().unwrap();
    assert!(new != old && tokens.iter().all(|token| token.as_ref() == Some(&new)));
    // One that was on its way all the while is told the new one.
    assert_eq!(manager.replace_token(&old).await, Some(new));
    assert_eq!(authority.book().refreshes, 1);
}

#[tokio::test]
async fn a_new_refresh_token_is_stored_before_the_new_token_is_used() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    for turn in 1..=3 {
        let old = manager.access_token().await.unwrap();
        authority.forget_access();
        let new = manager.replace_token(&old).await.unwrap();
        assert_eq!(store.access(), Some(new));
        assert_eq!(*store.saves.lock().unwrap(), 1 + turn);
    }
    assert_eq!(authority.book().refreshes, 3);

    // Who does not rotate is shown the same one again.
    authority.behave(|ways| ways.rotates = false);
    for _ in 0..2 {
        let old = manager.access_token().await.unwrap();
        assert!(manager.replace_token(&old).await.is_some());
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_does_not_lose_the_token() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    let old = manager.access_token().await.unwrap();
    authority.behave(|ways| ways.slowness = Duration::from_millis(300));
    let given_up =
        tokio::time::timeout(Duration::from_millis(50), manager.replace_token(&old)).await;
    assert!(given_up.is_err());
    let new = manager.replace_token(&old).await.unwrap();
    assert_eq!(authority.book().refreshes, 1);
    assert_eq!(store.access(), Some(new));
}

#[tokio::test]
async fn what_another_process_renewed_is_used() {
    let authority = Authority::start().await;
    let (here, store) = log_in(&authority).await;
    let there = TokenManager::new(Arc::new(store.clone()), anywhere(), "Tenon");
    let old = here.access_token().await.unwrap();
    assert_eq!(there.access_token().await.as_ref(), Some(&old));
    authority.forget_access();
    let new = there.replace_token(&old).await.unwrap();
    assert_eq!(here.replace_token(&old).await, Some(new.clone()));
    assert_eq!(authority.book().refreshes, 1);

    // At the very same moment: one of them shows a token that is worth nothing any more.
    authority.forget_access();
    authority.behave(|ways| ways.slowness = Duration::from_millis(100));
    let (one, other) = tokio::join!(here.replace_token(&new), there.replace_token(&new));
    assert!(one.is_some() && one == other, "{one:?} {other:?}");
    assert_eq!(authority.book().refreshes, 3);
}

#[tokio::test]
async fn a_refused_refresh_asks_the_person_again() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    let old = manager.access_token().await.unwrap();
    authority.forget_access();
    authority.forget_refresh();
    assert_eq!(manager.replace_token(&old).await, None);
    assert_eq!(manager.grant_status().await, GrantStatus::Ended);
    assert_eq!(manager.access_token().await, None);
    assert_eq!(store.access(), None);
    // Nobody is asked in vain again.
    let asked = authority.book().refreshes;
    assert_eq!(manager.replace_token(&old).await, None);
    assert_eq!(authority.book().refreshes, asked);
}

#[tokio::test]
async fn a_service_that_is_down_ends_no_log_in() {
    let authority = Authority::start().await;
    let (manager, store) = log_in(&authority).await;
    let old = manager.access_token().await.unwrap();
    authority.behave(|ways| ways.is_down = true);
    assert_eq!(manager.replace_token(&old).await, None);
    let standing = manager.grant_status().await;
    assert!(matches!(standing, GrantStatus::Unknown(_)), "{standing:?}");
    assert_eq!(store.access().as_ref(), Some(&old));
    // What there is may still do.
    assert_eq!(manager.access_token().await, Some(old));
}
