//! Sentences about a server that cannot be used, for those who wanted to.

use tenon_domain::{ErrorDetail, ErrorParam, ToolError, text};

use super::status::{Startup, StartupStep, UnavailableReason};
use crate::call_error::{ServerCallError, ServerRemedy, StartupWait, unavailable};
use crate::fault::public_part;

/// Errors of calls that did not get through to their server.
pub(crate) struct CallErrors {
    /// The server's title.
    pub(crate) title: String,
    pub(crate) remedy: ServerRemedy,
}

impl CallErrors {
    pub(crate) fn unavailable(&self, reason: &UnavailableReason) -> ToolError {
        unavailable(self.unavailability(reason))
    }

    pub(crate) fn unavailability(&self, reason: &UnavailableReason) -> ServerCallError {
        let server = self.server();
        match reason {
            UnavailableReason::Failed { why, .. } => self.failure(why),
            UnavailableReason::LoginRequired => ServerCallError::LoginRequired { server },
            UnavailableReason::Off => ServerCallError::Off { server },
        }
    }

    pub(crate) fn failed(&self, why: &ErrorDetail) -> ToolError {
        unavailable(self.failure(why))
    }

    pub(crate) fn still_starting(&self, startup: Option<&Startup>) -> ToolError {
        let waiting = self.waiting(startup).into();
        unavailable(ServerCallError::StillStarting { waiting })
    }

    /// What a call that arrives now has to wait for.
    pub(crate) fn waiting(&self, startup: Option<&Startup>) -> StartupWait {
        let server = self.server();
        let Some(startup) = startup else {
            return StartupWait::Unknown { server };
        };
        let seconds = startup.since.elapsed().unwrap_or_default().as_secs();
        match startup.step {
            StartupStep::Queued => StartupWait::Queued { server },
            StartupStep::Installing => StartupWait::Installing { server, seconds },
            StartupStep::Starting => StartupWait::Starting { server, seconds },
        }
    }

    /// Nothing of the call has arrived.
    pub(crate) fn not_sent(&self, tool: &str, why: &ErrorDetail) -> ToolError {
        unavailable(ServerCallError::NotSent {
            server: self.server(),
            tool: text::line(tool, 80).into(),
            why: public_sentence(why),
        })
    }

    pub(crate) fn lost(&self, tool: &str, why: &ErrorDetail) -> ToolError {
        unavailable(ServerCallError::ConnectionLost {
            server: self.server(),
            tool: text::line(tool, 80).into(),
            why: public_sentence(why),
        })
    }

    fn failure(&self, why: &ErrorDetail) -> ServerCallError {
        ServerCallError::Failed {
            server: self.server(),
            why: public_sentence(why),
            remedy: self.remedy,
        }
    }

    fn server(&self) -> ErrorParam {
        self.title.as_str().into()
    }
}

/// The reason without private details, as a sentence of its own.
fn public_sentence(why: &ErrorDetail) -> ErrorParam {
    let public = public_part(why);
    let message = sentence(&public.message);
    ErrorDetail { message, ..public }.into()
}

/// With a full stop, and a capital unless it begins with a host or an address.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let first_word = text.split(' ').next().unwrap_or_default();
    let is_host = first_word == "localhost" || first_word.contains(['.', ':']);
    let mut chars = text.chars();
    let mut sentence: String = match chars.next() {
        Some(_) if is_host => text.to_owned(),
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => return "Nothing is known about why.".into(),
    };
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use tenon_domain::CodedError;

    use super::*;
    use crate::cause::Advice;
    use crate::fault::{ServerFault, how_it_ended};

    #[test]
    fn what_a_server_wrote_is_not_for_everybody() {
        let ended = ErrorDetail::from(ServerFault::Ended {
            command: "a".into(),
            advice: Advice::ArgumentsWrong.detail().into(),
            wrote: "key sk-1".into(),
        });
        let public =
            "`a` ended. It does not understand its arguments: compare them with its manual.";
        assert_eq!(ended.message, format!("{public} It wrote: key sk-1"));
        let why = ErrorDetail::from(ServerFault::NotListed {
            why: ended.clone().into(),
        });
        let public = format!("Its tools could not be listed: {public}");
        assert_eq!(public_part(&why).message, public);
        assert!(!format!("{:?}", public_part(&why)).contains("sk-1"));
        assert_eq!(how_it_ended(&ended).message, "`a` ended.");

        let errors = CallErrors {
            title: "Test".into(),
            remedy: ServerRemedy::Restart,
        };
        let failed = errors.unavailable(&UnavailableReason::Failed {
            why: why.clone(),
            retry_at: None,
        });
        let (lost, not_sent) = (errors.lost("echo", &why), errors.not_sent("echo", &why));
        for error in [failed, lost, not_sent] {
            assert!(error.message.contains("`a` ended. "), "{error}");
            assert!(!format!("{error:?}").contains("sk-1"), "{error:?}");
        }
    }

    #[test]
    fn a_reason_becomes_a_sentence() {
        assert_eq!(sentence("it ended"), "It ended.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence(""), "Nothing is known about why.");
    }
}
