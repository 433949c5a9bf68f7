//! A time as it is written, and the moment it means in some zone.

use chrono::offset::LocalResult;
use chrono::{DateTime, Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use tenon_domain::ToolError;
use tenon_domain::text::shorten;

use super::zone::Zone;

/// What a person wrote for a time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WallTime {
    Now,
    /// Today, wherever it is asked for.
    Time(NaiveTime),
    DateTime(NaiveDateTime),
    /// Written with its own offset: the zone it is read in changes nothing.
    Moment(DateTime<Utc>),
}

/// A moment, and what had to be assumed to arrive at it.
#[derive(Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) utc: DateTime<Utc>,
    pub(super) note: Option<String>,
}

const TIMES: [&str; 6] = [
    "%H:%M",
    "%H:%M:%S",
    "%H:%M:%S%.f",
    "%I:%M %p",
    "%I:%M%p",
    "%I:%M:%S %p",
];
const DATE_TIMES: [&str; 9] = [
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y-%m-%d %I:%M %p",
];

/// "3pm" as "3:00 pm", which is the least a clock can be read from.
fn with_minutes(text: &str) -> String {
    let lower = text.to_ascii_lowercase().replace('.', "");
    let half = ["am", "pm"].into_iter().find(|half| lower.ends_with(half));
    let hour = half.map(|half| lower.trim_end_matches(half).trim_end());
    match (hour, half) {
        (Some(hour), Some(half))
            if !hour.is_empty() && hour.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{hour}:00 {half}")
        }
        _ => text.to_owned(),
    }
}

/// "下午3点半" as "3:30 pm".
fn chinese(text: &str) -> Option<String> {
    const HALVES: [(&str, &str); 6] = [
        ("凌晨", " am"),
        ("早上", " am"),
        ("上午", " am"),
        ("中午", " pm"),
        ("下午", " pm"),
        ("晚上", " pm"),
    ];
    let halves = HALVES
        .iter()
        .find_map(|(word, half)| Some((text.strip_prefix(word)?, *half)));
    let (clock, half) = halves.unwrap_or((text, ""));
    let (hour, rest) = clock.split_once(['点', '點', '时', '時'])?;
    let minutes = match rest.trim_end_matches(['分', '钟', '鐘']) {
        "" => "00",
        "半" => "30",
        minutes => minutes,
    };
    Some(format!("{}:{minutes}{half}", hour.trim()))
}

impl WallTime {
    pub(super) fn read(text: &str) -> Result<Self, ToolError> {
        let text = text.trim().replace('：', ":");
        let text = chinese(&text).unwrap_or_else(|| with_minutes(&text));
        if ["now", "现在", "現在"].contains(&text.to_lowercase().as_str()) {
            return Ok(Self::Now);
        }
        if let Some(time) = TIMES
            .iter()
            .find_map(|f| NaiveTime::parse_from_str(&text, f).ok())
        {
            return Ok(Self::Time(time));
        }
        if let Ok(moment) = DateTime::parse_from_rfc3339(&text) {
            return Self::Moment(moment.to_utc()).within_calendar();
        }
        let date_time = DATE_TIMES
            .iter()
            .find_map(|f| NaiveDateTime::parse_from_str(&text, f).ok());
        let midnight = || {
            NaiveDate::parse_from_str(&text, "%Y-%m-%d")
                .ok()?
                .and_hms_opt(0, 0, 0)
        };
        match date_time.or_else(midnight) {
            Some(date_time) => Self::DateTime(date_time).within_calendar(),
            None => Err(unreadable(&text)),
        }
    }

    /// The moment when a clock in `zone` shows this.
    pub(super) fn at(&self, zone: &Zone, now: DateTime<Utc>) -> Result<Moment, ToolError> {
        let local = match self {
            Self::Now => {
                return Ok(Moment {
                    utc: now,
                    note: None,
                });
            }
            Self::Moment(utc) => {
                let note = "The time carries its own offset, which was used instead of `from`.";
                return Ok(Moment {
                    utc: *utc,
                    note: Some(note.into()),
                });
            }
            Self::Time(time) => zone.wall_time(now).date().and_time(*time),
            Self::DateTime(date_time) => *date_time,
        };
        Ok(match zone.moments(local) {
            LocalResult::Single(utc) => Moment { utc, note: None },
            LocalResult::Ambiguous(first, second) => Moment {
                utc: first,
                note: Some(format!(
                    "The clocks in {} go back then, so {} happens twice there: this is the first \
                     time; the second is {} UTC.",
                    zone.name(),
                    local.format("%H:%M"),
                    second.format("%Y-%m-%d %H:%M"),
                )),
            },
            LocalResult::None => skipped(local, zone)?,
        })
    }

    /// Outside these years, calendars and time zones are guesses and arithmetic may overflow.
    fn within_calendar(self) -> Result<Self, ToolError> {
        let year = match &self {
            Self::Now | Self::Time(_) => return Ok(self),
            Self::DateTime(date_time) => date_time.year(),
            Self::Moment(utc) => utc.year(),
        };
        match year {
            1..=9998 => Ok(self),
            _ => Err(ToolError::invalid_input(
                "The year must be between 1 and 9998.",
            )),
        }
    }
}

