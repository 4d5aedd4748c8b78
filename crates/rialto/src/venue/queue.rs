//! The queue as a component: topics that callers with keys publish on and consume, and the event log
//! as one that they can only consume.

use super::made::Made;
use rialto_engine::Engine;
use rialto_lifecycle::{Component, Failure, Health};
use rialto_model::{EVENTS_CONTENT_TYPE, decode_events};
use rialto_queue::{
    MountedLog, Queue, QueueError, QueueOpenReport, QueueOptions, Rewound, Timestamp,
};
use std::sync::Arc;

pub(super) struct Part {
    options: QueueOptions,
    engine: Made<Engine>,
    made: Made<Queue>,
    running: Option<Arc<Queue>>,
}

/// The topic that is the event log.
const EVENTS_TOPIC: &str = "venue.events";

impl Part {
    pub(super) fn new(options: QueueOptions, engine: Made<Engine>) -> Part {
        Part { options, engine, made: Made::new("queue"), running: None }
    }

    pub(super) fn made(&self) -> Made<Queue> {
        self.made.clone()
    }
}

/// Has the event log read as a topic.
fn mount_events(queue: &Queue, engine: &Engine) -> Result<(), Failure> {
    let log = MountedLog {
        segments: engine.event_log().clone(),
        made_of: Some(engine.journal().clone()),
        copied_from: engine.ancestors()?.iter().map(|it| ((it.epoch, it.salt), it.end)).collect(),
        level: engine.config().level,
        sealing: engine.config().sealing,
        visible: engine.marks().recorded.0,
        content_type: EVENTS_CONTENT_TYPE,
        time_of: |record| {
            // One that this build does not know is read all the same.
            decode_events(record).map_or(Timestamp::default(), |(time, _)| time)
        },
    };
    match queue.mount(EVENTS_TOPIC, log) {
        Ok(mount) => {
            mount.rewound().iter().for_each(tell_rewound);
            engine.on_recorded(move |seq| mount.advance(seq.0));
            Ok(())
        }
        // A venue does not stay closed for that.
        Err(QueueError::TopicExists(name)) => {
            tracing::warn!(
                "the queue has a topic {name} of its own, so that the venue's events are not there; \
                 delete it and start again"
            );
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn tell_rewound(rewound: &Rewound) {
    tracing::warn!(
        "the topic {} lost its unsynced tail; its group {} goes on with message {}:{}",
        rewound.topic,
        rewound.group,
        rewound.lane,
        rewound.next
    );
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let queue = Arc::new(Queue::open(self.options.clone())?);
        let report = queue.report();
        let QueueOpenReport { topics, groups, transactions, .. } = report;
        tracing::info!(topics, groups, transactions, "the queue is open");
        report.rewound.iter().for_each(tell_rewound);
        mount_events(&queue, &*self.engine.get()?)?;
        self.made.put(Arc::clone(&queue));
        self.running = Some(queue);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // Holders of it then get an error that says that it is closed.
        match self.running.take() {
            Some(queue) => Ok(queue.close()?),
            None => Ok(()),
        }
    }

    fn health(&mut self) -> Health {
        // A topic that cannot be written refuses messages and says why, and `/metrics` tells of it:
        // that is no reason to send orders elsewhere.
        match self.running {
            Some(_) => Health::Up,
            None => Health::Failed("it was not started".to_string()),
        }
    }
}
