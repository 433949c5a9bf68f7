//! Sentences about a server that cannot be used, for those who wanted to.

use tenon_domain::{ErrorKind, ToolError, text};

use super::status::{Startup, StartupStep, UnavailableReason};
use crate::cause::Cause;

/// What comes before quotes of a server. They are joined and cut off here and nowhere else.
const WROTE: &str = " It wrote:";
const SAID: &str = " It said:";

/// A sentence, what usually helps, and what the program wrote about it.
pub(crate) fn with_cause(sentence: &str, cause: &Cause) -> String {
    let advice = cause.advice.as_ref();
    let advice = advice.map_or(String::new(), |advice| format!(" {advice}"));
    let wrote = match cause.lines.join(" | ") {
        lines if lines.is_empty() => lines,
        lines => format!("{WROTE} {lines}"),
    };
    format!("{sentence}{advice}{wrote}")
}

/// A sentence, and what the server answered.
pub(crate) fn with_said(sentence: &str, said: &str) -> String {
    format!("{sentence}{SAID} {said}")
}

/// What everybody may know of why a server cannot be used. What it wrote is for
/// those who may read its log.
pub fn public_part(why: &str) -> &str {
    let quotes = [WROTE, SAID].into_iter();
    let first = quotes.filter_map(|quote| why.find(quote)).min();
    first.map_or(why, |at| &why[..at])
}

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

    pub(crate) fn failed(&self, why: &str) -> ToolError {
        unavailable_error(format!(
            "{} cannot be used now: {} Do without it, or tell the user that its log and a button \
             to {} are under Settings → Tool servers.",
            self.title,
            sentence(public_part(why)),
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
    pub(crate) fn not_sent(&self, tool: &str, why: &str) -> ToolError {
        unavailable_error(format!(
            "{} cannot be reached, so `{}` was not called and nothing was done. {} Try again \
             later, or do without it.",
            self.title,
            text::line(tool, 80),
            sentence(public_part(why))
        ))
    }

    pub(crate) fn lost(&self, tool: &str, why: &str) -> ToolError {
        unavailable_error(format!(
            "{} stopped while `{}` was running; whether it took effect is not known. {} Check \
             before repeating the call.",
            self.title,
            text::line(tool, 80),
            sentence(public_part(why))
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
    use super::*;

    #[test]
    fn what_a_server_wrote_is_not_for_everybody() {
        let check = |why: &str, public: &str| assert_eq!(public_part(why), public);
        check("It did not list its tools.", "It did not list its tools.");
        let wrote = |lines: &[&str]| Cause {
            lines: lines.iter().map(ToString::to_string).collect(),
            advice: None,
        };
        check(
            &with_cause("`a` ended.", &wrote(&["key sk-1"])),
            "`a` ended.",
        );
        check("`a` ended. It wrote: x It said: y", "`a` ended.");
        let both = with_cause(&with_said("HTTP 500.", "a."), &wrote(&["b", "c"]));
        assert_eq!(both, "HTTP 500. It said: a. It wrote: b | c");
        check(&both, "HTTP 500.");
        check("", "");

        let errors = CallErrors {
            title: "Test".into(),
            remedy: "restart it",
        };
        let why = with_cause("`a` ended.", &wrote(&["key sk-1"]));
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
