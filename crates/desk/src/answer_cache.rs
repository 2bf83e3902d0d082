//! Answers of a tool that are given again while nothing has changed: see
//! `kit::Tool::caches_answers`.
//!
//! An answer is kept with the version that the store had before it was read. If the store
//! still has that version, nothing was committed since, and the tool would answer the
//! same again. Calls pass all stations before they get a kept answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use kit::{Context, Reply, Result, Store, context::Language, reply::KeptReply};
use serde_json::Value;

/// How many answers of a tool are kept, and how many bytes of each.
const MOST: usize = 16;
const LONGEST: usize = 32 * 1024;

#[derive(Default)]
pub struct AnswerCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    moment: Moment,
    /// By the arguments, in JSON.
    answers: HashMap<String, (Language, Arc<KeptReply>)>,
}

/// A state of the store, and the minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Moment {
    version: i64,
    minute: i64,
}

/// A question whose answer may be kept.
pub struct CachedQuestion<'a> {
    kept: &'a AnswerCache,
    context: &'a Context,
    moment: Moment,
    arguments: String,
}

impl AnswerCache {
    /// `None` if the store can't tell whether it has changed.
    pub fn question<'a>(
        &'a self,
        context: &'a Context,
        store: &dyn Store,
        arguments: &Value,
    ) -> Option<CachedQuestion<'a>> {
        let moment = Moment {
            version: store.version()?,
            minute: minute(context),
        };
        Some(CachedQuestion {
            kept: self,
            context,
            moment,
            arguments: arguments.to_string(),
        })
    }
}

impl CachedQuestion<'_> {
    pub fn answer(&self) -> Option<Reply> {
        let kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (language, reply) = kept.answers.get(&self.arguments)?;
        let is_same = kept.moment == self.moment && *language == self.context.language;
        is_same.then(|| Reply::Kept(Arc::clone(reply)))
    }

    /// Keeps what the tool has answered.
    pub fn keep(self, reply: Reply) -> Result<Reply> {
        let json = match reply {
            Reply::Structured(json) if json.len() <= LONGEST => json,
            other => return Ok(other),
        };
        let reply = Arc::new(KeptReply::new(json)?);
        // The tool may have read the clock a minute later.
        if minute(self.context) == self.moment.minute {
            let mut kept = self.kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.moment != self.moment || kept.answers.len() >= MOST {
                kept.answers.clear();
                kept.moment = self.moment;
            }
            let answer = (self.context.language, Arc::clone(&reply));
            kept.answers.insert(self.arguments, answer);
        }
        Ok(Reply::Kept(reply))
    }
}

fn minute(context: &Context) -> i64 {
    context.clock.now().as_second().div_euclid(60)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::{Timestamp, ToSpan};
    use kit::{
        BoxFuture, Caller, Error,
        context::NoClient,
        counter::Migrations,
        sql::{Budget, ReadJob, WriteJob},
        time::Clock,
    };
    use serde_json::json;

    use super::*;

    /// Only its version is asked for.
    #[derive(Default)]
    struct Versioned(AtomicI64);

    fn unused<'a>() -> BoxFuture<'a, Result<()>> {
        Box::pin(std::future::ready(Err(Error::internal("not used"))))
    }

    impl Store for Versioned {
        fn read(&self, _: Budget, _: ReadJob<'static>) -> BoxFuture<'_, Result<()>> {
            unused()
        }

        fn write(&self, _: Budget, _: WriteJob<'static>) -> BoxFuture<'_, Result<()>> {
            unused()
        }

        fn migrate(&self, _: Migrations) -> BoxFuture<'_, Result<()>> {
            unused()
        }

        fn engine(&self) -> &'static str {
            "none"
        }

        fn version(&self) -> Option<i64> {
            Some(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn an_answer_is_given_again_until_anything_changes() {
        let (kept, store) = (AnswerCache::default(), Versioned::default());
        let start: Timestamp = "2026-11-16T03:00:20Z".parse().unwrap();
        let clock = Clock::fixed(start);
        let mut context = Context::new(Caller::anonymous(), clock.clone(), Arc::new(NoClient));
        let ask = |context: &Context, arguments: Value| {
            let question = kept.question(context, &store, &arguments).unwrap();
            match question.answer() {
                Some(answer) => answer.json() == Some("{\"n\":1}"),
                None => {
                    let reply = Reply::Structured("{\"n\":1}".to_owned());
                    assert_eq!(question.keep(reply).unwrap().json(), Some("{\"n\":1}"));
                    false
                }
            }
        };
        assert!(!ask(&context, json!({})), "it was never asked for");
        assert!(ask(&context, json!({})));
        assert!(!ask(&context, json!({ "limit": 1 })));
        assert!(
            ask(&context, json!({})),
            "other questions do not disturb it"
        );
        clock.set(start + 39.seconds());
        assert!(ask(&context, json!({})));
        clock.set(start + 40.seconds());
        assert!(!ask(&context, json!({})), "the next minute has begun");
        store.0.fetch_add(1, Ordering::Relaxed);
        assert!(!ask(&context, json!({})), "something was committed");
        assert!(ask(&context, json!({})));
        context.language = Language::Japanese;
        assert!(!ask(&context, json!({})), "in another language");
    }

    #[test]
    fn few_answers_are_kept_and_none_that_is_long() {
        let (kept, store) = (AnswerCache::default(), Versioned::default());
        let context = Context::of_the_desk(Clock::fixed(Timestamp::UNIX_EPOCH));
        let keep = |number: usize, text: String| {
            let question = kept.question(&context, &store, &json!({ "n": number }));
            question.unwrap().keep(Reply::Structured(text)).unwrap();
            kept.0.lock().unwrap().answers.len()
        };
        let most = (0..100).map(|number| keep(number, "{}".to_owned())).max();
        assert_eq!(most, Some(MOST));
        let before = kept.0.lock().unwrap().answers.len();
        assert_eq!(keep(100, " ".repeat(LONGEST + 1)), before);
    }
}