/// A time that no clock showed, because the clocks went forward over it. It is
/// read as if they had not yet, which is what calendars do.
fn skipped(local: NaiveDateTime, zone: &Zone) -> Result<Moment, ToolError> {
    // Samoa once skipped a whole day; two are more than any zone ever skipped.
    let before = (1..48).find_map(|hours| {
        let earlier = Duration::hours(hours);
        zone.moments(local - earlier)
            .latest()
            .map(|utc| utc + earlier)
    });
    let utc = before.ok_or_else(|| {
        ToolError::failed(format!(
            "{local} does not exist in {}: name another time.",
            zone.name()
        ))
    })?;
    let note = format!(
        "The clocks in {} go forward then and never show {}; {} is meant.",
        zone.name(),
        local.format("%Y-%m-%d %H:%M"),
        zone.wall_time(utc).format("%Y-%m-%d %H:%M"),
    );
    Ok(Moment {
        utc,
        note: Some(note),
    })
}

fn unreadable(text: &str) -> ToolError {
    let shown = shorten(text, 60);
    ToolError::invalid_input(format!(
        "`{shown}` is not a time that can be read. Write it like \"14:30\", \"2:30 pm\", \
         \"2026-11-15 14:30\" or \"2026-11-15T14:30:00Z\"."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noon UTC on Sunday, 15 November 2026.
    fn now() -> DateTime<Utc> {
        "2026-11-15T12:00:00Z".parse().unwrap()
    }

    #[track_caller]
    fn check(time: &str, zone: &str, expected: &str) {
        let zone = Zone::find(zone).unwrap();
        let said = match WallTime::read(time).and_then(|time| time.at(&zone, now())) {
            Ok(Moment { utc, note: None }) => utc.format("%Y-%m-%d %H:%M:%S").to_string(),
            Ok(Moment {
                utc,
                note: Some(note),
            }) => {
                format!("{} | {note}", utc.format("%Y-%m-%d %H:%M:%S"))
            }
            Err(error) => error.message,
        };
        assert_eq!(said, expected, "{time}");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        check("now", "Tokyo", "2026-11-15 12:00:00");
        check("14:30", "Tokyo", "2026-11-15 05:30:00");
        check("14：30", "Tokyo", "2026-11-15 05:30:00");
        check("9:05", "UTC", "2026-11-15 09:05:00");
        check("2:30 pm", "UTC", "2026-11-15 14:30:00");
        check("2:30PM", "UTC", "2026-11-15 14:30:00");
        check("12:00 am", "UTC", "2026-11-15 00:00:00");
        check("3pm", "UTC", "2026-11-15 15:00:00");
        check("9 a.m.", "UTC", "2026-11-15 09:00:00");
        check("下午3点", "UTC", "2026-11-15 15:00:00");
        check("晚上8點半", "UTC", "2026-11-15 20:30:00");
        check("15点05分", "UTC", "2026-11-15 15:05:00");
        check("14:30:15", "UTC", "2026-11-15 14:30:15");
        check("2026-01-02", "UTC", "2026-01-02 00:00:00");
        check("2026-01-02 14:30", "New York", "2026-01-02 19:30:00");
        check("2026/07/02 14:30", "New York", "2026-07-02 18:30:00");
        check("2026-01-02T14:30:15", "UTC+8", "2026-01-02 06:30:15");
    }

    #[test]
    fn today_is_today_at_the_place_and_not_in_utc() {
        // Auckland is thirteen hours ahead: there it is Monday already.
        check("08:00", "Auckland", "2026-11-15 19:00:00");
    }

    #[test]
    fn an_offset_in_the_time_wins_and_says_so() {
        check(
            "2026-01-02T14:30:00+02:00",
            "Tokyo",
            "2026-01-02 12:30:00 | The time carries its own offset, which was used instead of `from`.",
        );
    }

    #[test]
    fn times_that_clocks_skip_or_repeat_are_explained() {
        check(
            "2026-03-29 02:30",
            "Berlin",
            "2026-03-29 01:30:00 | The clocks in Berlin go forward then and never show \
             2026-03-29 02:30; 2026-03-29 03:30 is meant.",
        );
        check(
            "2026-10-25 02:30",
            "Berlin",
            "2026-10-25 00:30:00 | The clocks in Berlin go back then, so 02:30 happens twice \
             there: this is the first time; the second is 2026-10-25 01:30 UTC.",
        );
        check(
            "2011-12-30 12:00",
            "Pacific/Apia",
            "2011-12-30 22:00:00 | The clocks in Apia go forward then and never show \
             2011-12-30 12:00; 2011-12-31 12:00 is meant.",
        );
    }

    #[test]
    fn what_is_no_time_is_told_what_would_be() {
        let help = "is not a time that can be read. Write it like \"14:30\", \"2:30 pm\", \
                    \"2026-11-15 14:30\" or \"2026-11-15T14:30:00Z\".";
        check("25:00", "UTC", &format!("`25:00` {help}"));
        check("soon", "UTC", &format!("`soon` {help}"));
        check("", "UTC", &format!("`` {help}"));
        check(
            "2026-02-30 10:00",
            "UTC",
            &format!("`2026-02-30 10:00` {help}"),
        );
        check(
            "9999-12-31 23:59",
            "UTC",
            "The year must be between 1 and 9998.",
        );
        check(
            "+200000-01-01 10:00",
            "UTC",
            "The year must be between 1 and 9998.",
        );
    }
}
