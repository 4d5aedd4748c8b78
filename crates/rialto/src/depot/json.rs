//! Files, tenants and volumes as the API shows them: 64-bit numbers, ids and times are text.

use rialto_depot::{
    DeadFile, DirectoryInfo, FileInfo, FileRecord, FileState, Quota, TenantInfo, Timestamp,
    VolumeStatus, WorkInfo,
};
use serde_json::{Map, Value, json};

fn time(time: Timestamp) -> String {
    time.0.to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_record(record: &FileRecord, state: FileState, attempts: u16) -> Value {
    let metadata: Map<String, Value> = record
        .metadata
        .iter()
        .map(|(name, value)| (name.clone(), Value::String(value.clone())))
        .collect();
    let until = match state {
        FileState::Claimed { until } => Some(time(until)),
        _ => None,
    };
    json!({
        "id": record.id.to_string(),
        "path": record.path(),
        "directory": record.directory.as_str(),
        "name": record.name.as_str(),
        "bytes": record.bytes.to_string(),
        "content_type": record.content_type,
        "metadata": metadata,
        "created_at": time(record.created_at),
        "expires_at": record.expires_at.map(time),
        "sha256": record.sha256.map(|sha256| hex(&sha256)),
        "crc32c": format!("{:08x}", record.crc32c),
        "state": state.name(),
        "attempts": attempts,
        "claimed_until": until,
    })
}

/// Puts the tenant behind the id.
fn with_tenant(tenant: &str, file: Value) -> Value {
    let Value::Object(file) = file else { return file };
    let mut whole = Map::new();
    for (name, value) in file {
        let is_id = name == "id";
        whole.insert(name, value);
        if is_id {
            whole.insert("tenant".to_owned(), tenant.into());
        }
    }
    whole.into()
}

/// A file in a known state.
pub(super) fn file(tenant: &str, info: &FileInfo) -> Value {
    with_tenant(tenant, of_record(&info.record, info.state, info.attempts))
}

/// A claimed file.
pub(super) fn claimed(tenant: &str, record: &FileRecord, attempt: u16, until: Timestamp) -> Value {
    with_tenant(tenant, of_record(record, FileState::Claimed { until }, attempt))
}

/// A file of which only its record is known, because it ended.
pub(super) fn record(tenant: &str, record: &FileRecord) -> Value {
    let mut file = with_tenant(tenant, of_record(record, FileState::Waiting, 0));
    file["state"] = Value::Null;
    file
}

/// A dead letter.
pub(super) fn dead(tenant: &str, dead: &DeadFile) -> Value {
    let mut file = with_tenant(tenant, of_record(&dead.record, FileState::Dead, dead.attempts));
    file["reason"] = dead.reason.clone().into();
    file["detail"] = dead.detail.clone().into();
    file
}

fn directory(info: &DirectoryInfo) -> Value {
    let Quota { files_max, bytes_max } = info.quota;
    json!({
        "directory": info.directory.as_str(),
        "kind": info.kind.map(|kind| kind.name()),
        "files": info.files.to_string(),
        "bytes": info.bytes.to_string(),
        "files_max": files_max.to_string(),
        "bytes_max": bytes_max.to_string(),
    })
}

fn work(info: &WorkInfo) -> Value {
    json!({
        "waiting": info.waiting.to_string(),
        "claimed": info.claimed.to_string(),
        "dead": info.dead.to_string(),
        "oldest_waiting_at": info.oldest_waiting.map(time),
        "accepted": info.accepted.to_string(),
        "accepted_bytes": info.accepted_bytes.to_string(),
        "claims": info.claims.to_string(),
        "completed": info.completed.to_string(),
        "failed": info.failed.to_string(),
        "expired": info.expired.to_string(),
        "deleted": info.deleted.to_string(),
    })
}

pub(super) fn tenant(info: &TenantInfo) -> Value {
    let Quota { files_max, bytes_max } = info.quota;
    let directories: Vec<_> = info.directories.iter().map(directory).collect();
    json!({
        "name": info.name.as_str(),
        "created_at": time(info.created_at),
        "stage": info.stage,
        "files": info.files.to_string(),
        "bytes": info.bytes.to_string(),
        "files_max": files_max.to_string(),
        "bytes_max": bytes_max.to_string(),
        "directories": directories,
        "work": work(&info.work),
    })
}

pub(super) fn volume(status: &VolumeStatus) -> Value {
    json!({
        "name": status.name,
        "number": status.number.0,
        "dir": status.dir.display().to_string(),
        "identity": status.identity.to_string(),
        "weight": status.weight,
        "state": status.state.to_string(),
        "free_bytes": status.free_bytes.to_string(),
        "total_bytes": status.total_bytes.to_string(),
        "last_error": status.last_error,
    })
}
