//! A venue of the real binary with one market, and its operator.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::asking::{Client, Credentials};
use crate::running::{Running, command, text};
use serde_json::{Value, json};
use std::path::Path;

pub struct Operated {
    pub venue: Running,
    pub admin_key: String,
}

impl Operated {
    /// Starts an empty venue and lists BTC-USD, with these settings beside its scales and its tick.
    pub fn with_market(dir: &Path, settings: &Value) -> Operated {
        let mut venue = Running::serve(dir, "synced");
        venue.heard("admin key: ");
        let admin_key = venue.admin_key();
        let operated = Operated { venue, admin_key };
        for code in ["BTC", "USD"] {
            operated.post("currencies", &json!({ "code": code, "scale": 6 }));
        }
        let mut instrument = json!({
            "symbol": "BTC-USD", "kind": "spot", "base": "BTC", "quote": "USD", "price_scale": 2,
            "quantity_scale": 4, "tick": "0.01", "lot": "0.0001",
        });
        for (name, value) in settings.as_object().unwrap() {
            instrument[name] = value.clone();
        }
        operated.post("instruments", &instrument);
        operated
    }

    pub fn client(&self) -> Client {
        Client::new(&self.venue.url(), Credentials::Admin(self.admin_key.clone()))
    }

    /// The answer to a request of the operator, which must succeed.
    pub fn post(&self, what: &str, body: &Value) -> Value {
        self.client().call("POST", &format!("/v1/admin/{what}"), Some(body)).expect(what)
    }

    /// The output of `rialto admin`, and whether it succeeded.
    pub fn admin(&self, words: &[&str]) -> (bool, String) {
        self.says(&[&["admin"], words].concat())
    }

    /// The output of a command with the admin key, and whether it succeeded.
    pub fn says(&self, words: &[&str]) -> (bool, String) {
        let mut command = command(&[words, &["--url", &self.venue.url()]].concat());
        let output = command.env("RIALTO_ADMIN_KEY", &self.admin_key).output().unwrap();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }
}
