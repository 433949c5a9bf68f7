//! A server that says what a test tells it to, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;

/// Answers each request, by its first line, with these bytes, and closes. A JSON-RPC response of
/// one digit as id gets that of its request.
pub fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    serve_at("127.0.0.1", answer)
}

pub fn serve_at(host: &str, answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> String {
    let listener = TcpListener::bind((host, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (line, body) = request(&stream);
            let mut stream = stream;
            let _ = stream.write_all(&with_id_of(&body, answer(&line)));
        }
    });
    format!("http://{host}:{port}")
}

/// A whole answer with these headers.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    );
    [head.into_bytes(), body.as_bytes().to_vec()].concat()
}

fn with_id_of(request: &[u8], mut answer: Vec<u8>) -> Vec<u8> {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    let member = br#""id":"#;
    let at = answer.windows(member.len()).position(|part| part == member);
    if let (Some(id), Some(at)) = (request["id"].as_u64(), at) {
        answer[at + member.len()] = id.to_string().as_bytes()[0];
    }
    answer
}

/// Reads all of it, or closing would reset the connection before the answer is read.
fn request(stream: &TcpStream) -> (String, Vec<u8>) {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    let _ = reader.read_line(&mut first);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = Vec::new();
    let _ = reader.take(length).read_to_end(&mut body);
    (first.trim_end().to_owned(), body)
}
