//! Progress of a call or a prompt, on one line of standard error that is redrawn.

use std::io::{IsTerminal, Write};

use tenon_domain::{CallProgress, PromptProgress};

use super::terminal::shown;

/// What every terminal shows on one line.
const COLUMNS: usize = 76;

#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Something stands on the line.
    drawn: bool,
}

impl Meter {
    pub(super) fn draw(&mut self, name: &str, progress: &CallProgress) {
        self.redraw(&line(name, progress));
    }

    pub(super) fn draw_prompt(&mut self, progress: &PromptProgress) {
        let percent = progress.processed * 100 / progress.total.max(1);
        self.redraw(&format!("  Reading the prompt, {} %", percent.min(100)));
    }

    /// A log has no line that changes: there nothing is drawn.
    pub(super) fn redraw(&mut self, line: &str) {
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K{line}");
            let _ = std::io::stderr().flush();
            self.drawn = true;
        }
    }

    /// Before anything else is written.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            eprint!("\r\x1b[K");
        }
    }
}

fn line(name: &str, progress: &CallProgress) -> String {
    let far = match progress.total.filter(|total| *total > 0.0) {
        Some(total) => format!(
            "{:.0} %",
            (progress.progress / total * 100.0).clamp(0.0, 100.0)
        ),
        None => format!("{}", progress.progress),
    };
    let message = progress.message.as_deref().unwrap_or_default();
    let line = shown(&format!("  {name} {far} {message}"));
    let mut room = COLUMNS;
    // A sign that is not ASCII may be two columns wide.
    let fits = |char: &char| {
        let wide = if char.is_ascii() { 1 } else { 2 };
        room = room.saturating_sub(wide);
        room > 0
    };
    let line: String = line.chars().take_while(fits).collect();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use tenon_domain::{CallId, ChatId};

    use super::*;

    #[test]
    fn a_line_says_how_far_and_stays_one() {
        let check = |progress, total, message: Option<&str>, expected: &str| {
            let progress = CallProgress {
                chat_id: ChatId::new("c"),
                call_id: CallId::new("c"),
                progress,
                total,
                message: message.map(str::to_owned),
            };
            assert_eq!(line("A/b", &progress), expected);
        };
        check(1.0, Some(4.0), Some("half"), "  A/b 25 % half");
        check(9.0, Some(4.0), None, "  A/b 100 %");
        check(7.5, None, None, "  A/b 7.5");
        check(7.0, Some(0.0), Some("x"), "  A/b 7 x");
        check(
            1.0,
            None,
            Some("a\r\x1b[2Jb"),
            "  A/b 1 a\u{FFFD}\u{FFFD}[2Jb",
        );
        check(
            1.0,
            None,
            Some(&"火".repeat(90)),
            &format!("  A/b 1 {}", "火".repeat(33)),
        );
    }
}
