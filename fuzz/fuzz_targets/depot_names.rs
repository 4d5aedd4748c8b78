//! Names of the depot, as clients send them: one that is accepted names one place, and no other.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rialto_depot::{ClaimToken, Directory, FileId, FileName, TenantName, joined, split_path};

/// Whether a path leads nowhere but below where it begins.
fn is_plain(path: &str) -> bool {
    let parts = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    parts && !path.contains('\\') && !path.chars().any(char::is_control)
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(tenant) = TenantName::new(&text) {
        assert_eq!(tenant.as_str(), text);
        assert!(is_plain(&text) && !text.contains('/') && text.len() <= 63);
    }
    if let Ok(name) = FileName::new(&text) {
        assert_eq!(name.as_str(), text);
        assert!(is_plain(&text) && !text.contains('/') && text.len() <= 255);
    }
    if let Ok(directory) = Directory::new(&text) {
        assert_eq!(directory.as_str(), text);
        assert!(text.is_empty() || is_plain(&text));
        assert!(directory.with_ancestors().all(|above| text.starts_with(above)));
    }
    if let Ok((directory, name)) = split_path(&text) {
        assert_eq!(joined(&directory, &name), text);
        assert!(is_plain(&text));
    }
    if let Ok(id) = text.parse::<FileId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Ok(token) = text.parse::<ClaimToken>() {
        assert_eq!(token.to_string(), text);
    }
});
