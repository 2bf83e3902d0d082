//! What all messages begin with: who sends them.

use crate::message::{Field, Message};

/// The program, as the collector shows it.
#[derive(Debug, Clone)]
pub struct Resource {
    attributes: Vec<(String, String)>,
    version: &'static str,
}

impl Resource {
    /// `given` wins over what the program says of itself.
    pub fn new(version: &'static str, instance: &str, given: &[(String, String)]) -> Self {
        let own = [
            ("service.name", "madoguchi"),
            ("service.version", version),
            ("service.instance.id", instance),
        ];
        let own = own
            .into_iter()
            .filter(|(name, _)| given.iter().all(|(it, _)| it != name));
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            attributes: own.chain(given.iter().cloned()).collect(),
            version,
        }
    }

    /// One group of everything, in the shape that traces and metrics share. `items`
    /// names the field with the group.
    pub fn write(&self, message: &mut dyn Message, items: &Items<'_>) {
        message.messages(items.groups, 1, &mut |_, group| {
            group.message(Field(1, "resource"), &mut |resource| {
                attributes(resource, Field(1, "attributes"), &self.attributes);
            });
            group.messages(items.scopes, 1, &mut |_, scope| {
                scope.message(Field(1, "scope"), &mut |scope| {
                    scope.text(Field(1, "name"), "madoguchi");
                    scope.text(Field(2, "version"), self.version);
                });
                scope.messages(items.items, items.count, &mut |at, item| {
                    (items.write)(at, item)
                });
            });
        });
    }
}

/// What is exported, and the fields that it is in.
pub struct Items<'a> {
    pub groups: Field,
    pub scopes: Field,
    pub items: Field,
    pub count: usize,
    pub write: &'a dyn Fn(usize, &mut dyn Message),
}

/// Text attributes, each a key and a value.
pub fn attributes<K: AsRef<str>, V: AsRef<str>>(
    message: &mut dyn Message,
    field: Field,
    pairs: &[(K, V)],
) {
    message.messages(field, pairs.len(), &mut |at, pair| {
        let Some((key, value)) = pairs.get(at) else {
            return;
        };
        pair.text(Field(1, "key"), key.as_ref());
        pair.message(Field(2, "value"), &mut |any| {
            any.text(Field(1, "stringValue"), value.as_ref());
        });
    });
}
