//! A person at a terminal, who is asked about one call at a time.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};

use tenon_domain::{CallId, CallRecord, Verdict};
use tokio::sync::mpsc;

/// What is longer is no input that a person reads before they allow it.
const SHOWN: usize = 4000;

#[derive(Debug, Default)]
pub(super) struct Terminal {
    /// Calls that wait; the first is the one that is being asked about.
    waiting: VecDeque<CallRecord>,
    /// What is typed, from the first question on.
    typed: Option<mpsc::UnboundedReceiver<String>>,
}

impl Terminal {
    /// Whether somebody sits there: questions are shown on standard error and
    /// answered on standard input.
    pub(super) fn is_there() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    pub(super) fn ask(&mut self, call: CallRecord) {
        self.waiting.push_back(call);
        if self.waiting.len() == 1 {
            self.show();
        }
    }

    /// A call that is decided, here or elsewhere, is not asked about any more.
    pub(super) fn settled(&mut self, call: &CallId) {
        let was_asked = self.asked().is_some_and(|asked| asked.id == *call);
        self.waiting.retain(|waiting| waiting.id != *call);
        if was_asked {
            self.show();
        }
    }

    fn asked(&self) -> Option<&CallRecord> {
        self.waiting.front()
    }

    /// Waits until the question that is shown is answered; for ever, where there is none.
    pub(super) async fn answer(&mut self) -> (CallId, Verdict) {
        loop {
            let (Some(call), Some(typed)) = (self.waiting.front(), &mut self.typed) else {
                return std::future::pending().await;
            };
            let call = call.id.clone();
            // Whoever closes their input says no more, and so not yes.
            let Some(line) = typed.recv().await else {
                return (call, Verdict::Denied);
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return (call, Verdict::Once),
                "a" | "always" => return (call, Verdict::Always),
                "n" | "no" => return (call, Verdict::Denied),
                _ => prompt(),
            }
        }
    }

    fn show(&mut self) {
        let Some(call) = self.waiting.front() else {
            return;
        };
        let typed = self.typed.get_or_insert_with(listen);
        // What was typed before the question is no answer to it.
        while typed.try_recv().is_ok() {}
        let input = shown(&call.input.to_string());
        eprintln!("? {} ({}) {input}", shown(&call.display_name), call.tool_id);
        prompt();
    }
}

fn prompt() {
    eprint!("  Allow this call? [y]es once / [a]lways / [n]o: ");
    let _ = std::io::stderr().flush();
}

/// Reads on a thread of its own, which ends with the process: nobody can be
/// made to finish their line.
fn listen() -> mpsc::UnboundedReceiver<String> {
    let (lines, typed) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { return };
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    typed
}

/// A text as it can be put before a person: it cannot move the cursor and so
/// show something else, and what is not shown is said.
fn shown(text: &str) -> String {
    let clean = |char: char| match char.is_control() {
        true => '\u{FFFD}',
        false => char,
    };
    let mut shown: String = text.chars().take(SHOWN).map(clean).collect();
    let rest = text.chars().count().saturating_sub(SHOWN);
    if rest > 0 {
        shown.push_str(&format!("… and {rest} characters more"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_about_cannot_hide_itself() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected);
        check("{\"path\":\"a\"}", "{\"path\":\"a\"}");
        check("a\u{1b}[2Jb\u{9b}c\r", "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}");
        let long = "火".repeat(SHOWN + 3);
        check(
            &long,
            &format!("{}… and 3 characters more", "火".repeat(SHOWN)),
        );
    }
}
