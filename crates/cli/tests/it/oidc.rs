//! Logging in with an account somewhere else, against an issuer in this process.

mod issuer;
mod linked;
mod proof;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, header};
use serde_json::{Value, json};
use tenon_app::config::OidcConfig;

use crate::people::{PASSWORD, Person};
use crate::server::{Server, TEST_TIMEOUT};
use issuer::{Claims, Issuer};

/// A browser that goes where it is sent, one step at a time, and keeps cookies.
struct Browser {
    client: Client,
    cookies: Vec<(String, String)>,
}

impl Browser {
    fn new() -> Self {
        let client = Client::builder()
            .redirect(Policy::none())
            .timeout(TEST_TIMEOUT)
            .build()
            .unwrap();
        Self {
            client,
            cookies: Vec::new(),
        }
    }

    async fn open(&mut self, url: &str) -> Response {
        let pairs = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let cookie = pairs.collect::<Vec<_>>().join("; ");
        let request = self.client.get(url).header(header::COOKIE, cookie);
        let response = request.send().await.unwrap();
        for set in response.headers().get_all(header::SET_COOKIE) {
            let pair = set.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        response
    }

    /// Where an address sends on to.
    async fn follow(&mut self, url: &str) -> String {
        let response = self.open(url).await;
        assert!(response.status().is_redirection(), "{response:?}");
        let to = &response.headers()[header::LOCATION];
        to.to_str().unwrap().to_owned()
    }

    /// Logs in and tells the address to return to.
    async fn visit_the_issuer(&mut self, server: &Server) -> String {
        let start = format!("http://{}/api/auth/oidc/start", server.address);
        let issuer = self.follow(&start).await;
        self.follow(&issuer).await
    }

    /// All of it: where the browser is in the end.
    async fn log_in(&mut self, server: &Server) -> String {
        let back = self.visit_the_issuer(server).await;
        self.follow(&back).await
    }

    async fn account(&mut self, server: &Server) -> Value {
        let url = format!("http://{}/api/auth/me", server.address);
        self.open(&url).await.json().await.unwrap()
    }
}

fn config(issuer: &Issuer) -> OidcConfig {
    OidcConfig {
        issuer: issuer.url.clone(),
        client_id: issuer::CLIENT.into(),
        client_secret: Some(issuer::SECRET.into()),
        name: Some("Example".into()),
        allowed_domains: Vec::new(),
        sign_up: true,
        public_url: None,
    }
}

async fn audited(admin: &Person<'_>, code: &str) {
    let (_, log) = admin.get("/api/audit?action=login.failed").await;
    let found = log.to_string().contains(code);
    assert!(found, "{code} is not in {log:#}");
}

#[tokio::test]
async fn somebody_logs_in_with_an_account_elsewhere() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let (_, state) = server.get("/api/auth/state").await;
    assert_eq!(state["oidc"], "Example");

    // Whoever comes first is not the admin by that.
    let early = Browser::new().log_in(&server).await;
    assert_eq!(early, "/#/login?error=oidc_no_account");
    Person::set_up(&server, "admin").await;
    let mut ada = Browser::new();
    assert_eq!(ada.log_in(&server).await, "/#/");
    let account = ada.account(&server).await;
    assert_eq!(account["email"], "ada@example.com", "{account}");
    assert_eq!(account["name"], "Ada");
    assert_eq!(account["role"], "user");
    let names: Vec<&str> = ada.cookies.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tenon"], "what was needed on the way is gone");

    issuer.say(Claims {
        subject: "2".into(),
        email: Some("Bob@Example.com".into()),
        ..Claims::default()
    });
    let mut bob = Browser::new();
    assert_eq!(bob.log_in(&server).await, "/#/");
    let account = bob.account(&server).await;
    assert_eq!(account["email"], "bob@example.com");
    assert_eq!(account["role"], "user");

    // They are known by what the issuer calls them, whatever their address is now.
    issuer.say(Claims {
        subject: "2".into(),
        email: Some("robert@example.com".into()),
        ..Claims::default()
    });
    let mut again = Browser::new();
    assert_eq!(again.log_in(&server).await, "/#/");
    assert_eq!(again.account(&server).await["id"], account["id"]);
}

