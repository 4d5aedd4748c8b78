//! Reading everything.

use super::local::{LocalPool, told};
use super::shown::printable;
use crate::terminal::say;
use crate::{Error, tell_all};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rialto_depot::{Depot, DepotError, FileInfo, PAGE_FILES_MAX, TenantInfo};
use serde_json::json;

/// Opens a pool that no other process has open, reads every file completely, and checks its
/// checksums. The exit code is 1 if a file is damaged or missing. `rialto queue verify` checks the
/// work queues, which are in the directory queue of the pool.
#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// Print one JSON object for each damaged file, and one for the whole.
    #[arg(long)]
    json: bool,
}

/// What was read so far.
struct Reading<'a> {
    verify: &'a Verify,
    depot: &'a Depot,
    bar: ProgressBar,
    files: u64,
    bytes: u64,
    damaged: u64,
}

impl Verify {
    pub(super) fn run(&self, pool: &LocalPool) -> Result<(), Error> {
        let depot = pool.depot();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = "{bar:40} {human_pos} of {human_len} files, {per_sec}, {eta} left";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
        let report = depot.report();
        bar.set_length((report.waiting + report.dead + report.kept) as u64);
        let mut reading = Reading { verify: self, depot, bar, files: 0, bytes: 0, damaged: 0 };
        let mut after = None;
        loop {
            let tenants = depot.tenants(after.as_ref(), PAGE_FILES_MAX);
            for tenant in &tenants {
                reading.tenant(tenant)?;
            }
            match tenants.last() {
                Some(last) => after = Some(last.name.clone()),
                None => break,
            }
        }
        reading.bar.finish_and_clear();
        let absent = &report.absent_volumes;
        let Reading { files, bytes, damaged, .. } = reading;
        if self.json {
            say(format_args!(
                "{}",
                json!({
                    "ok": damaged == 0 && absent.is_empty(),
                    "files": files.to_string(),
                    "bytes": bytes.to_string(),
                    "damaged": damaged.to_string(),
                    "absent_volumes": absent,
                })
            ));
        } else {
            say(format_args!("{files} files and {bytes} bytes read, {damaged} files damaged"));
        }
        match (damaged, absent.len()) {
            (0, 0) => Ok(()),
            (0, absent) => Err(Error::Failed(format!("{absent} volumes are absent"))),
            (damaged, _) => Err(Error::Failed(format!("{damaged} files are damaged"))),
        }
    }
}

impl Reading<'_> {
    fn tenant(&mut self, tenant: &TenantInfo) -> Result<(), Error> {
        let mut last = None;
        loop {
            let page =
                self.depot.work_files(&tenant.name, "", last, PAGE_FILES_MAX).map_err(told)?;
            page.iter().for_each(|file| self.file(tenant, file));
            match page.last() {
                Some(file) => last = Some(file.record.id),
                None => break,
            }
        }
        let mut last: Option<String> = None;
        loop {
            let after = last.as_deref();
            let page =
                self.depot.kept_files(&tenant.name, "", after, PAGE_FILES_MAX).map_err(told)?;
            page.iter().for_each(|file| self.file(tenant, file));
            match page.last() {
                Some(file) => last = Some(file.record.path()),
                None => return Ok(()),
            }
        }
    }

    fn file(&mut self, tenant: &TenantInfo, file: &FileInfo) {
        let record = &file.record;
        let opened = self.depot.open_file(&tenant.name, record.id);
        match opened.and_then(|mut reader| reader.verify()) {
            // It expired since it was listed.
            Err(DepotError::UnknownFile { .. })
                if self.depot.file(&tenant.name, record.id).is_err() => {}
            Err(error) => {
                self.files += 1;
                self.damaged += 1;
                self.tell(tenant, file, &tell_all(&error));
            }
            Ok(()) => {
                self.files += 1;
                self.bytes += record.bytes;
            }
        }
        self.bar.inc(1);
    }

    fn tell(&self, tenant: &TenantInfo, file: &FileInfo, reason: &str) {
        let (id, path) = (file.record.id, file.record.path());
        self.bar.suspend(|| {
            if self.verify.json {
                let name = tenant.name.as_str();
                let told =
                    json!({"id": id.to_string(), "tenant": name, "path": path, "error": reason});
                say(format_args!("{told}"));
            } else {
                let (path, reason) = (printable(&path), printable(reason));
                say(format_args!("{} {id} {path}: DAMAGED: {reason}", tenant.name));
            }
        });
    }
}
