//! What accounts and invitations share: the form of an address, and why either is refused.

use tenon_domain::coded_errors;

use crate::text;

coded_errors! {
    /// Why an account was not made or changed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AccountError {
        SetUp = "set_up" => "There is an account already. Reload the page and log in to it.",
        SetUpFirst = "set_up_first" => "There is no account yet. Make the first one on Tenon's page or with `tenon user add`.",
        EmailTaken = "email_taken" in "email" => "There is an account with this address already. Log in, or use another address.",
        LastAdmin = "last_admin" => "This is the only admin. Make somebody else an admin first.",
        Invite = "wrong_invite" => "This invitation was used or revoked, or has expired. Ask for another one.",
        InviteEmail = "wrong_email" in "email" => "This invitation is for another e-mail address.",
    }
}

/// The user id that owns everything until there is an account.
pub const LOCAL: &str = "local";

/// An address as it is kept and looked for: one person writes it in many ways.
pub fn normal_email(email: &str) -> String {
    text(email.trim()).to_lowercase()
}
