//! A measure to be told in another unit: "5 feet in cm", "1公里等于多少米".

use super::super::token::{chinese_number, chinese_numeral, narrow, number_length};
use super::Sum;

/// Bytes at the head of a message among which a measure is looked for.
const HEAD: usize = 400;

/// "1 hour 2 minutes 3 seconds".
const MOST_PARTS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Length,
    Mass,
    Time,
    Temperature,
    Data,
}

/// Units the calculator knows by the names people write.
const WRITTEN: &[(Measure, &str)] = &[
    (
        Measure::Length,
        "mm millimeter millimeters millimetre millimetres cm centimeter centimeters centimetre \
         centimetres m meter meters metre metres km kilometer kilometers kilometre kilometres \
         inch inches in foot feet ft yard yards yd mile miles mi",
    ),
    (
        Measure::Mass,
        "mg milligram milligrams g gram grams kg kilogram kilograms tonne tonnes ounce ounces oz \
         pound pounds lb lbs stone",
    ),
    (
        Measure::Time,
        "ms millisecond milliseconds s sec secs second seconds min mins minute minutes h hr hrs \
         hour hours day days week weeks year years",
    ),
    (Measure::Temperature, "celsius fahrenheit kelvin"),
    (
        Measure::Data,
        "bit bits byte bytes kb mb gb tb kib mib gib tib kilobyte kilobytes megabyte megabytes \
         gigabyte gigabytes terabyte terabytes",
    ),
];

/// Units the calculator knows by another name. The longest that fits counts.
const CALLED: &[(Measure, &str, &str)] = &[
    (Measure::Length, "毫米", "mm"),
    (Measure::Length, "厘米 公分", "cm"),
    (Measure::Length, "米 公尺", "m"),
    (Measure::Length, "公里 千米", "km"),
    (Measure::Length, "英寸 英吋", "inches"),
    (Measure::Length, "英尺 英呎", "feet"),
    (Measure::Length, "英里 英哩", "miles"),
    (Measure::Mass, "毫克", "mg"),
    (Measure::Mass, "克", "g"),
    (Measure::Mass, "公斤 千克", "kg"),
    (Measure::Mass, "斤", "jin"),
    (Measure::Mass, "吨 噸", "tonnes"),
    (Measure::Mass, "磅", "pounds"),
    (Measure::Mass, "盎司", "ounces"),
    (Measure::Time, "毫秒", "ms"),
    (Measure::Time, "秒 秒钟 秒鐘", "seconds"),
    (Measure::Time, "分钟 分鐘", "minutes"),
    (Measure::Time, "小时 小時 个小时 個小時", "hours"),
    (Measure::Time, "天", "days"),
    (Measure::Time, "周 週 星期 个星期", "weeks"),
    (Measure::Time, "年", "years"),
    (Measure::Temperature, "摄氏度 攝氏度 °c ℃ c", "celsius"),
    (Measure::Temperature, "华氏度 華氏度 °f ℉ f", "fahrenheit"),
    (Measure::Data, "字节 位元組", "bytes"),
];

/// Between the measure and the unit it is wanted in.
const LINKS: &[&str] = &[
    "is how many",
    "are how many",
    "equals how many",
    "in",
    "to",
    "into",
    "as",
    "等于多少",
    "等於多少",
    "是多少",
    "有多少",
    "合多少",
    "等于几",
    "等於幾",
    "是几",
    "是幾",
    "有几",
    "有幾",
    "换算成",
    "換算成",
    "转换成",
    "轉換成",
    "换成",
    "換成",
    "转成",
    "等于",
    "=",
];

/// Between the unit it is wanted in and the measure.
const BACKWARD: &[&str] = &["are there in", "is there in", "are in", "is in", "in"];

/// The conversion a message asks for, as the calculator reads it.
pub(super) fn conversion(text: &str) -> Option<Sum> {
    let head = &text[..text.floor_char_boundary(HEAD)];
    let mut inside_word = false;
    for (start, c) in head.char_indices() {
        let begins = narrow(c).is_ascii_digit() || chinese_numeral(&head[start..]) > 0;
        if begins
            && !inside_word
            && let Some(sum) = forward(text, start)
        {
            return Some(sum);
        }
        inside_word =
            c.is_ascii_alphanumeric() || ".,-".contains(c) || chinese_numeral(&head[start..]) > 0;
    }
    backward(text, head)
}

/// "5 feet in cm", "5 feet 3 inches in cm".
fn forward(text: &str, start: usize) -> Option<Sum> {
    let (amount, length) = value(&text[start..])?;
    let (from, measure, mut at) = unit(text, skip(text, start + length))?;
    let mut whole = format!("{amount} {from}");
    for _ in 0..MOST_PARTS {
        let next = skip(text, at);
        let Some((amount, length)) = value(&text[next..]) else {
            break;
        };
        let (part, same, end) = unit(text, skip(text, next + length))?;
        if same != measure {
            return None;
        }
        whole.push_str(&format!(" {amount} {part}"));
        at = end;
    }
    let at = skip(text, at);
    let link = LINKS
        .iter()
        .filter(|link| starts(&text[at..], link))
        .max_by_key(|link| link.len())?;
    let (to, same, end) = unit(text, skip(text, at + link.len()))?;
    (measure == same && whole != format!("{amount} {to}")).then(|| Sum {
        expression: format!("{whole} to {to}"),
        start,
        end,
    })
}

