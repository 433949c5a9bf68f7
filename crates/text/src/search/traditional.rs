//! Traditional Chinese characters in simplified ones, as far as the lexicon has them.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Pairs of a traditional character and its simplified one.
const PAIRS: &str = include_str!("traditional.txt");

static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let pairs = PAIRS.split_whitespace().filter_map(|pair| {
        let mut characters = pair.chars();
        characters.next().zip(characters.next())
    });
    pairs.collect()
});

pub(super) fn simplified(c: char) -> char {
    // Most characters are none of these: no look into the table for them.
    if c.is_ascii() {
        return c;
    }
    SIMPLIFIED.get(&c).copied().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traditional_characters_become_simplified() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.chars().map(simplified).collect::<String>(), expected);
        };
        check("檔案與資料夾", "档案与资料夹");
        check("倉庫 repo", "仓库 repo");
        check("东京", "东京");
    }
}
