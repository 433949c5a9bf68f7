//! Servers that lie about where to log in.

use serde_json::{Value, json};
use tenon_mcp::oauth::{LoginError, LoginRequest, OAuthHttp, start_login};
use tenon_net::Network;

use super::{address, request, start};
use crate::authority::Authority;

#[tokio::test]
async fn an_address_that_is_no_web_address_is_refused() {
    let authority = Authority::start().await;
    let check = async |metadata: Value| {
        authority.behave(|ways| ways.metadata = metadata.clone());
        let refused = start(&authority).await.unwrap_err();
        assert!(
            matches!(refused, LoginError::Untrusted(_)),
            "{metadata} {refused:?}"
        );
        let asked = authority.book().registrations.len();
        assert_eq!(asked, 0, "nothing is sent before all is checked");
    };
    check(json!({"authorization_endpoint": "javascript:alert(1)"})).await;
    check(json!({"authorization_endpoint": "data:text/html,<script>"})).await;
    check(json!({"authorization_endpoint": "nonsense"})).await;
    check(json!({"token_endpoint": "file:///etc/passwd"})).await;
    check(json!({"token_endpoint": "https://me:secret@example.com/token"})).await;
    check(json!({"registration_endpoint": "ftp://example.com/"})).await;
    check(json!({"revocation_endpoint": "gopher://example.com/"})).await;
    check(json!({"token_endpoint": format!("https://example.com/{}", "x".repeat(3000))})).await;
    check(json!({"code_challenge_methods_supported": ["plain"]})).await;
    check(json!({"issuer": "https://elsewhere.example"})).await;
    check(json!({"issuer": null})).await;
}

#[tokio::test]
async fn a_service_that_is_down_is_said_to_be() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.is_down = true);
    let refused = start(&authority).await.unwrap_err();
    assert!(matches!(refused, LoginError::Unreachable(_)), "{refused:?}");
    authority.behave(|ways| ways.is_down = false);
    let gone = format!("{}/gone", authority.url);
    authority.behave(|ways| ways.metadata = json!({"registration_endpoint": gone}));
    let refused = start(&authority).await.unwrap_err();
    assert!(
        matches!(refused, LoginError::NotRegistered { .. }),
        "{refused:?}"
    );
    authority.stop();
    let refused = start(&authority).await.unwrap_err();
    assert!(matches!(refused, LoginError::Unreachable(_)), "{refused:?}");
}

#[tokio::test]
async fn a_document_without_an_end_is_not_read() {
    let authority = Authority::start().await;
    authority.behave(|ways| ways.padding = 8 << 20);
    let refused = start(&authority).await.unwrap_err();
    assert!(matches!(refused, LoginError::Unreachable(_)), "{refused:?}");
    assert!(refused.to_string().len() < 400, "{refused}");
}

#[tokio::test]
async fn nobody_is_followed_elsewhere() {
    let (authority, other) = (Authority::start().await, Authority::start().await);
    let elsewhere = format!("{}/.well-known/oauth-authorization-server", other.url);
    authority.behave(|ways| ways.redirects_to = Some(elsewhere));
    let refused = start(&authority).await.unwrap_err();
    assert!(matches!(refused, LoginError::Unreachable(_)), "{refused:?}");
    assert_eq!(other.book().paths, Vec::<String>::new());
}

#[tokio::test]
async fn a_document_of_another_server_is_not_believed() {
    let authority = Authority::start().await;
    let check = async |resource: Value| {
        authority.behave(|ways| ways.resource = resource.clone());
        let refused = start(&authority).await;
        assert!(refused.is_err(), "{resource}");
    };
    check(json!({"resource": "https://elsewhere.example/mcp"})).await;
    check(json!({"resource": null})).await;
    check(json!({"authorization_servers": ["http://169.254.169.254/"]})).await;
    check(json!({"authorization_servers": ["file:///etc/"]})).await;
}

#[tokio::test]
async fn a_users_server_leads_nobody_inside() {
    let authority = Authority::start().await;
    let http = OAuthHttp::new(Network::PublicOnly).unwrap();
    let check = async |server: &str, challenge: Option<&str>| {
        let server = server.parse().unwrap();
        let theirs = LoginRequest {
            challenge,
            ..request(&server)
        };
        let refused = start_login(&http, theirs).await.unwrap_err();
        assert!(
            matches!(
                refused,
                LoginError::Untrusted(_) | LoginError::Unreachable(_)
            ),
            "{server} {refused:?}"
        );
        assert_eq!(authority.book().paths, Vec::<String>::new());
    };
    check(address(&authority).as_str(), None).await;
    // A name that means this machine, whoever says so.
    let port = address(&authority).port().unwrap();
    check(&format!("http://localhost:{port}/mcp"), None).await;
    let pointer = format!("{}/.well-known/oauth-protected-resource/mcp", authority.url);
    let challenge = format!("Bearer resource_metadata=\"{pointer}\"");
    check("http://192.0.2.1/mcp", Some(&challenge)).await;
}
