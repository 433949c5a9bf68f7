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
        self.exchange(request).await.map(|(status, _)| status)
    }

    /// The status, and all bytes of the answer. None: the connection ended.
    pub async fn exchange(&mut self, request: &[u8]) -> Option<(u16, &[u8])> {
        self.stream.write_all(request).await.ok()?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
            let end = find(&self.buffer, b"\r\n\r\n").map(|at| at + 4);
            if end.is_some_and(|end| self.is_whole(end)) {
                let status = u16::try_from(number(&self.buffer[9..])?).ok()?;
                return Some((status, &self.buffer));
            }
        }
    }

    /// Whether all of the body is there, by its length or by its last chunk.
    fn is_whole(&self, end: usize) -> bool {
        // Servers write the names of headers as they like.
        let head = self.buffer[..end].to_ascii_lowercase();
        let length = find(&head, b"content-length: ");
        match length.and_then(|at| number(&head[at + 16..])) {
            Some(length) => self.buffer.len() >= end + length,
            None => {
                let has_body = find(&head, b"transfer-encoding: chunked").is_some();
                !has_body || has_last_chunk(&self.buffer[end..])
            }
        }
    }
}

fn has_last_chunk(mut chunks: &[u8]) -> bool {
    while let Some(line) = find(chunks, b"\r\n") {
        let size = std::str::from_utf8(&chunks[..line]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("a chunk begins with its size");
        let next = line + 2 + size + 2;
        if chunks.len() < next {
            return false;
        }
        if size == 0 {
            return true;
        }
        chunks = &chunks[next..];
    }
    false
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|some| some == wanted)
}

fn number(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
    let digits: Vec<u8> = digits.copied().collect();
    String::from_utf8(digits).ok()?.parse().ok()
}
