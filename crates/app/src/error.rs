//! Why an account or a log-in could not be changed. Sources and models have errors of their own.

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input cannot be used; the sentence says what would be right.
    #[error("{0}")]
    Invalid(String),
    /// A key was shown where only the person themself may act.
    #[error("A key cannot do this. Log in to Tenon's page instead.")]
    KeyNotAllowed,
    /// Until there is an account, the one person has nothing of the kind.
    #[error("This belongs to an account, and there is none yet. Make one first: `tenon user add`.")]
    NoAccount,
    #[error("That was tried too often. Try again in {seconds} seconds.")]
    TooManyAttempts { seconds: u64 },
    /// Too many passwords are being hashed.
    #[error("Too many people log in at this moment. Try again in a few seconds.")]
    Busy,
    #[error(
        "This code is wrong or was used already. Run `tenon link` where Tenon runs, and open the link that it prints."
    )]
    WrongSetupCode,
    /// The address, the password, or the account is disabled: nobody is told which.
    #[error("The e-mail address or the password is not right, or the account is disabled.")]
    WrongLogin,
    #[error("Only those who were invited can make an account here. Ask an admin.")]
    InviteNeeded,
    #[error("This invitation was used, taken back or is too old. Ask for another one.")]
    InviteGone,
    /// Asked once more, for something that a stolen session must not be enough for.
    #[error("This is not your password. Enter the one you log in with now.")]
    WrongPassword,
    /// The log-in is too old to prove who it is.
    #[error("You logged in some time ago. Send your `password` along to show that it is you.")]
    PasswordNeeded,
    /// There is no password to ask for: only a new log-in proves who it is.
    #[error("{0}")]
    LoginNeeded(&'static str),
    /// What browsers found cannot be forgotten; the text is for the log.
    #[error("{0}")]
    DeviceStore(String),
    #[error(transparent)]
    Store(#[from] tenon_store::Error),
}
