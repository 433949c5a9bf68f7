//! Characters that may stand as they are, and those that are written as `%2F`.

/// What may stand as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentEncodeSet {
    /// What means nothing anywhere: letters, digits and `-._~`.
    Unreserved,
    /// What a document allows with `allowReserved`, in a query. Three are
    /// encoded even so: `#` would end the query, `&` would begin another
    /// parameter, and `+` is read as a space.
    ReservedInQuery,
    /// The same in a path, where a value must not leave its segment.
    ReservedInPath,
    /// What a cookie may hold. Those who read cookies do not all decode them,
    /// so that as little as possible is encoded.
    Cookie,
    /// Headers and parts of forms are written as they are.
    Everything,
}

impl PercentEncodeSet {
    /// The same for names of parameters, whose reserved characters nobody allows.
    pub fn for_names(self) -> Self {
        match self {
            Self::Everything => Self::Everything,
            Self::Unreserved | Self::ReservedInQuery | Self::ReservedInPath | Self::Cookie => {
                Self::Unreserved
            }
        }
    }

    fn keeps(self, byte: u8) -> bool {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        unreserved
            || match self {
                Self::Unreserved => false,
                Self::ReservedInQuery => b":/?[]@!$'()*,;=".contains(&byte),
                Self::ReservedInPath => b":@!$&'()*+,;=".contains(&byte),
                Self::Cookie => byte.is_ascii_graphic() && !b"%\",;\\".contains(&byte),
                Self::Everything => true,
            }
    }

    /// Whether what is encoded already stays so, as RFC 6570 has it for reserved characters.
    fn keeps_encoded(self) -> bool {
        matches!(self, Self::ReservedInQuery | Self::ReservedInPath)
    }
}

pub fn encode(text: &str, keep: PercentEncodeSet) -> String {
    if keep == PercentEncodeSet::Everything {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (at, byte) in text.bytes().enumerate() {
        let digits = text.as_bytes().get(at + 1..at + 3);
        let is_encoded =
            byte == b'%' && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if keep.keeps(byte) || (is_encoded && keep.keeps_encoded()) {
            out.push(char::from(byte));
        } else {
            push_encoded(byte, &mut out);
        }
    }
    out
}

fn push_encoded(byte: u8, out: &mut String) {
    out.push('%');
    for half in [byte >> 4, byte & 15] {
        let digit = char::from_digit(u32::from(half), 16).unwrap_or('0');
        out.push(digit.to_ascii_uppercase());
    }
}

/// What was encoded, as bytes. What is no code stays.
pub fn decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_keeps_what_it_can_hold() {
        let all = ":/?#[]@!$&'()*+,;=%41 %zz\"\\é~";
        let check =
            |keep: PercentEncodeSet, expected: &str| assert_eq!(encode(all, keep), expected);
        check(
            PercentEncodeSet::Unreserved,
            "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%2541%20%25zz%22%5C%C3%A9~",
        );
        check(
            PercentEncodeSet::ReservedInQuery,
            ":/?%23[]@!$%26'()*%2B,;=%41%20%25zz%22%5C%C3%A9~",
        );
        check(
            PercentEncodeSet::ReservedInPath,
            ":%2F%3F%23%5B%5D@!$&'()*+,;=%41%20%25zz%22%5C%C3%A9~",
        );
        check(
            PercentEncodeSet::Cookie,
            ":/?#[]@!$&'()*+%2C%3B=%2541%20%25zz%22%5C%C3%A9~",
        );
        check(PercentEncodeSet::Everything, all);
    }

    #[test]
    fn decoding_undoes_it() {
        let text = "a/ %zz%é%";
        assert_eq!(
            decode(&encode(text, PercentEncodeSet::Unreserved)),
            text.as_bytes()
        );
        assert_eq!(decode("%2e%2E%"), b"..%");
    }
}
