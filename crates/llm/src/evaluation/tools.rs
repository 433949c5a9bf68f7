//! The tools of the evaluation: pure functions with fixed answers, which no model can know.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};
use tenon_domain::{
    Annotations, RunsOn, ToolCall, ToolError, ToolId, ToolOutput, ToolResult, ToolSpec,
};

/// A city as it may be written, and what the weather tool says of it.
const WEATHER: [(&[&str], &str); 4] = [
    (&["oslo"], "4 °C, light rain, wind 23 km/h"),
    (&["cairo"], "31 °C, sunny, wind 9 km/h"),
    (&["lima"], "18 °C, fog, no wind"),
    (&["beijing", "北京"], "12 °C, hazy, wind 6 km/h"),
];

const TIMES: [(&[&str], &str); 3] = [
    (&["nairobi"], "15:40"),
    (&["tokyo"], "21:40"),
    (&["toronto"], "08:40"),
];

/// What a US dollar is worth in the evaluation.
const RATES: [(&str, f64); 5] = [
    ("USD", 1.0),
    ("EUR", 0.8),
    ("GBP", 0.5),
    ("JPY", 150.0),
    ("CNY", 7.0),
];

const STOCK: [(&[&str], &str); 4] = [
    (&["umbrella"], "17"),
    (&["lamp"], "42"),
    (&["backpack"], "63"),
    (&["chair"], "0"),
];

const CONTACTS: [(&[&str], &str); 3] = [
    (&["maria", "lopez"], "Maria Lopez, maria.lopez@example.com"),
    (&["ben", "carter"], "Ben Carter, ben.carter@example.com"),
    (&["李雷", "li lei", "lilei"], "李雷, li.lei@example.com"),
];

/// Words that find a file, its path, and what is in it.
const FILES: [(&[&str], &str, &str); 3] = [
    (
        &["invoice", "acme"],
        "invoices/acme-0471.txt",
        "Invoice 0471 of ACME. Total: 318.50 EUR. Due on 1 April.",
    ),
    (
        &["pancake", "recipe"],
        "notes/pancakes.txt",
        "Pancakes: 250 g of flour, 7 eggs, half a litre of milk.",
    ),
    (
        &["config", "app.toml"],
        "config/app.toml",
        "listen = \"127.0.0.1\"\nport = 9412",
    ),
];

static SPECS: LazyLock<Vec<Arc<ToolSpec>>> = LazyLock::new(|| {
    let text = |description: &str| json!({"type": "string", "description": description});
    let number = |description: &str| json!({"type": "number", "description": description});
    let one_of = |values: &[&str]| json!({"type": "string", "enum": values});
    vec![
        spec(
            "get_weather",
            "The weather in a city now.",
            &[("city", text("Name of the city"))],
        ),
        spec(
            "get_local_time",
            "The local time in a city now.",
            &[("city", text("Name of the city"))],
        ),
        spec(
            "convert_currency",
            "Converts an amount of money from one currency into another.",
            &[
                ("amount", number("How much")),
                ("from", text("Currency code, such as EUR")),
                ("to", text("Currency code, such as GBP")),
            ],
        ),
        spec(
            "calculate",
            "A calculator: one operation on two numbers.",
            &[
                ("a", number("The first number")),
                (
                    "operation",
                    one_of(&["add", "subtract", "multiply", "divide"]),
                ),
                ("b", number("The second number")),
            ],
        ),
        spec(
            "search_files",
            "Finds files of the user by words; the result is their paths.",
            &[("query", text("Words to look for"))],
        ),
        spec(
            "read_file",
            "Reads a file of the user.",
            &[("path", text("Path of the file"))],
        ),
        spec(
            "find_contact",
            "Looks somebody up in the user's address book: their email address.",
            &[("name", text("Name of the person"))],
        ),
        spec(
            "send_message",
            "Sends a message to an email address.",
            &[
                ("recipient", text("Email address")),
                ("text", text("What the message says")),
            ],
        ),
        spec(
            "create_event",
            "Puts an event into the user's calendar.",
            &[
                ("title", text("What it is")),
                ("date", text("The day as YYYY-MM-DD")),
                ("time", text("The time as HH:MM, 24 hours")),
            ],
        ),
        spec(
            "set_timer",
            "Starts a timer that rings after some minutes.",
            &[("minutes", number("How many minutes"))],
        ),
        spec(
            "check_stock",
            "How many pieces of a product are in the shop's stock.",
            &[("product", text("Name of the product"))],
        ),
        spec(
            "set_light",
            "Switches the light of a room on or off.",
            &[
                ("room", text("Name of the room")),
                ("state", one_of(&["on", "off"])),
            ],
        ),
    ]
});

pub(super) fn specs() -> Vec<Arc<ToolSpec>> {
    SPECS.clone()
}

