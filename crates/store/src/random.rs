//! Randomness for keys, tokens and salts.

pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has randomness: ids are made of it too");
    bytes
}
