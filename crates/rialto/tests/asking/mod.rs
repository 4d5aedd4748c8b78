//! A blocking client of a venue with JSON answers.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses a part of it")]

pub use rialto_client::{Credentials, secret};

use rialto::Error;
use rialto_client::{Client as AsyncClient, ClientError, ClientOptions, HttpRequest};
use serde_json::Value;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A client of a venue. Refusals are returned at once, without retries.
pub struct Client {
    runtime: Runtime,
    client: AsyncClient,
}

/// An answer of the venue: its HTTP status and its body.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Client {
    pub fn new(url: &str, credentials: Credentials) -> Client {
        let options = ClientOptions { retry_wait_max: Duration::ZERO, ..ClientOptions::default() };
        let client = AsyncClient::with_options(url, credentials, options).expect("an address");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Client { runtime, client }
    }

    /// The body of a successful answer.
    pub fn get(&self, path: &str) -> Result<Value, Error> {
        self.call("GET", path, None)
    }

    /// The body of a successful answer.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        Ok(self.runtime.block_on(self.client.send(&request(method, path, body)))?.read()?)
    }

    /// Any answer.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, Error> {
        let answer = self.runtime.block_on(self.client.send(&request(method, path, body)))?;
        let body = serde_json::from_slice(&answer.body)
            .map_err(|error| ClientError::Malformed(error.to_string()))?;
        Ok(Answer { status: answer.status, body })
    }

    /// The content of a successful answer that is not JSON.
    pub fn text(&self, path: &str) -> String {
        let answer = self.runtime.block_on(self.client.send(&request("GET", path, None)));
        let answer = answer.expect("the venue answers");
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body.to_vec()).expect("it is text")
    }

    /// The page of metrics.
    pub fn metrics(&self) -> String {
        self.runtime.block_on(self.client.metrics()).expect("there are figures")
    }
}

impl Answer {
    /// The body; an error for a refusal.
    pub fn accepted(self) -> Result<Value, Error> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        let error = &self.body["error"];
        let text = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
        let (code, message) = (text("code"), text("message"));
        Err(Error::Refused { code, message, body: self.body.to_string() })
    }
}

fn request<'a>(method: &'a str, path: &str, body: Option<&Value>) -> HttpRequest<'a> {
    let body = body.map(|body| ("application/json", body.to_string().into()));
    HttpRequest { method, path: path.to_owned(), body, accept: None }
}
