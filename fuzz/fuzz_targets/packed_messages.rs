//! Packed messages and leases, as they come from clients of queues.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_queue::packed::{Packed, PackedLeases, PackedWriter};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(leases) = PackedLeases::read(bytes) {
        assert!(leases.iter().take(1_000).count() as u64 <= leases.len());
    }
    let Ok(packed) = Packed::read(bytes) else { return };
    assert_eq!(packed.messages().count(), packed.len());
    if packed.check_new().is_err() {
        return;
    }
    // What can be published is packed again as it was.
    let mut writer = PackedWriter::new();
    packed.messages().for_each(|message| writer.push(&message.to_publish()));
    let again = Packed::read(writer.bytes()).expect("what is packed here is well-formed");
    for (one, other) in packed.messages().zip(again.messages()) {
        assert_eq!(one.payload(), other.payload());
        assert_eq!(one.key(), other.key());
        assert!(one.headers().eq(other.headers()));
    }
});
