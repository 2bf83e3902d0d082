//! Arguments near a tool's schema: valid ones, ones at its edges, and ones that
//! nobody would write.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::random::Random;

/// Texts of the kinds that tools ask for.
#[rustfmt::skip]
const USUAL: &[&str] = &[
    "2026-11-17", "明日", "19:30", "25:30", "2026-11-17T19:30:00+09:00", "tomorrow 9am", "M001",
    "A1", "B2", "T001", "1", "cart_0", "rsv_0", "general", "room-1", "agent-a", "田中", "むぎぼー",
    "MUGIBO-CAL-2025", "goods", "key-1", "毎週月水金", "FREQ=DAILY;COUNT=3", "weekdays",
    "taro@example.com", "+81312345678", "a title", "Default", "#T001 @agent-a **bold**",
];

/// Texts that programs stumble over.
#[rustfmt::skip]
const ODD: &[&str] = &[
    "", " ", "\u{0}", "a\u{0}b", "\n", "\r\n- [ ] x #T999\n## y", "\t", "\u{1b}[31m", "\u{7f}",
    "\u{202e}abc\u{202c}", "\u{2066}x\u{2069}", "\u{feff}x", "\u{200b}",
    "\u{200d}👩\u{200d}👩\u{200d}👧", "e\u{301}\u{301}\u{301}\u{301}\u{301}", "ｱｲｳ", "Ａ１、Ｂ２",
    "\u{10ffff}", "\u{fffd}", "\u{fffe}", "\\ud800", "\\u0000", "ﷺ", "İ", "ß", "ǅ", "null",
    "undefined", "NaN", "-0", "1e999", "99999999999999999999", "0x10", "../../etc/passwd", "..",
    ".", "/", "\\", "%00", "%s%n", "${x}", "{{x}}", "' OR 1=1 --", "\"", "`",
    "<script>alert(1)</script>", "*", "?", "[", "(((((", "a||b", "9999-12-31", "0000-00-00",
    "2026-02-30", "24:00", "-1:00", "99:99", "T000", "T9999", "FREQ=SECONDLY;INTERVAL=0",
    "RRULE:FREQ=YEARLY;BYMONTHDAY=-31", "cart_\u{0}", "system",
];

