//! A key: 32 bytes, written as text.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::KeyInit;
use sha2::{Digest, Sha256};

use crate::random::random_bytes;

/// Never shown: it has no `Debug`.
#[derive(Clone)]
pub(super) struct VaultKey {
    pub id: String,
    pub cipher: XChaCha20Poly1305,
    /// As base64, whatever it was written as.
    pub text: String,
}

impl VaultKey {
    pub fn new(bytes: [u8; 32]) -> Self {
        let hash: [u8; 32] = Sha256::digest(bytes).into();
        let [a, b, c, d, ..] = hash;
        Self {
            id: format!("{:08x}", u32::from_be_bytes([a, b, c, d])),
            cipher: XChaCha20Poly1305::new(&bytes.into()),
            text: STANDARD.encode(bytes),
        }
    }

    pub fn fresh() -> Self {
        Self::new(random_bytes())
    }
}

/// Keys, one a line or with commas between them. None: there is none, or one of them is wrong.
pub(super) fn parse_all(text: &str) -> Option<Vec<VaultKey>> {
    let texts = text.split([',', '\n']).map(str::trim);
    let texts = texts.filter(|text| !text.is_empty());
    let keys: Option<Vec<VaultKey>> = texts.map(|text| parse(text).map(VaultKey::new)).collect();
    keys.filter(|keys| !keys.is_empty())
}

/// 32 bytes as hex, or as base64 of either alphabet.
pub(super) fn parse(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    let bytes = match text.len() {
        64 => decode_hex(text)?,
        _ => {
            let standard = text.replace('-', "+").replace('_', "/");
            let standard = standard.trim_end_matches('=');
            STANDARD_NO_PAD.decode(standard).ok()?
        }
    };
    bytes.try_into().ok()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16)?.try_into().ok())
        .collect();
    let digits = digits?;
    let (pairs, _) = digits.as_chunks();
    Some(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
