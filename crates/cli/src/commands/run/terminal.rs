//! Prompts for a person at a terminal, one at a time: approval of a call, or a form of a tool.

mod form;

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};

use tenon_domain::{CallId, CallRecord, Form, FormAnswer, FormId, Verdict};
use tokio::sync::mpsc;

use self::form::{FormProgress, FormPrompt};

/// What is longer is no input that a person reads before they allow it.
const MAX_SHOWN_CHARS: usize = 4000;

#[derive(Debug, Default)]
pub(super) struct Terminal {
    /// What waits; the first is what is being asked.
    waiting: VecDeque<TerminalPrompt>,
    /// What is typed, from the first question on.
    typed: Option<mpsc::UnboundedReceiver<String>>,
}

#[derive(Debug)]
enum TerminalPrompt {
    Call(CallRecord),
    Form(FormPrompt),
}

/// What the person said.
#[derive(Debug)]
pub(super) enum TerminalAnswer {
    Call(CallId, Verdict),
    Form(CallId, FormId, FormAnswer),
}

impl Terminal {
    /// Whether somebody sits there: questions are shown on standard error and
    /// answered on standard input.
    pub(super) fn is_there() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    pub(super) fn is_asking(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn ask(&mut self, call: CallRecord) {
        self.put(TerminalPrompt::Call(call));
    }

    pub(super) fn fill_in(&mut self, call: &CallRecord, form: &Form) {
        self.put(TerminalPrompt::Form(FormPrompt::new(call, form)));
    }

    /// A call that is decided or over, here or elsewhere, asks nothing any more.
    pub(super) fn settled(&mut self, call: &CallId) {
        self.drop_those(|question| match question {
            TerminalPrompt::Call(waiting) => waiting.id == *call,
            TerminalPrompt::Form(filling) => filling.call == *call,
        });
    }

    pub(super) fn form_settled(&mut self, form: &FormId) {
        self.drop_those(|question| match question {
            TerminalPrompt::Call(_) => false,
            TerminalPrompt::Form(filling) => filling.form == *form,
        });
    }

    /// What was answered here is done.
    pub(super) fn answered(&mut self, answer: &TerminalAnswer) {
        match answer {
            TerminalAnswer::Call(call, _) => self.settled(call),
            TerminalAnswer::Form(_, form, _) => self.form_settled(form),
        }
    }

    /// The answer could not be used: the question is put once more.
    pub(super) fn again(&mut self, why: &str) {
        eprintln!("  {}", shown(why));
        self.show();
    }

    /// Waits until the question that is shown is answered; for ever, where there is none.
    pub(super) async fn answer(&mut self) -> TerminalAnswer {
        loop {
            let (Some(question), Some(typed)) = (self.waiting.front_mut(), &mut self.typed) else {
                return std::future::pending().await;
            };
            let line = typed.recv().await;
            match question {
                TerminalPrompt::Call(call) => match verdict(line.as_deref()) {
                    Some(verdict) => return TerminalAnswer::Call(call.id.clone(), verdict),
                    None => prompt(APPROVE),
                },
                TerminalPrompt::Form(filling) => match filling.take(line.as_deref()) {
                    FormProgress::All(answer) => {
                        return TerminalAnswer::Form(
                            filling.call.clone(),
                            filling.form.clone(),
                            answer,
                        );
                    }
                    FormProgress::Next => prompt(&filling.prompt()),
                    FormProgress::Wrong(why) => {
                        eprintln!("  {why}");
                        prompt(&filling.prompt());
                    }
                },
            }
        }
    }

    fn put(&mut self, question: TerminalPrompt) {
        self.waiting.push_back(question);
        if self.waiting.len() == 1 {
            self.show();
        }
    }

    fn drop_those(&mut self, are_over: impl Fn(&TerminalPrompt) -> bool) {
        let was_asked = self.waiting.front().is_some_and(&are_over);
        self.waiting.retain(|question| !are_over(question));
        if was_asked {
            self.show();
        }
    }

    fn show(&mut self) {
        let Some(question) = self.waiting.front() else {
            return;
        };
        let typed = self.typed.get_or_insert_with(listen);
        // Input typed before the question does not answer it.
        while typed.try_recv().is_ok() {}
        match question {
            TerminalPrompt::Call(call) => {
                let input = shown(&call.input.to_string());
                eprintln!("? {} ({}) {input}", shown(&call.display_name), call.tool_id);
                prompt(APPROVE);
            }
            TerminalPrompt::Form(filling) => {
                eprint!("{}", filling.opening());
                prompt(&filling.prompt());
            }
        }
    }
}

const APPROVE: &str = "Allow this call? [y]es once / [a]lways / [n]o: ";

/// A closed input counts as a refusal.
fn verdict(line: Option<&str>) -> Option<Verdict> {
    let Some(line) = line else {
        return Some(Verdict::Denied);
    };
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Verdict::Once),
        "a" | "always" => Some(Verdict::Always),
        "n" | "no" => Some(Verdict::Denied),
        _ => None,
    }
}

fn prompt(text: &str) {
    eprint!("  {text}");
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
pub(super) fn shown(text: &str) -> String {
    let clean = |char: char| if char.is_control() { '\u{FFFD}' } else { char };
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).map(clean).collect();
    let rest = text.chars().count().saturating_sub(MAX_SHOWN_CHARS);
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
        let long = "火".repeat(MAX_SHOWN_CHARS + 3);
        check(
            &long,
            &format!("{}… and 3 characters more", "火".repeat(MAX_SHOWN_CHARS)),
        );
    }
}
