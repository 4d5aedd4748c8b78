//! Errors of the depot as errors on the bus.

use rialto_bus::{Error, ErrorKind};
use rialto_depot::volume::VolumeError;
use rialto_depot::{Claim, DepotError, InvalidDepotName};
use rialto_desk::AtField;

/// An error as a client may read it. Directories of the machine are the operator's to know: they are
/// logged, and the answer says no more than what failed.
pub(crate) fn told(error: &DepotError) -> String {
    let told = match error {
        DepotError::Bytes { id, .. } => {
            format!("the bytes of the file {id} are missing or damaged")
        }
        DepotError::Volume(
            VolumeError::NoVolume { .. }
            | VolumeError::NoRoom { .. }
            | VolumeError::NotMounted { .. }
            | VolumeError::Busy { .. }
            | VolumeError::TooManyBucketWriters { .. },
        ) => return error.to_string(),
        DepotError::Volume(_) => "a volume failed".to_owned(),
        DepotError::Queue(_)
        | DepotError::History(_)
        | DepotError::Disk(_)
        | DepotError::WorkLost { .. }
        | DepotError::Internal(_) => "the depot failed".to_owned(),
        _ => return error.to_string(),
    };
    tracing::warn!("a request to the depot failed: {error}");
    format!("{told}; the operator's log has the reason")
}

/// Why the content of a claimed file cannot be read, as a worker may read it.
pub(crate) fn told_problem(claim: &Claim) -> Option<String> {
    let problem = claim.problem()?;
    tracing::warn!(file = %claim.file().id, "a claimed file cannot be read: {problem}");
    Some("the content is missing or damaged; the operator's log has the reason".to_owned())
}

/// An error of the depot as an error on the bus.
#[must_use]
pub fn depot_error(error: DepotError) -> Error {
    let message = format!("{}.", told(&error));
    let as_kind = |kind, code| Error::new(kind, code, message.clone());
    match error {
        DepotError::Name(InvalidDepotName::Tenant(_)) => AtField("tenant").invalid(message),
        DepotError::Name(InvalidDepotName::Directory(_)) => AtField("directory").invalid(message),
        DepotError::Name(InvalidDepotName::File(_)) => AtField("name").invalid(message),
        DepotError::Invalid { field, .. } => AtField(field).invalid(message),
        DepotError::UnknownTenant(_) => {
            as_kind(ErrorKind::NotFound, "unknown_tenant").with_source(AtField("tenant"))
        }
        DepotError::UnknownFile { .. } => as_kind(ErrorKind::NotFound, "unknown_file"),
        DepotError::UnknownVolume(_) => as_kind(ErrorKind::NotFound, "unknown_volume"),
        DepotError::UnknownWatch(_) => as_kind(ErrorKind::NotFound, "unknown_watch"),
        DepotError::WatchExists(_) => as_kind(ErrorKind::Conflict, "watch_exists"),
        DepotError::WatchFailed { .. } => as_kind(ErrorKind::Conflict, "watch_failed"),
        DepotError::TenantExists(_) => as_kind(ErrorKind::Conflict, "tenant_exists"),
        DepotError::TenantStage { .. } => as_kind(ErrorKind::Conflict, "tenant_not_enabled"),
        DepotError::FileExists { .. } => as_kind(ErrorKind::Conflict, "file_exists"),
        DepotError::WrongKind { .. } => as_kind(ErrorKind::Conflict, "wrong_directory_kind"),
        DepotError::Claimed(_) => as_kind(ErrorKind::Conflict, "file_claimed"),
        DepotError::ClaimLost(_) => as_kind(ErrorKind::Conflict, "claim_lost"),
        DepotError::VolumeInUse { .. } => as_kind(ErrorKind::Conflict, "volume_in_use"),
        DepotError::SubmitConflict { .. } => {
            as_kind(ErrorKind::Conflict, "submit_conflict").with_source(AtField("idempotency-key"))
        }
        DepotError::SubmitInProgress(_) => {
            as_kind(ErrorKind::Conflict, "submit_in_progress").retryable(true)
        }
        DepotError::Quota { .. } => as_kind(ErrorKind::Busy, "quota_reached").retryable(false),
        DepotError::RateReached { .. } => as_kind(ErrorKind::Busy, "rate_reached"),
        DepotError::TooMany { .. } => as_kind(ErrorKind::Busy, "too_many").retryable(false),
        DepotError::Mismatch { .. } => {
            as_kind(ErrorKind::Invalid, "content_mismatch").with_source(AtField("body"))
        }
        DepotError::TooLarge { .. } => {
            as_kind(ErrorKind::Invalid, "file_too_large").with_source(AtField("body"))
        }
        DepotError::StorageLow => as_kind(ErrorKind::Unavailable, "storage_low"),
        DepotError::Volume(VolumeError::TooManyBucketWriters { .. }) => {
            as_kind(ErrorKind::Busy, "too_many_uploads")
        }
        DepotError::Volume(_) => as_kind(ErrorKind::Unavailable, "volume_failed"),
        DepotError::Bytes { .. } => as_kind(ErrorKind::Internal, "file_unreadable"),
        DepotError::Closed => as_kind(ErrorKind::Unavailable, "stopped"),
        // Whether the change took effect is unknown.
        DepotError::Queue(_) | DepotError::History(_) | DepotError::Disk(_) => {
            as_kind(ErrorKind::Unavailable, "depot_failed")
        }
        _ => as_kind(ErrorKind::Internal, "depot_failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::with_contents;
    use rialto_depot::{ClaimOptions, Depot, DepotOptions, NewFile, TenantName};

    /// A pool with one stored file whose bytes are gone.
    #[test]
    fn directories_of_the_machine_are_not_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut options = DepotOptions::at(dir.path());
        options.volumes.free_bytes_min = 0;
        let depot = Depot::open(options).unwrap();
        let acme = TenantName::new("acme").unwrap();
        let id = depot.put_bytes(&acme, NewFile::default(), &[7; 50_000]).unwrap().file.id;
        std::fs::remove_dir_all(dir.path().join("volume/files")).unwrap();

        let Err(error) = depot.open_file(&acme, id) else { panic!("the bytes are there") };
        let place = dir.path().to_str().unwrap();
        assert!(error.to_string().contains(place), "{error}");
        let told = depot_error(error);
        assert_eq!(told.code(), "file_unreadable");
        assert!(!told.to_string().contains(place), "{told}");
        assert!(told.to_string().contains(&id.to_string()), "{told}");

        let claims = depot.claim(&acme, &ClaimOptions::up_to(1)).unwrap();
        let claimed = with_contents(&depot, claims, true);
        let problem = claimed[0].problem.as_deref().unwrap();
        assert!(problem.contains("missing or damaged") && !problem.contains(place), "{problem}");
    }

    #[test]
    fn a_bucket_without_memory_for_an_upload_is_busy_and_has_not_failed() {
        let name = "cold".to_owned();
        let told = depot_error(VolumeError::TooManyBucketWriters { name, max: 8 << 20 }.into());
        assert_eq!((told.code(), told.is_retryable()), ("too_many_uploads", true));
        assert!(told.to_string().contains("repeat it later"), "{told}");
    }
}
