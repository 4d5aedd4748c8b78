//! Subscriptions: never more outstanding messages than the bound, and none stays with a dropped
//! subscription.

use rialto_queue::{
    Clock, Delivered, Delivery, GroupOptions, ManualClock, Publish, Queue, QueueError,
    QueueOptions, Subscription, Timestamp, TopicOptions,
};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// A queue in memory whose time stands still, with a topic and its group.
fn with_group(options: GroupOptions) -> (Queue, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000)));
    let options_of_queue =
        QueueOptions { clock: clock.clone() as Arc<dyn Clock>, ..QueueOptions::in_memory() };
    let queue = Queue::open_stepped(options_of_queue).unwrap();
    queue.create_topic("jobs", TopicOptions::default()).unwrap();
    queue.create_group("jobs", "all", options).unwrap();
    (queue, clock)
}

fn publish(queue: &Queue, count: usize) {
    let producer = queue.producer("jobs").unwrap();
    for _ in 0..count {
        let _receipt = producer.send(&Publish::new(b"job")).unwrap();
    }
}

fn subscribe(queue: &Queue, prefetch: usize) -> Subscription {
    queue.consumer("jobs", "all").unwrap().subscribe(prefetch)
}

/// Everything that is pushed now.
fn pushed(jobs: &mut Subscription) -> Vec<Delivered> {
    std::iter::from_fn(|| jobs.next(NOW).unwrap()).collect()
}

fn outstanding(queue: &Queue) -> usize {
    queue.stats("jobs").unwrap().groups[0].outstanding
}

#[test]
fn outstanding_messages_are_bounded_and_each_answer_makes_room_for_another() {
    let (queue, _) = with_group(GroupOptions::default());
    publish(&queue, 10);
    let mut jobs = subscribe(&queue, 3);
    let first = pushed(&mut jobs);
    assert_eq!(first.len(), 3);
    assert_eq!(outstanding(&queue), 3, "no more was taken than may be in hand");
    let settler = jobs.settler().clone();
    settler.ack(&first[0]).unwrap();
    let second = pushed(&mut jobs);
    assert_eq!(second.len(), 1);
    // An answer that comes twice makes room once.
    assert!(matches!(settler.ack(&first[0]), Err(QueueError::LeaseLost(_))));
    assert_eq!(pushed(&mut jobs).len(), 0);
    settler.nack(&first[1], Some(Duration::from_secs(60)), "later").unwrap();
    settler.refuse(&first[2], "never").unwrap();
    assert_eq!(pushed(&mut jobs).len(), 2);
    let lost = settler.ack_leases(&[(second[0].id(), second[0].lease())]);
    assert_eq!((lost.len(), pushed(&mut jobs).len()), (0, 1));
}

#[test]
fn a_lease_that_runs_out_makes_room_and_one_that_is_extended_does_not() {
    let ack_wait = Duration::from_secs(30);
    let (queue, clock) = with_group(GroupOptions { ack_wait, ..GroupOptions::default() });
    publish(&queue, 3);
    let mut jobs = subscribe(&queue, 2);
    let had = pushed(&mut jobs);
    assert_eq!(had.len(), 2);
    clock.advance(ack_wait / 2);
    jobs.settler().extend(&had[0]).unwrap();
    clock.advance(ack_wait / 2);
    queue.step();
    let now = pushed(&mut jobs);
    assert_eq!(now.len(), 1, "the first was extended");
    assert_eq!((now[0].id(), now[0].attempt()), (had[1].id(), 2));
}

#[test]
fn a_dropped_subscription_returns_its_messages() {
    let (queue, _) = with_group(GroupOptions::default());
    publish(&queue, 5);
    let mut jobs = subscribe(&queue, 4);
    let first = jobs.next(NOW).unwrap().unwrap();
    let settler = jobs.settler().clone();
    let mut others = subscribe(&queue, 10);
    assert_eq!(pushed(&mut others).len(), 1);
    drop(jobs);
    let attempts: Vec<_> = pushed(&mut others).iter().map(|job| job.attempt()).collect();
    // The others were not delivered.
    assert_eq!(attempts, [2, 1, 1, 1]);
    assert!(matches!(settler.ack(&first), Err(QueueError::LeaseLost(_))));
}

