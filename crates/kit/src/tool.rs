//! A tool as data: its names, schemas, hints and effect stand beside its handler.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    BoxFuture, Context, Error, Reply, Result, Sql, approval::Describe, arguments::drop_not_given,
};

/// How long a tool may take unless it says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

pub struct Tool {
    /// The name its document gives it.
    pub name: &'static str,
    /// Other spellings it answers to.
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// At most two sentences.
    pub description: &'static str,
    /// JSON Schema of the arguments, as published. See [`crate::schema::input`].
    pub input: Value,
    /// JSON Schema of `structuredContent`; `None` only for tools that answer
    /// with content blocks alone.
    pub output: Option<Value>,
    pub hints: Hints,
    pub effect: Effect,
    pub time_limit: Duration,
    /// The argument in which a caller passes a key that makes a retry safe.
    /// The desk keeps the first answer and replays it.
    pub idempotency_key: Option<&'static str>,
    /// Which code answers which broken schema rule.
    pub rules: &'static [Rule],
    /// Turns what people and models really send into the schema's form. What was
    /// not given is taken out before and after: see [`Tool::normalised`].
    pub normalise: fn(&Context, &mut Map<String, Value>),
    /// Extra `_meta` of the definition.
    pub meta: Option<Value>,
    /// Arguments that hold what people wrote or who they are: kept apart in the
    /// audit, so that they can be erased.
    pub personal: &'static [&'static str],
    /// What a person sees who is asked; `None`: the arguments as they are.
    pub card: Option<Describe>,
    /// Where its arguments hold calls of other tools of the same counter;
    /// `None` for a tool that runs no others.
    pub inner_calls: Option<InnerCalls>,
    pub run: Run,
}

/// Finds the calls that a tool's arguments hold. The arguments are valid by
/// the tool's own schema; the inner calls are not checked yet.
pub type InnerCalls = fn(&mut Map<String, Value>) -> Vec<InnerCall<'_>>;

/// A call inside the arguments of another. The desk checks it as it checks a
/// call that stands alone, and writes back what the tool is to run.
pub struct InnerCall<'a> {
    /// Any name of the tool; the desk puts the tool's own name here.
    pub tool: &'a mut String,
    pub arguments: &'a mut Map<String, Value>,
    /// Arguments whose values come from an earlier inner call. Only the tool
    /// can check these, while it runs.
    pub filled_in_later: Vec<String>,
}

/// What a client may assume about a tool. Plain booleans, so that none is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Changes data the counter keeps.
    Write,
    /// Changes what only the counter's own people may: a key must name the
    /// tool, and nobody without a key gets at it over a network.
    Manage,
    /// Acts on the outside world, or changes what a person approved; the user is
    /// asked first.
    Outside,
}

/// `field` breaking the schema keyword `keyword` is answered with `code`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    pub field: &'static str,
    /// The JSON Schema keyword: `pattern`, `maxLength`, `required`, `enum`, …; `*` for any.
    pub keyword: &'static str,
    pub code: &'static str,
    pub message: &'static str,
}

type StoreHandler = Arc<dyn Fn(&Context, &mut dyn Sql, Value) -> Result<Reply> + Send + Sync>;
/// Work for a transaction, with everything ready that could be worked out before.
pub type Ready = Box<dyn FnMut(&mut dyn Sql) -> Result<Reply> + Send>;
type Prepare = Arc<dyn Fn(&Context, &mut dyn Sql, Value) -> Result<Ready> + Send + Sync>;
type AsyncHandler = Arc<dyn Fn(Context, Value) -> BoxFuture<'static, Result<Reply>> + Send + Sync>;

/// How the desk runs a tool.
#[derive(Clone)]
pub enum Run {
    /// Reads from the counter's store, beside other readers.
    Query(StoreHandler),
    /// Runs inside a transaction that the desk opened and in which the desk's
    /// own writes take part: all of it happens, or none.
    Transaction(StoreHandler),
    /// A transaction that begins with expensive reading or computing: that part
    /// runs first, beside other readers, so that it does not hold up the writer.
    /// What it read may have changed when the transaction begins.
    Prepared(Prepare),
    /// Anything else. It may wait, ask the client and report progress.
    Async(AsyncHandler),
}

impl Run {
    /// Whether its changes happen in a transaction that the desk opens.
    pub fn is_transaction(&self) -> bool {
        matches!(self, Self::Transaction(_) | Self::Prepared(_))
    }

