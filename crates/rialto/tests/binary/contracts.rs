//! The terms of a contract, set and shown by the real binary; they outlive a kill.

use crate::operated::Operated;
use crate::running::Running;
use serde_json::json;

/// The line of the instrument, its cells separated by one space.
fn line(place: &Operated) -> String {
    let (_, listed) = place.says(&["instruments"]);
    let line = listed.lines().find(|line| line.contains("BTC-USD")).unwrap();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn terms_are_set_and_shown_and_outlive_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let settings = json!({ "lot": "0.001", "maker_fee_ppm": 100, "taker_fee_ppm": 200 });
    let mut place = Operated::with_market(dir.path(), &settings);
    assert!(line(&place).ends_with("0.000000 - 0 100 ppm 200 ppm"), "{}", line(&place));
    let (done, told) = place.admin(&[
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
    assert!(line(&place).ends_with(with_terms), "{}", line(&place));
    place.venue.kill();
    place.venue = Running::serve(dir.path(), "synced");
    assert!(line(&place).ends_with(with_terms), "{}", line(&place));

    let (done, told) = place.admin(&["contract-terms", "BTC-USD", "--remove-lot-fees"]);
    assert!(done, "{told}");
    let without = "0.000000 1000000.000000 0 100 ppm 200 ppm";
    assert!(line(&place).ends_with(without), "{}", line(&place));
    let (_, audit) = place.admin(&["audit"]);
    assert_eq!(audit.matches("set_contract_terms").count(), 2, "{audit}");

    for (words, refusal) in [
        (&["--taker-lot-fee", "1"][..], "required arguments"),
        (&["--maker-lot-fee", "1"], "required arguments"),
        (&["--notional-max", "much"], "notional_max"),
        (&["--notional-max", "-1"], "unexpected argument"),
    ] {
        let command = [&["contract-terms", "BTC-USD"], words].concat();
        let (done, told) = place.admin(&command);
        assert!(!done && told.contains(refusal), "{words:?}: {told}");
    }
    place.venue.terminate();
}
