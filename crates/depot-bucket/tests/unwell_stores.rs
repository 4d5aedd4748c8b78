//! Object stores that are overloaded, refuse connections, hang, or answer less than they say.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_depot::volume::{Bucket, BucketError, BucketSpec, Buckets};
use rialto_depot_bucket::{CALL_TIME_MAX, S3Buckets};
use std::env::VarError;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The credentials of the tests, which no message may have.
const KEY_ID: &str = "KEYIDOFTHISTEST";
const SECRET: &str = "a-secret-of-this-test";

fn open(address: SocketAddr) -> Arc<dyn Bucket> {
    let variable = |name: &str| match name {
        "RIALTO_BUCKET_ACCESS_KEY_ID" => Ok(KEY_ID.to_owned()),
        "RIALTO_BUCKET_SECRET_ACCESS_KEY" => Ok(SECRET.to_owned()),
        _ => Err(VarError::NotPresent),
    };
    let spec = BucketSpec {
        bucket: "cold".to_owned(),
        prefix: "p".to_owned(),
        endpoint: format!("http://{address}"),
        region: "us-east-1".to_owned(),
        allow_http: true,
    };
    S3Buckets::with_variables(variable).open("cold", &spec).unwrap()
}

/// A store that does this with the stream of every request.
fn store(answer: impl Fn(TcpStream) + Send + 'static) -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, requests) = (listener.local_addr().unwrap(), Arc::<AtomicU64>::default());
    let counted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            answer(stream.unwrap());
        }
    });
    (address, requests)
}

fn answered(text: impl Into<String>) -> impl Fn(TcpStream) + Send + 'static {
    let text = text.into();
    move |mut stream| {
        let mut head = [0; 4096];
        let _ = stream.read(&mut head);
        let _ = stream.write_all(text.as_bytes());
    }
}