    pub fn query<S, I, O>(
        state: &Arc<S>,
        handler: fn(&S, &Context, &mut dyn Sql, I) -> Result<O>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        I: DeserializeOwned + 'static,
        O: Serialize + 'static,
    {
        Self::Query(store_handler(state, handler))
    }

    pub fn transaction<S, I, O>(
        state: &Arc<S>,
        handler: fn(&S, &Context, &mut dyn Sql, I) -> Result<O>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        I: DeserializeOwned + 'static,
        O: Serialize + 'static,
    {
        Self::Transaction(store_handler(state, handler))
    }

    /// `prepare` beside other readers, then `write` in a transaction.
    pub fn prepared<S, I, P, O>(
        state: &Arc<S>,
        prepare: fn(&S, &Context, &mut dyn Sql, I) -> Result<P>,
        write: fn(&S, &Context, &mut dyn Sql, &P) -> Result<O>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        I: DeserializeOwned + 'static,
        P: Send + 'static,
        O: Serialize + 'static,
    {
        let state = Arc::clone(state);
        Self::Prepared(Arc::new(move |context, sql, arguments| {
            let plan = prepare(&state, context, sql, typed(arguments)?)?;
            let (state, context) = (Arc::clone(&state), context.clone());
            Ok(Box::new(move |sql: &mut dyn Sql| {
                Reply::structured(&write(&state, &context, sql, &plan)?)
            }))
        }))
    }

    /// A handler that waits for something besides the store.
    pub fn shared<S, I, O, F>(state: &Arc<S>, handler: fn(Arc<S>, Context, I) -> F) -> Self
    where
        S: Send + Sync + 'static,
        I: DeserializeOwned + 'static,
        O: Serialize + 'static,
        F: Future<Output = Result<O>> + Send + 'static,
    {
        let state = Arc::clone(state);
        Self::Async(Arc::new(move |context, arguments| match typed(arguments) {
            Ok(input) => {
                let work = handler(Arc::clone(&state), context, input);
                Box::pin(async move { Reply::structured(&work.await?) })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }))
    }

    pub fn task<I, F>(handler: fn(Context, I) -> F) -> Self
    where
        I: DeserializeOwned + 'static,
        F: Future<Output = Result<Reply>> + Send + 'static,
    {
        Self::Async(Arc::new(move |context, arguments| match typed(arguments) {
            Ok(input) => Box::pin(handler(context, input)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }))
    }
}

fn store_handler<S, I, O>(
    state: &Arc<S>,
    handler: fn(&S, &Context, &mut dyn Sql, I) -> Result<O>,
) -> StoreHandler
where
    S: Send + Sync + 'static,
    I: DeserializeOwned + 'static,
    O: Serialize + 'static,
{
    let state = Arc::clone(state);
    Arc::new(move |context, sql, arguments| {
        let output = handler(&state, context, sql, typed(arguments)?)?;
        Reply::structured(&output)
    })
}

/// Arguments reach this point validated, so a failure means that the schema
/// allows what the Rust type does not; it is still answered as the caller's.
pub fn typed<I: DeserializeOwned>(mut arguments: Value) -> Result<I> {
    // To JSON Schema 3.0 is an integer, to Rust it is not.
    whole_numbers(&mut arguments);
    serde_json::from_value(arguments).map_err(|error| {
        let error = error.to_string();
        // A number beyond the type is named in Rust's words.
        let is_number = error
            .rsplit_once("expected ")
            .is_some_and(|(_, wanted)| matches!(wanted, "i64" | "i32" | "u64" | "u32" | "usize"));
        let what = match is_number {
            true => "A number is larger or smaller than it can be.".to_owned(),
            false => format!("{error}."),
        };
        Error::new(crate::error::INVALID_ARGUMENT, what)
            .next("Check the arguments against the tool's input schema.")
    })
}

fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(real) = number.as_f64()
                && number.is_f64()
                && real.fract() == 0.0
                && real.abs() < 9_007_199_254_740_992.0
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is whole and small enough"
                )]
                let whole = real as i64;
                *value = whole.into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(object) => object.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

impl Tool {
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    pub fn writes(&self) -> bool {
        self.effect != Effect::Read
    }

    /// The arguments in the schema's form, as far as they can be understood.
    pub fn normalised(&self, context: &Context, arguments: &mut Map<String, Value>) {
        drop_not_given(&self.input, arguments);
        (self.normalise)(context, arguments);
        // Once more for what the tool renamed, trimmed or unpacked.
        drop_not_given(&self.input, arguments);
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

/// For tools that take arguments as they come.
pub fn as_is(_: &Context, _: &mut Map<String, Value>) {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_type_refuses_is_told_in_plain_words() {
        for beyond in [json!([1_u64 << 63]), json!([1e30]), json!([-1e19])] {
            let refused = typed::<Vec<i64>>(beyond).unwrap_err();
            assert_eq!(
                refused.message,
                "A number is larger or smaller than it can be."
            );
        }
        let refused = typed::<Vec<String>>(json!([5])).unwrap_err();
        assert!(refused.message.contains("expected a string"), "{refused}");
        assert_eq!(typed::<Vec<i64>>(json!([3.0])).unwrap(), [3]);
    }
}
