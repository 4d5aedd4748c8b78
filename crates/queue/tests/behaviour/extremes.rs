//! Numbers and filters at their extremes: refused by name, and the queue continues.

use crate::stage::{Stage, stream, take_payloads};
use rialto_queue::{
    FILTER_BYTES_MAX, FILTER_CONDITIONS_MAX, Filter, GroupOptions, Publish, QueueError,
};

fn with_topic() -> Stage {
    let stage = Stage::new();
    stage.queue().create_topic("t", stream()).unwrap();
    stage
}

#[test]
fn producers_have_ids_and_numbers_below_the_greatest() {
    let mut stage = with_topic();
    let producer = stage.queue().producer("t").unwrap();
    let send = |numbers| producer.send_numbered(&Publish::new(b"refused"), numbers).map(drop);
    for numbers in [(7, u64::MAX), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
        let refused = send(numbers);
        assert!(matches!(refused, Err(QueueError::ProducerNumber { .. })), "{refused:?}");
    }
    let batch = [Publish::new(b"last"), Publish::new(b"refused")];
    let refused = producer.send_numbered_batch(&batch, (7, u64::MAX - 1)).map(drop);
    assert!(matches!(refused, Err(QueueError::ProducerNumber { number: u64::MAX, .. })));
    drop(producer);
    // A producer of that id would be taken for the transactions, none of which would arrive.
    let mut transaction = stage.queue().begin();
    transaction.publish("t", &Publish::new(b"in a transaction")).unwrap();
    transaction.commit().unwrap();
    stage.reopen();
    assert_eq!(take_payloads(&stage.consumer("t", "g")), ["last", "in a transaction"]);
}

#[test]
fn a_filter_is_bounded_in_bytes_and_conditions() {
    let mut stage = with_topic();
    let has = |bytes: usize| Filter::Has("x".repeat(bytes));
    let nested = |depth| (0..depth).fold(has(1), |filter, _| Filter::Not(Box::new(filter)));
    let create = |stage: &Stage, name: &str, filter| {
        let options = GroupOptions { filter: Some(filter), ..GroupOptions::default() };
        stage.queue().create_group("t", name, options)
    };
    for filter in [
        has(1 << 20),
        has(FILTER_BYTES_MAX + 1),
        Filter::Any(vec![has(1); FILTER_CONDITIONS_MAX]),
        nested(FILTER_CONDITIONS_MAX),
    ] {
        let refused = create(&stage, "refused", filter);
        assert!(matches!(refused, Err(QueueError::GroupOptions(_))), "{refused:?}");
    }
    create(&stage, "long", has(FILTER_BYTES_MAX)).unwrap();
    create(&stage, "wide", Filter::Any(vec![has(1); FILTER_CONDITIONS_MAX - 1])).unwrap();
    create(&stage, "deep", nested(FILTER_CONDITIONS_MAX - 1)).unwrap();
    stage.crash();
    assert_eq!(stage.queue().stats("t").unwrap().groups.len(), 3);
}
