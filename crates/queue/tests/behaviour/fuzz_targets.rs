//! The fuzz target of packed messages, with a bounded number of inputs.

#[path = "../../../../fuzz/bounded.rs"]
mod bounded;
#[path = "../../../../fuzz/fuzz_targets/packed_messages.rs"]
#[allow(unused_attributes, reason = "`no_main` is for the fuzzer")]
mod packed_messages;

use rialto_queue::packed::{PackedLeases, PackedWriter};
use rialto_queue::{MessageId, Publish};
use std::time::Duration;

fn valid() -> Vec<Vec<u8>> {
    let mut writer = PackedWriter::new();
    writer.push(&Publish::new(b"hi").key(b"k"));
    let short = writer.bytes().to_vec();
    writer.push(&Publish::new(b"one").key(b"k").header("a", b"\xff").header("b", b""));
    writer.push(&Publish::new(&[7; 600]).content_type("text/plain").schema_version(9).priority(1));
    writer.push(&Publish::new(b"").expires_after(Duration::from_secs(3_600)));
    writer.push(&Publish::new(b"later").delay(Duration::from_secs(3_600)));
    let mut leases = PackedLeases::new(7);
    for (seq, lease) in [(1, 11), (2, 12), (9, 40)] {
        leases.push(MessageId { lane: 0, seq }, lease);
    }
    let mut packed_leases = Vec::new();
    leases.write(&mut packed_leases);
    vec![short, writer.bytes().to_vec(), packed_leases]
}

#[test]
fn packed_messages_and_leases_are_refused_or_sound() {
    bounded::check(packed_messages::target, &valid());
}
