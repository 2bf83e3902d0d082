//! A form made from the schema of a tool's arguments, and the arguments back from it.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{
    parts::{excerpt, select},
    words::Words,
};

/// Begins the names of all fields, so that none is mistaken for one of the console's.
const PREFIX: &str = "argument";

/// The field with all arguments as JSON, which wins over the others.
pub const AS_JSON: &str = "json";

/// Texts of this length and above get room for several lines.
const LONG_TEXT: u64 = 300;

/// Arguments that are usually long.
const LONG_NAMES: [&str; 7] = [
    "body",
    "content",
    "context",
    "description",
    "markdown",
    "message",
    "text",
];

/// What a person enters for an argument.
#[derive(Debug, PartialEq, Eq)]
enum Kind<'a> {
    Choice(Vec<&'a str>),
    YesOrNo,
    Whole,
    Number,
    Date,
    Time,
    Line,
    Text,
    /// One item a line; numbers or texts.
    Items {
        of_numbers: bool,
    },
    /// An object with known fields.
    Fields(&'a Map<String, Value>),
    /// Anything else, as JSON.
    Json,
}

fn kind<'a>(name: &str, schema: &'a Value) -> Kind<'a> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Kind::Choice(values.iter().filter_map(Value::as_str).collect());
    }
    match text("type") {
        "boolean" => Kind::YesOrNo,
        "integer" => Kind::Whole,
        "number" => Kind::Number,
        "string" => {
            let described = text("description");
            let longest = schema.get("maxLength").and_then(Value::as_u64);
            let is_long = longest.is_some_and(|most| most >= LONG_TEXT);
            if text("format") == "date" || described == "YYYY-MM-DD" {
                Kind::Date
            } else if text("format") == "time" || described == "HH:MM" {
                Kind::Time
            } else if is_long || LONG_NAMES.contains(&name) {
                Kind::Text
            } else {
                Kind::Line
            }
        }
        "array" => match schema.pointer("/items/type").and_then(Value::as_str) {
            Some("string") => Kind::Items { of_numbers: false },
            Some("integer" | "number") => Kind::Items { of_numbers: true },
            _ => Kind::Json,
        },
        _ => match schema.get("properties").and_then(Value::as_object) {
            Some(fields) if !fields.is_empty() => Kind::Fields(fields),
            _ => Kind::Json,
        },
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties.map(|(name, schema)| (name.as_str(), schema))
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|it| it == name))
}

/// Values that were entered before, by the name of the field.
pub type Entered<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The fields of the form.
pub fn fields(words: &Words, schema: &Value, entered: Entered<'_>) -> Markup {
    fields_below(words, schema, PREFIX, entered)
}

fn fields_below(words: &Words, schema: &Value, path: &str, entered: Entered<'_>) -> Markup {
    html! {
        @for (name, own) in properties(schema) {
            (argument(words, &format!("{path}/{name}"), name, own, is_required(schema, name), entered))
        }
    }
}

fn argument(
    words: &Words,
    path: &str,
    name: &str,
    schema: &Value,
    required: bool,
    entered: Entered<'_>,
) -> Markup {
    let id = path.replace('/', "-");
    let about = schema.get("description").and_then(Value::as_str);
    let kind = kind(name, schema);
    if matches!(kind, Kind::Fields(_)) {
        return html! {
            fieldset {
                legend { code { (name) } @if let Some(about) = about { " – " (excerpt(about, 300)) } }
                (fields_below(words, schema, path, entered))
            }
        };
    }
    let default = schema.get("default").map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let is_below = path.matches('/').count() > 1;
    html! {
        div class="field" {
            label for=(id) {
                code { (name) }
                @if required { " " span class="required" { (words.pick("required", "必須")) } }
            }
            (input(words, &Field {
                id: &id,
                path,
                kind,
                value: &entered(path).unwrap_or_default(),
                // An object that is left out needs nothing inside.
                required: required && !is_below,
                default: default.as_deref(),
                schema,
            }))
            @if about.is_some() || default.is_some() {
                p class="hint" id={ (id) "-hint" } {
                    @if let Some(about) = about { (excerpt(about, 400)) " " }
                    @if let Some(default) = &default {
                        (words.pick("Otherwise: ", "省略時：")) (excerpt(default, 100))
                    }
                }
            }
        }
    }
}

struct Field<'a> {
    id: &'a str,
    path: &'a str,
    kind: Kind<'a>,
    value: &'a str,
    required: bool,
    default: Option<&'a str>,
    schema: &'a Value,
}

fn input(words: &Words, field: &Field<'_>) -> Markup {
    let Field {
        id, path, value, ..
    } = field;
    let of_type = |kind: &str, step: Option<&str>| {
        let bound = |key: &str| field.schema.get(key).map(Value::to_string);
        html! {
            input id=(id) name=(path) type=(kind) value=(value) step=[step] autocomplete="off"
                min=[bound("minimum")] max=[bound("maximum")] required[field.required];
        }
    };
    let lines = |class: Option<&str>| {
        html! {
            textarea id=(id) name=(path) class=[class] required[field.required] { "\n" (value) }
        }
    };
    match &field.kind {
        Kind::Choice(values) => {
            let none = ("", "–");
            let values = values.iter().map(|value| (*value, *value));
            let options: Vec<_> = std::iter::once(none).chain(values).collect();
            select(id, path, value, &options)
        }
        Kind::YesOrNo => {
            let otherwise = match field.default {
                Some("true") => words.pick("– (yes)", "–（はい）"),
                Some("false") => words.pick("– (no)", "–（いいえ）"),
                _ => "–",
            };
            let yes = ("true", words.pick("yes", "はい"));
            let no = ("false", words.pick("no", "いいえ"));
            select(id, path, value, &[("", otherwise), yes, no])
        }
        Kind::Whole => of_type("number", Some("1")),
        Kind::Number => of_type("number", Some("any")),
        Kind::Date => of_type("date", None),
        Kind::Time => of_type("time", None),
        Kind::Line => of_type("text", None),
        Kind::Text => lines(None),
        Kind::Items { .. } => html! {
            (lines(None))
            p class="hint" { (words.pick("One a line", "1行に1つ")) }
        },
        Kind::Fields(_) => html! {},
        Kind::Json => html! {
            (lines(Some("code")))
            p class="hint" { "JSON" }
        },
    }
}

