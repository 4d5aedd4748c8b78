//! Logs of flows that are sound as logs and hold records that no store would write.

use crate::support::{clock, id, manual, on_disk, try_on_disk};
use proptest::prelude::*;
use proptest::sample::Index;
use rialto_disk::{Disk, SimDisk};
use rialto_flow::store::{Level, RunFilter, Store, StoreError};
use rialto_flow::{Flow, FlowContext, FlowError, Flows, FlowsError, ManualClock};
use rialto_log::{Commit, Group, KeyRing, Options, Reader, Verify};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// As the store gives its segments; a greater one would be refused at once.
const RULES_VERSION: u32 = 1;

/// Something of everything: steps with their undoing, an event, a timer, a child and messages.
struct Mixed;

impl Flow for Mixed {
    const NAME: &'static str = "mixed";
    type Input = (u64, bool);
    type Output = u64;

    async fn run(
        &self,
        cx: &FlowContext<'_>,
        (number, waits): &(u64, bool),
    ) -> Result<u64, FlowError> {
        let value: u64 =
            cx.step("take", async || Ok(number * 2)).compensate(async |_: u64| Ok(())).await?;
        cx.sleep("pause", Duration::from_secs(*number)).await?;
        if *waits {
            let heard: u64 = cx.wait_for("go").await?;
            return Ok(heard);
        }
        cx.step("end", async || match number % 3 {
            0 => Err(rialto_flow::StepError::permanent("no")),
            _ => Ok(value),
        })
        .await
    }
}

fn open(store: Arc<dyn Store>, clock: &ManualClock) -> Result<Flows, FlowsError> {
    Flows::builder(store).register(Mixed).options(manual(clock)).open()
}

/// The records of a store in which much has happened.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let (disk, clock) = (SimDisk::new(1), clock());
    let flows = open(on_disk(&disk, Level::Synced, 1), &clock).unwrap();
    for number in 0..6 {
        let _ = flows.start::<Mixed>(number.into(), (number, number % 2 == 0)).unwrap();
    }
    for _ in 0..4 {
        flows.run_until_idle().unwrap();
        clock.advance(Duration::from_secs(1));
    }
    flows.deliver(id("2"), "go", &7_u64).unwrap().wait().unwrap();
    flows.run_until_idle().unwrap();
    drop(flows);
    let disk: Arc<dyn Disk> = Arc::new(disk);
    let (segments, _) =
        rialto_log::inspect(disk, Path::new("/flows"), Verify::Newest, &KeyRing::empty()).unwrap();
    let mut reader = Reader::open(&segments, segments.first_seq()).unwrap();
    let mut records = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        records.extend(group.records().map(|(_, bytes)| bytes.to_vec()));
    }
    assert!(records.len() > 20, "{} records", records.len());
    records
});

/// A change of the records.
#[derive(Clone, Debug)]
enum Edit {
    SetByte(Index, Index, u8),
    AddToByte(Index, Index, u8),
    CutOff(Index, Index),
    Drop(Index),
    Repeat(Index, Index),
    Swap(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        4 => (index(), index(), any::<u8>()).prop_map(|(of, at, to)| Edit::SetByte(of, at, to)),
        4 => (index(), index(), prop_oneof![Just(1), Just(u8::MAX)])
            .prop_map(|(of, at, more)| Edit::AddToByte(of, at, more)),
        1 => (index(), index()).prop_map(|(of, at)| Edit::CutOff(of, at)),
        1 => index().prop_map(Edit::Drop),
        1 => (index(), index()).prop_map(|(of, to)| Edit::Repeat(of, to)),
        1 => (index(), index()).prop_map(|(of, with)| Edit::Swap(of, with)),
    ]
}

fn forged(edits: &[Edit]) -> Vec<Vec<u8>> {
    let mut records = SOUND.clone();
    for edit in edits {
        let position = |of: &Index| of.index(records.len());
        match edit {
            Edit::SetByte(of, at, to) => {
                let record = &mut records[of.index(SOUND.len() - edits.len())];
                let at = at.index(record.len().max(1));
                record.get_mut(at).into_iter().for_each(|byte| *byte = *to);
            }
            Edit::AddToByte(of, at, more) => {
                let record = &mut records[of.index(SOUND.len() - edits.len())];
                let at = at.index(record.len().max(1));
                record.get_mut(at).into_iter().for_each(|byte| *byte = byte.wrapping_add(*more));
            }
            Edit::CutOff(of, at) => {
                let of = position(of);
                let at = at.index(records[of].len() + 1);
                records[of].truncate(at);
            }
            Edit::Drop(of) => drop(records.remove(position(of))),
            Edit::Repeat(of, to) => {
                let (record, to) = (records[position(of)].clone(), position(to));
                records.insert(to, record);
            }
            Edit::Swap(of, with) => {
                let (of, with) = (position(of), position(with));
                records.swap(of, with);
            }
        }
    }
    records
}

/// A directory with these records, in groups as a log has them.
fn written(records: &[Vec<u8>]) -> SimDisk {
    let disk = SimDisk::new(2);
    let options =
        Options { segment_bytes: 2 << 20, rules_version: RULES_VERSION, ..Options::new([3; 16]) };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let recovered = rialto_log::recover(shared, Path::new("/flows"), options).unwrap();
    let (mut writer, _) = recovered.start().unwrap();
    let mut group = Group::new(256 << 10);
    group.begin(writer.next_seq());
    for record in records {
        group.append(record).unwrap();
    }
    writer.write(&mut group, Commit::Synced).unwrap();
    writer.close().unwrap();
    disk
}

/// Reads everything in a store, and resumes the flows.
fn use_it(disk: &SimDisk) -> Result<(), StoreError> {
    let store = try_on_disk(disk, Level::Synced, 4)?;
    for run in store.list(&RunFilter::default(), None, usize::MAX)? {
        if let Some(stored) = store.find(&run.id)? {
            // What cannot be read is an error in its place.
            stored.entries().for_each(drop);
        }
    }
    let clock = clock();
    if let Ok(flows) = open(store, &clock) {
        for _ in 0..3 {
            clock.advance(Duration::from_secs(10));
            if flows.run_until_idle().is_err() {
                break;
            }
        }
    }
    Ok(())
}

#[test]
fn valid_records_are_accepted() {
    let disk = written(&SOUND);
    use_it(&disk).unwrap();
    let store = try_on_disk(&disk, Level::Synced, 5).unwrap();
    assert_eq!(store.list(&RunFilter::default(), None, usize::MAX).unwrap().len(), 6);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Refused with an error, or taken up as far as they make sense: never a panic, and never more
    /// memory than there are records for.
    #[test]
    fn forged_records_are_refused_or_taken_up(
        edits in prop::collection::vec(edit(), 1..4),
    ) {
        let _ = use_it(&written(&forged(&edits)));
    }
}
