//! An object store over HTTP, in memory, whose answers can be lost.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part of it")]

use rialto_depot::volume::BucketSpec;
use rialto_depot_bucket::S3Buckets;
use std::collections::{BTreeMap, HashMap};
use std::env::VarError;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The bucket of the store.
const BUCKET: &str = "/cold/";
/// The most objects of a page.
pub const PAGE_MAX: usize = 10;

#[derive(Default)]
pub struct Kept {
    pub objects: BTreeMap<String, Vec<u8>>,
    parts: HashMap<String, Vec<Vec<u8>>>,
    /// Completions are done, and the connection ends before the answer.
    pub cuts_completions: bool,
    /// The methods and addresses of the requests.
    pub requests: Vec<String>,
}

/// A running store.
#[derive(Clone)]
pub struct ObjectServer {
    pub kept: Arc<Mutex<Kept>>,
    address: SocketAddr,
}

struct Request {
    method: String,
    key: String,
    query: HashMap<String, String>,
    range: Option<(usize, usize)>,
    body: Vec<u8>,
}

impl ObjectServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, kept) = (listener.local_addr().unwrap(), Arc::<Mutex<Kept>>::default());
        let server = Self { kept, address };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream.unwrap()));
            }
        });
        server
    }

    pub fn spec(&self, prefix: &str) -> BucketSpec {
        BucketSpec {
            bucket: "cold".to_owned(),
            prefix: prefix.to_owned(),
            endpoint: format!("http://{}", self.address),
            region: "us-east-1".to_owned(),
            allow_http: true,
        }
    }

    /// What opens its bucket.
    pub fn buckets() -> S3Buckets {
        S3Buckets::with_variables(|name| match name {
            "RIALTO_BUCKET_ACCESS_KEY_ID" => Ok("id".to_owned()),
            "RIALTO_BUCKET_SECRET_ACCESS_KEY" => Ok("secret".to_owned()),
            _ => Err(VarError::NotPresent),
        })
    }

    pub fn set(&self, key: &str) {
        self.kept.lock().unwrap().objects.insert(key.to_owned(), vec![1]);
    }

    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some(request) = read_request(&mut reader) {
            match self.answer(request) {
                Some(answer) => (&stream).write_all(&answer).unwrap(),
                None => return,
            }
        }
    }

    /// None to end the connection instead.
    fn answer(&self, request: Request) -> Option<Vec<u8>> {
        let mut kept = self.kept.lock().unwrap();
        let Request { method, key, query, range, body } = request;
        kept.requests.push(format!("{method} {key} {query:?}"));
        let upload = query.get("uploadId").cloned();
        let ok = |body: &[u8]| Some(answered("200 OK", body.len(), body));
        match (method.as_str(), upload) {
            ("GET", _) if key.is_empty() => ok(list(&kept.objects, &query).as_bytes()),
            ("GET" | "HEAD", _) => {
                let Some(object) = kept.objects.get(&key) else {
                    return Some(missing("NoSuchKey"));
                };
                if method == "HEAD" {
                    return Some(answered("200 OK", object.len(), b""));
                }
                let Some((from, to)) = range else { return ok(object) };
                let to = to.min(object.len() - 1);
                let head =
                    format!("206 Partial\r\ncontent-range: bytes {from}-{to}/{}", object.len());
                let bytes = object.get(from..=to).unwrap_or_default();
                Some(answered(&head, bytes.len(), bytes))
            }
            ("PUT", Some(id)) => {
                let nth: usize = query["partNumber"].parse().unwrap();
                let parts = kept.parts.get_mut(&id).unwrap();
                parts.resize(parts.len().max(nth), Vec::new());
                parts[nth - 1] = body;
                ok(b"")
            }
            ("PUT", None) => {
                kept.objects.insert(key, body);
                ok(b"")
            }
            ("POST", None) => {
                let id = format!("upload-{}", kept.parts.len());
                kept.parts.insert(id.clone(), Vec::new());
                ok(format!("<I><UploadId>{id}</UploadId></I>").as_bytes())
            }
            ("POST", Some(id)) => {
                let Some(parts) = kept.parts.remove(&id) else {
                    return Some(missing("NoSuchUpload"));
                };
                kept.objects.insert(key, parts.concat());
                if kept.cuts_completions {
                    return None;
                }
                ok(b"<C><ETag>e</ETag></C>")
            }
            ("DELETE", Some(id)) => {
                kept.parts.remove(&id);
                ok(b"")
            }
            ("DELETE", None) => {
                kept.objects.remove(&key);
                ok(b"")
            }
            _ => panic!("{method} {key}"),
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, address) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let key = decoded(path.strip_prefix(BUCKET).unwrap_or_default());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    let query = query.split('&').map(pair).collect();
    let (mut bytes, mut range) = (0, None);
    loop {
        let mut head = String::new();
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = head.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => bytes = value.parse().unwrap(),
            "range" => {
                let (from, to) = value.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
                range = Some((from.parse().unwrap(), to.parse().unwrap()));
            }
            _ => {}
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, key, query, range, body })
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut decoded) = (text.bytes(), Vec::new());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(decoded).unwrap()
}

fn answered(status: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\netag: \"e\"\r\n\
         last-modified: Wed, 25 Nov 2026 12:00:00 GMT\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn missing(code: &str) -> Vec<u8> {
    let body = format!("<Error><Code>{code}</Code></Error>");
    answered("404 Not Found", body.len(), body.as_bytes())
}

fn list(objects: &BTreeMap<String, Vec<u8>>, query: &HashMap<String, String>) -> String {
    let word = |name: &str| query.get(name).cloned().unwrap_or_default();
    let max: usize = word("max-keys").parse().unwrap();
    let (prefix, after, max) = (word("prefix"), word("start-after"), max.min(PAGE_MAX));
    let is_listed = |key: &&String| key.starts_with(&prefix) && **key > after;
    let is_truncated = objects.keys().filter(is_listed).count() > max;
    let mut listed = format!("<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>");
    for key in objects.keys().filter(is_listed).take(max) {
        let (key_text, bytes) =
            (key.replace('&', "&amp;").replace('<', "&lt;"), objects[key].len());
        write!(
            listed,
            "<Contents><Key>{key_text}</Key><LastModified>2026-11-25T12:00:00.000Z</LastModified>\
             <Size>{bytes}</Size></Contents>"
        )
        .unwrap();
    }
    listed + "</ListBucketResult>"
}
