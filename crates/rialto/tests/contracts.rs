//! The terms of a contract, set and shown by the real binary; they outlive a kill.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asking;
mod running;

use asking::{Client, Credentials};
use running::{Running, command, text};
use serde_json::json;

struct Place {
    venue: Running,
    admin_key: String,
}

impl Place {
    /// The output of a command of the operator, and whether it succeeded.
    fn says(&self, words: &[&str]) -> (bool, String) {
        let url = self.venue.url();
        let mut command = command(&[words, &["--url", &url]].concat());
        let output = command.env("RIALTO_ADMIN_KEY", &self.admin_key).output().unwrap();
        (output.status.success(), text(&output.stdout) + &text(&output.stderr))
    }

    /// The line of the instrument, its cells separated by one space.
    fn line(&self) -> String {
        let (_, listed) = self.says(&["instruments"]);
        let line = listed.lines().find(|line| line.contains("BTC-USD")).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn open(dir: &std::path::Path) -> Place {
    let mut venue = Running::serve(dir, "synced");
    venue.heard("admin key: ");
    let admin_key = venue.admin_key();
    let admin = Client::new(&venue.url(), Credentials::Admin(admin_key.clone()));
    for code in ["BTC", "USD"] {
        let body = json!({ "code": code, "scale": 6 });
        admin.call("POST", "/v1/admin/currencies", Some(&body)).expect("currencies");
    }
    let body = json!({
        "symbol": "BTC-USD", "kind": "spot", "base": "BTC", "quote": "USD", "price_scale": 2,
        "quantity_scale": 4, "tick": "0.01", "lot": "0.001", "maker_fee_ppm": 100,
        "taker_fee_ppm": 200,
    });
    admin.call("POST", "/v1/admin/instruments", Some(&body)).expect("instruments");
    Place { venue, admin_key }
}

#[test]
fn terms_are_set_and_shown_and_outlive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = open(dir.path());
    assert!(place.line().ends_with("0.000000 - 0 100 ppm 200 ppm"), "{}", place.line());
    let (done, told) = place.says(&[
        "admin",
        "contract-terms",
        "BTC-USD",
        "--notional-max",
        "1000000",
        "--maker-lot-fee",
        "-0.01",
        "--taker-lot-fee",
        "0.03",
        "--auction-lot-fee",
        "0.02",
    ]);
    assert!(done, "{told}");
    let with_terms = "0.000000 1000000.000000 0 -0.010000 a lot 0.030000 a lot";
    assert!(place.line().ends_with(with_terms), "{}", place.line());
    place.venue.kill();
    place.venue = Running::serve(dir.path(), "synced");
    assert!(place.line().ends_with(with_terms), "{}", place.line());

    let (done, told) = place.says(&["admin", "contract-terms", "BTC-USD", "--remove-lot-fees"]);
    assert!(done, "{told}");
    let without = "0.000000 1000000.000000 0 100 ppm 200 ppm";
    assert!(place.line().ends_with(without), "{}", place.line());
    let (_, audit) = place.says(&["admin", "audit"]);
    assert_eq!(audit.matches("set_contract_terms").count(), 2, "{audit}");

    for (words, refusal) in [
        (&["--taker-lot-fee", "1"][..], "required arguments"),
        (&["--maker-lot-fee", "1"], "required arguments"),
        (&["--notional-max", "much"], "notional_max"),
        (&["--notional-max", "-1"], "unexpected argument"),
    ] {
        let command = [&["admin", "contract-terms", "BTC-USD"], words].concat();
        let (done, told) = place.says(&command);
        assert!(!done && told.contains(refusal), "{words:?}: {told}");
    }
    place.venue.terminate();
}
