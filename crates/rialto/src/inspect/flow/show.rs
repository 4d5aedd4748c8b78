//! `rialto flow show`.

use super::{Which, began, list::brief, output, request_id};
use crate::Error;
use rialto_recorder::{Record, StepId, Tree, Value};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), Error> {
    let tree = args.which.tree()?;
    if args.json {
        output::print_json(&object(&tree));
    } else {
        output::print(&format!("{}{tree}", head(tree.record())));
    }
    Ok(())
}

/// The title of a record.
pub(super) fn head(record: &Record) -> String {
    let mut head = format!("began    {}\n", began(record));
    if let Some(request) = request_id(record) {
        head.push_str(&format!("request  {request}\n"));
    }
    if record.subject().trace_id != 0 {
        head.push_str(&format!("trace    {:032x}\n", record.subject().trace_id));
    }
    head.push('\n');
    head
}

fn object(tree: &Tree) -> serde_json::Value {
    let record = tree.record();
    let mut whole = brief(record);
    let variables = |step: StepId| -> Vec<serde_json::Value> {
        let told = record.variables_at(step);
        told.map(|told| json!({"name": told.path, "value": value(&told.value)})).collect()
    };
    let steps: Vec<serde_json::Value> = record
        .steps()
        .iter()
        .map(|step| {
            json!({
                "step": step.id().number(),
                "of": (step.parent() != StepId::BEGIN).then_some(step.parent().number()),
                "name": step.name(),
                "at_ns": step.at().since(record.began()).as_nanos() as u64,
                "took_ns": record.took(step).map(|took| took.as_nanos() as u64),
                "variables": variables(step.id()),
            })
        })
        .collect();
    let asked: Vec<serde_json::Value> = tree.children().iter().map(object).collect();
    let more = json!({
        "variables": variables(StepId::BEGIN),
        "steps": steps,
        "steps_lost": record.steps_lost(),
        "variables_lost": record.variables_lost(),
        "asked": asked,
    });
    if let (serde_json::Value::Object(whole), serde_json::Value::Object(more)) = (&mut whole, more)
    {
        whole.extend(more);
    }
    whole
}

/// A value as JSON: 64-bit numbers as strings, as in the API.
fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Bool(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Hidden => json!({"hidden": true}),
        other => json!(other.to_string()),
    }
}
