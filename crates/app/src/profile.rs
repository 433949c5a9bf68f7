//! What an account may be called: its e-mail address and its name.

use tenon_store::normal_email;

use crate::Result;
use crate::error::AccountInputError;

/// The longest address that SMTP delivers to (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
pub const MAX_NAME_CHARS: usize = 100;

pub fn checked_email(email: &str) -> Result<String> {
    let is_odd = |char: char| char.is_whitespace() || char.is_control();
    let is_clean = !email.trim().contains(is_odd);
    let email = normal_email(email);
    let is_address = email
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    if !is_address || !is_clean || email.len() > MAX_EMAIL_BYTES {
        return Err(AccountInputError::Email.into());
    }
    Ok(email)
}

pub fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > MAX_NAME_CHARS || name.contains(char::is_control) {
        let max = MAX_NAME_CHARS;
        return Err(AccountInputError::Name { max }.into());
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_and_made_small() {
        let check = |email: &str, expected: Option<&str>| {
            assert_eq!(checked_email(email).ok().as_deref(), expected, "{email:?}");
        };
        check("ada@example.org", Some("ada@example.org"));
        check("  Ada@Example.ORG\n", Some("ada@example.org"));
        check("阿达@例子.中国", Some("阿达@例子.中国"));
        check("", None);
        check("ada", None);
        check("@example.org", None);
        check("ada@", None);
        check("ada@b@c", None);
        check("ada lovelace@example.org", None);
        check("ada\0@example.org", None);
        check(&format!("{}@example.org", "a".repeat(300)), None);
    }
}
