//! The codes of what goes wrong in the store.

use tenon_domain::{CodedError, ErrorDetail, coded_errors};

use crate::Error;

coded_errors! {
    /// Somebody else was faster, and at what.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Conflict {
        CallEnded = "call_ended" => "The call has ended already.",
        CallNotWaiting = "call_not_waiting" => "This call is no longer waiting for an answer.",
        CallNotRunning = "call_not_running" => "The call is no longer running.",
        TurnEnded = "turn_ended" => "The answer has ended already.",
        ChatTitled = "chat_titled" => "The chat has a name already.",
        TakenOver = "turn_taken_over" => "Another server has taken over this answer.",
        OtherProcess = "chat_answered_elsewhere" => "Another process answers in this chat. Wait until it has ended.",
    }
}

coded_errors! {
    /// The public form of an [`Error`]: faults that only an operator can fix have no details.
    #[derive(Debug)]
    pub enum StoreFault {
        NotFound { what: &'static str } = "not_found" => "There is no such {what}. It may have been deleted.",
        Taken { what: &'static str } = "taken" in "name" => "There is a {what} of this name already. Choose another name.",
        TooMany { what: &'static str } = "limit_reached" => "You have as many {what} as you can have. Delete some first.",
        Sealed { message: String } = "sealed" => "{message}",
        LeaseLost = "lease_lost" => "This server briefly lost its connection to the database and accepts no new messages yet. Try again in a few seconds.",
        DiskFull = "disk_full" => "The server's disk is full, so nothing can be stored. Free some space on it; everything stored can still be read.",
        Unusable = "storage" => "Tenon could not read or write its data. Its log says why.",
    }
}

impl CodedError for Error {
    fn detail(&self) -> ErrorDetail {
        match self {
            Self::NotFound(what) => StoreFault::NotFound { what }.into(),
            Self::Taken(what) => StoreFault::Taken { what }.into(),
            Self::TooMany(what) => StoreFault::TooMany { what }.into(),
            Self::TooLate(conflict) => conflict.detail(),
            Self::NotOwner => Conflict::TakenOver.into(),
            Self::LeaseLost => StoreFault::LeaseLost.into(),
            Self::Account(error) => error.detail(),
            Self::Secret(message) => {
                let message = message.clone();
                StoreFault::Sealed { message }.into()
            }
            Self::DiskFull(_) => StoreFault::DiskFull.into(),
            Self::Address(_)
            | Self::Database(_)
            | Self::NoAnswer(_)
            | Self::Lock(_)
            | Self::Backup(_)
            | Self::Corrupt(_) => StoreFault::Unusable.into(),
        }
    }
}
