//! What accounts and invitations share: the form of an address, and why either is refused.

use crate::text;

/// Why an account was not made or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    #[error("there is an account already; log in to it")]
    SetUp,
    #[error("there is no account yet; make the first one on Tenon's page or with `tenon user add`")]
    SetUpFirst,
    #[error("this e-mail address has an account already; log in, or use another address")]
    EmailTaken,
    #[error("this is the last admin; make somebody else an admin first")]
    LastAdmin,
    #[error("this invitation was used, taken back or is too old; ask for another one")]
    Invite,
    #[error("this invitation is for another e-mail address")]
    InviteEmail,
}

/// An address as it is kept and looked for: one person writes it in many ways.
pub fn normal_email(email: &str) -> String {
    text(email.trim()).to_lowercase()
}
