//! Why an account or a log-in could not be changed. Sources and models have errors of their own.

use tenon_domain::{ErrorDetail, coded_errors};

pub type Result<T> = std::result::Result<T, Error>;

coded_errors! {
    #[derive(Debug)]
    pub enum Error {
        /// A key was shown where only the person themself may act.
        KeyNotAllowed = "key_not_allowed" => "A key cannot do this. Log in to Tenon's page instead.",
        /// Until there is an account, the one person has nothing of the kind.
        NoAccount = "no_account" => "This belongs to an account, and there is none yet. Make one first: `tenon user add`.",
        TooManyAttempts { seconds: u64 } = "too_many" => "Too many attempts. Try again in {seconds} seconds.",
        /// Too many passwords are being hashed.
        Busy = "too_many_logins" => "Too many people are logging in at the moment. Try again in a few seconds.",
        WrongSetupCode = "wrong_code" in "code" => "This code is wrong or was used already. Run `tenon link` where Tenon runs, and open the link that it prints.",
        /// The address, the password, or the account is disabled: nobody is told which.
        WrongLogin = "wrong_login" => "The e-mail address or the password is not right, or the account is disabled.",
        InviteNeeded = "invite_needed" => "Only people with an invitation can create an account here. Ask an admin.",
        InviteGone = "invite_gone" => "This invitation was used or revoked, or has expired. Ask for another one.",
        /// Re-authentication for actions that a stolen session must not be able to do.
        WrongPassword = "wrong_password" in "password" => "This is not your current password.",
        /// The log-in is too old to prove who it is.
        PasswordNeeded = "password_needed" in "password" => "Enter your password: you logged in some time ago.",
        /// There is no password to ask for: only a new log-in proves who it is.
        LoginNeeded = "login_needed" => "You have no password here. Log in again to confirm that it is you, then do this within ten minutes.",
        ShellNeeded = "shell_needed" => "This Tenon has no log-in, so it cannot confirm that it is you. Use `tenon user` in a shell instead.",
        /// What browsers found cannot be forgotten.
        DeviceStore = "devices_not_forgotten" => "Tenon could not delete the servers found by this person's browsers. Its log says why.",
    }
    wraps {
        /// The input cannot be used.
        Invalid(ErrorDetail),
        Store(tenon_store::Error),
    }
}

coded_errors! {
    /// What an account or a key cannot have.
    #[derive(Debug)]
    pub enum AccountInputError {
        Email = "email_invalid" in "email" => "This is not an e-mail address. Write it like ada@example.org.",
        Name { max: usize } = "name_invalid" in "name" => "A name has 1 to {max} characters, on one line.",
        PasswordShort { min: usize } = "password_short" in "password" => "A password has at least {min} characters.",
        PasswordLong { max: usize } = "password_long" in "password" => "A password has {max} bytes at most.",
        TooManyKeys { max: usize } = "keys_too_many" => "One person has {max} keys at most. Delete some that are not used.",
        KeyPatterns { max: usize, length: usize } = "key_patterns" in "allow" => "A key allows {max} tools or patterns at most, each of 1 to {length} letters, digits, `_`, `-` and `*`, such as `mcp_echo_*`.",
    }
}

impl From<AccountInputError> for Error {
    fn from(error: AccountInputError) -> Self {
        Self::Invalid(error.into())
    }
}

impl From<tenon_store::Error> for Error {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}
