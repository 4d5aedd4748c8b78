//! Errors of a client whose venue does not answer, or answers wrongly.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_client::api::OrderRequest;
use rialto_client::model::Side;
use rialto_client::{Client, ClientError, ClientOptions, Credentials};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

/// A client of a server that answers every connection with this text; an empty text is no answer.
/// Its timeout is short only if the server is silent.
async fn client_of(answers: Vec<String>) -> Client {
    let default = ClientOptions::default();
    let is_silent = answers.iter().any(|answer| answer == "silence");
    let timeout = if is_silent { Duration::from_millis(500) } else { default.timeout };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4_096];
            let _ = socket.read(&mut buffer).await;
            if answer == "silence" {
                tokio::time::sleep(Duration::from_secs(60)).await;
            }
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    let options = ClientOptions { timeout, answer_bytes_max: 1_000, ..default };
    Client::with_options(&format!("http://{address}"), Credentials::None, options).unwrap()
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn order() -> OrderRequest<'static> {
    OrderRequest::market("BTC-USD", Side::Buy, "1")
}

#[tokio::test]
async fn a_venue_that_is_not_there_is_unreachable() {
    // A socket that has the address, and does not listen.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    let client = Client::new(&format!("http://{address}"), Credentials::None).unwrap();
    let error = client.place(&order()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn an_order_without_an_answer_has_an_unknown_outcome_and_a_query_has_none() {
    for broken in ["silence", "", "HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n{"] {
        let client = client_of(vec![broken.to_owned(); 2]).await;
        let error = client.place(&order()).await.unwrap_err();
        assert!(matches!(error, ClientError::OutcomeUnknown(_)), "{broken}: {error}");
        assert!(error.to_string().contains("client order id"), "{error}");
    }
    for broken in ["silence", ""] {
        let client = client_of(vec![broken.to_owned(); 2]).await;
        let error = client.time().await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable(_)), "{broken}: {error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_or_something_else_is_malformed() {
    let long = format!("{{\"time\":\"1\",\"x\":\"{}\"}}", "y".repeat(2_000));
    let cases = [
        answer("200 OK", "", &long),
        answer("200 OK", "", "{}"),
        answer("200 OK", "", "<html>"),
        answer("404 Not Found", "", "<html>"),
    ];
    for case in cases {
        let error = client_of(vec![case.clone()]).await.time().await.unwrap_err();
        assert!(matches!(error, ClientError::Malformed(_)), "{case}: {error}");
    }
}

#[tokio::test]
async fn a_request_that_had_no_effect_is_sent_again_when_the_venue_says_so() {
    let busy = r#"{"error":{"code":"busy","message":"Later."}}"#;
    let busy = answer("503 Service Unavailable", "retry-after: 1\r\n", busy);
    let late = r#"{"error":{"code":"timestamp_outside_window","message":"Later."}}"#;
    let late = answer("401 Unauthorized", "retry-after: 1\r\n", late);
    let time = answer("200 OK", "", r#"{"time":"17"}"#);
    let client = client_of(vec![late, busy.clone(), time]).await;
    assert_eq!(client.time().await.unwrap().time.0, 17);
    // Not for ever: the wait is bounded.
    let client = client_of(vec![busy; 9]).await;
    let ClientError::Refused(refusal) = client.time().await.unwrap_err() else {
        panic!("it is refused");
    };
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(1)));
}
