//! The reference of endpoints and types for people, as Markdown.

use crate::{Access, Endpoint, Route, asyncapi, openapi};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

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
- The column *Who* names the scope of the key, or its right to the topic.
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
    let document = openapi();
    let mut types = definitions(&document);
    types.extend(definitions(&asyncapi()));
    let types = Types(types);
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

fn definitions(document: &Value) -> Map<String, Value> {
    document["components"]["schemas"].as_object().cloned().unwrap_or_default()
}

/// Whether a type is a few names, which are written where it is used.
fn is_inline(schema: &Value) -> bool {
    schema.get("enum").is_some_and(|names| items(names).len() <= NAMES_INLINE_MAX)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text of a schema, on one line.
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
struct Types(Map<String, Value>);

impl Types {
    fn endpoint_row(&self, endpoint: &Endpoint, operation: &Value) -> String {
        let who = match endpoint.access {
            Access::Public => "everybody".to_owned(),
            Access::Scope(scope) => format!("scope `{}`", scope.name()),
            Access::Queue(right) => format!("right `{right}`"),
        };
        let parameters = items(&operation["parameters"]).iter().filter(|it| it["in"] == "query");
        let parameters = quoted(parameters.map(|it| &it["name"]));
        let content =
            |it: &Value| Some(self.kind(it["content"]["application/json"].get("schema")?));
        let body = content(&operation["requestBody"]).unwrap_or_default();
        // All statuses of success of an endpoint have the same body.
        let statuses: Vec<String> = endpoint.answers.iter().map(|it| it.0.to_string()).collect();
        let first = statuses.first().and_then(|it| content(&operation["responses"][it]));
        let answer = statuses.join(", ") + &first.map_or(String::new(), |kind| format!(": {kind}"));
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
        lines.extend(self.fields(schema).map(|(name, kind, field)| {
            format!("- `{name}` ({kind}): {}", text(field, "description"))
        }));
        lines.extend(
            items(&schema["oneOf"]).iter().map(|choice| {
                format!("- {}: {}", self.choice(choice), text(choice, "description"))
            }),
        );
        let forms: Vec<String> = items(&schema["anyOf"]).iter().map(|it| self.kind(it)).collect();
        if !forms.is_empty() {
            lines.push(format!("- the fields of {}", forms.join(" or of ")));
        }
        lines.push(quoted(items(&schema["enum"]).iter()));
        lines.extend(
            items(&schema["prefixItems"])
                .iter()
                .map(|part| format!("1. {}: {}", self.kind(part), text(part, "description"))),
        );
        lines.retain(|line| !line.is_empty());
        lines.join("\n") + "\n"
    }

    /// The fields of an object, with their types in words.
    fn fields<'a>(
        &'a self,
        schema: &'a Value,
    ) -> impl Iterator<Item = (&'a String, String, &'a Value)> {
        let required = items(&schema["required"]);
        let all = schema["properties"].as_object().into_iter().flatten();
        all.map(move |(name, field)| {
            (name, self.field(field, required.iter().any(|it| it == name)), field)
        })
    }

    /// One of the forms of a type: a name, or an object, whose tag comes first.
    fn choice(&self, schema: &Value) -> String {
        let mut parts = Vec::from([quoted(schema.get("const").into_iter())]);
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

    /// A type in words.
    fn kind(&self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
            let inline = self.0.get(name).filter(|target| is_inline(target));
            let link = || format!("[{name}](#{})", name.to_lowercase());
            return inline.map_or_else(link, |target| self.kind(target));
        }
        let all = |schemas: &Value| {
            let kinds = items(schemas).iter().filter(|it| it["type"] != "null");
            kinds.map(|it| self.kind(it)).collect::<Vec<_>>().join(", ")
        };
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        let pattern = text(schema, "pattern");
        let number = |key: &str| schema[key].as_u64();
        match kind.unwrap_or_default() {
            _ if schema["enum"].is_array() => quoted(items(&schema["enum"]).iter()),
            _ if schema["const"].is_string() => quoted([&schema["const"]].into_iter()),
            _ if schema["prefixItems"].is_array() => format!("[{}]", all(&schema["prefixItems"])),
            "string" if pattern.contains("\\.") => "decimal as text".to_owned(),
            "string" if pattern.contains("[0-9]{") => "whole number as text".to_owned(),
            "string" if schema["contentEncoding"].is_string() => "base64".to_owned(),
            "string" => "text".to_owned(),
            "integer" | "number" => match (number("minimum"), number("maximum")) {
                (Some(least @ 1..), Some(most)) => format!("number from {least} to {most}"),
                _ => "number".to_owned(),
            },
            "boolean" => "boolean".to_owned(),
            "array" => match number("maxItems") {
                Some(most) => format!("at most {most} of {}", self.kind(&schema["items"])),
                None => format!("list of {}", self.kind(&schema["items"])),
            },
            "object" if schema["properties"].is_object() => {
                format!("object of {}", self.choice(schema))
            }
            "object" => format!("object of {}", self.kind(&schema["additionalProperties"])),
            _ if schema["oneOf"].is_array() => all(&schema["oneOf"]),
            _ if schema["anyOf"].is_array() => all(&schema["anyOf"]),
            _ => "any JSON".to_owned(),
        }
    }
}
