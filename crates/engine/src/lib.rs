//! The sequencer: ingress, stamp, journal, apply, release; durability levels; snapshots; recovery; replay.
