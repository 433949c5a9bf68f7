//! Sentences about a server that cannot be used, for those who wanted to.

use tenon_domain::{ErrorDetail, ErrorKind, ToolError, text};

use super::status::{Startup, StartupStep, UnavailableReason};
use crate::fault::public_part;

/// Errors of calls that did not get through to their server.
pub(crate) struct CallErrors {
    /// The server's title.
    pub(crate) title: String,
    /// What a button in the settings can do about a failure: "restart it".
    pub(crate) remedy: &'static str,
}

impl CallErrors {
    pub(crate) fn unavailable(&self, reason: &UnavailableReason) -> ToolError {
        match reason {
            UnavailableReason::Failed { why, .. } => self.failed(why),
            UnavailableReason::LoginRequired => self.login_required(),
            UnavailableReason::Off => self.off(),
        }
    }

    pub(crate) fn failed(&self, why: &ErrorDetail) -> ToolError {
        unavailable_error(format!(
            "{} cannot be used now: {} Do without it, or tell the user that its log and a button \
             to {} are under Settings → Tool servers.",
            self.title,
            sentence(&public_part(why).message),
            self.remedy
        ))
    }

    fn login_required(&self) -> ToolError {
        unavailable_error(format!(
            "{} asks for a log-in. The user has to log in there under Settings → Tool servers; until \
             then do without it.",
            self.title
        ))
    }

    fn off(&self) -> ToolError {
        unavailable_error(format!(
            "{} has been switched off or removed. Do without it.",
            self.title
        ))
    }

    pub(crate) fn still_starting(&self, startup: Option<&Startup>) -> ToolError {
        unavailable_error(format!(
            "{}, and the time of this call is up. Nothing was done; try again in a minute.",
            self.waiting(startup)
        ))
    }

    /// What a call waits for.
    pub(crate) fn waiting(&self, startup: Option<&Startup>) -> String {
        let title = &self.title;
        let Some(startup) = startup else {
            return format!("{title} is still starting");
        };
        let seconds = startup.since.elapsed().unwrap_or_default().as_secs();
        match startup.step {
            StartupStep::Queued => format!("{title} waits until other servers have started"),
            StartupStep::Installing => {
                format!("{title} is still being installed after {seconds} s")
            }
            StartupStep::Starting => format!("{title} is still starting after {seconds} s"),
        }
    }

    /// Nothing of the call has arrived.
    pub(crate) fn not_sent(&self, tool: &str, why: &ErrorDetail) -> ToolError {
        unavailable_error(format!(
            "{} cannot be reached, so `{}` was not called and nothing was done. {} Try again \
             later, or do without it.",
            self.title,
            text::line(tool, 80),
            sentence(&public_part(why).message)
        ))
    }

    pub(crate) fn lost(&self, tool: &str, why: &ErrorDetail) -> ToolError {
        unavailable_error(format!(
            "{} stopped while `{}` was running; whether it took effect is not known. {} Check \
             before repeating the call.",
            self.title,
            text::line(tool, 80),
            sentence(&public_part(why).message)
        ))
    }
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

fn unavailable_error(message: String) -> ToolError {
    ToolError::new(ErrorKind::Unavailable, message)
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
            remedy: "restart it",
        };
        let failed = errors.unavailable(&UnavailableReason::Failed {
            why: why.clone(),
            retry_at: None,
        });
        let (lost, not_sent) = (errors.lost("echo", &why), errors.not_sent("echo", &why));
        for error in [failed, lost, not_sent] {
            assert!(error.message.contains("`a` ended. "), "{error}");
            assert!(!error.message.contains("sk-1"), "{error}");
        }
    }

    #[test]
    fn a_reason_becomes_a_sentence() {
        assert_eq!(sentence("it ended"), "It ended.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence(""), "Nothing is known about why.");
    }
}
