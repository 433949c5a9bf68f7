//! An HTTP client that does as little as one can, so that it is not what is measured.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub struct HttpClient {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl HttpClient {
    pub async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option");
        Self {
            stream,
            buffer: Vec::with_capacity(4096),
        }
    }

    /// The status of the answer. None: the connection ended.
    pub async fn call(&mut self, request: &[u8]) -> Option<u16> {
        self.stream.write_all(request).await.ok()?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
            let end = find(&self.buffer, b"\r\n\r\n").map(|at| at + 4);
            let Some(end) = end else {
                continue;
            };
            let length = find(&self.buffer[..end], b"content-length: ")?;
            let length = number(&self.buffer[length + 16..])?;
            if self.buffer.len() >= end + length {
                return u16::try_from(number(&self.buffer[9..])?).ok();
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|some| some == wanted)
}

fn number(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    String::from_utf8(digits).ok()?.parse().ok()
}
