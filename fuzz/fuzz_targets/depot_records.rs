//! Records of files, as they stand in messages, in the history and in the footers of stored bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_depot::{Directory, FileName, FileRecord};

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = postcard::from_bytes::<FileRecord>(bytes) else { return };
    // A record that can be read has the names of a file, so that no path of it leads elsewhere.
    assert!(Directory::new(record.directory.as_str()).is_ok());
    assert!(FileName::new(record.name.as_str()).is_ok());
    let again = postcard::to_allocvec(&record).expect("what was read can be written");
    assert_eq!(postcard::from_bytes::<FileRecord>(&again).as_ref(), Ok(&record));
});