pub struct Generator {
    pub random: Random,
    /// Values of earlier answers, by the name of their field.
    seen: BTreeMap<String, Vec<Value>>,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            seen: BTreeMap::new(),
        }
    }

    /// Remembers what a tool answered, so that ids are met again.
    pub fn learn(&mut self, answer: &Value) {
        match answer {
            Value::Object(object) => {
                for (name, value) in object {
                    if value.is_string() || value.is_number() {
                        self.remember(name, value);
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().take(20).for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn remember(&mut self, name: &str, value: &Value) {
        if value.as_str().is_some_and(|text| text.len() > 300) {
            return;
        }
        let values = self.seen.entry(name.to_lowercase()).or_default();
        match values.len() {
            0..40 => values.push(value.clone()),
            full => values[self.random.below(full)] = value.clone(),
        }
    }

    /// All the arguments of one call.
    pub fn arguments(&mut self, schema: &Value) -> Map<String, Value> {
        let properties = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        // Most calls should reach the tool itself: all of theirs is valid, or all but one.
        let spoiled = match self.random.below(10) {
            0..=4 => 0,
            5..=7 => 1,
            _ => properties.len(),
        };
        let mut arguments = Map::new();
        let mut left = spoiled;
        for (name, about) in &properties {
            let is_required = list(&schema["required"]).any(|required| required == name);
            let percent = if is_required { 97 } else { 45 };
            if !self.random.chance(percent) {
                continue;
            }
            let value = match left {
                0 => self.valid(name, about),
                _ => {
                    left -= 1;
                    self.spoiled(name, about)
                }
            };
            arguments.insert(name.clone(), value);
        }
        if self.random.chance(4) {
            let name = *self.random.pick(ODD);
            let value = self.anything(2);
            arguments.insert(name.into(), value);
        }
        arguments
    }

    fn spoiled(&mut self, name: &str, schema: &Value) -> Value {
        match self.random.below(12) {
            0..=3 => self.edge(name, schema),
            4..=6 => Value::from(*self.random.pick(ODD)),
            7 | 8 => self.anything(3),
            9 => self.long_text().into(),
            10 => self.nested(),
            _ => self.valid(name, schema),
        }
    }

    fn valid(&mut self, name: &str, schema: &Value) -> Value {
        if let Some(values) = schema["enum"].as_array() {
            return self.random.pick(values).clone();
        }
        match schema["type"].as_str() {
            Some("string") => self.valid_text(name, schema),
            Some("integer") => self.valid_integer(name, schema),
            Some("number") => json!(self.random.below(10_000) as f64 / 4.0),
            Some("boolean") => self.random.chance(50).into(),
            Some("array") => {
                let most = schema["maxItems"].as_u64().unwrap_or(6).min(6) as usize;
                let count = self.random.below(most + 1);
                (0..count)
                    .map(|_| self.valid(name, &schema["items"]))
                    .collect()
            }
            Some("object") => self.object(name, schema),
            _ => self.anything(2),
        }
    }

    fn valid_text(&mut self, name: &str, schema: &Value) -> Value {
        let fits = |value: &Value| jsonschema::is_valid(schema, value);
        for _ in 0..8 {
            let value = match self.random.below(10) {
                0..=5 => self.seen_before(name).unwrap_or(Value::Null),
                6..=8 => Value::from(*self.random.pick(USUAL)),
                _ => Value::from(*self.random.pick(ODD)),
            };
            if fits(&value) {
                return value;
            }
        }
        Value::from(*self.random.pick(USUAL))
    }

    fn valid_integer(&mut self, name: &str, schema: &Value) -> Value {
        if self.random.chance(60)
            && let Some(seen) = self.seen_before(name)
            && seen.is_i64()
        {
            return seen;
        }
        let least = schema["minimum"].as_i64().unwrap_or(0).max(-100);
        let most = schema["maximum"].as_i64().unwrap_or(60).min(least + 60);
        let span = usize::try_from(most - least + 1).unwrap_or(1);
        json!(least + self.random.below(span) as i64)
    }

    /// A value that an answer had under this name, or under the name of some id
    /// when an id is asked for.
    fn seen_before(&mut self, name: &str) -> Option<Value> {
        let name = name.to_lowercase();
        let singular = name.strip_suffix('s').unwrap_or(&name);
        let values = [&name, singular].into_iter().find_map(|n| self.seen.get(n));
        if let Some(values) = values {
            return Some(self.random.pick(values).clone());
        }
        if !singular.ends_with("id") && !matches!(singular, "replace" | "target" | "replyto") {
            return None;
        }
        let ids: Vec<&Vec<Value>> = self
            .seen
            .iter()
            .filter(|(name, _)| name.ends_with("id"))
            .map(|(_, values)| values)
            .collect();
        if ids.is_empty() {
            return None;
        }
        let values = *self.random.pick(&ids);
        Some(self.random.pick(values).clone())
    }

    fn object(&mut self, name: &str, schema: &Value) -> Value {
        let has_own_values = matches!(name, "cart_plan" | "products" | "shipping_address");
        if schema["properties"].is_object() && !has_own_values {
            return Value::Object(self.arguments(schema));
        }
        let id = self.random.below(32);
        match name {
            "cart_plan" => {
                let quantity = self.random.below(12);
                json!({ "items": [
                    { "product_id": id, "quantity": quantity },
                    { "product_id": self.random.below(31), "quantity": "1" },
                ] })
            }
            "products" => json!({ "id": id, "price_jpy": self.random.below(3000) }),
            "shipping_address" => json!({
                "recipient": *self.random.pick(USUAL), "postalCode": *self.random.pick(USUAL),
                "addressLine": [*self.random.pick(ODD)], "country": "JP",
            }),
            // Of an operation in a batch.
            "arguments" => json!({
                "task_id": format!("T{:03}", id), "title": *self.random.pick(USUAL),
                "content": *self.random.pick(ODD), "status": "done",
            }),
            _ => self.anything(3),
        }
    }

    /// Just inside and just outside what the schema allows.
    fn edge(&mut self, name: &str, schema: &Value) -> Value {
        match schema["type"].as_str() {
            Some("string") => {
                let most = schema["maxLength"].as_u64().unwrap_or(5000) as usize;
                let length = *self
                    .random
                    .pick(&[0, 1, most.saturating_sub(1), most, most + 1]);
                let letter = *self.random.pick(&["a", "あ", "👩", "\u{301}", "-", "\n"]);
                letter.repeat(length).into()
            }
            Some("integer" | "number") => {
                let least = schema["minimum"].as_i64().unwrap_or(0);
                let most = schema["maximum"].as_i64().unwrap_or(1 << 53);
                let edges = [
                    json!(least),
                    json!(least - 1),
                    json!(most),
                    json!(most + 1),
                    json!(0),
                    json!(-1),
                    json!(i64::MAX),
                    json!(i64::MIN),
                    json!(u64::MAX),
                    json!(0.5),
                    json!(-0.0),
                    json!(1e308),
                    json!(5e-324),
                    json!(1.0),
                    json!(least.to_string()),
                ];
                self.random.pick(&edges).clone()
            }
            Some("array") => {
                let most = schema["maxItems"].as_u64().unwrap_or(300) as usize;
                let count = *self.random.pick(&[0, most, most + 1]);
                let item = self.valid(name, &schema["items"]);
                vec![item; count].into()
            }
            _ => self.anything(2),
        }
    }

    /// Any JSON at all.
    fn anything(&mut self, depth: usize) -> Value {
        match self.random.below(if depth == 0 { 6 } else { 8 }) {
            0 => Value::Null,
            1 => self.random.chance(50).into(),
            2 => json!(self.random.number() as i64),
            3 => json!(f64::from_bits(self.random.number())),
            4 => Value::from(*self.random.pick(USUAL)),
            5 => Value::from(*self.random.pick(ODD)),
            6 => {
                let count = self.random.below(4);
                (0..count).map(|_| self.anything(depth - 1)).collect()
            }
            _ => {
                let count = self.random.below(4);
                let members = (0..count).map(|_| {
                    let names = if self.random.chance(50) { USUAL } else { ODD };
                    let name = *self.random.pick(names);
                    (name.to_owned(), self.anything(depth - 1))
                });
                Value::Object(members.collect())
            }
        }
    }

    fn long_text(&mut self) -> String {
        let piece = *self.random.pick(&[
            "x",
            "字",
            "\u{301}",
            "a ",
            "#T001 ",
            "\u{202e}",
            "- [ ] y\n",
        ]);
        let length = *self.random.pick(&[1_000, 1_000, 5_000, 20_000, 300_000]);
        piece.repeat(length / piece.len())
    }

    /// As deep as the desk lets through, and no deeper: what is deeper is no
    /// message at all.
    fn nested(&mut self) -> Value {
        let mut value = Value::from(1);
        for level in 0..self.random.below(50) {
            value = if level % 2 == 0 {
                json!([value])
            } else {
                json!({ "items": value })
            };
        }
        value
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
