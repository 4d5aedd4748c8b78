//! A bucket in memory that fails on demand and counts its calls.

#![allow(unreachable_pub, reason = "a test program has no public interface")]

use rialto_clock::Timestamp;
use rialto_depot::volume::{
    Bucket, BucketError, BucketSpec, Buckets, ObjectInfo, ObjectParts, VolumePlace,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    Put,
    Create,
    Begin,
    Part,
    Complete,
    Abort,
    Read,
    Head,
    Remove,
    Copy,
    List,
}

#[derive(Default)]
struct Inner {
    objects: BTreeMap<String, (Vec<u8>, Timestamp)>,
    /// Parts that are neither completed nor aborted.
    open_parts: usize,
    asked: HashMap<Asked, u64>,
    failing: HashSet<Asked>,
    /// What fails is done nevertheless, but for removals: its answer alone is lost.
    loses_answers: bool,
    /// The first attempt to create an object is done and not answered, and the second finds it.
    repeats_creates: bool,
    /// A new object replaces another, whatever the condition.
    ignores_conditions: bool,
    read_bytes_max: Option<usize>,
    now: Timestamp,
}

/// All clones are one bucket.
#[derive(Clone, Default)]
pub struct MemoryBucket(Arc<Mutex<Inner>>);

impl MemoryBucket {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// Counts a call; whether it is done, and whether it is answered.
    fn ask(&self, asked: Asked) -> (bool, Result<(), BucketError>) {
        let mut inner = self.lock();
        *inner.asked.entry(asked).or_default() += 1;
        match inner.failing.contains(&asked) {
            true => {
                let failed = BucketError::Failed("503 Slow Down".to_owned());
                (inner.loses_answers && asked != Asked::Remove, Err(failed))
            }
            false => (true, Ok(())),
        }
    }

    pub fn fail(&self, failing: &[Asked]) {
        self.lock().failing = failing.iter().copied().collect();
    }

    pub fn fail_all(&self) {
        use Asked::*;
        self.fail(&[Put, Create, Begin, Part, Complete, Abort, Read, Head, Remove, Copy, List]);
    }

    pub fn lose_answers(&self, loses_answers: bool) {
        self.lock().loses_answers = loses_answers;
    }

    pub fn repeat_creates(&self) {
        self.lock().repeats_creates = true;
    }

    pub fn ignore_conditions(&self) {
        self.lock().ignores_conditions = true;
    }

    pub fn cut_reads(&self, bytes_max: Option<usize>) {
        self.lock().read_bytes_max = bytes_max;
    }

    pub fn asked(&self, asked: Asked) -> u64 {
        self.lock().asked.get(&asked).copied().unwrap_or(0)
    }

    pub fn forget_asked(&self) {
        self.lock().asked.clear();
    }

    pub fn set_now(&self, now: Timestamp) {
        self.lock().now = now;
    }

    pub fn open_parts(&self) -> usize {
        self.lock().open_parts
    }

    /// The keys that begin so.
    pub fn keys(&self, prefix: &str) -> Vec<String> {
        self.lock().objects.keys().filter(|key| key.starts_with(prefix)).cloned().collect()
    }

    pub fn bytes_of(&self, key: &str) -> Vec<u8> {
        self.lock().objects[key].0.clone()
    }

    pub fn set(&self, key: &str, bytes: Vec<u8>) {
        let mut inner = self.lock();
        let now = inner.now;
        inner.objects.insert(key.to_owned(), (bytes, now));
    }

    pub fn forget(&self, key: &str) {
        self.lock().objects.remove(key).unwrap();
    }

    fn store(&self, key: &str, bytes: Vec<u8>) {
        self.set(key, bytes);
    }
}

