//! Links: one request to the depot that a key permits to everyone who has the link.
//!
//! A link names the key that made it, and ends with a code over the verb, the tenant, the file and the
//! time of its expiry. The code is made with a key that is derived from the secret, so that a link dies
//! with its secret, and that no link is a signature of a request.

use aws_lc_rs::hmac;
use rialto_api::sign::{from_hex, to_hex};
use std::time::Duration;

/// The longest life of a link.
pub(crate) const LINK_LIFE_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The name of the admin key in a link. Ids of other keys begin with `rk_`.
pub(super) const OPERATOR: &str = "admin";
/// What the key of a secret's links is derived with.
const DERIVATION: &[u8] = b"rialto depot links 1";

/// The key that the codes of links are made with.
pub(super) struct LinkKey(hmac::Key);

/// What a link permits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkTarget<'a> {
    /// Reading this file.
    Get {
        /// The tenant.
        tenant: &'a str,
        /// The id of the file.
        id: &'a str,
    },
    /// Storing files under this name.
    Put {
        /// The tenant.
        tenant: &'a str,
        /// The directory.
        directory: &'a str,
        /// The name.
        name: &'a str,
    },
}

/// A link as it stands in a query.
pub(super) struct Link<'a> {
    pub(super) key: &'a str,
    pub(super) expires_us: u64,
    code: [u8; 32],
}

impl LinkKey {
    /// The key of the links of a secret.
    pub(super) fn of(secret: &[u8; 32]) -> LinkKey {
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), DERIVATION);
        LinkKey(hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref()))
    }

    /// The link to a target.
    pub(super) fn link(&self, key: &str, target: LinkTarget<'_>, expires_us: u64) -> String {
        let code = hmac::sign(&self.0, &covered(key, target, expires_us));
        format!("1.{key}.{expires_us}.{}", to_hex(code.as_ref()))
    }

    /// Whether a link to a target is one of this secret. The time does not depend on the code.
    pub(super) fn made(&self, link: &Link<'_>, target: LinkTarget<'_>) -> bool {
        let covered = covered(link.key, target, link.expires_us);
        hmac::verify(&self.0, &covered, &link.code).is_ok()
    }
}

/// The text that the code covers. No part can have a line feed.
fn covered(key: &str, target: LinkTarget<'_>, expires_us: u64) -> Vec<u8> {
    let target = match target {
        LinkTarget::Get { tenant, id } => format!("get\n{tenant}\n{id}"),
        LinkTarget::Put { tenant, directory, name } => {
            format!("put\n{tenant}\n{directory}\n{name}")
        }
    };
    format!("rialto-link-1\n{key}\n{expires_us}\n{target}").into_bytes()
}

impl<'a> Link<'a> {
    /// Reads a link. Each has one form.
    pub(super) fn read(text: &'a str) -> Option<Link<'a>> {
        let mut parts = text.strip_prefix("1.")?.split('.');
        let (key, expires, code) = (parts.next()?, parts.next()?, parts.next()?);
        let expires_us: u64 = expires.parse().ok()?;
        let is_whole = parts.next().is_none() && expires_us.to_string() == expires;
        let code = from_hex(code).filter(|_| is_whole)?;
        Some(Link { key, expires_us, code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_for_its_key_target_and_time_only() {
        let (key, other) = (LinkKey::of(&[1; 32]), LinkKey::of(&[2; 32]));
        let target = LinkTarget::Get { tenant: "acme", id: "07" };
        let text = key.link("rk_1", target, 1_000);
        let made = |key: &LinkKey, text: &str, target| {
            Link::read(text).is_some_and(|link| key.made(&link, target))
        };
        assert!(made(&key, &text, target));
        assert!(!made(&other, &text, target));
        for target in [
            LinkTarget::Get { tenant: "acme", id: "08" },
            LinkTarget::Get { tenant: "other", id: "07" },
            LinkTarget::Put { tenant: "acme", directory: "", name: "07" },
            LinkTarget::Put { tenant: "acme", directory: "07", name: "" },
        ] {
            assert!(!made(&key, &text, target), "{target:?}");
        }
        for at in 0..text.len() {
            for byte in [b'0', b'1', b'f', b'.', b'A'] {
                let mut changed = text.clone().into_bytes();
                changed[at] = byte;
                let changed = String::from_utf8(changed).unwrap();
                assert!(changed == text || !made(&key, &changed, target), "{changed}");
            }
        }
        for more in [
            format!("{text}.0"),
            format!("{text}0"),
            format!(" {text}"),
            text.replace(".1000.", ".01000."),
        ] {
            assert!(!made(&key, &more, target), "{more}");
        }
    }

    #[test]
    fn parts_of_a_path_cannot_change_places() {
        let key = LinkKey::of(&[1; 32]);
        let target = LinkTarget::Put { tenant: "acme", directory: "a/b", name: "c" };
        let text = key.link("rk_1", target, 1_000);
        let link = Link::read(&text).unwrap();
        assert!(key.made(&link, target));
        for (directory, name) in [("a", "b/c"), ("a/b/c", ""), ("", "a/b/c")] {
            assert!(!key.made(&link, LinkTarget::Put { tenant: "acme", directory, name }));
        }
    }
}
