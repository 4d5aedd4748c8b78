//! Authentication and authorisation: API keys, the admin key, signatures, and the key file.

mod bus;
mod check;
mod claim;
mod file;
mod key;
mod link;
mod replay;
mod seal;
mod store;

pub(crate) use bus::{CreateKey, KeyBus, ListKeys, RevokeKey, RotateKey};
pub use check::Caller;
pub(crate) use check::{Gatekeeper, Standing};
pub(crate) use claim::Claim;
pub use file::{KeyFileError, MasterKey};
pub use key::{AdminKey, KeyInfo, KeyRequest};
pub(crate) use link::{LINK_LIFE_MAX, LinkTarget};
pub use rialto_api::sign::{
    HEADER_BODY_SHA256, HEADER_DURABILITY, HEADER_KEY, HEADER_NONCE, HEADER_SIGNATURE,
    HEADER_TIMESTAMP, Secret, SignRequest, now_us,
};
pub use store::{KeyStore, KeyStoreError, OpenedKeys};