impl Bucket for MemoryBucket {
    fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), BucketError> {
        let (does, answer) = self.ask(Asked::Put);
        if does {
            self.store(key, bytes);
        }
        answer
    }

    fn create(&self, key: &str, bytes: Vec<u8>) -> Result<bool, BucketError> {
        let (does, answer) = self.ask(Asked::Create);
        let is_new = {
            let inner = self.lock();
            inner.ignores_conditions || !inner.objects.contains_key(key)
        };
        if does && is_new {
            self.store(key, bytes);
        }
        answer.map(|()| is_new && !self.lock().repeats_creates)
    }

    fn begin(&self, key: &str) -> Result<Box<dyn ObjectParts>, BucketError> {
        self.ask(Asked::Begin).1?;
        self.lock().open_parts += 1;
        let (bucket, key) = (self.clone(), key.to_owned());
        Ok(Box::new(MemoryParts { bucket, key, parts: Vec::new(), is_open: true }))
    }

    fn read(&self, key: &str, offset: u64, bytes: &mut [u8]) -> Result<usize, BucketError> {
        self.ask(Asked::Read).1?;
        let inner = self.lock();
        let (object, _) = inner.objects.get(key).ok_or(BucketError::NotFound)?;
        let from = (offset as usize).min(object.len());
        let read = (object.len() - from).min(bytes.len());
        let read = read.min(inner.read_bytes_max.unwrap_or(usize::MAX));
        bytes[..read].copy_from_slice(&object[from..from + read]);
        Ok(read)
    }

    fn head(&self, key: &str) -> Result<ObjectInfo, BucketError> {
        self.ask(Asked::Head).1?;
        let inner = self.lock();
        let (object, modified) = inner.objects.get(key).ok_or(BucketError::NotFound)?;
        Ok(ObjectInfo { key: key.to_owned(), bytes: object.len() as u64, modified: *modified })
    }

    fn remove(&self, key: &str) -> Result<(), BucketError> {
        let (does, answer) = self.ask(Asked::Remove);
        if does {
            self.lock().objects.remove(key);
        }
        answer
    }

    fn copy(&self, from: &str, to: &str) -> Result<(), BucketError> {
        self.ask(Asked::Copy).1?;
        let object = self.lock().objects.get(from).cloned().ok_or(BucketError::NotFound)?;
        self.store(to, object.0);
        Ok(())
    }

    fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        max: usize,
    ) -> Result<Vec<ObjectInfo>, BucketError> {
        self.ask(Asked::List).1?;
        let inner = self.lock();
        let from = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.to_owned()));
        let objects = inner.objects.range((from, Bound::Unbounded));
        let objects = objects.filter(|(key, _)| key.starts_with(prefix)).take(max);
        let info = |(key, (bytes, modified)): (&String, &(Vec<u8>, Timestamp))| ObjectInfo {
            key: key.clone(),
            bytes: bytes.len() as u64,
            modified: *modified,
        };
        Ok(objects.map(info).collect())
    }
}

struct MemoryParts {
    bucket: MemoryBucket,
    key: String,
    parts: Vec<Vec<u8>>,
    is_open: bool,
}

impl MemoryParts {
    fn end(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.bucket.lock().open_parts -= 1;
        }
    }
}

impl ObjectParts for MemoryParts {
    fn add(&mut self, bytes: Vec<u8>) -> Result<(), BucketError> {
        self.bucket.ask(Asked::Part).1?;
        self.parts.push(bytes);
        Ok(())
    }

    fn complete(&mut self) -> Result<(), BucketError> {
        let (does, answer) = self.bucket.ask(Asked::Complete);
        if does {
            // As object stores have it.
            let (last, others) = self.parts.split_last().unwrap();
            assert!(others.iter().all(|part| part.len() == 8 << 20) && !last.is_empty());
            self.bucket.store(&self.key, self.parts.concat());
            self.end();
        }
        answer
    }

    fn abort(&mut self) -> Result<(), BucketError> {
        self.bucket.ask(Asked::Abort).1?;
        self.end();
        Ok(())
    }
}

/// Opens one bucket under every name, unless it is told not to.
#[derive(Clone, Default)]
pub struct MemoryBuckets {
    pub bucket: MemoryBucket,
    refusal: Arc<Mutex<Option<String>>>,
}

impl MemoryBuckets {
    pub fn refuse(&self, why: Option<&str>) {
        *self.refusal.lock().unwrap() = why.map(str::to_owned);
    }
}

impl Buckets for MemoryBuckets {
    fn open(&self, _: &str, _: &BucketSpec) -> Result<Arc<dyn Bucket>, BucketError> {
        match &*self.refusal.lock().unwrap() {
            Some(why) => Err(BucketError::Failed(why.clone())),
            None => Ok(Arc::new(self.bucket.clone())),
        }
    }
}

pub fn bucket_at(prefix: &str) -> BucketSpec {
    BucketSpec {
        bucket: "cold".to_owned(),
        prefix: prefix.to_owned(),
        endpoint: "https://s3.example.com".to_owned(),
        region: "eu-west-1".to_owned(),
        allow_http: false,
    }
}

pub fn place_at(prefix: &str) -> VolumePlace {
    VolumePlace::Bucket(bucket_at(prefix))
}
