//! The tools as a host sees them, and how their arguments are read. Answers in text and in structure.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Value, json};

use crate::trip::{self, Refused, Trip};

/// What a call asks for, after its arguments were read.
#[derive(Debug)]
pub(crate) enum Call {
    Search { to: String },
    Convert { amount: f64, from: String, to: String },
    Book { flight: String, price: f64, budget: f64 },
    Seats { flight: String },
}

/// A call that cannot be understood: a protocol error, not a tool's.
#[derive(Debug, PartialEq)]
pub(crate) enum Misread {
    Tool(String),
    Argument(&'static str),
}

impl Call {
    pub(crate) fn read(name: &str, arguments: Option<&JsonObject>) -> Result<Self, Misread> {
        let text = |key: &'static str| {
            let value = arguments.and_then(|arguments| arguments.get(key)).and_then(Value::as_str);
            value.map(str::to_owned).ok_or(Misread::Argument(key))
        };
        let number = |key: &'static str| {
            let value = arguments.and_then(|arguments| arguments.get(key)).and_then(Value::as_f64);
            value.ok_or(Misread::Argument(key))
        };
        match name {
            "search_flights" => Ok(Self::Search { to: text("to")? }),
            "convert_currency" => Ok(Self::Convert { amount: number("amount")?, from: text("from")?, to: text("to")? }),
            "book_trip" => {
                Ok(Self::Book { flight: text("flight")?, price: number("price_eur")?, budget: number("budget_eur")? })
            }
            "check_seats" => Ok(Self::Seats { flight: text("flight")? }),
            unknown => Err(Misread::Tool(unknown.to_owned())),
        }
    }

    pub(crate) fn run(self, trip: &mut Trip) -> CallToolResult {
        trip.calls += 1;
        let done = match self {
            Self::Search { to } => Ok(search(&to)),
            Self::Convert { amount, from, to } => trip::convert(amount, &from, &to).map(|converted| {
                (format!("{amount:.2} {from} are {converted:.2} {to}"), json!({ "amount": converted, "currency": to }))
            }),
            Self::Book { flight, price, budget } => {
                trip.book(&flight, price, budget).map(|said| (said, json!({ "flight": flight, "price_eur": price })))
            }
            Self::Seats { flight } => trip.seats(&flight).map(|said| (said, json!({ "flight": flight }))),
        };
        answer(done)
    }
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        tool(
            "search_flights",
            "Flights from Vienna to a city, with their prices in US dollars.",
            &json!({ "to": { "type": "string", "description": "a city, such as Lisbon" } }),
        ),
        tool(
            "convert_currency",
            "Converts an amount at today's rate. Knows EUR, USD and GBP.",
            &json!({ "amount": { "type": "number" }, "from": { "type": "string" }, "to": { "type": "string" } }),
        ),
        tool(
            "book_trip",
            "Books a flight when its price in euros is within the budget.",
            &json!({
                "flight": { "type": "string" }, "price_eur": { "type": "number" }, "budget_eur": { "type": "number" },
            }),
        ),
        tool("check_seats", "Which seats are free on a flight.", &json!({ "flight": { "type": "string" } })),
    ]
}

fn search(to: &str) -> (String, Value) {
    let found = trip::flights(to);
    let lines: Vec<String> =
        found.iter().map(|flight| format!("{} to {} at {:.2} USD", flight.number, flight.to, flight.dollars)).collect();
    let said = if lines.is_empty() { format!("no flights to {to}") } else { lines.join("\n") };
    let listed = found.iter().map(|flight| json!({ "flight": flight.number, "price_usd": flight.dollars }));
    (said, json!({ "flights": listed.collect::<Vec<_>>() }))
}

fn answer(done: Result<(String, Value), Refused>) -> CallToolResult {
    match done {
        Ok((said, structure)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(said)]);
            result.structured_content = Some(structure);
            result
        }
        Err(refused) => CallToolResult::error(vec![ContentBlock::text(refused.to_string())]),
    }
}

/// A tool all of whose properties are required.
fn tool(name: &'static str, description: &'static str, properties: &Value) -> Tool {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, description, schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, arguments: &Value, expected: &str) {
        let seen = match Call::read(name, arguments.as_object()) {
            Ok(call) => {
                let result = call.run(&mut Trip::default());
                serde_json::to_string(&result).expect("a result is JSON")
            }
            Err(misread) => format!("{misread:?}"),
        };
        assert_eq!(seen, expected);
    }

    #[test]
    fn arguments_are_read_before_anything_happens() {
        check("fly", &json!({}), "Tool(\"fly\")");
        check("search_flights", &json!({ "to": 3 }), "Argument(\"to\")");
        check("book_trip", &json!({ "flight": "TP1273", "price_eur": "1" }), "Argument(\"price_eur\")");
    }

    #[test]
    fn a_refusal_is_the_tools_error() {
        check(
            "book_trip",
            &json!({ "flight": "TP1273", "price_eur": 315.22, "budget_eur": 300 }),
            "{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\
             \"budget check failed: 315.22 EUR is over the budget of 300.00 EUR\"}],\"isError\":true}",
        );
    }

    #[test]
    fn every_tool_that_is_listed_can_be_called() {
        for tool in all() {
            let read = Call::read(&tool.name, None).map(|_| ());
            assert!(matches!(read, Err(Misread::Argument(_))), "{}", tool.name);
        }
    }
}
