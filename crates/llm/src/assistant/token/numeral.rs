//! Numbers written in Chinese: 三, 二十五, 一百二十, 半.

use super::super::lexicon;

const NUMERALS: &str = "零一二三四五六七八九十两兩半百";

/// `三秒`: the length of the numeral, when something that is counted follows.
pub(super) fn chinese_numeral_before_unit(run: &str) -> Option<usize> {
    let length = run.find(|c| !NUMERALS.contains(c))?;
    let unit = lexicon::longest_known(&run[length..])?;
    let counted = lexicon::seconds_in(&run[length..length + unit]).is_some();
    (length > 0 && counted).then_some(length)
}

pub(super) fn chinese_number(text: &str) -> Option<f64> {
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
