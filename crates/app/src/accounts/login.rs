//! Set-up, log-in, sign-up and log-out.

use std::net::IpAddr;

use serde_json::json;
use tenon_domain::text::shorten;
use tenon_domain::{Account, EntryPoint, SessionId, UserId};
use tenon_store::{AccountError, AuditEntry, Enrollment, Invite, LOCAL, NewUserRow, SecretToken};

use super::Accounts;
use crate::auth::throttle::Attempt;
use crate::auth::{AuthMethod, CurrentUser, record};
use crate::profile::{checked_email, checked_name};
use crate::{Error, Result};

/// As much as the audit log keeps of an address that nobody has.
const MAX_AUDITED_EMAIL_CHARS: usize = 254;

/// The browser that somebody logs in with.
#[derive(Debug, Clone, Copy)]
pub struct LoginClient<'a> {
    pub address: IpAddr,
    /// What the browser says it is.
    pub agent: &'a str,
}

/// Name, e-mail address and password of an account that somebody makes for themself.
#[expect(missing_debug_implementations, reason = "it holds a secret")]
pub struct AccountDetails<'a> {
    pub name: &'a str,
    pub email: &'a str,
    pub password: &'a str,
}

/// How somebody has proved who they are.
#[derive(Debug, Clone, Copy)]
pub enum LoginMethod {
    /// To Tenon itself.
    Tenon,
    /// To their issuer.
    Oidc,
}

impl Accounts {
    /// Lets in the one person of single-user mode.
    pub async fn log_in_alone(
        &self,
        client: LoginClient<'_>,
        code: &str,
    ) -> Result<(SecretToken, Account)> {
        if !self.auth.setup.redeem(code).await {
            return Err(self.wrong_code(client));
        }
        let address = client.address.to_string();
        let local = UserId::new(LOCAL);
        let created = self.store.create_session(&local, client.agent, &address);
        let (token, session) = created.await?;
        let user = CurrentUser::owner(&self.store, AuthMethod::Session(session.id)).await?;
        let account = user.account(&self.store).await?;
        user.note(&self.store, &address, "login", user.id.as_str(), json!({}))
            .await;
        Ok((token, account))
    }

    /// Makes the first account, an admin's.
    pub async fn set_up(
        &self,
        client: LoginClient<'_>,
        code: &str,
        new: AccountDetails<'_>,
    ) -> Result<(SecretToken, Account)> {
        // Before the store is asked: the code of a set-up that ends meanwhile fits no more.
        let fits = self.auth.setup.fits(code);
        if self.store.has_users().await? {
            return Err(tenon_store::Error::from(AccountError::SetUp).into());
        }
        if !fits {
            return Err(self.wrong_code(client));
        }
        let account = self.register(new, Enrollment::First).await?;
        self.auth.setup.retire().await;
        self.begin_session(client, account, LoginMethod::Tenon, "setup")
            .await
    }

    pub async fn log_in(
        &self,
        client: LoginClient<'_>,
        email: &str,
        password: &str,
    ) -> Result<(SecretToken, Account)> {
        let attempt = Attempt::LogIn(email);
        self.auth.attempt(attempt, client.address)?;
        let found = self.store.user_by_email(email).await?;
        let (account, hash) = found.map_or((None, None), |(account, hash)| (Some(account), hash));
        let fits = self.auth.passwords.verify(password, hash).await?;
        let Some(account) = account.filter(|account| fits && !account.disabled) else {
            let subject = shorten(email.trim(), MAX_AUDITED_EMAIL_CHARS).into_owned();
            let entry = AuditEntry {
                user: None,
                door: EntryPoint::Page,
                action: "login.failed",
                subject,
                detail: json!({}),
                address: client.address.to_string(),
            };
            record(&self.store, entry).await;
            return Err(Error::WrongLogin);
        };
        self.auth.succeeded(attempt, client.address);
        self.begin_session(client, account, LoginMethod::Tenon, "login")
            .await
    }

    /// Makes an account for whoever was invited, or for anybody where sign-up is open.
    pub async fn sign_up(
        &self,
        client: LoginClient<'_>,
        invite: Option<&str>,
        new: AccountDetails<'_>,
    ) -> Result<(SecretToken, Account)> {
        self.auth.attempt(Attempt::SignUp, client.address)?;
        let who = match invite {
            Some(token) => {
                // Looked at before the password is hashed: that costs something.
                if self.store.invite_of(token).await?.is_none() {
                    return Err(tenon_store::Error::from(AccountError::Invite).into());
                }
                Enrollment::Invited(token)
            }
            None if self.sign_up_is_open().await? => Enrollment::Another,
            None => return Err(Error::InviteNeeded),
        };
        let account = self.register(new, who).await?;
        self.auth.succeeded(Attempt::SignUp, client.address);
        self.begin_session(client, account, LoginMethod::Tenon, "sign-up")
            .await
    }

    /// An invitation, for whoever has its token.
    pub async fn invitation(&self, client: LoginClient<'_>, token: &str) -> Result<Invite> {
        self.auth.attempt(Attempt::Invitation, client.address)?;
        let invite = self.store.invite_of(token).await?;
        let invite = invite.ok_or(Error::InviteGone)?;
        self.auth.succeeded(Attempt::Invitation, client.address);
        Ok(invite)
    }

    /// Begins a session for somebody who has proved who they are.
    pub async fn begin_session(
        &self,
        client: LoginClient<'_>,
        mut account: Account,
        method: LoginMethod,
        action: &'static str,
    ) -> Result<(SecretToken, Account)> {
        let (store, id, agent) = (&self.store, &account.id, client.agent);
        let address = client.address.to_string();
        let (token, session) = match method {
            LoginMethod::Tenon => store.create_session(id, agent, &address).await?,
            LoginMethod::Oidc => store.create_oidc_session(id, agent, &address).await?,
        };
        account.last_login_at = Some(session.created_at);
        store.logged_in(&account.id).await?;
        let user = CurrentUser {
            id: account.id.clone(),
            role: account.role,
            credential: AuthMethod::Session(session.id),
        };
        let detail = json!({"email": account.email});
        user.note(store, &address, action, user.id.as_str(), detail)
            .await;
        Ok((token, account))
    }

    /// Ends a session, and by that its sockets.
    pub async fn end_session(
        &self,
        user: &CurrentUser,
        address: &str,
        session: &SessionId,
    ) -> tenon_store::Result<()> {
        let owner = self.auth.session_owner(user);
        self.store.delete_session(&owner, session).await?;
        user.note(&self.store, address, "logout", session.as_str(), json!({}))
            .await;
        Ok(())
    }

    async fn register(&self, new: AccountDetails<'_>, who: Enrollment<'_>) -> Result<Account> {
        let (email, name) = (checked_email(new.email)?, checked_name(new.name)?);
        let hash = self.auth.passwords.hash(new.password).await?;
        let user = NewUserRow {
            email: &email,
            name: &name,
            role: Default::default(),
            password_hash: Some(&hash),
            oidc_subject: None,
        };
        Ok(self.store.create_user(user, who).await?)
    }

    /// Only wrong codes are counted. The right code always passes: strangers may share an address
    /// with the person who started Tenon (behind a proxy, or on this machine) and must not lock
    /// them out, and the code is too long to guess.
    fn wrong_code(&self, client: LoginClient<'_>) -> Error {
        match self.auth.attempt(Attempt::SetUp, client.address) {
            Err(too_many) => too_many,
            Ok(()) => Error::WrongSetupCode,
        }
    }
}