fn spec(name: &str, description: &str, arguments: &[(&str, Value)]) -> Arc<ToolSpec> {
    let properties: Map<String, Value> = arguments
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    let required: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    Arc::new(ToolSpec {
        id: ToolId::new(name),
        name: name.into(),
        title: name.replace('_', " "),
        display_name: format!("Evaluation/{name}"),
        description: description.into(),
        input_schema: json!({"type": "object", "properties": properties, "required": required})
            .into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    })
}

/// The simulated result of a call. A wrong call gets the same error as from a real tool.
pub(super) fn simulate(call: &ToolCall) -> ToolResult {
    let input = CallInput(&call.input);
    let said = match call.tool_id.as_str() {
        "get_weather" => look_up(&WEATHER, input.text("city")?)?.to_owned(),
        "get_local_time" => look_up(&TIMES, input.text("city")?)?.to_owned(),
        "convert_currency" => convert(&input)?,
        "calculate" => calculate(&input)?,
        "search_files" => search(input.text("query")?),
        "read_file" => read(input.text("path")?)?.to_owned(),
        "find_contact" => look_up(&CONTACTS, input.text("name")?)?.to_owned(),
        "send_message" => {
            input.text("text")?;
            format!("Sent to {}.", input.text("recipient")?)
        }
        "create_event" => format!(
            "Created: {} on {} at {}.",
            input.text("title")?,
            input.text("date")?,
            input.text("time")?
        ),
        "set_timer" => format!("The timer rings in {} minutes.", input.number("minutes")?),
        "check_stock" => format!("{} in stock", look_up(&STOCK, input.text("product")?)?),
        "set_light" => format!(
            "The light in the {} is {} now.",
            input.text("room")?,
            input.text("state")?
        ),
        name => return Err(ToolError::failed(format!("There is no tool `{name}`."))),
    };
    Ok(ToolOutput::text(said))
}

/// The input of a call, whatever the model made of it.
struct CallInput<'a>(&'a Value);

impl CallInput<'_> {
    fn text(&self, name: &str) -> Result<&str, ToolError> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.ok_or_else(|| ToolError::invalid_input(format!("`{name}` has to be a text")))
    }

    fn number(&self, name: &str) -> Result<f64, ToolError> {
        let number = self.0.get(name).and_then(as_number);
        number.ok_or_else(|| ToolError::invalid_input(format!("`{name}` has to be a number")))
    }
}

/// A number, or a text that is one.
pub(super) fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn look_up<'a>(table: &[(&[&str], &'a str)], asked: &str) -> Result<&'a str, ToolError> {
    let asked = asked.to_lowercase();
    let known = |(names, _): &&(&[&str], &str)| names.iter().any(|name| asked.contains(name));
    let (_, said) = table
        .iter()
        .find(known)
        .ok_or_else(|| ToolError::failed(format!("Nothing is known of `{asked}`.")))?;
    Ok(said)
}

fn convert(input: &CallInput<'_>) -> Result<String, ToolError> {
    let rate = |name: &str| {
        let code = input.text(name)?.trim().to_uppercase();
        let known = RATES.iter().find(|(known, _)| *known == code);
        known.map(|(code, rate)| (*code, *rate)).ok_or_else(|| {
            ToolError::invalid_input(format!("`{code}` is none of USD, EUR, GBP, JPY, CNY"))
        })
    };
    let (amount, (_, from), (code, to)) = (input.number("amount")?, rate("from")?, rate("to")?);
    Ok(format!("{} {code}", amount / from * to))
}

fn calculate(input: &CallInput<'_>) -> Result<String, ToolError> {
    let (a, b) = (input.number("a")?, input.number("b")?);
    let result = match input.text("operation")? {
        "add" => a + b,
        "subtract" => a - b,
        "multiply" => a * b,
        "divide" if b != 0.0 => a / b,
        "divide" => return Err(ToolError::failed("Nothing can be divided by 0.")),
        other => return Err(ToolError::invalid_input(format!("no operation `{other}`"))),
    };
    Ok(result.to_string())
}

fn search(query: &str) -> String {
    let query = query.to_lowercase();
    let found = FILES
        .iter()
        .filter(|(words, ..)| words.iter().any(|word| query.contains(word)));
    let paths: Vec<&str> = found.map(|(_, path, _)| *path).collect();
    if paths.is_empty() {
        "No file was found.".into()
    } else {
        paths.join("\n")
    }
}

fn read(path: &str) -> Result<&'static str, ToolError> {
    let path = path.trim_start_matches(['.', '/']);
    let file = FILES.iter().find(|(_, known, _)| *known == path);
    file.map(|(_, _, content)| *content)
        .ok_or_else(|| ToolError::failed(format!("There is no file `{path}`.")))
}
