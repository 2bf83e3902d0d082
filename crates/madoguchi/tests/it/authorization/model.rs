//! A model of who may do what, compared with the desk, step by step.
//!
//! A generator makes keys, settings and a sequence of steps: calls by any name,
//! retries, clients that leave at any await point, a person's decisions, revoked
//! keys and grants, reads. `model/rules.rs` says what each step must lead to,
//! written from what is promised to users; `model/judge.rs` compares the answer,
//! what was really done, the questions a person is shown, the grants in force and
//! the audit trail. Everything runs in this process, on both engines.
//!
//! The same cases are made each time. For more, or others:
//!
//! - `MADOGUCHI_MODEL_CASES`: how many cases are made for each engine;
//! - `MADOGUCHI_MODEL_SEED`: a number that all of them follow from, or `random`.
//!
//! A failure prints the seed and the shortest sequence that fails.

mod case;
mod client;
mod counter;
mod judge;
mod reads;
mod rules;
mod world;

use std::{cell::Cell, collections::BTreeMap, env, iter, sync::Arc};

use desk::settings::Policy;
use kit::Store;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use store::testing::{Scratch, postgres, sqlite};

use case::{
    Arguments, Call, Case, Decision, How, Leaves, Meanwhile, Offer, Prompt, Step, When, Who,
};
use counter::BATCH;
use judge::{Judge, Verdict};

const CASES: u32 = 60;
const SEED: u64 = 1;

/// How long a failing case is made shorter, in milliseconds.
const SHRINK_MS: u32 = 60_000;

/// Where the clock of the first case stands; each case has a day of its own.
const START: i64 = 1_000_000_000_000;
const DAY: i64 = 24 * 60 * rules::MINUTE;

#[test]
fn the_desk_on_sqlite_does_what_the_model_allows() {
    generated(sqlite());
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn the_desk_on_postgres_does_what_the_model_allows() {
    generated(postgres());
}

fn generated(scratch: impl Future<Output = Scratch>) {
    let cases = env::var("MADOGUCHI_MODEL_CASES").map_or(CASES, |it| it.parse().unwrap());
    let seed = match env::var("MADOGUCHI_MODEL_SEED").as_deref() {
        Ok("random") => rand_seed(),
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => SEED,
    };
    let runtime = runtime();
    let scratch = runtime.block_on(scratch);
    let store = runtime.block_on(world::prepare(&scratch));
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: SHRINK_MS,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let number = Cell::new(0);
    let run = |case: Case| {
        number.set(number.get() + 1);
        let now = START + number.get() * DAY;
        let verdict = runtime.block_on(judge::judge(&case, &store, now));
        verdict.map_err(TestCaseError::fail)
    };
    match TestRunner::new_with_rng(config, rng).run(&case::case(), run) {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => {
            panic!("MADOGUCHI_MODEL_SEED={seed}: {why}\nThe shortest case:\n{case}")
        }
        Err(other) => panic!("{other}"),
    }
}

fn rand_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// One thread, so that a case takes the same course again as far as that can be.
fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

#[test]
fn a_client_may_leave_at_every_await_point_on_sqlite() {
    let runtime = runtime();
    runtime.block_on(async {
        let scratch = sqlite().await;
        sweep(&world::prepare(&scratch).await).await;
    });
}

#[test]
#[ignore = "needs other programs; scripts/test runs it"]
fn a_client_may_leave_at_every_await_point_on_postgres() {
    let runtime = runtime();
    runtime.block_on(async {
        let scratch = postgres().await;
        sweep(&world::prepare(&scratch).await).await;
    });
}

/// An approved call is left when its work has begun, then after one poll, after
/// two, and so on until it is done before its client leaves; each time it is made
/// again.
async fn sweep(store: &Arc<dyn Store>) {
    let (mut now, mut wrong) = (START, Vec::new());
    for hold in [false, true] {
        for name in ["look", "act.row", "act.task", "send.to", BATCH] {
            for how in [How::HangsUp, How::Cancels] {
                let polls = (0..).map(When::Polls);
                let moments = polls.zip((0..).map(When::Woken));
                let moments = moments.flat_map(|(polls, woken)| [polls, woken]);
                let moments = iter::once(When::Begun).chain(moments);
                now += DAY;
                let verdict = leave_everywhere(store, now, hold, name, how, moments).await;
                wrong.extend(verdict.err());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

async fn leave_everywhere(
    store: &Arc<dyn Store>,
    now: i64,
    hold: bool,
    name: &'static str,
    how: How,
    moments: impl Iterator<Item = When>,
) -> Verdict {
    let case = Case {
        offer: Offer::default(),
        policies: BTreeMap::from([("look", Policy::Ask)]),
        keys: Vec::new(),
        hold,
        steps: Vec::new(),
    };
    let mut judge = Judge::open(&case, store, now).await;
    let mut verdict = Ok(());
    // Until it is done before its client leaves, twice in a row: right after so
    // many polls, and once it could go on after them.
    let mut in_time = 0;
    for when in moments {
        let leaves = Leaves { when, how };
        match leave_after(&mut judge, hold, name, leaves).await {
            Ok(true) => in_time = 0,
            Ok(false) if in_time == 1 => break,
            Ok(false) => in_time += 1,
            Err(wrong) => {
                verdict = Err(format!("{name}, held: {hold}, {leaves:?}: {wrong}"));
                break;
            }
        }
    }
    judge.close(verdict).await
}

/// `false` when the call was done before its client left.
async fn leave_after(
    judge: &mut Judge<'_>,
    hold: bool,
    name: &'static str,
    leaves: Leaves,
) -> Result<bool, String> {
    let arguments = Arguments {
        n: 0,
        as_text: false,
        to: "ann",
        request: None,
        mistake: None,
    };
    let call = |leaves, meanwhile| {
        Step::Call(Call {
            who: Who::Anonymous,
            desk: 0,
            counter: 0,
            name,
            arguments: arguments.clone(),
            inner: match name {
                BATCH => vec![("act.row", arguments.clone())],
                _ => Vec::new(),
            },
            prompt: Prompt::None,
            leaves,
            meanwhile,
        })
    };
    let approve = Meanwhile::Decides(Decision::Once);
    if !hold {
        judge.step(&call(None, approve)).await?;
        judge.step(&Step::Decide(0, Decision::Once)).await?;
    }
    let left = judge.step(&call(Some(leaves), approve)).await?;
    // Whatever became of it: this has its answer or does it, and the next is new.
    let deny = Meanwhile::Decides(Decision::Deny);
    for _ in 0..2 {
        judge.step(&call(None, deny)).await?;
    }
    if !hold {
        judge.step(&Step::Decide(0, Decision::Deny)).await?;
    }
    judge.step(&Step::WaitMinutes(30)).await?;
    Ok(left)
}
