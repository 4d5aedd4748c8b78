//! The files of statements in the depot: each member's outbox, and the positions between runs.

use crate::error::StatementError;
use crate::positions::Positions;
use rialto_depot::{
    Depot, DepotError, Directory, DirectoryKind, FileName, Level, NewFile, Quota, TenantName,
    Upload, joined,
};
use rialto_model::{MemberId, Seq, Timestamp};
use serde::{Deserialize, Serialize};

/// The shelf of a member's tenant that statements are put on.
pub const STATEMENTS_DIRECTORY: &str = "out/statements";

/// The tenant with what is kept between runs. No member has a name like this.
const OWN_TENANT: &str = "venue-statements";
const POSITIONS_DIRECTORY: &str = "positions";
/// The first bytes of stored positions: their format.
// format: docs/formats/statement.md
const POSITIONS_MAGIC: &[u8; 8] = b"RSTPOS01";
/// The most bytes of stored positions that are read.
const POSITIONS_BYTES_MAX: u64 = 4 << 30;

/// The tenant of a member.
#[must_use]
pub fn member_tenant(member: MemberId) -> TenantName {
    TenantName::new(&format!("member-{member}")).expect("a number makes a valid name")
}

/// Why a member did not get its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutboxRefusal {
    /// Its tenant is disabled, draining or being deleted.
    TenantClosed,
    /// Its quota has no room.
    QuotaReached,
    /// Another file is kept under the path of the statement, or was submitted under its key.
    PathTaken,
    /// The statement is longer than the longest file of the depot.
    TooLarge,
    /// The depot has its limit of tenants.
    TooManyTenants,
    /// The events of the range were deleted before the statement could be made.
    EventsGone,
    /// The statement did not add up: a defect, or the event log was changed.
    DoesNotAddUp,
    /// Something else about the tenant: the log says what.
    Other,
}

impl OutboxRefusal {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OutboxRefusal::TenantClosed => "tenant_closed",
            OutboxRefusal::QuotaReached => "quota_reached",
            OutboxRefusal::PathTaken => "path_taken",
            OutboxRefusal::TooLarge => "too_large",
            OutboxRefusal::TooManyTenants => "too_many_tenants",
            OutboxRefusal::EventsGone => "events_gone",
            OutboxRefusal::DoesNotAddUp => "does_not_add_up",
            OutboxRefusal::Other => "other",
        }
    }
}

impl OutboxRefusal {
    /// Whether a later run may succeed: an operator can make room, or enable the tenant.
    #[must_use]
    pub fn may_pass(self) -> bool {
        match self {
            OutboxRefusal::TenantClosed
            | OutboxRefusal::QuotaReached
            | OutboxRefusal::PathTaken
            | OutboxRefusal::TooManyTenants
            | OutboxRefusal::Other => true,
            OutboxRefusal::TooLarge | OutboxRefusal::EventsGone | OutboxRefusal::DoesNotAddUp => {
                false
            }
        }
    }
}

/// An error of the depot: of one member alone, or of all.
///
/// An error is taken as one of a member, and its statement is tried again in later runs, unless the
/// pool as a whole fails: otherwise one member could keep the others from their statements.
pub(crate) fn refusal(error: DepotError) -> Result<OutboxRefusal, StatementError> {
    Ok(match error {
        DepotError::StorageLow
        | DepotError::Closed
        | DepotError::Internal(_)
        | DepotError::WorkLost { .. }
        | DepotError::CloseFailed
        | DepotError::Volume(_)
        | DepotError::Queue(_)
        | DepotError::History(_)
        | DepotError::Disk(_)
        | DepotError::RateReached { tenant: None, .. } => return Err(error.into()),
        DepotError::TenantStage { .. } | DepotError::UnknownTenant(_) => {
            OutboxRefusal::TenantClosed
        }
        DepotError::Quota { .. } => OutboxRefusal::QuotaReached,
        DepotError::FileExists { .. } | DepotError::SubmitConflict { .. } => {
            OutboxRefusal::PathTaken
        }
        DepotError::TooLarge { .. } => OutboxRefusal::TooLarge,
        DepotError::TooMany { .. } => OutboxRefusal::TooManyTenants,
        _ => OutboxRefusal::Other,
    })
}

/// The commands that a statement covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StatementRange {
    /// The last command before it.
    pub after: Seq,
    /// Its last command.
    pub last: Seq,
}

impl StatementRange {
    /// Its first command.
    #[must_use]
    pub fn first(self) -> Seq {
        self.after.next()
    }

    /// Whether it has no command.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.last <= self.after
    }
}

/// The name of a statement's file without its extension.
#[must_use]
pub fn file_stem(range: StatementRange, last_time: Timestamp) -> String {
    let (first, last) = (range.first(), range.last);
    format!("statement-{}-{first}-{last}", crate::utc::day(last_time))
}

fn shelf() -> Directory {
    Directory::new(STATEMENTS_DIRECTORY).expect("it is a valid name")
}

/// Makes the tenant and the shelf of a member, if they are not there.
pub(crate) fn make_shelf(depot: &Depot, tenant: &TenantName) -> Result<(), DepotError> {
    make(depot, tenant, &shelf())
}

/// Makes a tenant and a shelf of it, if they are not there.
pub(crate) fn make(
    depot: &Depot,
    tenant: &TenantName,
    directory: &Directory,
) -> Result<(), DepotError> {
    match depot.create_tenant(tenant, Quota::default()) {
        Ok(()) | Err(DepotError::TenantExists(_)) => {}
        Err(error) => return Err(error),
    }
    let known = depot.tenant(tenant)?;
    let settings = known.directories.into_iter().find(|it| it.directory == *directory);
    let quota = settings.as_ref().map_or(Quota::default(), |it| it.quota);
    if settings.and_then(|it| it.kind) != Some(DirectoryKind::Shelf) {
        depot.set_directory(tenant, directory, Some(DirectoryKind::Shelf), quota)?;
    }
    Ok(())
}

