//! The reference of endpoints and types for people, as Markdown.

use crate::{Endpoint, Permission, Route, asyncapi, openapi};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Longest list of names that is written where it is used.
const NAMES_INLINE_MAX: usize = 10;

const INTRODUCTION: &str = "# Endpoints and types

A test makes this page from the types that the venue decodes and encodes. [openapi.json](openapi.json)
and [asyncapi.json](asyncapi.json) hold the same as data; a venue answers them at
`GET /v1/openapi.json` and `GET /v1/asyncapi.json`. [api.md](api.md) has conventions, errors and limits.

- A field is required in a request, and present in an answer, unless it is optional or has a default.
- An optional field of an answer is left out or `null`.
- Every status from 400 on has the body [ErrorAnswer](#erroranswer), except 503 of `GET /v1/ready` and
  `GET /v1/live`.
- The column *Who* names the scope of the key, or its right to the topic or the tenant.
";

const STREAMS: &str = "
## Streams

| WebSocket | The client sends | The venue sends |
|---|---|---|
| `GET /v1/stream` ([stream.md](stream.md)) | [StreamRequest](#streamrequest) | [StreamMessage](#streammessage) |
| `GET /v1/queues/{topic}/groups/{group}/stream` ([queues-http.md](queues-http.md#pushed-messages)) | [SettleMessage](#settlemessage) | [GroupStreamMessage](#groupstreammessage) |
";

/// All endpoints, their parameters and all types, as a page of Markdown.
#[must_use]
pub fn reference() -> String {
    let (document, streams) = (openapi(), asyncapi());
    let schemas = [&document, &streams].map(|it| it["components"]["schemas"].as_object());
    let types = Types(schemas.into_iter().flatten().flatten().collect());
    let mut page = INTRODUCTION.to_owned();
    let mut parameters = BTreeSet::new();
    let mut chapter = "";
    for endpoint in Route::ALL.iter().filter_map(|route| route.endpoint()) {
        if endpoint.chapter != chapter {
            chapter = endpoint.chapter;
            page += &format!("\n## {chapter}\n\n");
            page += "| Request | Who | What it does | Parameters | Body | Answer |\n";
            page += "|---|---|---|---|---|---|\n";
        }
        let operation = &document["paths"][endpoint.path][endpoint.method.to_lowercase()];
        page += &types.endpoint_row(&endpoint, operation);
        parameters.extend(items(&operation["parameters"]).iter().map(|it| types.parameter_row(it)));
    }
    page += STREAMS;
    page += "\n## Parameters\n\n| Parameter | In | Type | Meaning |\n|---|---|---|---|\n";
    page.extend(parameters);
    page += "\n## Types\n";
    let named = types.0.iter().filter(|(_, schema)| !is_inline(schema));
    page.extend(named.map(|(name, schema)| types.section(name, schema)));
    page
}

/// Whether a type is a few names, which are written where it is used.
fn is_inline(schema: &Value) -> bool {
    schema.get("enum").is_some_and(|names| items(names).len() <= NAMES_INLINE_MAX)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text of a schema, in one line.
fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
}

fn quoted<'a>(names: impl Iterator<Item = &'a Value>) -> String {
    let names = names.filter(|name| !name.is_null()).map(|name| format!("`{}`", plain(name)));
    names.collect::<Vec<_>>().join(", ")
}

/// A value as it is in JSON, texts without quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The types by name.
struct Types<'a>(BTreeMap<&'a String, &'a Value>);

impl Types<'_> {
    fn endpoint_row(&self, endpoint: &Endpoint, operation: &Value) -> String {
        let who = match endpoint.access {
            Permission::Public => "everybody".to_owned(),
            Permission::Scope(scope) => format!("scope `{}`", scope.name()),
            Permission::Queue(right) => format!("right `{right}`"),
            Permission::Depot(right) => format!("right `{right}` to the tenant"),
        };
        let parameters = items(&operation["parameters"]).iter().filter(|it| it["in"] == "query");
        let parameters = quoted(parameters.map(|it| &it["name"]));
        let content =
            |it: &Value| Some(self.kind(it["content"]["application/json"].get("schema")?));
        let body = content(&operation["requestBody"]).unwrap_or_default();
        // All statuses of success of an endpoint have the same body.
        let statuses: Vec<String> = endpoint.answers.iter().map(|it| it.0.to_string()).collect();
        let first = statuses.first().and_then(|it| content(&operation["responses"][it]));
        let answer = statuses.join(", ") + &first.map_or(String::new(), |it| format!(": {it}"));
        let (method, path, what) = (endpoint.method, endpoint.path, endpoint.summary);
        format!("| `{method} {path}` | {who} | {what} | {parameters} | {body} | {answer} |\n")
    }

    fn parameter_row(&self, it: &Value) -> String {
        let (name, place, meaning) = (text(it, "name"), text(it, "in"), text(it, "description"));
        let kind = self.field(&it["schema"], it["required"] == true);
        format!("| `{name}` | {place} | {kind} | {meaning} |\n")
    }

    fn section(&self, name: &str, schema: &Value) -> String {
        let mut lines = vec![format!("\n### {name}"), text(schema, "description")];
        for (name, kind, field) in self.fields(schema) {
            lines.push(format!("- `{name}` ({kind}): {}", text(field, "description")));
        }
        for (mark, key) in [("-", "oneOf"), ("1.", "prefixItems")] {
            for form in items(&schema[key]) {
                let meaning = text(form, "description");
                lines.push(format!("{mark} {}: {meaning}", self.form(form)));
            }
        }
        if schema["anyOf"].is_array() {
            lines.push(format!("- and the fields of one of {}", self.kinds(&schema["anyOf"])));
        }
        lines.push(quoted(items(&schema["enum"]).iter()));
        lines.retain(|line| !line.is_empty());
        lines.join("\n") + "\n"
    }

    /// The fields of an object, with their types in words.
    fn fields<'a>(&self, schema: &'a Value) -> Vec<(&'a str, String, &'a Value)> {
        let all = schema["properties"].as_object().into_iter().flatten();
        let is_required = |name: &String| items(&schema["required"]).iter().any(|it| it == name);
        all.map(|(name, it)| (name.as_str(), self.field(it, is_required(name)), it)).collect()
    }

    /// One of the forms of a type; the tag of an object comes first.
    fn form(&self, schema: &Value) -> String {
        if !schema["properties"].is_object() {
            return self.kind(schema);
        }
        let mut parts = vec![String::new()];
        for (name, kind, field) in self.fields(schema) {
            match field.get("const") {
                Some(tag) => parts[0] = format!("`{name}` = `{}`", plain(tag)),
                None => parts.push(format!("`{name}` ({kind})")),
            }
        }
        parts.retain(|part| !part.is_empty());
        parts.join(", ")
    }

    /// The type of a field and whether it may be left out.
    fn field(&self, schema: &Value, required: bool) -> String {
        let kind = self.kind(schema);
        match schema.get("default") {
            Some(default) => format!("{kind}; default `{}`", plain(default)),
            None if required => kind,
            None => format!("{kind}; optional"),
        }
    }

    fn kinds(&self, schemas: &Value) -> String {
        let kinds = items(schemas).iter().filter(|it| it["type"] != "null");
        kinds.map(|it| self.kind(it)).collect::<Vec<_>>().join(", ")
    }

    /// A type in words.
    fn kind(&self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            let inline = self.0.get(&name.to_owned()).filter(|target| is_inline(target));
            let link = || format!("[{name}](#{})", name.to_lowercase());
            return inline.map_or_else(link, |target| self.kind(target));
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        let pattern = text(schema, "pattern");
        let number = |key: &str| schema[key].as_u64();
        match kind.unwrap_or_default() {
            _ if schema["enum"].is_array() => quoted(items(&schema["enum"]).iter()),
            _ if schema["const"].is_string() => quoted([&schema["const"]].into_iter()),
            _ if schema["prefixItems"].is_array() => {
                format!("[{}]", self.kinds(&schema["prefixItems"]))
            }
            "string" if pattern.contains("\\.") => "decimal as text".to_owned(),
            "string" if pattern.contains("[0-9]{") => "whole number as text".to_owned(),
            "string" if schema["contentEncoding"].is_string() => "base64".to_owned(),
            "string" => "text".to_owned(),
            "integer" | "number" => match (number("minimum"), number("maximum")) {
                (Some(least @ 1..), Some(most)) => format!("number from {least} to {most}"),
                _ => "number".to_owned(),
            },
            "boolean" => "boolean".to_owned(),
            "array" => {
                let most =
                    number("maxItems").map_or("list".to_owned(), |it| format!("at most {it}"));
                format!("{most} of {}", self.kind(&schema["items"]))
            }
            "object" if schema["properties"].is_object() => {
                format!("object of {}", self.form(schema))
            }
            "object" => format!("object of {}", self.kind(&schema["additionalProperties"])),
            _ if schema["oneOf"].is_array() => self.kinds(&schema["oneOf"]),
            _ if schema["anyOf"].is_array() => self.kinds(&schema["anyOf"]),
            _ => "any JSON".to_owned(),
        }
    }
}
