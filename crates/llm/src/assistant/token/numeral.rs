//! Numbers as they are written: 1,250.5 and, in Chinese, 三, 二十五, 一百二十, 半.

use super::super::lexicon;
use super::narrow;

const NUMERALS: &str = "零一二三四五六七八九十两兩半百";

/// How much of a text is the number it begins with: `1,250.5`.
pub(in super::super) fn number_length(text: &str) -> usize {
    let digits = |text: &str| {
        text.find(|c| !narrow(c).is_ascii_digit())
            .unwrap_or(text.len())
    };
    let mut length = digits(text);
    // A longer beginning has no thousands set apart.
    let grouped = (1..=3).contains(&length);
    while grouped
        && let Some(group) = text[length..].strip_prefix([',', '，'])
        && group.bytes().take_while(u8::is_ascii_digit).count() == 3
    {
        length = text.len() - group.len() + 3;
    }
    if let Some(fraction) = text[length..].strip_prefix('.') {
        let fraction = digits(fraction);
        length += if fraction > 0 { 1 + fraction } else { 0 };
    }
    length
}

/// `三秒`: the length of the numeral, when something that is counted follows.
pub(super) fn chinese_numeral_before_unit(run: &str) -> Option<usize> {
    let length = run.find(|c| !NUMERALS.contains(c))?;
    let unit = lexicon::longest_known(&run[length..])?;
    let counted = lexicon::seconds_in(&run[length..length + unit]).is_some();
    (length > 0 && counted).then_some(length)
}

/// The length of the numeral a text begins with, without halves; none if it goes on beyond what is known.
pub(in super::super) fn chinese_numeral(text: &str) -> usize {
    let length = text
        .find(|c| c == '半' || !NUMERALS.contains(c))
        .unwrap_or(text.len());
    if text[length..].starts_with(['千', '万', '萬', '亿', '億', '半']) {
        return 0;
    }
    length
}

pub(in super::super) fn chinese_number(text: &str) -> Option<f64> {
    let (mut total, mut digit) = (0.0, None);
    for c in text.chars() {
        match c {
            '半' => return Some(total + digit.unwrap_or(0.0) + 0.5),
            '十' => total += digit.take().unwrap_or(1.0) * 10.0,
            '百' => total += digit.take().unwrap_or(1.0) * 100.0,
            '两' | '兩' => digit = Some(2.0),
            _ => {
                digit = Some(
                    "零一二三四五六七八九"
                        .chars()
                        .position(|known| known == c)? as f64,
                )
            }
        }
    }
    Some(total + digit.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_numerals_count() {
        let check =
            |text: &str, expected| assert_eq!(chinese_number(text), Some(expected), "{text}");
        check("三", 3.0);
        check("十", 10.0);
        check("二十五", 25.0);
        check("半", 0.5);
        check("一百二十", 120.0);
    }
}
