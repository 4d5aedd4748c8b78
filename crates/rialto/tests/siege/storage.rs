//! A member who fills the disk.

use crate::honest::unharmed;
use crate::pace::turn;
use crate::venue::Besieged;
use crate::wire::code;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A small disk, and its thresholds for topics and for orders.
const DISK_MEBIBYTES: u32 = 512;
const SETTINGS: &str = "[queue]\nenabled = true\n\
    [storage]\nentry_free_bytes_min = 67_108_864\ntopics_free_bytes_min = 201_326_592\n";

#[test]
fn a_member_who_fills_the_disk_stops_no_orders() {
    let mut turn = turn();
    let Some(besieged) = Besieged::with_disk(DISK_MEBIBYTES, SETTINGS) else { return };
    let honest = besieged.trader();
    let rights = json!([{"topics": "t", "rights": ["produce"]}]);
    let attacking = besieged.member(&["read"], &rights);
    let topic = json!({"name": "t", "level": "buffered", "segment_bytes": 4 << 20});
    besieged.operator().call("POST", "/v1/queues", Some(&topic)).unwrap();
    let payload = "x".repeat(60_000);
    let messages = Value::from(vec![json!({"payload": payload}); 20]);
    while turn.another() {
        unharmed("a topic that fills the disk", &besieged, &honest, || {
            let client = besieged.client(&attacking);
            let mut answers: BTreeMap<String, u32> = BTreeMap::new();
            // More than the disk has room for, unless they are refused before.
            let mut refused = 0;
            for _ in 0..DISK_MEBIBYTES {
                let path = "/v1/queues/t/messages";
                let answer = client.send("POST", path, Some(&messages)).unwrap();
                refused += u32::from(answer.status >= 300);
                *answers.entry(code(&answer.body).to_string()).or_default() += 1;
                if refused == 50 {
                    break;
                }
            }
            println!("a topic that fills the disk: {answers:?}");
            let refused: Vec<&String> = answers.keys().filter(|code| *code != "none").collect();
            assert!(
                refused
                    .iter()
                    .all(|code| matches!(&***code, "storage_low" | "topic_full" | "grant_full")),
                "{answers:?}"
            );
        });
    }
    besieged.end();
}
