//! Dates in a spreadsheet: numbers of days whose format shows them as dates.

use std::collections::HashSet;

use crate::ExtractError;
use crate::xml::{self, XmlEvent};

/// Days from the serial number 0 (30 December 1899) to 1 January 1970.
const UNIX_EPOCH_DAYS: f64 = 25_569.0;

/// Later than any year that Excel knows.
const MAX_DAYS: f64 = 2_958_466.0;

/// Which cell styles show a date.
#[derive(Debug, Default)]
pub(super) struct DateFormats(HashSet<usize>);

impl DateFormats {
    pub(super) fn read(xml: &str) -> Result<Self, ExtractError> {
        let (mut custom, mut styles) = (HashSet::new(), HashSet::new());
        let (mut in_cell_formats, mut style) = (false, 0);
        xml::read(xml, |event| {
            match event {
                XmlEvent::Start(element) => {
                    let number = |name: &str| element.attribute(name)?.parse::<u32>().ok();
                    match element.name.as_str() {
                        "numFmt" => {
                            let code = element.attribute("formatCode").unwrap_or_default();
                            if is_date_code(&code) {
                                custom.extend(number("numFmtId"));
                            }
                        }
                        "cellXfs" => in_cell_formats = true,
                        "xf" if in_cell_formats => {
                            let format = number("numFmtId").unwrap_or(0);
                            if matches!(format, 14..=22 | 27..=36 | 45..=47 | 50..=58)
                                || custom.contains(&format)
                            {
                                styles.insert(style);
                            }
                            style += 1;
                        }
                        _ => {}
                    }
                }
                XmlEvent::End(name) if name == "cellXfs" => in_cell_formats = false,
                XmlEvent::End(_) | XmlEvent::Text(_) => {}
            }
            true
        })?;
        Ok(Self(styles))
    }

    pub(super) fn is_date(&self, style: usize) -> bool {
        self.0.contains(&style)
    }
}

/// Whether a format has years, days or hours outside of quotes and brackets.
fn is_date_code(code: &str) -> bool {
    let (mut quoted, mut bracketed) = (false, false);
    let code = code.replace("&quot;", "\"");
    code.chars().any(|char| {
        match char {
            '"' => quoted = !quoted,
            '[' => bracketed = true,
            ']' => bracketed = false,
            'y' | 'Y' | 'd' | 'D' | 'h' | 'H' => return !quoted && !bracketed,
            _ => {}
        }
        false
    })
}

/// `2026-11-17`, with the time of day where there is one. None: it is no date.
pub(super) fn shown(days: f64) -> Option<String> {
    if !(0.0..MAX_DAYS).contains(&days) {
        return None;
    }
    let seconds = ((days - UNIX_EPOCH_DAYS) * 86_400.0).round() as i64;
    let (date, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_date(date);
    let (hours, minutes) = (time / 3_600, time / 60 % 60);
    Some(if days < 1.0 {
        format!("{hours:02}:{minutes:02}")
    } else if time == 0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}")
    })
}

/// Year, month and day of a number of days since 1970 in the Gregorian calendar.
fn civil_date(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that the day that leap years add is their last one.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_dates_where_their_format_says_so() {
        let check = |days: f64, expected: Option<&str>| {
            assert_eq!(shown(days).as_deref(), expected, "{days}");
        };
        check(25_569.0, Some("1970-01-01"));
        check(45_351.0, Some("2024-02-29"));
        check(46_343.75, Some("2026-11-17 18:00"));
        check(0.5, Some("12:00"));
        check(-1.0, None);
        check(1e12, None);
        for (code, expected) in [
            ("yyyy-mm-dd", true),
            ("h:mm", true),
            ("0.00", false),
            ("[Red]0.00", false),
            ("0 \"days\"", false),
            ("General", false),
        ] {
            assert_eq!(is_date_code(code), expected, "{code}");
        }
    }
}