/// Begins a statement's file. A repeat under the same key stores nothing.
pub(crate) fn begin(
    depot: &Depot,
    tenant: &TenantName,
    stem: &str,
    extension: &str,
    content_type: &str,
) -> Result<Upload, DepotError> {
    let name = FileName::new(&format!("{stem}.{extension}"))?;
    let file = NewFile {
        content_type: content_type.to_owned(),
        submit_key: Some(format!("{stem}.{extension}")),
        if_absent: true,
        // The run counts it as made: it must not be lost with the power, whatever the pool's level.
        level: Some(Level::Synced),
        ..NewFile::new(shelf(), name)
    };
    depot.begin(tenant, file)
}

/// Whether a statement's file is on the shelf.
pub(crate) fn is_there(
    depot: &Depot,
    tenant: &TenantName,
    stem: &str,
    extension: &str,
) -> Result<bool, DepotError> {
    let path = joined(&shelf(), &FileName::new(&format!("{stem}.{extension}"))?);
    match depot.file_at(tenant, &path) {
        Ok(_) => Ok(true),
        Err(DepotError::UnknownFile { .. } | DepotError::UnknownTenant(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The tenant of the venue's own files about statements.
pub(crate) fn own_tenant() -> TenantName {
    TenantName::new(OWN_TENANT).expect("it is a valid name")
}

fn positions_directory() -> Directory {
    Directory::new(POSITIONS_DIRECTORY).expect("it is a valid name")
}

fn positions_name(seq: Seq) -> Result<FileName, DepotError> {
    // Names sort as sequences do.
    Ok(FileName::new(&format!("{:020}", seq.0))?)
}

/// Stores positions, unless those of this sequence are stored.
pub(crate) fn store_positions(depot: &Depot, positions: &Positions) -> Result<(), StatementError> {
    let tenant = own_tenant();
    make(depot, &tenant, &positions_directory())?;
    let name = positions_name(positions.seq())?;
    let file = NewFile {
        if_absent: true,
        level: Some(Level::Synced),
        ..NewFile::new(positions_directory(), name)
    };
    let mut bytes = POSITIONS_MAGIC.to_vec();
    bytes = postcard::to_extend(positions, bytes).map_err(|error| StatementError::Unreadable {
        seq: positions.seq(),
        why: error.to_string(),
    })?;
    match depot.put_bytes(&tenant, file, &bytes) {
        Ok(_) | Err(DepotError::FileExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The positions of a sequence, if they are stored.
pub(crate) fn load_positions(depot: &Depot, seq: Seq) -> Result<Option<Positions>, StatementError> {
    let unreadable = |why: String| StatementError::Unreadable { seq, why };
    let tenant = own_tenant();
    let path = joined(&positions_directory(), &positions_name(seq)?);
    let info = match depot.file_at(&tenant, &path) {
        Ok(info) => info,
        Err(DepotError::UnknownFile { .. } | DepotError::UnknownTenant(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if info.record.bytes > POSITIONS_BYTES_MAX {
        return Err(unreadable(format!("{} bytes are too many", info.record.bytes)));
    }
    let bytes = depot.open_file(&tenant, info.record.id)?.read_all()?;
    let encoded = bytes.strip_prefix(POSITIONS_MAGIC.as_slice());
    let encoded = encoded.ok_or_else(|| unreadable("their format is unknown".to_owned()))?;
    let positions: Positions =
        postcard::from_bytes(encoded).map_err(|error| unreadable(error.to_string()))?;
    if positions.seq() != seq {
        return Err(unreadable(format!("they are those of sequence {}", positions.seq())));
    }
    Ok(Some(positions))
}

/// Whether the positions of a sequence are stored.
pub(crate) fn has_positions(depot: &Depot, seq: Seq) -> Result<bool, StatementError> {
    Ok(stored_positions(depot)?.iter().any(|(stored, _)| *stored == seq))
}

/// The sequence of the newest stored positions.
pub(crate) fn newest_positions(depot: &Depot) -> Result<Option<Seq>, StatementError> {
    Ok(stored_positions(depot)?.last().map(|(seq, _)| *seq))
}

/// Deletes the stored positions that are not among `wanted`.
pub(crate) fn keep_positions(depot: &Depot, wanted: &[Seq]) -> Result<(), StatementError> {
    for (seq, id) in stored_positions(depot)? {
        if !wanted.contains(&seq) {
            match depot.delete(&own_tenant(), id) {
                Ok(()) | Err(DepotError::UnknownFile { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn stored_positions(depot: &Depot) -> Result<Vec<(Seq, rialto_depot::FileId)>, StatementError> {
    let (tenant, prefix) = (own_tenant(), format!("{POSITIONS_DIRECTORY}/"));
    let mut found = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page =
            depot.kept_files(&tenant, &prefix, after.as_deref(), rialto_depot::PAGE_FILES_MAX);
        let page = match page {
            Err(DepotError::UnknownTenant(_)) => return Ok(found),
            page => page?,
        };
        let Some(newest) = page.last() else { return Ok(found) };
        after = Some(newest.record.path());
        for file in &page {
            let path = file.record.path();
            let name = path.strip_prefix(&prefix).and_then(|name| name.parse().ok());
            found.extend(name.map(|seq| (Seq(seq), file.record.id)));
        }
    }
}
