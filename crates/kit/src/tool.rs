//! A tool as data: names, schemas, hints, effect and handler.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::{
    approval::Describe,
    arguments::drop_not_given,
    context::Context,
    error::Error,
    handler::{Handler, Run},
    language::Language,
    schema,
};

/// The default time limit of a tool.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

#[non_exhaustive]
pub struct Tool {
    /// The name from the counter's specification.
    pub name: &'static str,
    /// Other names for the same tool.
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// The title for Japanese readers of the console; `None`: the same.
    pub japanese_title: Option<&'static str>,
    /// At most two sentences.
    pub description: &'static str,
    /// JSON Schema of the arguments, as published. See [`crate::schema::input`].
    pub input: Value,
    /// JSON Schema of `structuredContent`; `None` for tools that answer with content
    /// blocks alone.
    pub output: Option<Value>,
    pub hints: Hints,
    pub effect: Effect,
    pub time_limit: Duration,
    /// The argument with the idempotency key. The desk keeps the first answer and
    /// replays it.
    pub idempotency_key: Option<&'static str>,
    /// The error codes of broken schema rules.
    pub rules: &'static [Rule],
    /// The error for an argument that the schema does not name, where the tool has a
    /// better one than `UNKNOWN_ARGUMENT`.
    pub explain_unknown: fn(&str) -> Option<Error>,
    /// Normalises what people and models send to what the schema accepts. Arguments
    /// that count as not given are removed before and after: see [`Tool::normalised`].
    pub normalise: fn(&Context, &mut Map<String, Value>),
    /// Optional arguments that stay, as `""`, when they are sent empty: the handler
    /// must be able to tell an empty one from a missing one.
    pub keeps_empty: &'static [&'static str],
    /// Extra `_meta` of the definition.
    pub meta: Option<Value>,
    /// Arguments with personal data. The audit keeps them apart, so that they can be
    /// erased.
    pub personal: &'static [&'static str],
    /// Describes a call to the person who is asked; `None`: list the arguments.
    pub card: Option<Describe>,
    /// Finds calls of other tools of the counter in the arguments; `None` for a tool
    /// that runs no others.
    pub inner_calls: Option<InnerCalls>,
    /// Names the other tools whose work a call does too; `None` for most tools.
    pub implied_tools: Option<ImpliedTools>,
    /// Whether answers are given again while nothing has changed. See
    /// [`Tool::caches_answers`].
    pub caches_answers: bool,
    pub run: Run,
}

/// Names the tools that a call with these arguments implies. The arguments are valid;
/// those of a call inside another may still have values that are filled in later.
pub type ImpliedTools = fn(&Map<String, Value>) -> &'static [&'static str];

/// Finds the calls in a tool's arguments, or adds the calls that they amount to. The
/// arguments are valid by the tool's own schema; the inner calls are not checked yet.
pub type InnerCalls = Arc<FindInnerCalls>;
type FindInnerCalls =
    dyn for<'a> Fn(&Context, &'a mut Map<String, Value>) -> Vec<InnerCall<'a>> + Send + Sync;

/// A call inside the arguments of another. The desk checks it like any other call,
/// and writes back what the tool has to run.
pub struct InnerCall<'a> {
    /// Any name of the tool; the desk replaces it by the tool's own name.
    pub tool: &'a mut String,
    pub arguments: &'a mut Map<String, Value>,
    /// Arguments whose values come from an earlier inner call. Only the tool can check
    /// them, while it runs.
    pub filled_in_later: Vec<String>,
}

/// What a client may assume about a tool. None is optional, so none is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

impl Hints {
    /// Changes nothing.
    pub const READS: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// Adds something with every call.
    pub const ADDS: Self = Self {
        read_only: false,
        idempotent: false,
        ..Self::READS
    };
    /// Sets something; a second call changes nothing more.
    pub const SETS: Self = Self {
        idempotent: true,
        ..Self::ADDS
    };
    /// Deletes something; a second call changes nothing more.
    pub const REMOVES: Self = Self {
        destructive: true,
        ..Self::SETS
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Changes the counter's data.
    Write,
    /// Changes what only the counter's staff may change: a key must name the tool, and
    /// callers over a network need a key.
    Manage,
    /// Acts on the outside world, or changes what a person approved. The user is asked
    /// first.
    Outside,
}

/// The keyword of a [`Rule`] for an argument that callers expect and the tool lacks.
pub const UNKNOWN: &str = "unknown";

/// The error if `field` breaks the schema keyword `keyword`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub field: &'static str,
    /// The JSON Schema keyword: `pattern`, `maxLength`, `required`, `enum`, …; `*` for any.
    /// [`UNKNOWN`] for an argument that the schema does not name: the message then says
    /// what to do instead.
    pub keyword: &'static str,
    pub code: &'static str,
    pub message: &'static str,
}

/// For lists of rules, a line each.
pub const fn rule(
    field: &'static str,
    keyword: &'static str,
    code: &'static str,
    message: &'static str,
) -> Rule {
    Rule {
        field,
        keyword,
        code,
        message,
    }
}