#[tokio::test]
async fn an_account_is_found_by_an_address_that_the_issuer_vouches_for() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(OidcConfig {
        sign_up: false,
        ..config(&issuer)
    })
    .await;
    let admin = Person::set_up(&server, "ada").await;
    let email = admin.get("/api/auth/me").await.1["email"].clone();
    let email = email.as_str().unwrap().to_uppercase();
    let claims = Claims {
        email: Some(email),
        ..Claims::default()
    };

    issuer.say(Claims {
        verified: Some(false),
        ..claims.clone()
    });
    let refused = Browser::new().log_in(&server).await;
    assert_eq!(refused, "/#/login?error=oidc_email");
    audited(&admin, "oidc_email").await;

    issuer.say(claims.clone());
    let mut browser = Browser::new();
    assert_eq!(browser.log_in(&server).await, "/#/");
    assert_eq!(browser.account(&server).await["id"], *admin.id);

    // Somebody else who has that address now does not get the account with it.
    issuer.say(Claims {
        subject: "another".into(),
        ..claims
    });
    let refused = Browser::new().log_in(&server).await;
    assert_eq!(refused, "/#/login?error=oidc_no_account");
    issuer.say(Claims {
        subject: "stranger".into(),
        email: Some("stranger@example.com".into()),
        ..Claims::default()
    });
    let refused = Browser::new().log_in(&server).await;
    assert_eq!(refused, "/#/login?error=oidc_no_account");
}

#[tokio::test]
async fn who_took_an_address_before_its_owner_came_is_out() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let admin = Person::set_up(&server, "admin").await;
    let mallory = admin.add("ada").await;
    let key = mallory.key("full").await;
    let mut page = mallory.socket().await.unwrap();
    issuer.say(Claims {
        email: Some("ada@example.org".into()),
        ..Claims::default()
    });
    let mut ada = Browser::new();
    assert_eq!(ada.log_in(&server).await, "/#/");
    assert_eq!(ada.account(&server).await["id"], *mallory.id);
    assert_eq!(page.closed().await, 4401);
    assert_eq!(mallory.get("/api/auth/me").await.0, 401);
    assert_eq!(key.get("/api/auth/me").await.0, 401);
    let body = json!({"email": "ada@example.org", "password": PASSWORD});
    assert_eq!(server.post("/api/auth/login", body).await.0, 401);
    let (_, log) = admin.get("/api/audit?action=user.changed").await;
    assert_eq!(
        log[0]["detail"]["removed"],
        json!(["password", "sessions", "keys"]),
        "{log:#}"
    );
    // They come back as often as they like, and nothing more ends.
    assert_eq!(Browser::new().log_in(&server).await, "/#/");
    assert_eq!(ada.account(&server).await["id"], *mallory.id);
}

#[tokio::test]
async fn an_address_may_be_told_only_to_those_who_ask_once_more() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    Person::set_up(&server, "admin").await;
    issuer.say(Claims {
        only_on_request: true,
        ..Claims::default()
    });
    let mut ada = Browser::new();
    assert_eq!(ada.log_in(&server).await, "/#/");
    assert_eq!(ada.account(&server).await["email"], "ada@example.com");
}

#[tokio::test]
async fn only_those_of_an_allowed_domain_are_let_in() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(OidcConfig {
        allowed_domains: vec!["Example.com".into()],
        ..config(&issuer)
    })
    .await;
    Person::set_up(&server, "admin").await;
    let check = async |email: &str, expected: &str| {
        issuer.say(Claims {
            subject: email.into(),
            email: Some(email.into()),
            ..Claims::default()
        });
        assert_eq!(Browser::new().log_in(&server).await, expected, "{email}");
    };
    check("ada@example.com", "/#/").await;
    let refused = "/#/login?error=oidc_domain";
    check("ada@example.org", refused).await;
    check("ada@evilexample.com", refused).await;
    check("ada@evil.com@example.com", "/#/login?error=oidc_email").await;
}

