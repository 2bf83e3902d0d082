//! Values in files that other programs and people write too. An invalid value is
//! skipped and reported; the values around it are kept.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a file holds.
pub trait Contents: serde::Serialize + DeserializeOwned + Default {
    /// How a damaged file is treated, in words.
    const IF_DAMAGED: &'static str = "counts as empty";

    /// Which of its values are invalid, in words.
    fn odd(&self) -> Vec<String>;

    /// Whether it lists nothing. Such a file is damaged if its copy lists something.
    fn is_empty(&self) -> bool {
        false
    }
}

/// The fields of a JSON object, taken out one by one.
pub struct Fields {
    fields: Map<String, Value>,
    /// Those that were not what they should be.
    odd: Vec<&'static str>,
}

impl Fields {
    pub fn of(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self {
                fields,
                odd: Vec::new(),
            },
            _ => Self {
                fields: Map::new(),
                odd: vec!["entry"],
            },
        }
    }

    pub fn take<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        let value = self.fields.shift_remove(key).filter(|v| !v.is_null())?;
        let taken = serde_json::from_value(value).ok();
        if taken.is_none() {
            self.odd.push(key);
        }
        taken
    }

    /// What is left, and the names of what was odd.
    pub fn rest(self) -> (Map<String, Value>, Vec<&'static str>) {
        (self.fields, self.odd)
    }
}

/// `status of bob`, for each odd field of somebody's entry.
pub fn of_whom<'a>(fields: &'a [&'static str], whom: &'a str) -> impl Iterator<Item = String> + 'a {
    fields
        .iter()
        .map(move |field| format!("{field} of `{whom}`"))
}
