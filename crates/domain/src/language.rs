//! The languages of the page.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum PageLanguage {
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh-Hans")]
    Simplified,
    #[serde(rename = "zh-Hant")]
    Traditional,
}

impl PageLanguage {
    /// The first of a browser's languages that Tenon speaks.
    pub fn of(asked: &str) -> Self {
        let tags = asked.split(',').filter_map(|tag| tag.split(';').next());
        for tag in tags.map(|tag| tag.trim().to_ascii_lowercase()) {
            let mut parts = tag.split('-');
            match parts.next() {
                Some("en") => return Self::English,
                Some("yue") => return Self::Traditional,
                Some("zh") => {
                    let is_traditional = |part: &str| matches!(part, "hant" | "tw" | "hk" | "mo");
                    let parts: Vec<&str> = parts.collect();
                    let is_traditional = parts.iter().any(|part| is_traditional(part));
                    return if is_traditional && !parts.contains(&"hans") {
                        Self::Traditional
                    } else {
                        Self::Simplified
                    };
                }
                _ => {}
            }
        }
        Self::English
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_speaks_the_browsers_language() {
        let check = |asked: &str, expected: PageLanguage| {
            assert_eq!(PageLanguage::of(asked), expected, "{asked}");
        };
        check("", PageLanguage::English);
        check("de-DE,de;q=0.9,en;q=0.8", PageLanguage::English);
        check("zh-CN,zh;q=0.9,en;q=0.8", PageLanguage::Simplified);
        check("zh", PageLanguage::Simplified);
        check("fr, zh-Hant;q=0.5", PageLanguage::Traditional);
        check("zh-HK", PageLanguage::Traditional);
        check("zh-Hans-HK", PageLanguage::Simplified);
        check("yue", PageLanguage::Traditional);
    }
}
