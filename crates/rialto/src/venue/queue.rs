//! The queue as a component: topics that callers with keys publish on and consume.

use super::made::Made;
use crate::terminal::note;
use rialto_disk::Disk;
use rialto_engine::KeyRing;
use rialto_lifecycle::{Component, Failure, Health};
use rialto_queue::{Queue, QueueOptions};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) struct Part {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    keys: KeyRing,
    buffers_bytes: usize,
    made: Made<Queue>,
    running: Option<Arc<Queue>>,
}

impl Part {
    pub(super) fn new(
        dir: PathBuf,
        disk: Arc<dyn Disk>,
        keys: KeyRing,
        buffers_bytes: usize,
    ) -> Part {
        Part { dir, disk, keys, buffers_bytes, made: Made::new("queue"), running: None }
    }

    pub(super) fn made(&self) -> Made<Queue> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let options = QueueOptions {
            disk: Arc::clone(&self.disk),
            keys: self.keys.clone(),
            buffers_bytes: self.buffers_bytes,
            ..QueueOptions::at(&self.dir)
        };
        let queue = Arc::new(Queue::open(options)?);
        for rewound in &queue.report().rewound {
            note(format_args!(
                "warning: the topic {} lost its unsynced tail; its group {} goes on with message {}:{}",
                rewound.topic, rewound.group, rewound.lane, rewound.next
            ));
        }
        self.made.put(Arc::clone(&queue));
        self.running = Some(queue);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // Whoever still has it is told that it is closed.
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