/// The failure, which comes in time and has no credentials.
fn failure<T: std::fmt::Debug>(call: impl FnOnce() -> Result<T, BucketError>) -> String {
    let begin = Instant::now();
    let error = call().unwrap_err();
    assert!(begin.elapsed() < CALL_TIME_MAX + Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(matches!(error, BucketError::Failed(_)), "{error}");
    let told = error.to_string();
    assert!(!told.contains(KEY_ID) && !told.contains(SECRET), "{told}");
    assert!(!told.contains('\n') && told.len() < 1_000, "{told}");
    told
}

#[test]
fn an_overloaded_store_is_tried_again_and_then_a_failure() {
    let (address, requests) =
        store(answered("HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    let bucket = open(address);
    let told = failure(|| bucket.put("p/files/a", vec![1; 10]));
    assert!(told.contains("503"), "{told}");
    assert_eq!(requests.load(Ordering::SeqCst), 5);
    failure(|| bucket.begin("p/files/a").map(drop));
    failure(|| bucket.list("p/files/", None, 10));
    failure(|| bucket.remove("p/files/a"));
    failure(|| bucket.read("p/files/a", 0, &mut [0; 9]));
}

#[test]
fn a_refused_connection_is_a_failure() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    failure(|| open(address).put("p/files/a", vec![1; 10]));
}

#[test]
fn a_store_that_never_answers_is_a_failure_in_time() {
    // The streams are kept open.
    let streams = std::sync::Mutex::new(Vec::new());
    let (address, _) = store(move |stream| streams.lock().unwrap().push(stream));
    let told = failure(|| open(address).put("p/files/a", vec![1; 10]));
    assert!(!told.is_empty());
}

#[test]
fn refused_rights_are_not_tried_again() {
    let (address, requests) =
        store(answered("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    failure(|| open(address).put("p/files/a", vec![1; 10]));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[test]
fn an_answer_that_ends_early_is_a_failure_and_not_a_short_file() {
    let (address, _) = store(answered(
        "HTTP/1.1 206 Partial Content\r\ncontent-length: 100\r\ncontent-range: bytes 0-99/100\r\n\
         last-modified: Wed, 25 Nov 2026 12:00:00 GMT\r\netag: \"e\"\r\nconnection: close\r\n\r\nshort",
    ));
    failure(|| open(address).read("p/files/a", 0, &mut [0; 100]));
}

#[test]
fn an_object_that_is_missing_is_told_from_a_failure() {
    let (address, _) =
        store(answered("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    let bucket = open(address);
    assert!(matches!(bucket.head("p/a"), Err(BucketError::NotFound)));
    assert!(matches!(bucket.read("p/a", 0, &mut [0; 9]), Err(BucketError::NotFound)));
    bucket.remove("p/a").unwrap();
    let told = failure(|| bucket.put("p/a", vec![1]));
    assert!(told.contains("no such bucket"), "{told}");
}

#[test]
fn a_refusal_is_told_by_its_status_and_code_and_not_by_its_body() {
    const REFUSAL: &str = "HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n\
        <?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>no</Message>\
        <AWSAccessKeyId>KEYIDOFTHISTEST</AWSAccessKeyId>\
        <StringToSign>AWS4-HMAC-SHA256 20261125</StringToSign></Error>";
    let (address, _) = store(answered(REFUSAL));
    let bucket = open(address);
    let told = [
        failure(|| bucket.put("p/a", vec![1])),
        failure(|| bucket.create("p/a", vec![1])),
        failure(|| bucket.begin("p/a").map(drop)),
        failure(|| bucket.list("p/", None, 10)),
        failure(|| bucket.remove("p/a")),
        failure(|| bucket.copy("p/a", "p/b")),
    ];
    for told in told {
        assert!(told.contains("403") && told.contains("SignatureDoesNotMatch"), "{told}");
        assert!(!told.contains("StringToSign") && !told.contains("AWS4"), "{told}");
    }
}

#[test]
fn a_copy_that_answers_200_and_a_refusal_is_a_failure() {
    for code in ["AccessDenied", "InternalError"] {
        let body = format!("<Error><Code>{code}</Code><Message>KEYIDOFTHISTEST</Message></Error>");
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n");
        let (address, _) = store(answered(format!("{head}\r\n{body}")));
        let told = failure(|| open(address).copy("p/a", "p/b"));
        assert!(told.contains(code) && !told.contains("KEYIDOFTHISTEST"), "{told}");
    }
}

#[test]
fn a_list_that_is_longer_than_any_is_a_failure() {
    let body = "<ListBucketResult>".to_owned() + &" ".repeat(9 << 20);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n", body.len());
    let (address, _) = store(answered(format!("{head}connection: close\r\n\r\n{body}")));
    let told = failure(|| open(address).list("p/", None, 10));
    assert!(told.contains("more than"), "{told}");
}

#[test]
fn a_completion_that_answers_200_and_a_refusal_is_told_by_its_code() {
    for (code, requests_max) in [("AccessDenied", 3), ("InternalError", 7)] {
        let refusal = format!(
            "<CompleteMultipartUploadResult/><Error><Code>{code}</Code>\
             <Message>KEYIDOFTHISTEST</Message></Error>"
        );
        let nth = AtomicU64::new(0);
        let (address, requests) = store(move |stream| {
            let body = match nth.fetch_add(1, Ordering::SeqCst) {
                0 => "<Begun><UploadId>1</UploadId></Begun>",
                1 => "",
                _ => &refusal,
            };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\netag: \"e\"\r\ncontent-length: {length}\r\n");
            answered(format!("{head}connection: close\r\n\r\n{body}"))(stream);
        });
        let mut parts = open(address).begin("p/a").unwrap();
        parts.add(vec![1; 10]).unwrap();
        let told = failure(|| parts.complete());
        assert!(told.contains(code), "{told}");
        assert_eq!(requests.load(Ordering::SeqCst), requests_max, "{told}");
    }
}

#[test]
fn a_text_that_is_no_list_is_a_failure_that_does_not_repeat_it() {
    let (address, _) =
        store(answered("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>KEYIDOFTHISTEST</html"));
    let told = failure(|| open(address).list("p/", None, 10));
    assert!(told.contains("list"), "{told}");
}

#[test]
fn a_list_that_does_not_end_is_a_failure() {
    let (address, requests) = store(answered(
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<ListBucketResult>\
         <IsTruncated>true</IsTruncated><Contents><Key>p/a</Key><Size>1</Size>\
         <LastModified>2026-11-25T12:00:00Z</LastModified></Contents></ListBucketResult>",
    ));
    failure(|| open(address).list("p/", None, 10));
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}
