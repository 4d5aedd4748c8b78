//! The key store: API keys and the hash of the admin key, in memory and on disk.

use super::file::{AuthDir, KeyFileError, MasterKey};
use super::key::{
    AdminHash, AdminKey, KeyInfo, KeyRecord, KeyRequest, LiveKey, PreviousSecret, random,
    random_secret,
};
use rialto_api::sign::{Secret, now_us, to_hex};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::watch;

/// The most keys of a store, revoked ones included.
const KEYS_MAX: usize = 10_000;
const LABEL_BYTES_MAX: usize = 100;

/// An error of the key store.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: KeyFileError,
    },
    /// There is no key with this id.
    #[error("there is no key {0}")]
    UnknownKey(String),
    /// The key was revoked.
    #[error("the key {0} was revoked; make a new one")]
    Revoked(String),
    /// The store is full.
    #[error("the store has {KEYS_MAX} keys, the most that it may have")]
    Full,
    /// The label is too long.
    #[error("a label is at most {LABEL_BYTES_MAX} bytes long")]
    LabelTooLong,
}

impl From<(PathBuf, KeyFileError)> for KeyStoreError {
    fn from((path, source): (PathBuf, KeyFileError)) -> KeyStoreError {
        KeyStoreError::File { path, source }
    }
}

/// An opened key store.
pub struct OpenedKeys {
    /// The store.
    pub keys: KeyStore,
    /// The admin key, if it was created now. It can be shown only once.
    pub new_admin_key: Option<AdminKey>,
}

/// API keys and the hash of the admin key, in an encrypted file outside of the journal.
///
/// A change is on disk before it takes effect. Readers are never blocked by changes.
pub struct KeyStore {
    state: Mutex<State>,
    live: RwLock<Arc<Live>>,
    /// Announces each change once it is in effect.
    changed: watch::Sender<u64>,
}

struct State {
    dir: AuthDir,
    content: Content,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    admin_sha256: AdminHash,
    keys: Vec<KeyRecord>,
}

/// The keys that authenticate requests.
pub(super) struct Live {
    /// The number of changes since the store was opened.
    pub(super) change: u64,
    pub(super) admin: AdminHash,
    pub(super) keys: HashMap<String, Arc<LiveKey>>,
}

impl KeyStore {
    /// Opens the store in `dir`, the directory `auth` of the data directory. The first time it
    /// creates the admin key.
    ///
    /// # Errors
    /// A file is damaged, readable by others or missing, or another process uses the store.
    pub fn open(dir: &Path, master: &MasterKey) -> Result<OpenedKeys, KeyStoreError> {
        let dir = AuthDir::open(dir, master)?;
        let (content, new_admin_key) = match dir.read()? {
            Some(bytes) => {
                let content = serde_json::from_slice(&bytes).map_err(|error| dir.error(error))?;
                (content, None)
            }
            None => {
                let key = AdminKey::random();
                let content = Content { admin_sha256: key.hash(), keys: Vec::new() };
                dir.write(&encode(&content))?;
                (content, Some(key))
            }
        };
        let live = RwLock::new(Arc::new(Live::new(&content, None)));
        let state = Mutex::new(State { dir, content });
        let keys = KeyStore { state, live, changed: watch::Sender::new(0) };
        Ok(OpenedKeys { keys, new_admin_key })
    }

    /// Whether `dir` has a store, so that opening it creates no admin key.
    #[must_use]
    pub fn exists(dir: &Path) -> bool {
        AuthDir::has_keys(dir)
    }

    /// Replaces the admin key of the store in `dir` while no venue uses it. The old one stops
    /// working.
    ///
    /// # Errors
    /// The store cannot be opened or written, or a venue uses it.
    pub fn reset_admin_key(dir: &Path, master: &MasterKey) -> Result<AdminKey, KeyStoreError> {
        let opened = Self::open(dir, master)?;
        let key = AdminKey::random();
        opened.keys.change(|content| {
            content.admin_sha256 = key.hash();
            Ok(())
        })?;
        Ok(key)
    }

