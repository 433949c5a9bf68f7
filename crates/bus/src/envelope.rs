//! The wire format of a message: a header as one line of JSON, then the raw body.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::MAX_NOTE_BYTES;

/// Longer headers are not ours.
const MAX_HEADER_BYTES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) from: Arc<str>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(crate) topic: Arc<str>,
    #[serde(flatten)]
    pub(crate) kind: MessageKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(crate) enum MessageKind {
    Note,
    /// A server is there; with `is_new` it wants to know who else is.
    Hello {
        #[serde(default)]
        is_new: bool,
    },
    Goodbye,
    /// `length` of the body; where that is longer than a message, it has to be fetched.
    Request {
        id: Uuid,
        length: usize,
    },
    /// The request is known and not done yet.
    Pending {
        id: Uuid,
    },
    /// Asks for the state of a request.
    Poll {
        id: Uuid,
    },
    /// The request is not known, or was forgotten.
    Unknown {
        id: Uuid,
    },
    /// The request was executed or cancelled, and has no reply any more.
    Over {
        id: Uuid,
    },
    /// The server runs too many requests, or has no handler for this topic.
    Refused {
        id: Uuid,
    },
    Reply {
        id: Uuid,
        length: usize,
    },
    /// The reply arrived: it need not be kept.
    Received {
        id: Uuid,
    },
    /// Tells that the caller no longer waits for the request.
    Cancel {
        id: Uuid,
    },
    /// A part of the body of a request or a reply is wanted.
    Fetch {
        id: Uuid,
        of: BodyOf,
        offset: usize,
    },
    Part {
        id: Uuid,
        of: BodyOf,
        offset: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum BodyOf {
    Request,
    Reply,
}

pub(crate) fn write(header: &Header, body: &Bytes) -> Option<Bytes> {
    let header = serde_json::to_vec(header).ok()?;
    let mut message = BytesMut::with_capacity(header.len() + 1 + body.len());
    message.put_slice(&header);
    message.put_u8(b'\n');
    message.put_slice(body);
    Some(message.freeze())
}

/// None: it is none of ours, or too long.
pub(crate) fn read(message: Bytes) -> Option<(Header, Bytes)> {
    let end = message
        .iter()
        .take(MAX_HEADER_BYTES)
        .position(|byte| *byte == b'\n')?;
    let body = message.slice(end + 1..);
    if body.len() > MAX_NOTE_BYTES {
        return None;
    }
    let header = serde_json::from_slice(&message[..end]).ok()?;
    Some((header, body))
}

fn is_empty(text: &Arc<str>) -> bool {
    text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_rest_is_dropped() {
        let header = Header {
            from: "a".into(),
            topic: "stop".into(),
            kind: MessageKind::Fetch {
                id: Uuid::nil(),
                of: BodyOf::Reply,
                offset: 7,
            },
        };
        let body = Bytes::from_static(b"line\nand another");
        let written = write(&header, &body).unwrap();
        assert_eq!(read(written), Some((header, body)));
        for wrong in ["", "\n", "{}\n", "no line", r#"{"from":"a","kind":"x"}"#] {
            assert_eq!(read(Bytes::from(wrong)), None, "{wrong}");
        }
        let long = [
            b"{\"from\":\"a\",\"kind\":\"note\"}\n".to_vec(),
            vec![b'x'; MAX_NOTE_BYTES + 1],
        ];
        assert_eq!(read(long.concat().into()), None);
    }
}
