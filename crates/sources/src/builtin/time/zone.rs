//! A time zone, found by whatever name a person or a model gives it.

use std::path::Path;

use chrono::offset::LocalResult;
use chrono::{DateTime, FixedOffset, NaiveDateTime, Offset, TimeZone, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};
use tenon_domain::ToolError;
use tenon_domain::text::shorten;

use super::places::{AMBIGUOUS, PLACES};

/// The areas whose zones are named after cities. The others, such as `US/Eastern`
/// or `Brazil/West`, end in words that mean nothing by themselves.
const AREAS_OF_CITIES: [&str; 10] = [
    "Africa",
    "America",
    "Antarctica",
    "Arctic",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
];

/// How alike a name must be to be worth proposing.
const MIN_SIMILARITY: f64 = 0.85;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Zone {
    /// The rules of a place, summer time included.
    TimePlace { name: String, rules: Tz },
    /// So many hours from Greenwich, all year.
    Offset(FixedOffset),
}

impl Zone {
    pub(super) fn find(asked: &str) -> Result<Self, ToolError> {
        let asked = asked.trim();
        let key = fold(asked);
        if let Some(offset) = read_offset(&key) {
            return Ok(Self::Offset(offset));
        }
        if ["local", "here", "本地", "这里", "這裡"].contains(&key.as_str()) {
            return Ok(Self::local());
        }
        if let Some((_, meanings)) = AMBIGUOUS.iter().find(|(name, _)| *name == key) {
            return Err(ToolError::invalid_input(format!(
                "`{asked}` can mean {meanings}: name one of them."
            )));
        }
        by_place(&key)
            .or_else(|| by_iana_name(&key))
            .or_else(|| by_iana_city(&key))
            .ok_or_else(|| unknown(asked, &key))
    }

    /// Where this server is, as far as it can tell; else UTC.
    pub(super) fn local() -> Self {
        let variable = std::env::var("TZ").ok();
        let link = std::fs::read_link("/etc/localtime").ok();
        from_system(variable.as_deref(), link.as_deref()).unwrap_or(Self::Offset(Utc.fix()))
    }

    /// The moment, for a model and for a person, on one line.
    pub(super) fn tell(&self, moment: DateTime<Utc>) -> String {
        let here = moment.with_timezone(&self.offset_at(moment));
        let place = match self {
            Self::TimePlace { name, rules } => {
                format!(" in {name} ({rules}, UTC{})", here.offset())
            }
            Self::Offset(offset) => format!(" (UTC{offset})"),
        };
        format!(
            "{} · {}{place}",
            here.format("%Y-%m-%dT%H:%M:%S%:z"),
            here.format("%A, %H:%M")
        )
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::TimePlace { name, .. } => name.clone(),
            Self::Offset(offset) => format!("UTC{offset}"),
        }
    }

    /// What a clock here shows at a moment.
    pub(super) fn wall_time(&self, moment: DateTime<Utc>) -> NaiveDateTime {
        moment.with_timezone(&self.offset_at(moment)).naive_local()
    }

    /// The moments when a clock here shows this: one, or none or two around a change of the clocks.
    pub(super) fn moments(&self, local: NaiveDateTime) -> LocalResult<DateTime<Utc>> {
        match self {
            Self::TimePlace { rules, .. } => rules.from_local_datetime(&local).map(|m| m.to_utc()),
            Self::Offset(offset) => offset.from_local_datetime(&local).map(|m| m.to_utc()),
        }
    }

    fn offset_at(&self, moment: DateTime<Utc>) -> FixedOffset {
        match self {
            Self::TimePlace { rules, .. } => {
                rules.offset_from_utc_datetime(&moment.naive_utc()).fix()
            }
            Self::Offset(offset) => *offset,
        }
    }

    fn of(rules: Tz) -> Self {
        match city(rules) {
            // Names of no place.
            "UTC" | "UCT" | "GMT" | "Zulu" | "Universal" => Self::Offset(Utc.fix()),
            city => Self::TimePlace {
                name: city.replace('_', " "),
                rules,
            },
        }
    }
}

/// "Asia/Tokyo" → "Tokyo".
fn city(rules: Tz) -> &'static str {
    let name = rules.name();
    name.rsplit_once('/').map_or(name, |(_, city)| city)
}

