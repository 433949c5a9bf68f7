//! The steps as a table: request, response, what a browser does with it.

use super::step::DoctorStep;

/// What fits into most terminals.
pub(super) const WIDTH: usize = 100;

/// No column but the last is wider.
const MAX_CELL: usize = 36;

/// Of steps that went well no more are shown; those that did not all are.
const MAX_WELL: usize = 12;

const HEAD: [&str; 3] = ["asked", "came back", "a browser"];

/// `ok`: nothing was in the way in the end, so what is not there is no fault.
pub(super) fn table(steps: &[DoctorStep], ok: bool) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let (mut well, mut left_out) = (0, 0);
    let (mut first, mut second) = (length(HEAD[0]), length(HEAD[1]));
    let mut rows = Vec::new();
    for step in steps {
        well += usize::from(step.ok);
        if step.ok && well > MAX_WELL {
            left_out += 1;
            continue;
        }
        let mark = match step {
            step if step.ok => "✓",
            step if ok || step.is_harmless => "·",
            _ => "✗",
        };
        let (request, response) = (cut(&step.request()), cut(&step.response()));
        first = first.max(length(&request));
        second = second.max(length(&response));
        rows.push((request, response, mark, &step.verdict));
    }
    let line = |a: &str, b: &str, mark: &str| format!("{a:first$}  {b:second$}  {mark} ");
    let mut text = line(HEAD[0], HEAD[1], " ") + HEAD[2] + "\n";
    for (request, response, mark, verdict) in rows {
        text += &wrapped(&line(&request, &response, mark), verdict, WIDTH);
    }
    if left_out > 0 {
        text += &format!("… and {left_out} more that went well\n");
    }
    text
}

/// Lines of words; those after the first stand below the end of what it begins with.
pub(super) fn wrapped(begin: &str, words: &str, width: usize) -> String {
    let indent = " ".repeat(length(begin));
    // However narrow it gets, something is written.
    let room = width.saturating_sub(length(begin)).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split_whitespace() {
        let line = lines.last_mut();
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if length(line) + 1 + length(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let before = if number == 0 { begin } else { &indent };
        text += format!("{before}{line}").trim_end();
        text.push('\n');
    }
    text
}

/// A long address is known by its end as well as by its beginning.
fn cut(cell: &str) -> String {
    let characters: Vec<char> = cell.chars().collect();
    if characters.len() <= MAX_CELL {
        return cell.to_owned();
    }
    let (head, tail) = (MAX_CELL / 2, MAX_CELL - MAX_CELL / 2 - 1);
    let begin: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{begin}…{end}")
}

fn length(text: &str) -> usize {
    text.chars().count()
}