#[test]
fn messages_after_a_poison_message_do_not_become_dead_letters() {
    let options = GroupOptions { attempts_max: 3, ..GroupOptions::default() };
    let (queue, _) = with_group(options);
    publish(&queue, 10);
    for attempt in 1..=3 {
        let poison = subscribe(&queue, 10).next(NOW).unwrap().unwrap();
        assert_eq!((poison.id().seq, poison.attempt()), (1, attempt));
    }
    let mut others = subscribe(&queue, 10);
    assert!(
        pushed(&mut others)
            .iter()
            .map(|job| (job.id().seq, job.attempt()))
            .eq((2..=10).map(|it| (it, 1)))
    );
    assert_eq!(queue.stats("jobs.dead").unwrap().messages, 1);
}

#[test]
fn at_most_once_messages_are_pushed_without_settlement() {
    let options = GroupOptions { delivery: Delivery::AtMostOnce, ..GroupOptions::default() };
    let (queue, _) = with_group(options);
    publish(&queue, 10);
    let mut jobs = subscribe(&queue, 3);
    assert_eq!(pushed(&mut jobs).len(), 10);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_cancelled_wait_leaves_nothing_behind() {
    let (queue, _) = with_group(GroupOptions::default());
    let when_full = rialto_queue::WhenFull::Block(Duration::from_secs(60));
    let full = TopicOptions { when_full, ..TopicOptions::work_queue().messages_max(1) };
    queue.create_topic("full", full).unwrap();
    let producer = queue.producer("full").unwrap();
    let _ = producer.try_send(&Publish::new(b"one")).unwrap();
    let mut reader = queue.reader("jobs", rialto_queue::Start::Next).unwrap();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    assert!(pin!(reader.read()).poll(&mut context).is_pending());
    let another = [Publish::new(b"another")];
    let sending = producer.send_until(&another, (0, 0), std::future::pending());
    assert!(pin!(sending).poll(&mut context).is_pending());
    drop(waker);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn a_task_that_has_its_hands_full_is_woken_by_an_answer_and_not_by_what_is_new() {
    let (queue, _) = with_group(GroupOptions::default());
    publish(&queue, 2);
    let mut jobs = subscribe(&queue, 1);
    let first = jobs.next(NOW).unwrap().unwrap();
    let settler = jobs.settler().clone();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    {
        let mut waiting = pin!(jobs.recv());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        publish(&queue, 1);
        assert_eq!(count.0.load(Ordering::Relaxed), 0, "there is no room");
        settler.ack(&first).unwrap();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        // The future is dropped here; what is to come is not lost with it.
    }
    let Poll::Ready(second) = pin!(jobs.recv()).poll(&mut context) else { panic!("there is one") };
    assert_eq!(second.unwrap().id().seq, 2);
}

#[test]
fn a_full_subscription_is_woken_when_the_group_is_deleted() {
    let (queue, _) = with_group(GroupOptions::default());
    publish(&queue, 2);
    let mut jobs = subscribe(&queue, 1);
    let _first = jobs.next(NOW).unwrap().unwrap();
    queue.delete_group("jobs", "all").unwrap();
    assert!(matches!(jobs.next(NOW), Err(QueueError::UnknownGroup { .. })));
}

#[test]
fn workers_share_a_subscription_and_never_have_more_than_it_may() {
    const PREFETCH: usize = 16;
    const JOBS: u64 = 5_000;
    let queue = Queue::open(QueueOptions::in_memory()).unwrap();
    queue.create_topic("jobs", TopicOptions::default()).unwrap();
    queue.create_group("jobs", "all", GroupOptions::default()).unwrap();
    let mut jobs = queue.consumer("jobs", "all").unwrap().subscribe(PREFETCH);
    let settler = jobs.settler().clone();
    let (in_hand, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done = Mutex::new(BTreeSet::new());
    let (give, take) = mpsc::channel::<Delivered>();
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let producer = queue.producer("jobs").unwrap();
            for _ in 0..JOBS {
                let _receipt = producer.send(&Publish::new(b"job")).unwrap();
            }
        });
        for _ in 0..4 {
            let settler = settler.clone();
            let (take, done, in_hand) = (&take, &done, &in_hand);
            scope.spawn(move || {
                loop {
                    let Ok(job) = take.lock().unwrap().recv() else { return };
                    assert!(done.lock().unwrap().insert(job.id()), "{job:?} came twice");
                    in_hand.fetch_sub(1, Ordering::SeqCst);
                    settler.ack(&job).unwrap();
                }
            });
        }
        for _ in 0..JOBS {
            let job = jobs.next(Duration::from_secs(30)).unwrap().expect("all are pushed");
            most.fetch_max(in_hand.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            give.send(job).unwrap();
        }
        drop(give);
    });
    assert_eq!(done.into_inner().unwrap().len() as u64, JOBS);
    let most = most.into_inner();
    assert!((1..=PREFETCH).contains(&most), "{most} at a time");
}