#[tokio::test]
async fn what_cannot_be_trusted_is_refused() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let admin = Person::set_up(&server, "admin").await;
    let check = async |claims: Claims, why: &str| {
        issuer.say(claims);
        let mut browser = Browser::new();
        let refused = browser.log_in(&server).await;
        assert_eq!(refused, "/#/login?error=oidc_untrusted", "{why}");
        audited(&admin, why).await;
        assert_eq!(browser.cookies, []);
    };
    let claims = Claims::default;
    let nonce = Some("another".into());
    check(Claims { nonce, ..claims() }, "nonce").await;
    let audience = Some("another".into());
    check(
        Claims {
            audience,
            ..claims()
        },
        "audience",
    )
    .await;
    let expired = true;
    check(
        Claims {
            expired,
            ..claims()
        },
        "expired",
    )
    .await;
    let by_another = true;
    check(
        Claims {
            by_another,
            ..claims()
        },
        "signature",
    )
    .await;
    let (_, users) = admin.get("/api/users").await;
    assert_eq!(users.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_return_is_good_once_and_only_in_the_browser_that_left() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let admin = Person::set_up(&server, "admin").await;
    let expired = "/#/login?error=oidc_expired";
    let callback = format!("http://{}/api/auth/oidc/callback", server.address);

    let mut ada = Browser::new();
    let back = ada.visit_the_issuer(&server).await;
    let cookies = ada.cookies.clone();
    // Somebody else opens the address, or it comes with a state that was made up.
    assert_eq!(Browser::new().follow(&back).await, expired);
    let mut other = Browser::new();
    other.cookies = cookies.clone();
    let forged = format!("{callback}?state=forged&code=x");
    assert_eq!(other.follow(&forged).await, expired);
    assert_eq!(other.follow(&callback).await, expired);
    assert_eq!(ada.follow(&back).await, "/#/");
    // The same once more, with the cookie that was taken back.
    other.cookies = cookies;
    assert_eq!(other.follow(&back).await, expired);

    let denied = format!("{callback}?error=access_denied&error_description=no%0Aline%1B");
    let mut browser = Browser::new();
    assert_eq!(browser.follow(&denied).await, "/#/login?error=oidc_denied");
    let (_, log) = admin.get("/api/audit?action=login.failed").await;
    let whys: Vec<&Value> = log.as_array().unwrap().iter().collect();
    assert_eq!(whys.len(), 1, "what anybody can bring about fills no log");
    assert_eq!(
        whys[0]["detail"]["why"],
        "the issuer refused: access_denied no\u{fffd}line\u{fffd}"
    );

    // Nor does somebody go on for ever.
    let mut last = String::new();
    for _ in 0..5 {
        last = browser.follow(&denied).await;
    }
    assert_eq!(last, "/#/login?error=oidc_too_many");
}

#[tokio::test]
async fn a_disabled_account_stays_out() {
    let issuer = Issuer::start().await;
    let server = Server::with_oidc(config(&issuer)).await;
    let admin = Person::set_up(&server, "admin").await;
    let mut ada = Browser::new();
    assert_eq!(ada.log_in(&server).await, "/#/");
    let id = ada.account(&server).await["id"].clone();
    let path = format!("/api/users/{}", id.as_str().unwrap());
    let request = admin
        .request("PATCH", &path)
        .json(&json!({"disabled": true}));
    assert!(request.send().await.unwrap().status().is_success());
    let refused = Browser::new().log_in(&server).await;
    assert_eq!(refused, "/#/login?error=oidc_disabled");
    audited(&admin, "oidc_disabled").await;
}

#[tokio::test]
async fn an_issuer_that_is_down_stops_nobody_else() {
    let issuer = Issuer::start().await;
    let mut settings = config(&issuer);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    settings.issuer = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let server = Server::with_oidc(settings).await;
    let admin = Person::set_up(&server, "admin").await;
    let start = format!("http://{}/api/auth/oidc/start", server.address);
    let refused = Browser::new().follow(&start).await;
    assert_eq!(refused, "/#/login?error=oidc_unreachable");
    audited(&admin, "oidc_unreachable").await;

    // One that goes down while somebody is there.
    let server = Server::with_oidc(config(&issuer)).await;
    let mut browser = Browser::new();
    let back = browser.visit_the_issuer(&server).await;
    issuer.stop();
    assert_eq!(
        browser.follow(&back).await,
        "/#/login?error=oidc_unreachable"
    );
}

#[tokio::test]
async fn without_an_issuer_there_is_nowhere_to_go() {
    let server = Server::start().await;
    let start = format!("http://{}/api/auth/oidc/start", server.address);
    let refused = Browser::new().follow(&start).await;
    assert_eq!(refused, "/#/login?error=oidc_off");
}
