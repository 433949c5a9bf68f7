//! Media types, as `Content-Type` and documents write them, and as bytes show them.

/// A media type without its parameters, in lower case: `Text/HTML; charset=GBK` → `text/html`.
pub fn essence(media_type: &str) -> String {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The media type of a picture that browsers show and every model provider takes, by its first
/// bytes: a name or a header is only what somebody says. None: it is none of them.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_are_no_part_of_an_essence() {
        let check = |media_type: &str, expected: &str| assert_eq!(essence(media_type), expected);
        check("Text/HTML; charset=GBK", "text/html");
        check(" application/json ;q=1;b", "application/json");
        check("", "");
    }

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            assert_eq!(image_type(bytes), expected, "{bytes:?}");
        };
        check(b"\x89PNG\r\n\x1a\n\0", Some("image/png"));
        check(b"\xff\xd8\xff\xe0", Some("image/jpeg"));
        check(b"GIF87a", Some("image/gif"));
        check(b"GIF89a", Some("image/gif"));
        check(b"RIFF\x24\0\0\0WEBPVP8 ", Some("image/webp"));
        check(b"RIFF\x24\0\0\0WAVEfmt ", None);
        check(b"GIF8 is not a picture", None);
        check(b"<svg xmlns=", None);
        check(b"", None);
    }
}
