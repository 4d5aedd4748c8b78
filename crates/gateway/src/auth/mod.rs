//! Who may do what: API keys, the admin key, signatures, and the file that keeps them.

mod bus;
mod check;
mod file;
mod hex;
mod key;
mod replay;
mod seal;
mod signature;
mod store;

pub(crate) use bus::{CreateKey, KeyBus, ListKeys, RevokeKey, RotateKey};
pub use check::Caller;
pub(crate) use check::{Credentials, Gatekeeper};
pub use file::{KeyFileError, MasterKey};
pub(crate) use key::random;
pub use key::{AdminKey, KeyInfo, KeyRequest, Secret};
pub use signature::{HEADER_KEY, HEADER_NONCE, HEADER_SIGNATURE, HEADER_TIMESTAMP, now_us, sign};
pub use store::{KeyStore, KeyStoreError, OpenedKeys};
