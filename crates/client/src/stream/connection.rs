//! One connection of a stream.

use super::StreamOptions;
use super::subscription::request;
use crate::http::SIGNED_AGAIN_MAX;
use crate::{Client, ClientError, Credentials, Refusal};
use futures_util::{SinkExt, StreamExt};
use rialto_api::sign::{SignRequest, now_us};
use rialto_api::{ErrorAnswer, Route, StreamMessage, StreamOp, StreamRequest};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{self, Message};

/// How long connecting and authenticating may take each.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// The close code for a key that is no longer valid.
const KEY_NOT_VALID: u16 = 4003;

/// Why a connection ended.
pub(super) enum Ended {
    /// Connecting again may help.
    Lost(String),
    /// Connecting again would not help.
    Refused(ClientError),
}

impl From<Ended> for ClientError {
    fn from(ended: Ended) -> ClientError {
        match ended {
            Ended::Lost(reason) => ClientError::Unreachable(reason),
            Ended::Refused(error) => error,
        }
    }
}

/// A connection that is authenticated if there is a key.
pub(super) struct Connection {
    socket: WebSocketStream<TcpStream>,
    silence_max: Duration,
}

impl Connection {
    pub(super) async fn open(client: &Client, options: &StreamOptions) -> Result<Self, Ended> {
        let connecting = tokio::time::timeout(HANDSHAKE_MAX, connect(client.url())).await;
        let socket = connecting.map_err(|_| Ended::Lost(late(client.url())))??;
        let mut connection = Connection { socket, silence_max: options.silence_max };
        if let Credentials::Key { id, secret } = client.credentials() {
            for attempt in 0.. {
                let asked = authentication(client, id, secret.as_bytes(), options);
                connection.send(&asked).await?;
                let answer = connection.receive_answer();
                let answered = tokio::time::timeout(HANDSHAKE_MAX, answer).await;
                match answered.map_err(|_| Ended::Lost(late(client.url())))?? {
                    StreamMessage::Authenticated { .. } => break,
                    // A venue that has just started accepts no signatures for a second.
                    StreamMessage::Error { error, .. }
                        if error.code == "timestamp_outside_window"
                            && attempt < SIGNED_AGAIN_MAX =>
                    {
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                    StreamMessage::Error { error, .. } => {
                        let refusal = Refusal::of(401, error, String::new());
                        return Err(Ended::Refused(ClientError::Refused(Box::new(refusal))));
                    }
                    _ => return Err(Ended::Lost("the venue did not answer `auth`".to_owned())),
                }
            }
        }
        Ok(connection)
    }

    pub(super) async fn send(&mut self, request: &StreamRequest<'_>) -> Result<(), Ended> {
        let text = serde_json::to_string(request).map_err(|error| {
            Ended::Refused(ClientError::Invalid(format!("cannot write a message: {error}")))
        })?;
        let sent = tokio::time::timeout(HANDSHAKE_MAX, self.socket.send(Message::text(text))).await;
        sent.map_err(|_| Ended::Lost("the venue takes no messages".to_owned()))?.map_err(lost)
    }

    /// The next message that is not a heartbeat: one may come before the answer to a request.
    async fn receive_answer(&mut self) -> Result<StreamMessage<'static>, Ended> {
        loop {
            match self.receive().await? {
                StreamMessage::Heartbeat { .. } => {}
                answer => return Ok(answer),
            }
        }
    }

    /// The next message. It can be dropped and called again: nothing is lost.
    pub(super) async fn receive(&mut self) -> Result<StreamMessage<'static>, Ended> {
        loop {
            let next = tokio::time::timeout(self.silence_max, self.socket.next()).await;
            let came = match next {
                Ok(Some(came)) => came.map_err(lost)?,
                Ok(None) => return Err(Ended::Lost("the venue ended the connection".to_owned())),
                Err(_) => return Err(Ended::Lost("the venue has gone silent".to_owned())),
            };
            match came {
                Message::Text(text) => {
                    return serde_json::from_str(&text).map_err(|error| {
                        let message = format!("the stream sent something else ({error})");
                        Ended::Refused(ClientError::Malformed(message))
                    });
                }
                Message::Close(frame) => {
                    let (code, reason) = frame
                        .map(|frame| (u16::from(frame.code), frame.reason.to_string()))
                        .unwrap_or_default();
                    return Err(closed(code, reason));
                }
                _ => {}
            }
        }
    }
}

async fn connect(url: &str) -> Result<WebSocketStream<TcpStream>, Ended> {
    let authority = url.trim_start_matches("http://");
    let host = match authority.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => authority.to_owned(),
        _ => format!("{authority}:80"),
    };
    let unreachable = |error| Ended::Lost(format!("no answer from the venue at {url}: {error}"));
    let socket = TcpStream::connect(host).await.map_err(unreachable)?;
    socket.set_nodelay(true).map_err(unreachable)?;
    let target = format!("ws://{authority}{}", Route::Stream.path());
    match tokio_tungstenite::client_async(target, socket).await {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::Error::Http(answer)) => {
            let status = answer.status().as_u16();
            let body = answer.into_body().unwrap_or_default();
            let told = serde_json::from_slice::<ErrorAnswer>(&body).ok();
            let message =
                told.as_ref().map_or_else(String::new, |it| format!(": {}", it.error.message));
            let message = format!("the venue at {url} answered {status}{message}");
            Err(match (status, told) {
                (429 | 500.., _) => Ended::Lost(message),
                (_, Some(answer)) => {
                    let body = String::from_utf8_lossy(&body).into_owned();
                    let refusal = Refusal::of(status, answer.error, body);
                    Ended::Refused(ClientError::Refused(Box::new(refusal)))
                }
                (_, None) => Ended::Refused(ClientError::Malformed(message)),
            })
        }
        Err(error) => Err(lost(error)),
    }
}

fn authentication<'a>(
    client: &Client,
    id: &'a str,
    secret: &[u8; 32],
    options: &StreamOptions,
) -> StreamRequest<'a> {
    let (timestamp_us, nonce) = (now_us(), client.next_nonce());
    let (method, path) = (Route::Stream.method(), Route::Stream.path());
    let signed =
        SignRequest { timestamp_us, nonce: &nonce, method, path, durability: "", body: b"" };
    let signature = signed.sign(secret);
    StreamRequest {
        key: Some(id.into()),
        timestamp: Some(timestamp_us.to_string().into()),
        nonce: Some(nonce.into()),
        signature: Some(signature.into()),
        cancel_on_disconnect: options.cancel_on_disconnect.then_some(true),
        ..request(StreamOp::Auth)
    }
}

fn late(url: &str) -> String {
    format!("the venue at {url} does not answer")
}

fn lost(error: tungstenite::Error) -> Ended {
    Ended::Lost(format!("the connection broke: {error}"))
}

fn closed(code: u16, reason: String) -> Ended {
    if code != KEY_NOT_VALID {
        return Ended::Lost(format!("the venue closed the connection: {code} {reason}"));
    }
    let refusal = Refusal {
        status: 401,
        code: "key_not_valid".to_owned(),
        message: "The key expired or was revoked, or its secret was rotated.".to_owned(),
        field: None,
        seq: None,
        retry_after: None,
        body: String::new(),
    };
    Ended::Refused(ClientError::Refused(Box::new(refusal)))
}