/// The arguments that were entered. An error is the name of a field that should have
/// been JSON. Everything else is left to the validation that every call passes.
pub fn arguments(schema: &Value, entered: Entered<'_>) -> Result<Map<String, Value>, String> {
    if let Some(text) = entered(AS_JSON).filter(|text| !text.trim().is_empty()) {
        return serde_json::from_str(&text).map_err(|_| AS_JSON.to_owned());
    }
    arguments_below(schema, PREFIX, entered)
}

fn arguments_below(
    schema: &Value,
    path: &str,
    entered: Entered<'_>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for (name, own) in properties(schema) {
        let path = format!("{path}/{name}");
        let kind = kind(name, own);
        if matches!(kind, Kind::Fields(_)) {
            let fields = arguments_below(own, &path, entered)?;
            if !fields.is_empty() {
                arguments.insert(name.to_owned(), Value::Object(fields));
            }
            continue;
        }
        let text = entered(&path).unwrap_or_default();
        if !text.trim().is_empty() {
            let value = value(&kind, &text).ok_or_else(|| name.to_owned())?;
            arguments.insert(name.to_owned(), value);
        }
    }
    Ok(arguments)
}

fn value(kind: &Kind<'_>, text: &str) -> Option<Value> {
    let number = |text: &str| text.trim().parse::<serde_json::Number>().ok();
    let number_or_text = |text: &str| number(text).map_or_else(|| json!(text), Value::Number);
    Some(match kind {
        Kind::Choice(_) | Kind::Date | Kind::Time | Kind::Line => json!(text.trim()),
        // Browsers send line ends of their own kind.
        Kind::Text => json!(text.replace("\r\n", "\n")),
        Kind::YesOrNo => json!(text == "true"),
        Kind::Whole | Kind::Number => number_or_text(text),
        Kind::Items { of_numbers } => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let items = lines.map(|line| match of_numbers {
                true => number_or_text(line),
                false => json!(line),
            });
            Value::Array(items.collect())
        }
        Kind::Json | Kind::Fields(_) => serde_json::from_str(text).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use kit::context::Language;

    use super::*;

    fn schema() -> Value {
        json!({
            "properties": {
                "date": { "type": "string", "description": "YYYY-MM-DD" },
                "sort": { "type": "string", "enum": ["a", "b"] },
                "limit": { "type": "integer", "minimum": 1, "default": 20 },
                "map": { "type": "boolean", "default": true },
                "seat_ids": { "type": "array", "items": { "type": "string" } },
                "product_ids": { "type": "array", "items": { "type": "integer" } },
                "tickets": { "type": "object" },
                "content": { "type": "string" },
                "place": { "type": "object", "properties": { "city": { "type": "string" } } },
            },
            "required": ["seat_ids"],
        })
    }

    fn read(entered: &[(&str, &str)]) -> Result<Value, String> {
        let get = |name: &str| {
            let found = entered.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        arguments(&schema(), &get).map(Value::Object)
    }

    #[test]
    fn each_kind_of_argument_has_its_own_input() {
        let page = fields(Words::of(Language::English), &schema(), &|name| {
            (name == "argument/content").then(|| "</textarea><b>".to_owned())
        })
        .into_string();
        for part in [
            "name=\"argument/date\" type=\"date\"",
            "<select id=\"argument-sort\"",
            "type=\"number\" value=\"\" step=\"1\" autocomplete=\"off\" min=\"1\"",
            "Otherwise: <bdi>20</bdi>",
            "– (yes)",
            "<textarea id=\"argument-seat_ids\" name=\"argument/seat_ids\" required>",
            "<fieldset><legend><code>place</code>",
            "name=\"argument/place/city\"",
            "&lt;/textarea&gt;&lt;b&gt;",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }

    #[test]
    fn what_is_entered_becomes_arguments() {
        assert_eq!(read(&[("argument/limit", " ")]), Ok(json!({})));
        let entered = read(&[
            ("argument/date", "2026-11-16"),
            ("argument/limit", "7"),
            ("argument/map", "false"),
            ("argument/seat_ids", "A5\r\n A6 \r\n\r\n"),
            ("argument/product_ids", "1\n2"),
            ("argument/tickets", "{\"child\": 1}"),
            ("argument/content", "a\r\nb"),
            ("argument/place/city", "Nara"),
            ("form", "token"),
        ]);
        let arguments = json!({
            "date": "2026-11-16", "limit": 7, "map": false, "seat_ids": ["A5", "A6"],
            "product_ids": [1, 2], "tickets": { "child": 1 }, "content": "a\nb",
            "place": { "city": "Nara" },
        });
        assert_eq!(entered, Ok(arguments));
        // The validation of the call says what is wrong with it.
        let wrong = read(&[("argument/limit", "many")]);
        assert_eq!(wrong, Ok(json!({ "limit": "many" })));
        assert_eq!(read(&[("argument/tickets", "two")]), Err("tickets".into()));
        assert_eq!(read(&[("json", "{\"x\": 1}")]), Ok(json!({ "x": 1 })));
        assert_eq!(read(&[("json", "[1]")]), Err("json".into()));
    }
}