fn by_place(key: &str) -> Option<Zone> {
    // "东京市", "东京时间" and "Tokyo time" mean Tokyo.
    let endings = ["时间", "時間", "市", " time", " city"];
    let stems = endings.iter().filter_map(|ending| key.strip_suffix(ending));
    std::iter::once(key).chain(stems).find_map(|key| {
        let place = PLACES
            .iter()
            .find(|place| fold(place.name) == key || place.also.contains(&key))?;
        Some(Zone::TimePlace {
            name: place.name.to_owned(),
            rules: place.rules,
        })
    })
}

fn by_iana_name(key: &str) -> Option<Zone> {
    let key = key.replace(' ', "_");
    let rules = TZ_VARIANTS
        .iter()
        .find(|rules| rules.name().eq_ignore_ascii_case(&key))?;
    Some(Zone::of(*rules))
}

fn by_iana_city(key: &str) -> Option<Zone> {
    let key = key.replace([' ', '-'], "_");
    cities()
        .find(|rules| city(*rules).replace('-', "_").eq_ignore_ascii_case(&key))
        .map(Zone::of)
}

fn cities() -> impl Iterator<Item = Tz> {
    let points_of_the_compass = ["North", "South", "West"];
    TZ_VARIANTS.iter().copied().filter(move |rules| {
        let area = rules.name().split('/').next().unwrap_or_default();
        AREAS_OF_CITIES.contains(&area) && !points_of_the_compass.contains(&city(*rules))
    })
}

/// "+08:00", "UTC+8", "GMT-3:30", "utc": the folded name, read as an offset.
fn read_offset(key: &str) -> Option<FixedOffset> {
    if ["utc", "gmt", "z", "zulu", "世界时", "格林威治"].contains(&key) {
        return Some(Utc.fix());
    }
    let rest = key
        .strip_prefix("utc")
        .or_else(|| key.strip_prefix("gmt"))
        .unwrap_or(key)
        .trim();
    let (sign, digits) = match rest.chars().next()? {
        '+' => (1, &rest[1..]),
        '-' => (-1, &rest[1..]),
        _ => return None,
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), _) if minutes.len() == 2 => (hours, minutes),
        (None, 4) => digits.split_at_checked(2)?,
        (None, 1 | 2) => (digits, "0"),
        _ => return None,
    };
    let number = |text: &str| -> Option<i32> {
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse().ok())?
    };
    // Kiribati is the furthest ahead, at fourteen hours.
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}

fn from_system(variable: Option<&str>, link: Option<&Path>) -> Option<Zone> {
    let named = |name: &str| {
        by_iana_name(&fold(
            name.rsplit_once("zoneinfo/").map_or(name, |(_, zone)| zone),
        ))
    };
    let variable = variable
        .map(|zone| zone.trim_start_matches(':'))
        .filter(|zone| !zone.is_empty());
    match variable {
        Some(zone) => named(zone),
        None => named(link?.to_str()?),
    }
}

/// One spelling for what people spell in many ways: case, width, accents, dashes.
fn fold(text: &str) -> String {
    let plain = text
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .map(|char| match char {
            'á' | 'à' | 'â' | 'ã' | 'ä' | 'å' => 'a',
            'é' | 'è' | 'ê' | 'ë' => 'e',
            'í' | 'ì' | 'î' | 'ï' => 'i',
            'ó' | 'ò' | 'ô' | 'õ' | 'ö' => 'o',
            'ú' | 'ù' | 'û' | 'ü' => 'u',
            'ç' => 'c',
            'ñ' => 'n',
            '−' | '–' | '－' => '-',
            '＋' => '+',
            '：' => ':',
            '０'..='９' => char::from(b'0' + (char as u32 - '０' as u32) as u8),
            '_' | '\u{3000}' => ' ',
            other => other,
        });
    plain.collect()
}