    /// Creates an API key. Its secret is returned only here.
    ///
    /// # Errors
    /// The label is too long, the store is full or cannot be written.
    pub fn create(&self, request: KeyRequest) -> Result<(KeyInfo, Secret), KeyStoreError> {
        if request.label.len() > LABEL_BYTES_MAX {
            return Err(KeyStoreError::LabelTooLong);
        }
        let secret = random_secret();
        let record = KeyRecord {
            id: format!("rk_{}", to_hex(&random::<12>())),
            label: request.label,
            member: request.member,
            accounts: request.accounts,
            scopes: request.scopes.iter().collect(),
            queues: request.queues,
            depot: request.depot,
            created_us: now_us(),
            expires_us: request.expires_us,
            revoked_us: None,
            secret: secret.clone(),
            previous: None,
        };
        let info = record.info();
        self.change(|content| {
            if content.keys.len() >= KEYS_MAX {
                return Err(KeyStoreError::Full);
            }
            content.keys.push(record);
            Ok(())
        })?;
        Ok((info, secret))
    }

    /// Gives a key a new secret, which is returned only here. The old one still works for
    /// `overlap_us` microseconds; an older one stops working.
    ///
    /// # Errors
    /// There is no such key, it was revoked, or the store cannot be written.
    pub fn rotate(&self, id: &str, overlap_us: u64) -> Result<(KeyInfo, Secret), KeyStoreError> {
        let secret = random_secret();
        let info = self.change(|content| {
            let record = find(content, id)?;
            if record.revoked_us.is_some() {
                return Err(KeyStoreError::Revoked(id.to_owned()));
            }
            let old = std::mem::replace(&mut record.secret, secret.clone());
            let until_us = now_us().saturating_add(overlap_us);
            record.previous = (overlap_us > 0).then_some(PreviousSecret { secret: old, until_us });
            Ok(record.info())
        })?;
        Ok((info, secret))
    }

    /// Revokes a key. This cannot be undone. Revoking it again changes nothing.
    ///
    /// # Errors
    /// There is no such key, or the store cannot be written.
    pub fn revoke(&self, id: &str) -> Result<KeyInfo, KeyStoreError> {
        self.change(|content| {
            let record = find(content, id)?;
            record.revoked_us.get_or_insert_with(now_us);
            record.previous = None;
            Ok(record.info())
        })
    }

    /// All keys in order of creation, revoked ones included.
    #[must_use]
    pub fn list(&self) -> Vec<KeyInfo> {
        self.lock().content.keys.iter().map(KeyRecord::info).collect()
    }

    pub(super) fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Announces each change of a key.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A change is made on a copy, so that a poisoned lock's state is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Content) -> Result<T, KeyStoreError>,
    ) -> Result<T, KeyStoreError> {
        let mut state = self.lock();
        let mut content = state.content.clone();
        let result = change(&mut content)?;
        state.dir.write(&encode(&content)).inspect_err(|(path, error)| {
            tracing::error!("the keys cannot be stored in {}: {error}", path.display());
        })?;
        let live = Arc::new(Live::new(&content, Some(&self.live())));
        state.content = content;
        let change = live.change;
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = live;
        self.changed.send_replace(change);
        Ok(result)
    }
}

impl Live {
    /// Keys in `before` keep the use of their allowances.
    fn new(content: &Content, before: Option<&Live>) -> Live {
        let change = before.map_or(0, |before| before.change + 1);
        let keys = content.keys.iter().map(|record| {
            let old = before.and_then(|before| before.keys.get(&record.id));
            (record.id.clone(), Arc::new(LiveKey::new(record, old.map(|old| &**old), change)))
        });
        Live { change, admin: content.admin_sha256.clone(), keys: keys.collect() }
    }
}

fn find<'a>(content: &'a mut Content, id: &str) -> Result<&'a mut KeyRecord, KeyStoreError> {
    let mut keys = content.keys.iter_mut();
    keys.find(|key| key.id == id).ok_or_else(|| KeyStoreError::UnknownKey(id.to_owned()))
}

