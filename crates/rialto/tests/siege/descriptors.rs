//! Topics that use up descriptors.

use crate::honest::unharmed;
use crate::pace::turn;
use crate::venue::Besieged;
use serde_json::json;
use std::collections::BTreeMap;

/// With an open file in each lane, more than 1,024.
const TOPICS: u32 = 24;

#[test]
fn topics_leave_descriptors_for_the_journal() {
    let mut turn = turn();
    let besieged = Besieged::with_descriptors(1_024, "[queue]\nenabled = true\n");
    let honest = besieged.trader();
    let writer = besieged.trader();
    let grants = json!([{"topics": "t*", "rights": ["produce"]}]);
    let attacking = besieged.member(&["admin"], &grants);
    let mut number = 0;
    while turn.another() {
        unharmed("topics of 16 priorities", &besieged, &honest, || {
            let client = besieged.client(&attacking);
            let mut answers: BTreeMap<String, u32> = BTreeMap::new();
            for _ in 0..TOPICS {
                number += 1;
                let topic = json!({
                    "name": format!("t{number}"), "priorities": 16, "segment_bytes": 2 << 20,
                });
                let answer = client.send("POST", "/v1/queues", Some(&topic)).unwrap();
                let code = answer.body["error"]["code"].as_str().unwrap_or("made");
                *answers.entry(code.to_string()).or_default() += 1;
            }
            println!("{TOPICS} topics of 16 priorities: {answers:?}");
            besieged.assert_makes_files(&writer);
        });
    }
    // It starts again with its topics.
    besieged.end();
}
