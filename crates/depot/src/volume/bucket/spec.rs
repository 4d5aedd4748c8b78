//! Where the bucket of a volume is.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The most bytes of a prefix and of an address.
const TEXT_BYTES_MAX: usize = 512;

/// Where the bucket of a volume is. Credentials are no part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketSpec {
    /// The name of the bucket: 3 to 63 of `a` to `z`, `0` to `9`, `-`, `_` and `.`.
    pub bucket: String,
    /// What the keys of the volume begin with, without a slash at its ends; empty for none. At most
    /// 512 bytes of letters, digits, `-`, `_`, `.` and `/`.
    pub prefix: String,
    /// The address of the object store: `https://HOST`, or `https://HOST:PORT`.
    pub endpoint: String,
    /// The region, which signatures name.
    pub region: String,
    /// Whether the address may begin with `http://`, so that names and bytes are readable on the
    /// network.
    pub allow_http: bool,
}

/// As messages show it: `s3://BUCKET/PREFIX`.
impl fmt::Display for BucketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.bucket)?;
        if self.prefix.is_empty() { Ok(()) } else { write!(f, "/{}", self.prefix) }
    }
}

impl BucketSpec {
    /// Checks the form of the fields; the error says what to correct.
    pub(crate) fn check(&self) -> Result<(), String> {
        let word = |text: &str, more: &[u8]| {
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
        };
        let is_lower = !self.bucket.bytes().any(|byte| byte.is_ascii_uppercase());
        if !((3..=63).contains(&self.bucket.len()) && word(&self.bucket, b"-_.") && is_lower) {
            let why = "a bucket has 3 to 63 of `a` to `z`, `0` to `9`, `-`, `_` and `.`";
            return Err(why.to_owned());
        }
        let names = self.prefix.split('/').all(|name| !matches!(name, "" | "." | ".."));
        let fits = self.prefix.len() <= TEXT_BYTES_MAX && word(&self.prefix, b"-_./") && names;
        if !(fits || self.prefix.is_empty()) {
            return Err(format!(
                "a prefix has at most {TEXT_BYTES_MAX} letters, digits, `-`, `_`, `.` and `/`, and \
                 no name in it is empty, `.` or `..`"
            ));
        }
        if !((1..=64).contains(&self.region.len()) && word(&self.region, b"-_")) {
            return Err("a region has 1 to 64 letters, digits, `-` and `_`".to_owned());
        }
        self.check_endpoint()
    }

    fn check_endpoint(&self) -> Result<(), String> {
        let host = match (self.endpoint.strip_prefix("https://"), self.allow_http) {
            (Some(host), _) => host,
            (None, allow_http) => match (self.endpoint.strip_prefix("http://"), allow_http) {
                (Some(host), true) => host,
                (Some(_), false) => {
                    return Err(
                        "its endpoint is not encrypted: use https, or allow http".to_owned()
                    );
                }
                (None, _) => return Err("an endpoint begins with https://".to_owned()),
            },
        };
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        if host.is_empty() || host.len() > TEXT_BYTES_MAX || !host.bytes().all(fits) {
            return Err("an endpoint is a host, and a port if it needs one".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_reach_another_place_is_refused() {
        let good = BucketSpec {
            bucket: "files".to_owned(),
            prefix: "pools/one".to_owned(),
            endpoint: "https://s3.example.com:9000".to_owned(),
            region: "eu-west-1".to_owned(),
            allow_http: false,
        };
        assert_eq!(good.check(), Ok(()));
        assert_eq!(BucketSpec { prefix: String::new(), ..good.clone() }.check(), Ok(()));
        for prefix in ["/a", "a/", "a//b", "..", "a/../b", ".", "a b", "a\n", &"a".repeat(513)] {
            assert!(BucketSpec { prefix: prefix.to_owned(), ..good.clone() }.check().is_err());
        }
        for bucket in ["", "ab", "Files", "a/b", &"a".repeat(64)] {
            assert!(BucketSpec { bucket: bucket.to_owned(), ..good.clone() }.check().is_err());
        }
        for endpoint in [
            "",
            "s3.example.com",
            "ftp://a",
            "https://",
            "https://a/b",
            "https://u:p@a",
            "http://a",
        ] {
            assert!(BucketSpec { endpoint: endpoint.to_owned(), ..good.clone() }.check().is_err());
        }
        let plain = BucketSpec { endpoint: "http://a:1".to_owned(), allow_http: true, ..good };
        assert_eq!(plain.check(), Ok(()));
    }
}
