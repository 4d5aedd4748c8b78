//! The description of all endpoints as OpenAPI 3.1.

use crate::error::ErrorAnswer;
use crate::route::{Endpoint, Permission, Route, SchemaOf};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// A generator whose definitions stand under `components/schemas`.
pub(crate) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    SchemaGenerator::from(settings)
}

/// A parameter in a path's braces.
fn path_parameter(name: &str, path: &str) -> Value {
    let description = match name {
        "symbol" => "The symbol of an instrument, such as BTC-USD.",
        "topic" => "The name of a topic.",
        "group" => "The name of a group.",
        "consumer" => "The name of a consumer.",
        "tenant" => "The name of a tenant.",
        "volume" => "The name of a volume.",
        "name" => "The name of a calendar.",
        _ if path.contains("depot") => "The id of a file.",
        _ if path.contains("orders") => "The id of an order, or `client:` and a client order id.",
        _ if path.contains("keys") => "The id of a key.",
        _ => "The id of a withdrawal: the account, a dash and the reference.",
    };
    json!({
        "name": name, "in": "path", "required": true, "description": description,
        "schema": { "type": "string", "minLength": 1 },
    })
}

fn query_parameters(schema: SchemaOf) -> Vec<Value> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = schema(&mut SchemaGenerator::from(settings)).to_value();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(fields) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|all| all.remove("description"));
        // A query has no null: a parameter is present or absent.
        if let Some(Value::Array(kinds)) = schema.get("type").cloned() {
            schema["type"] = kinds[0].clone();
        }
        if let Some(Value::Array(choices)) = schema.get("anyOf").cloned() {
            schema = choices[0].clone();
        }
        json!({
            "name": name, "in": "query", "required": required.contains(&json!(name)),
            "description": description, "schema": schema,
        })
    };
    fields.iter().map(parameter).collect()
}

fn operation(route: Route, endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let names = endpoint.path.split('{').skip(1).filter_map(|part| part.split('}').next());
    let mut parameters: Vec<Value> =
        names.map(|name| path_parameter(name, endpoint.path)).collect();
    parameters.extend(query_parameters(endpoint.query));
    let mut responses = Map::new();
    for (status, body) in endpoint.answers {
        let mut response = json!({ "description": endpoint.summary });
        if let Some(body) = body {
            response["content"] = json!({ "application/json": { "schema": body(generator) } });
        }
        responses.insert(status.to_string(), response);
    }
    let error = generator.subschema_for::<ErrorAnswer>();
    for class in ["4XX", "5XX"] {
        responses.insert(
            class.to_owned(),
            json!({
                "description": "It was refused, or it failed.",
                "content": { "application/json": { "schema": error } },
            }),
        );
    }
    let mut operation = json!({
        "operationId": format!("{route:?}"),
        "summary": endpoint.summary,
        "tags": [endpoint.chapter],
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(body) = endpoint.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(generator) } },
        });
    }
    match endpoint.access {
        Permission::Public => operation["security"] = json!([]),
        Permission::Scope(scope) => operation["x-scope"] = json!(scope.name()),
        Permission::Queue(right) => operation["x-queue-right"] = json!(right),
        Permission::Depot(right) => operation["x-depot-right"] = json!(right),
    }
    operation
}

/// The description of all endpoints as OpenAPI 3.1, made of the types that they take and answer.
#[must_use]
pub fn openapi() -> Value {
    let mut generator = generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in Route::ALL {
        let Some(endpoint) = route.endpoint() else { continue };
        let described = operation(*route, &endpoint, &mut generator);
        let methods = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        methods[endpoint.method.to_lowercase()] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rialto",
            "version": "1",
            "description": "Orders, market data, withdrawals, queues and the operation of a venue. \
                            Decimals and numbers of 64 bits are text; times are nanoseconds since \
                            1970; docs/signing.md says how requests are signed.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "key": [], "timestamp": [], "signature": [] }, { "admin": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "key": header("x-rialto-key", "The id of the key."),
                "timestamp": header("x-rialto-timestamp", "Microseconds since 1970."),
                "signature": header(
                    "x-rialto-signature",
                    "HMAC-SHA-256 of the request; x-rialto-body-sha256 goes with a body, \
                     x-rialto-nonce and x-rialto-durability where they are wanted.",
                ),
                "admin": {
                    "type": "http", "scheme": "bearer", "description": "The operator's key.",
                },
            },
        },
    })
}

fn header(name: &str, description: &str) -> Value {
    json!({ "type": "apiKey", "in": "header", "name": name, "description": description })
}