/// "how many cm are in 5 feet".
fn backward(text: &str, head: &str) -> Option<Sum> {
    let asked = head.to_ascii_lowercase().find("how many ")?;
    let (to, measure, at) = unit(text, skip(text, asked + "how many ".len()))?;
    let at = skip(text, at);
    let link = BACKWARD.iter().find(|link| starts(&text[at..], link))?;
    let at = skip(text, at + link.len());
    let (value, length) = match ["a ", "an ", "one "]
        .iter()
        .find(|word| starts(&text[at..], word.trim_end()))
    {
        Some(word) => ("1".to_owned(), word.len()),
        None => value(&text[at..])?,
    };
    let (from, same, end) = unit(text, skip(text, at + length))?;
    (measure == same && from != to).then(|| Sum {
        expression: format!("{value} {from} to {to}"),
        start: asked,
        end,
    })
}

/// A number and how long it is.
fn value(rest: &str) -> Option<(String, usize)> {
    let digits = number_length(rest);
    if digits > 0 {
        let plain = rest[..digits].chars().map(narrow).filter(|c| *c != ',');
        return Some((plain.collect(), digits));
    }
    let numeral = chinese_numeral(rest);
    let value = chinese_number(rest.get(..numeral).filter(|text| !text.is_empty())?)?;
    Some((value.to_string(), numeral))
}

/// The unit that stands here as the calculator calls it, what it measures, and where it ends.
fn unit(text: &str, at: usize) -> Option<(String, Measure, usize)> {
    let rest = text.get(at..)?;
    let called = CALLED.iter().flat_map(|(measure, names, name)| {
        names.split(' ').map(move |said| (*measure, said, *name))
    });
    let called = called
        .filter(|(_, said, _)| starts(rest, said))
        .max_by_key(|(_, said, _)| said.len());
    if let Some((measure, said, name)) = called {
        return Some((name.to_owned(), measure, at + said.len()));
    }
    let length = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let word = &rest[..length];
    let known = |names: &str| {
        names
            .split_whitespace()
            .any(|name| name.eq_ignore_ascii_case(word))
    };
    let (measure, _) = WRITTEN.iter().find(|(_, names)| known(names))?;
    let one_case = word == word.to_ascii_lowercase() || word == word.to_ascii_uppercase();
    let name = match word.to_ascii_lowercase().as_str() {
        // The calculator takes "in" for "to".
        "in" => "inches".into(),
        // "Mb" is a million bits; "mb" and "MB" are bytes to most who write them.
        _ if *measure == Measure::Data && !one_case => word.to_owned(),
        "kb" => "kB".into(),
        short @ ("mb" | "gb" | "tb") => short.to_ascii_uppercase(),
        short @ ("kib" | "mib" | "gib" | "tib") => {
            format!("{}iB", short[..1].to_ascii_uppercase())
        }
        plain => plain.to_owned(),
    };
    Some((name, *measure, at + length))
}

/// Whether a text begins with a phrase, and the phrase ends there.
fn starts(text: &str, phrase: &str) -> bool {
    let ends = |tail: &str| {
        !phrase.ends_with(|c: char| c.is_ascii_alphabetic())
            || !tail.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    text.get(..phrase.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(phrase))
        && ends(&text[phrase.len()..])
}

fn skip(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len().min(at) + (rest.len() - rest.trim_start_matches([' ', '\u{a0}']).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_told_in_another_unit() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let found = conversion(text).map(|sum| sum.expression);
            assert_eq!(found.as_deref().unwrap_or("-"), expected, "{text}");
        }
        check("What is 5 feet in cm", "5 feet to cm");
        check("how long is 90 minutes in hours", "90 minutes to hours");
        check("5 km to miles", "5 km to miles");
        check("5km to miles", "5 km to miles");
        check("convert 1,500 g into Kg", "1500 g to kg");
        check("100 °F in °C", "100 fahrenheit to celsius");
        check("1公里等于多少米", "1 km to m");
        check("一百公里等于多少英里？", "100 km to miles");
        check("3 小时是多少分钟", "3 hours to minutes");
        check("2 GB to MB", "2 GB to MB");
        check("2 gb to kb", "2 GB to kB");
        check("8 Mb to MiB", "8 Mb to MiB");
        check("2 ft in in", "2 ft to inches");
        check("how many cm are in 5 feet?", "5 feet to cm");
        check("how many minutes in an hour", "1 hour to minutes");
        check("5 feet 3 inches in cm", "5 feet 3 inches to cm");
        check("1小时30分钟等于多少分钟", "1 hours 30 minutes to minutes");
        check("5 feet to hours", "-");
        check("wait 5 minutes", "-");
        check("meet me in 5 minutes to talk", "-");
        check("3 pm to London", "-");
        check("5 km", "-");
    }
}
