//! Registers flows and starts the runtime.

use super::options::RUN_BYTES_MAX;
use super::ready::Ready;
use super::work::Worker;
use super::{Flows, Inner, Options, Threads, lock};
use crate::error::FlowsError;
use crate::flow::{AnyFlow, Flow};
use crate::run::Services;
use crate::store::{Level, Store};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock};

/// The flows of a runtime, and its options.
pub struct FlowsBuilder {
    store: Arc<dyn Store>,
    options: Options,
    flows: Vec<Arc<dyn AnyFlow>>,
}

impl FlowsBuilder {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, options: Options::default(), flows: Vec::new() }
    }

    /// Adds a flow.
    #[must_use]
    pub fn register(mut self, flow: impl Flow) -> Self {
        self.flows.push(Arc::new(flow));
        self
    }

    /// Sets how flows are run.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Starts the runtime. Unfinished runs of an earlier runtime are resumed first. A run that does
    /// not match the code is parked: see [`Flows::parked`].
    pub fn open(self) -> Result<Flows, FlowsError> {
        let Self { store, options, flows } = self;
        let names = flows.iter().enumerate();
        for (nth, flow) in names {
            if flows[..nth].iter().any(|other| other.name() == flow.name()) {
                return Err(FlowsError::DuplicateName(flow.name()));
            }
        }
        let run_bytes = options.history_bytes_max + 3 * options.payload_bytes_max;
        if run_bytes > RUN_BYTES_MAX {
            return Err(FlowsError::Options(format!(
                "history_bytes_max and three times payload_bytes_max come to {run_bytes} bytes; \
                 together they may be {RUN_BYTES_MAX}"
            )));
        }
        let now = options.clock.now();
        let fence = store.join(now, options.lease)?;
        let inner = Arc::new_cyclic(|inner| Inner {
            fence,
            services: Arc::new(Services {
                at_once: store.level() == Level::Memory,
                payload_bytes_max: options.payload_bytes_max,
                history_bytes_max: options.history_bytes_max,
                observer: options.observer.clone(),
                random: AtomicU64::new(options.seed),
                stopped: AtomicBool::new(false),
                ready: Ready::default(),
                flows: inner.clone(),
            }),
            store,
            flows,
            live: Mutex::default(),
            timers: Mutex::default(),
            taken: AtomicU64::new(0),
            confirmations: Mutex::default(),
            renewed: AtomicU64::new(now.0),
            stopping: AtomicBool::new(false),
            failed: OnceLock::new(),
            options,
        });
        let threads = Arc::new(Threads { inner: inner.clone(), handles: Mutex::default() });
        inner.claim(now)?;
        for _ in 0..inner.options.workers {
            let inner = inner.clone();
            let work = std::thread::Builder::new().name("flow".to_owned());
            let handle = work
                .spawn(move || Worker::new(inner).work())
                .map_err(|error| FlowsError::Options(format!("cannot start a worker: {error}")))?;
            lock(&threads.handles).push(handle);
        }
        Ok(Flows { threads })
    }
}