fn unknown(asked: &str, key: &str) -> ToolError {
    let spoken = |rules: Tz| fold(city(rules));
    let places = PLACES.iter().map(|place| (fold(place.name), place.rules));
    let names = cities().flat_map(|rules| [(spoken(rules), rules), (fold(rules.name()), rules)]);
    let nearest = places
        .chain(names)
        .map(|(name, rules)| (strsim::jaro_winkler(&name, key), rules))
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let advice = match nearest {
        Some((likeness, rules)) if likeness > MIN_SIMILARITY => format!("The nearest is `{rules}`."),
        _ => "Give a large city nearby, an IANA name such as `Europe/Berlin`, or an offset such as `UTC+8`."
            .into(),
    };
    let shown = shorten(asked, 60);
    ToolError::invalid_input(format!("There is no time zone `{shown}`. {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summer in the north, so that summer time shows.
    fn july() -> DateTime<Utc> {
        "2026-07-05T00:12:03Z".parse().unwrap()
    }

    #[track_caller]
    fn check(asked: &str, expected: &str) {
        let said = match Zone::find(asked) {
            Ok(Zone::TimePlace { name, rules }) => format!("{name}: {rules}"),
            Ok(Zone::Offset(offset)) => offset.to_string(),
            Err(error) => error.message,
        };
        assert_eq!(said, expected, "{asked}");
    }

    #[test]
    fn iana_names_are_found_in_any_case() {
        check("Asia/Tokyo", "Tokyo: Asia/Tokyo");
        check("asia/tokyo", "Tokyo: Asia/Tokyo");
        check("AMERICA/NEW_YORK", "New York: America/New_York");
        check(
            "america/argentina/buenos aires",
            "Buenos Aires: America/Argentina/Buenos_Aires",
        );
        check("Etc/GMT+3", "GMT+3: Etc/GMT+3");
    }

    #[test]
    fn cities_are_found_by_the_names_people_use() {
        check("Tokyo", "Tokyo: Asia/Tokyo");
        check(" tokyo ", "Tokyo: Asia/Tokyo");
        check("Tokyo time", "Tokyo: Asia/Tokyo");
        check("new york", "New York: America/New_York");
        check("New York City", "New York: America/New_York");
        check("NYC", "New York: America/New_York");
        check("San Francisco", "San Francisco: America/Los_Angeles");
        check("Mumbai", "Mumbai: Asia/Kolkata");
        check("Beijing", "Beijing: Asia/Shanghai");
        check("São Paulo", "Sao Paulo: America/Sao_Paulo");
        check("Zürich", "Zurich: Europe/Zurich");
        check("Port-au-Prince", "Port-au-Prince: America/Port-au-Prince");
        check("port au prince", "Port-au-Prince: America/Port-au-Prince");
        check("Reykjavik", "Reykjavik: Atlantic/Reykjavik");
        check("ulaanbaatar", "Ulaanbaatar: Asia/Ulaanbaatar");
    }

    #[test]
    fn cities_are_found_in_simplified_and_traditional_chinese() {
        check("东京", "Tokyo: Asia/Tokyo");
        check("東京", "Tokyo: Asia/Tokyo");
        check("东京时间", "Tokyo: Asia/Tokyo");
        check("北京", "Beijing: Asia/Shanghai");
        check("北京市", "Beijing: Asia/Shanghai");
        check("北京时间", "Beijing: Asia/Shanghai");
        check("上海", "Shanghai: Asia/Shanghai");
        check("台北", "Taipei: Asia/Taipei");
        check("臺北", "Taipei: Asia/Taipei");
        check("香港", "Hong Kong: Asia/Hong_Kong");
        check("纽约", "New York: America/New_York");
        check("紐約", "New York: America/New_York");
        check("伦敦", "London: Europe/London");
        check("倫敦", "London: Europe/London");
        check("巴黎", "Paris: Europe/Paris");
        check("旧金山", "San Francisco: America/Los_Angeles");
        check("舊金山", "San Francisco: America/Los_Angeles");
        check("悉尼", "Sydney: Australia/Sydney");
        check("雪梨", "Sydney: Australia/Sydney");
    }

    #[test]
    fn countries_stand_for_their_capital_or_largest_city() {
        check("Japan", "Japan: Asia/Tokyo");
        check("日本", "Japan: Asia/Tokyo");
        check("China", "China: Asia/Shanghai");
        check("中国", "China: Asia/Shanghai");
        check("中國", "China: Asia/Shanghai");
        check("UK", "United Kingdom: Europe/London");
        check("英国", "United Kingdom: Europe/London");
        check("germany", "Germany: Europe/Berlin");
        check("德国", "Germany: Europe/Berlin");
        check("india", "India: Asia/Kolkata");
    }

    #[test]
    fn offsets_are_found() {
        check("UTC", "+00:00");
        check("gmt", "+00:00");
        check("Z", "+00:00");
        check("Etc/UTC", "+00:00");
        check("+08:00", "+08:00");
        check("UTC+8", "+08:00");
        check("utc +8", "+08:00");
        check("GMT-03:30", "-03:30");
        check("UTC−5", "-05:00");
        check("UTC＋９", "+09:00");
        check("+0530", "+05:30");
    }

    #[test]
    fn abbreviations_mean_what_their_speakers_mean() {
        check("PST", "US Pacific: America/Los_Angeles");
        check("EST", "US Eastern: America/New_York");
        check("JST", "Japan: Asia/Tokyo");
        check(
            "CST",
            "`CST` can mean Asia/Shanghai (China) or America/Chicago (US Central): name one of them.",
        );
    }

    #[test]
    fn an_unknown_zone_names_the_nearest() {
        check(
            "Tokio",
            "There is no time zone `Tokio`. The nearest is `Asia/Tokyo`.",
        );
        check(
            "Europe/Berln",
            "There is no time zone `Europe/Berln`. The nearest is `Europe/Berlin`.",
        );
        check(
            "Singapur",
            "There is no time zone `Singapur`. The nearest is `Asia/Singapore`.",
        );
        let help = "Give a large city nearby, an IANA name such as `Europe/Berlin`, or an offset such as `UTC+8`.";
        check("火星", &format!("There is no time zone `火星`. {help}"));
        check("+25:00", &format!("There is no time zone `+25:00`. {help}"));
        check(
            "South",
            "There is no time zone `South`. The nearest is `Antarctica/South_Pole`.",
        );
    }

    #[test]
    fn every_place_in_the_table_is_found_by_all_its_names() {
        for place in PLACES {
            for name in std::iter::once(&place.name).chain(place.also) {
                check(name, &format!("{}: {}", place.name, place.rules));
                assert_eq!(
                    fold(name),
                    name.to_lowercase(),
                    "names in the table are folded"
                );
            }
        }
    }

    #[test]
    fn a_moment_is_told_on_one_line() {
        let tell = |place: &str| Zone::find(place).unwrap().tell(july());
        assert_eq!(
            tell("Tokyo"),
            "2026-07-05T09:12:03+09:00 · Sunday, 09:12 in Tokyo (Asia/Tokyo, UTC+09:00)"
        );
        assert_eq!(
            tell("纽约"),
            "2026-07-04T20:12:03-04:00 · Saturday, 20:12 in New York (America/New_York, UTC-04:00)"
        );
        assert_eq!(
            tell("UTC+8"),
            "2026-07-05T08:12:03+08:00 · Sunday, 08:12 (UTC+08:00)"
        );
    }

    #[test]
    fn the_server_knows_where_it_is_from_tz_or_etc_localtime() {
        let check = |variable: Option<&str>, link: Option<&str>, expected: Option<&str>| {
            let zone = from_system(variable, link.map(Path::new)).map(|zone| zone.name());
            assert_eq!(zone.as_deref(), expected);
        };
        check(Some("Europe/Berlin"), None, Some("Berlin"));
        check(
            Some(":Europe/Berlin"),
            Some("/usr/share/zoneinfo/Asia/Tokyo"),
            Some("Berlin"),
        );
        check(Some("/usr/share/zoneinfo/Asia/Tokyo"), None, Some("Tokyo"));
        check(
            Some(""),
            Some("/usr/share/zoneinfo/Asia/Tokyo"),
            Some("Tokyo"),
        );
        check(
            None,
            Some("../usr/share/zoneinfo/America/New_York"),
            Some("New York"),
        );
        check(None, None, None);
        check(
            Some("XYZ-3:30"),
            Some("/usr/share/zoneinfo/Asia/Tokyo"),
            None,
        );
    }
}