fn encode(content: &Content) -> Vec<u8> {
    serde_json::to_vec(content).expect("the content has string keys and no floats")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_api::{DepotGrant, DepotRight, QueueGrant, QueueRight, TenantPattern, TopicPattern};
    use rialto_desk::Scope;
    use rialto_model::{AccountId, MemberId};
    use std::os::unix::fs::PermissionsExt;

    fn request() -> KeyRequest {
        KeyRequest {
            label: "desk".to_owned(),
            member: MemberId(1),
            accounts: vec![AccountId(2)],
            scopes: [Scope::Read, Scope::Trade].into_iter().collect(),
            queues: vec![QueueGrant {
                topics_max: None,
                groups_max: Some(7),
                bytes_max: Some(1 << 30),
                topics: TopicPattern::new("jobs.*").unwrap(),
                rights: vec![QueueRight::Produce],
            }],
            depot: vec![DepotGrant {
                tenants: TenantPattern::new("acme-*").unwrap(),
                rights: vec![DepotRight::Read, DepotRight::Work],
            }],
            expires_us: None,
        }
    }

    #[test]
    fn keys_survive_the_process_and_the_file_contains_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let opened = KeyStore::open(dir.path(), &MasterKey::Find).unwrap();
        let admin = opened.new_admin_key.unwrap();
        let (info, secret) = opened.keys.create(request()).unwrap();
        drop(opened.keys);

        let bytes = std::fs::read(dir.path().join("keys")).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&info.id) && !text.contains(&secret.reveal()));
        for file in ["keys", "master.key"] {
            let mode = std::fs::metadata(dir.path().join(file)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}");
        }

        let again = KeyStore::open(dir.path(), &MasterKey::Find).unwrap();
        assert!(again.new_admin_key.is_none());
        assert_eq!(again.keys.list(), [info]);
        assert!(again.keys.live().admin.matches(admin.reveal()));
        assert!(!again.keys.live().admin.matches("ra_"));
    }

    #[test]
    fn one_process_at_a_time_uses_a_store() {
        let dir = tempfile::tempdir().unwrap();
        let opened = KeyStore::open(dir.path(), &MasterKey::Find).unwrap();
        let Err(KeyStoreError::File { source: KeyFileError::InUse, .. }) =
            KeyStore::reset_admin_key(dir.path(), &MasterKey::Find)
        else {
            panic!("a second process got in");
        };
        drop(opened);
        let reset = KeyStore::reset_admin_key(dir.path(), &MasterKey::Find).unwrap();
        let again = KeyStore::open(dir.path(), &MasterKey::Find).unwrap();
        assert!(again.keys.live().admin.matches(reset.reveal()));
    }

    #[test]
    fn a_missing_exposed_or_wrong_master_key_is_named() {
        let dir = tempfile::tempdir().unwrap();
        drop(KeyStore::open(dir.path(), &MasterKey::Find).unwrap());
        let path = dir.path().join("master.key");
        let error = || KeyStore::open(dir.path(), &MasterKey::Find).err().unwrap().to_string();

        let mode = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, mode(0o644)).unwrap();
        assert!(error().contains("master.key") && error().contains("chmod 600"), "{}", error());
        std::fs::set_permissions(&path, mode(0o600)).unwrap();
        std::fs::write(&path, "0".repeat(64)).unwrap();
        assert!(error().contains("another master key"), "{}", error());
        std::fs::remove_file(&path).unwrap();
        assert!(error().contains("it is missing"), "{}", error());
    }

    #[test]
    fn the_key_file_is_not_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (auth, theirs) = (dir.path().join("auth"), dir.path().join("theirs"));
        std::fs::create_dir(&auth).unwrap();
        std::fs::write(&theirs, "as it was").unwrap();
        for name in ["keys.new", "master.new"] {
            std::os::unix::fs::symlink(&theirs, auth.join(name)).unwrap();
        }
        let keys = KeyStore::open(&auth, &MasterKey::Find).unwrap().keys;
        keys.create(request()).unwrap();
        assert_eq!(std::fs::read(&theirs).unwrap(), b"as it was");
        assert!(!auth.join("keys").is_symlink() && !auth.join("master.key").is_symlink());
    }

    #[test]
    fn a_key_without_grants_is_kept_as_it_was_before_there_were_grants() {
        let dir = tempfile::tempdir().unwrap();
        let keys = KeyStore::open(dir.path(), &MasterKey::Given([1; 32])).unwrap().keys;
        keys.create(KeyRequest { queues: Vec::new(), depot: Vec::new(), ..request() }).unwrap();
        let bytes = encode(&keys.lock().content);
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("queues") && !text.contains("depot"));
        let read: Content = serde_json::from_slice(&bytes).unwrap();
        assert!(read.keys[0].queues.is_empty() && read.keys[0].depot.is_empty());
    }

    #[test]
    fn a_revoked_key_cannot_be_rotated() {
        let dir = tempfile::tempdir().unwrap();
        let keys = KeyStore::open(dir.path(), &MasterKey::Given([1; 32])).unwrap().keys;
        let (info, _) = keys.create(request()).unwrap();
        let revoked = keys.revoke(&info.id).unwrap();
        assert!(revoked.revoked_us.is_some());
        assert!(matches!(keys.rotate(&info.id, 0), Err(KeyStoreError::Revoked(_))));
        assert!(matches!(keys.revoke("rk_0"), Err(KeyStoreError::UnknownKey(_))));
    }
}