/// What every tool has to state.
pub struct Definition {
    /// The name from the counter's specification.
    pub name: &'static str,
    pub title: &'static str,
    /// At most two sentences.
    pub description: &'static str,
    pub hints: Hints,
    pub effect: Effect,
}

/// Declares a tool. Everything else has a default, which a method changes.
impl Tool {
    /// The schemas come from the types that the handler takes and returns.
    pub fn new<I: JsonSchema, O: JsonSchema>(
        definition: Definition,
        handler: Handler<I, O>,
    ) -> Self {
        Self {
            output: schema::output::<O>(),
            ..Self::without_output_schema(definition, handler)
        }
    }

    /// For a tool that answers with content blocks alone.
    pub fn without_output_schema<I: JsonSchema, O>(
        definition: Definition,
        handler: Handler<I, O>,
    ) -> Self {
        let Definition {
            name,
            title,
            description,
            hints,
            effect,
        } = definition;
        debug_assert_eq!(hints.read_only, effect == Effect::Read, "{name}");
        Self {
            name,
            aliases: &[],
            title,
            japanese_title: None,
            description,
            input: schema::input::<I>(),
            output: None,
            hints,
            effect,
            time_limit: TIME_LIMIT,
            idempotency_key: None,
            rules: &[],
            explain_unknown: |_| None,
            normalise: |_, _| {},
            keeps_empty: &[],
            meta: None,
            personal: &[],
            card: None,
            inner_calls: None,
            implied_tools: None,
            caches_answers: false,
            run: handler.run,
        }
    }

    pub fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    pub fn time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// The title for Japanese readers of the console.
    pub fn in_japanese(self, title: &'static str) -> Self {
        Self {
            japanese_title: Some(title),
            ..self
        }
    }

    pub fn title_in(&self, language: Language) -> &'static str {
        match language {
            Language::English => self.title,
            Language::Japanese => self.japanese_title.unwrap_or(self.title),
        }
    }

    pub fn idempotency_key(self, argument: &'static str) -> Self {
        Self {
            idempotency_key: Some(argument),
            ..self
        }
    }

    pub fn rules(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }

    pub fn explain_unknown(self, explain_unknown: fn(&str) -> Option<Error>) -> Self {
        Self {
            explain_unknown,
            ..self
        }
    }

    pub fn normalise(self, normalise: fn(&Context, &mut Map<String, Value>)) -> Self {
        Self { normalise, ..self }
    }

    pub fn keeps_empty(self, arguments: &'static [&'static str]) -> Self {
        Self {
            keeps_empty: arguments,
            ..self
        }
    }

    pub fn meta(self, meta: Value) -> Self {
        Self {
            meta: Some(meta),
            ..self
        }
    }

    pub fn personal(self, arguments: &'static [&'static str]) -> Self {
        Self {
            personal: arguments,
            ..self
        }
    }

    pub fn card(self, card: Describe) -> Self {
        Self {
            card: Some(card),
            ..self
        }
    }

    /// For a tool that runs others: `find` returns the calls in the arguments, or adds
    /// them there. The desk checks each like a call of its own and lists them all on
    /// the approval card. Such a tool can't be called inside another.
    pub fn inner_calls(
        self,
        find: impl for<'a> Fn(&Context, &'a mut Map<String, Value>) -> Vec<InnerCall<'a>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            inner_calls: Some(Arc::new(find)),
            ..self
        }
    }

    /// For a tool that, with some arguments, also does what other tools do. The caller
    /// then needs the right to use those too, and the strictest policy applies. The
    /// rest stays as it is: the tool keeps its card, and can be called in a batch.
    pub fn implied_tools(self, name: ImpliedTools) -> Self {
        Self {
            implied_tools: Some(name),
            ..self
        }
    }

    /// For a query that many make and whose answer seldom changes. The desk gives the
    /// answer again to the same arguments in the same language, within the same minute,
    /// while nothing was committed to the store. So it must depend on nothing else: not
    /// on the caller, nor on the second.
    pub fn caches_answers(self) -> Self {
        Self {
            caches_answers: true,
            ..self
        }
    }
}

impl Tool {
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    pub fn writes(&self) -> bool {
        self.effect != Effect::Read
    }

    /// Normalises the arguments, as far as they are understood.
    pub fn normalised(&self, context: &Context, arguments: &mut Map<String, Value>) {
        let mut kept = self.keeps_empty.to_vec();
        kept.retain(|name| arguments.contains_key(*name));
        drop_not_given(&self.input, arguments);
        (self.normalise)(context, arguments);
        // Again, for what the tool renamed, trimmed or unpacked.
        drop_not_given(&self.input, arguments);
        for name in kept {
            arguments.entry(name).or_insert_with(|| "".into());
        }
    }

    /// The spelling that LLM clients accept: `[A-Za-z0-9_-]{1,64}`.
    pub fn client_safe_name(&self) -> &'static str {
        let safe = |name: &str| {
            !name.is_empty()
                && name.len() <= 64
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        if safe(self.name) {
            return self.name;
        }
        self.aliases
            .iter()
            .copied()
            .find(|alias| safe(alias))
            .unwrap_or(self.name)
    }
}

#[cfg(test)]
mod tests;
