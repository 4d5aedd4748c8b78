//! What a store answers, before `object_store` reads it.
//!
//! `object_store` puts the body of a refusal into its errors, and some stores repeat in it the key id or
//! the text that was signed. So only the code of a refusal is handed on. It also refuses a page of a list
//! for a single key that is not one of its paths, so that lists are read here.

use crate::listing::{Page, page};
use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService, ReqwestConnector,
};
use std::sync::Arc;

/// The most bytes of a refusal in which its code is looked for, and of the answer to a copy or to parts.
const REFUSAL_BYTES_MAX: usize = 64 << 10;
/// The most bytes of a page of a list: 1,000 keys of 1,024 bytes, escaped, and what is said of each.
const LIST_BYTES_MAX: usize = 8 << 20;
const CODE_BYTES_MAX: usize = 64;

/// Connects as `object_store` does, and reads the answers.
#[derive(Debug)]
pub(crate) struct AnswersConnector;

impl HttpConnector for AnswersConnector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Answers { client }))
    }
}

#[derive(Debug)]
struct Answers {
    client: HttpClient,
}

/// What a request asks for.
enum Asks {
    /// A page of a list.
    List,
    /// A copy, or the beginning or the completion of parts. Its success may have a refusal as its body.
    MayRefuseLater,
    Other,
}

fn asks(request: &HttpRequest) -> Asks {
    let query = request.uri().query().unwrap_or_default();
    let is_list = query.split('&').any(|it| it == "list-type=2");
    match request.method().as_str() {
        "GET" if is_list => Asks::List,
        "POST" => Asks::MayRefuseLater,
        "PUT" if request.headers().contains_key("x-amz-copy-source") => Asks::MayRefuseLater,
        _ => Asks::Other,
    }
}

#[async_trait]
impl HttpService for Answers {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let asks = asks(&request);
        let (mut parts, body) = self.client.execute(request).await?.into_parts();
        if !parts.status.is_success() {
            let code = code(&beginning(body, REFUSAL_BYTES_MAX).await?).unwrap_or_default();
            return Ok(HttpResponse::from_parts(parts, code.into()));
        }
        let body = match asks {
            Asks::Other => body,
            Asks::List => {
                let page = page(&whole(body, LIST_BYTES_MAX).await?);
                let page = page.map_err(|error| HttpError::new(HttpErrorKind::Decode, error))?;
                parts.extensions.insert::<Arc<Page>>(Arc::new(page));
                String::from("<ListBucketResult></ListBucketResult>").into()
            }
            Asks::MayRefuseLater => success_alone(body).await?,
        };
        Ok(HttpResponse::from_parts(parts, body))
    }
}

/// A refusal that came as a success.
#[derive(Debug, thiserror::Error)]
#[error("the store answered 200 and refused it: {code}")]
struct RefusedInSuccess {
    code: String,
}

/// The body of a success. `object_store` repeats the request if its text has one of two codes.
async fn success_alone(body: HttpResponseBody) -> Result<HttpResponseBody, HttpError> {
    let bytes = whole(body, REFUSAL_BYTES_MAX).await?;
    let is_refusal = bytes.windows(b"<Error>".len()).any(|it| it == b"<Error>");
    if !is_refusal {
        return Ok(bytes.into());
    }
    let code = code(&bytes).unwrap_or_else(|| "without a code".to_owned());
    match code.as_str() {
        "InternalError" | "SlowDown" => Ok(code.into()),
        _ => Err(HttpError::new(HttpErrorKind::Decode, RefusedInSuccess { code })),
    }
}

/// An answer that is longer than any of its kind.
#[derive(Debug, thiserror::Error)]
#[error("the store answered with more than {0} bytes")]
struct TooLong(usize);

/// A body of at most `max` bytes.
async fn whole(body: HttpResponseBody, max: usize) -> Result<Vec<u8>, HttpError> {
    let read = beginning(body, max + 1).await?;
    match read.len() > max {
        true => Err(HttpError::new(HttpErrorKind::Decode, TooLong(max))),
        false => Ok(read),
    }
}

/// The first `max` bytes of a body. The rest is not read.
async fn beginning(body: HttpResponseBody, max: usize) -> Result<Vec<u8>, HttpError> {
    let (mut body, mut read) = (body.bytes_stream(), Vec::new());
    while let Some(bytes) = body.next().await {
        let bytes = bytes?;
        let room = max - read.len();
        read.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if read.len() == max {
            break;
        }
    }
    Ok(read)
}

/// The code of a refusal, if it is a word.
fn code(body: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(body);
    let (_, after) = text.split_once("<Code>")?;
    let (code, _) = after.split_once("</Code>")?;
    let is_word = (1..=CODE_BYTES_MAX).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    is_word.then(|| code.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_word() {
        let refusal =
            b"<?xml version=\"1.0\"?><Error><Code>SlowDown</Code><Message>m</Message></Error>";
        assert_eq!(code(refusal).unwrap(), "SlowDown");
        let long = format!("<Code>{}</Code>", "a".repeat(CODE_BYTES_MAX + 1));
        for body in ["", "<Code>", "<Code></Code>", "<Code>a b</Code>", "<Code><a></Code>", &long] {
            assert_eq!(code(body.as_bytes()), None, "{body}");
        }
    }
}
