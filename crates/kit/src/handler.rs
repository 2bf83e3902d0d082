//! A tool's handler: a typed function, and how the desk runs it.

use std::{marker::PhantomData, sync::Arc};

use futures::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    context::Context,
    error::{Error, Result},
    reply::Reply,
    sql::Sql,
};

type StoreHandler = Arc<dyn Fn(&Context, &mut dyn Sql, Value) -> Result<Reply> + Send + Sync>;
/// Work for a transaction, after everything that could be prepared.
pub type Ready = Box<dyn FnMut(&mut dyn Sql) -> Result<Reply> + Send>;
type Prepare = Arc<dyn Fn(&Context, &mut dyn Sql, Value) -> Result<Ready> + Send + Sync>;
type AsyncHandler = Arc<dyn Fn(Context, Value) -> BoxFuture<'static, Result<Reply>> + Send + Sync>;

/// How the desk runs a tool.
#[derive(Clone)]
pub enum Run {
    /// Reads from the counter's store, beside other readers.
    Query(StoreHandler),
    /// Runs in a transaction that the desk opened. It also contains the desk's own
    /// writes: all of them are committed, or none.
    Transaction(StoreHandler),
    /// A transaction after expensive reading or computing. That part runs first,
    /// beside other readers, so that it does not block the writer. What it read may
    /// have changed when the transaction begins.
    Prepared(Prepare),
    /// Anything else. It may wait, ask the client and report progress.
    Async(AsyncHandler),
}

impl Run {
    /// Whether its changes happen in a transaction that the desk opens.
    pub fn is_transaction(&self) -> bool {
        matches!(self, Self::Transaction(_) | Self::Prepared(_))
    }
}

/// A [`Run`] that remembers the types it takes and returns, so that a tool's
/// schemas are derived from the types that its handler really uses.
pub struct Handler<I, O> {
    pub(crate) run: Run,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Handler<I, O>
where
    I: DeserializeOwned + 'static,
    O: Serialize + 'static,
{
    /// Reads from the counter's store.
    pub fn query<S: Send + Sync + 'static>(
        state: &Arc<S>,
        handler: fn(&S, &Context, &mut dyn Sql, I) -> Result<O>,
    ) -> Self {
        Self::from_run(Run::Query(store_handler(state, handler)))
    }

    /// Reads and writes in one transaction.
    pub fn transaction<S: Send + Sync + 'static>(
        state: &Arc<S>,
        handler: fn(&S, &Context, &mut dyn Sql, I) -> Result<O>,
    ) -> Self {
        Self::from_run(Run::Transaction(store_handler(state, handler)))
    }

    /// `prepare` beside other readers, then `write` in a transaction.
    pub fn prepared<S: Send + Sync + 'static, P: Send + 'static>(
        state: &Arc<S>,
        prepare: fn(&S, &Context, &mut dyn Sql, I) -> Result<P>,
        write: fn(&S, &Context, &mut dyn Sql, &P) -> Result<O>,
    ) -> Self {
        let state = Arc::clone(state);
        Self::from_run(Run::Prepared(Arc::new(move |context, sql, arguments| {
            let plan = prepare(&state, context, sql, typed(arguments)?)?;
            let (state, context) = (Arc::clone(&state), context.clone());
            Ok(Box::new(move |sql: &mut dyn Sql| {
                Reply::structured(&write(&state, &context, sql, &plan)?)
            }))
        })))
    }

    /// Waits for something besides the store.
    pub fn waiting<S, F>(state: &Arc<S>, handler: fn(Arc<S>, Context, I) -> F) -> Self
    where
        S: Send + Sync + 'static,
        F: Future<Output = Result<O>> + Send + 'static,
    {
        let state = Arc::clone(state);
        Self::from_run(run_async(move |context, input| {
            let work = handler(Arc::clone(&state), context, input);
            async move { Reply::structured(&work.await?) }
        }))
    }

    /// Waits for something besides the store, and shares no state.
    pub fn stateless<F>(handler: fn(Context, I) -> F) -> Self
    where
        F: Future<Output = Result<O>> + Send + 'static,
    {
        Self::from_run(run_async(move |context, input| {
            let work = handler(context, input);
            async move { Reply::structured(&work.await?) }
        }))
    }
}

impl<I: DeserializeOwned + 'static> Handler<I, Reply> {
    /// Composes its own reply.
    pub fn replying<F>(handler: fn(Context, I) -> F) -> Self
    where
        F: Future<Output = Result<Reply>> + Send + 'static,
    {
        Self::from_run(run_async(handler))
    }
}

impl<I, O> Handler<I, O> {
    /// For a counter that runs its handlers in another way. `run` must take an `I`
    /// and answer with an `O`.
    pub fn from_run(run: Run) -> Self {
        Self {
            run,
            types: PhantomData,
        }
    }
}

fn run_async<I, F>(start: impl Fn(Context, I) -> F + Send + Sync + 'static) -> Run
where
    I: DeserializeOwned + 'static,
    F: Future<Output = Result<Reply>> + Send + 'static,
{
    Run::Async(Arc::new(move |context, arguments| match typed(arguments) {
        Ok(input) => Box::pin(start(context, input)),
        Err(error) => Box::pin(std::future::ready(Err(error))),
    }))
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

/// The arguments are already validated, so a failure means that the schema allows
/// what the Rust type does not. It is reported as the caller's error.
pub fn typed<I: DeserializeOwned>(mut arguments: Value) -> Result<I> {
    // 3.0 is an integer to JSON Schema, but not to Rust.
    whole_numbers(&mut arguments);
    serde_json::from_value(arguments).map_err(|error| {
        let error = error.to_string();
        // serde names the Rust type of a number out of range.
        let is_number = error
            .rsplit_once("expected ")
            .is_some_and(|(_, wanted)| matches!(wanted, "i64" | "i32" | "u64" | "u32" | "usize"));
        let what = match is_number {
            true => "A number is out of range.".to_owned(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_a_type_are_worded_plainly() {
        for beyond in [json!([1_u64 << 63]), json!([1e30]), json!([-1e19])] {
            let refused = typed::<Vec<i64>>(beyond).unwrap_err();
            assert_eq!(refused.message, "A number is out of range.");
        }
        let refused = typed::<Vec<String>>(json!([5])).unwrap_err();
        assert!(refused.message.contains("expected a string"), "{refused}");
        assert_eq!(typed::<Vec<i64>>(json!([3.0])).unwrap(), [3]);
    }

    #[test]
    fn only_whole_numbers_become_integers() {
        let mut value =
            json!({ "a": [1.0, 1.5], "b": { "c": -3.0 }, "d": 9_007_199_254_740_992.0 });
        whole_numbers(&mut value);
        let expected = json!({ "a": [1, 1.5], "b": { "c": -3 }, "d": 9_007_199_254_740_992.0 });
        assert_eq!(value, expected);
    }
}
