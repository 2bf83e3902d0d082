//! Makes cases. Names, arguments and callers are few, so that identical calls
//! happen often.

use desk::settings::Policy;
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::{
    super::{
        counter::{FAILS, TOOLS},
        reads::READABLE,
    },
    Arguments, Call, Case, Decision, How, Key, Leaves, Meanwhile, Mistake, Offer, Prompt, Step,
    When, Who,
};

/// Any name of any tool.
fn spelling() -> impl Strategy<Value = &'static str> {
    let names = TOOLS.iter().flat_map(|kind| [kind.name, kind.alias]);
    select(names.collect::<Vec<_>>())
}

fn offer() -> impl Strategy<Value = Offer> {
    prop_oneof![
        6 => Just(Offer::default()),
        1 => vec(spelling(), 1..6).prop_map(|only| Offer { only, ..Offer::default() }),
        1 => vec(spelling(), 1..3).prop_map(|exclude| Offer { exclude, ..Offer::default() }),
        1 => Just(Offer { read_only: true, ..Offer::default() }),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        3 => Just(Policy::Ask),
        2 => Just(Policy::Allow),
        1 => Just(Policy::Deny),
    ]
}

fn key() -> impl Strategy<Value = Key> {
    let counters = prop_oneof![
        4 => Just(vec![]),
        2 => Just(vec!["first"]),
        1 => Just(vec!["second"]),
    ];
    let tools = prop_oneof![2 => Just(vec![]), 2 => vec(spelling(), 1..5)];
    let read_only = prop_oneof![5 => Just(false), 1 => Just(true)];
    let expires = prop_oneof![5 => Just(None), 1 => Just(Some(15))];
    let fields = (counters, tools, read_only, any::<bool>(), expires);
    fields.prop_map(
        |(counters, tools, read_only, trusts_prompts, expires_minutes)| Key {
            counters,
            tools,
            read_only,
            trusts_prompts,
            expires_minutes,
        },
    )
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        2 => Just(Who::LocalUser),
        2 => Just(Who::Anonymous),
        6 => (0..2_usize).prop_map(Who::Key),
        1 => (0..2_usize).prop_map(Who::LocalWithKey),
        // A wrong key makes the desk look at its rows, which takes a while.
        1 => select(vec![Who::NoKey, Who::WrongKey]),
    ]
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        4 => Just(Decision::Once),
        1 => Just(Decision::Always),
        1 => Just(Decision::Deny),
    ]
}

fn arguments() -> impl Strategy<Value = Arguments> {
    let n = prop_oneof![4 => 0..2_i64, 1 => Just(FAILS)];
    let mistake = option::weighted(0.07, select(vec![Mistake::Missing, Mistake::Unknown]));
    let request = option::weighted(0.6, select(vec!["r1", "r2"]));
    let fields = (
        n,
        any::<bool>(),
        select(vec!["ann", "bob"]),
        request,
        mistake,
    );
    fields.prop_map(|(n, as_text, to, request, mistake)| Arguments {
        n,
        as_text,
        to,
        request,
        mistake,
    })
}

fn leaves() -> impl Strategy<Value = Leaves> {
    let when = prop_oneof![
        2 => (0..24_usize).prop_map(When::Polls),
        2 => (0..24_usize).prop_map(When::Woken),
        1 => (0..400_usize).prop_map(When::Yields),
        2 => Just(When::Begun),
    ];
    let how = select(vec![How::HangsUp, How::Cancels]);
    (when, how).prop_map(|(when, how)| Leaves { when, how })
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    prop_oneof![
        6 => decision().prop_map(Meanwhile::Decides),
        1 => Just(Meanwhile::Lapses),
        1 => Just(Meanwhile::RevokesKey),
        1 => Just(Meanwhile::ClientCancels),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let desk = prop_oneof![5 => Just(0_usize), 1 => Just(1_usize)];
    let counter = prop_oneof![7 => Just(0_usize), 1 => Just(1_usize)];
    let name = prop_oneof![30 => spelling(), 1 => Just("no_such_tool")];
    let prompt = prop_oneof![
        6 => Just(Prompt::None),
        2 => decision().prop_map(Prompt::Answers),
        1 => Just(Prompt::Closes),
    ];
    let leaves = option::weighted(0.3, leaves());
    // Most batches hold nothing that is refused for itself.
    let usual = select(vec!["look", "note_add", "note.add", "act.row", "act_task"]);
    let inner = prop_oneof![
        4 => (usual, arguments()).prop_map(|(name, arguments)| {
            (name, Arguments { mistake: None, ..arguments })
        }),
        1 => (name.clone(), arguments()),
    ];
    let inner = vec(inner, 1..4);
    let where_to = (desk, counter);
    let fields = (
        who(),
        where_to,
        name,
        arguments(),
        inner,
        prompt,
        leaves,
        meanwhile(),
    );
    fields.prop_map(
        |(who, (desk, counter), name, arguments, inner, prompt, leaves, meanwhile)| Call {
            who,
            desk,
            counter,
            name,
            arguments,
            inner,
            // Whether its answer counted would be unknown.
            prompt: if leaves.is_some() {
                Prompt::None
            } else {
                prompt
            },
            leaves,
            meanwhile,
        },
    )
}

/// A step before those that repeat an earlier one are filled in.
#[derive(Debug, Clone)]
enum Plan {
    Step(Step),
    /// The last call once more, perhaps by another name or with a change.
    Again {
        change: Change,
        together: bool,
        by_alias: bool,
        desk: usize,
        leaves: Option<Leaves>,
    },
    /// Asks and is decided about. Then a call like it is made, and itself again;
    /// its client leaves once.
    Approved {
        call: Call,
        decision: Decision,
        change: Change,
        leaves: Leaves,
        desk: usize,
    },
}

/// What makes one call another.
#[derive(Debug, Clone, Copy)]
enum Change {
    Nothing,
    Recipient,
    Number,
    Request,
    Caller(Who),
    Counter,
}

impl Change {
    fn apply(self, mut call: Call) -> Call {
        let arguments = &mut call.arguments;
        match self {
            Self::Nothing => {}
            Self::Recipient if arguments.to == "ann" => arguments.to = "bob",
            Self::Recipient => arguments.to = "ann",
            Self::Number => arguments.n = 1 - arguments.n.min(1),
            Self::Request if arguments.request == Some("r1") => arguments.request = Some("r2"),
            Self::Request => arguments.request = Some("r1"),
            Self::Caller(who) => call.who = who,
            Self::Counter => call.counter = 1 - call.counter,
        }
        call
    }
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => Just(Change::Recipient),
        1 => Just(Change::Number),
        1 => Just(Change::Request),
        1 => who().prop_map(Change::Caller),
        1 => Just(Change::Counter),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let desk = prop_oneof![5 => Just(0_usize), 1 => Just(1_usize)];
    let together = prop_oneof![4 => Just(false), 1 => Just(true)];
    let again = (
        prop_oneof![3 => Just(Change::Nothing), 1 => change()],
        together,
        any::<bool>(),
        desk.clone(),
        option::weighted(0.3, leaves()),
    );
    let again = again.prop_map(|(change, together, by_alias, desk, leaves)| Plan::Again {
        change,
        together,
        by_alias,
        desk,
        leaves,
    });
    let asks = select(vec![
        "look", "act.row", "act.task", "send.to", "send_to", "batch",
    ]);
    let lasting = select(vec![Decision::Once, Decision::Always]);
    let decided = prop_oneof![1 => decision(), 1 => lasting];
    let approved = (call(), asks, decided, change(), leaves(), desk.clone());
    let approved =
        approved.prop_map(
            |(call, name, decision, change, leaves, desk)| Plan::Approved {
                call: Call { name, ..call },
                decision,
                change,
                leaves,
                desk,
            },
        );
    let read = (who(), desk, 0..2_usize, 0..READABLE.len());
    let read = read.prop_map(|(who, desk, counter, readable)| Step::Read {
        who,
        desk,
        counter,
        readable,
    });
    prop_oneof![
        6 => call().prop_map(|call| Plan::Step(Step::Call(call))),
        6 => again,
        5 => (0..3_usize, decision()).prop_map(|(at, how)| Plan::Step(Step::Decide(at, how))),
        1 => (0..2_usize).prop_map(|key| Plan::Step(Step::RevokeKey(key))),
        1 => (0..2_usize).prop_map(|grant| Plan::Step(Step::RevokeGrant(grant))),
        1 => select(vec![1, 5, 11, 30]).prop_map(|it| Plan::Step(Step::WaitMinutes(it))),
        2 => read.prop_map(Plan::Step),
        5 => approved,
    ]
}

fn filled_in(plans: Vec<Plan>) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let with = |call: &Call, leaves: Option<Leaves>| {
        let mut call = call.clone();
        call.leaves = leaves;
        if leaves.is_some() {
            // Whether its answer counted would be unknown.
            call.prompt = Prompt::None;
        }
        call
    };
    for plan in plans {
        match plan {
            Plan::Step(step) => steps.push(step),
            Plan::Again {
                change,
                together,
                by_alias,
                desk,
                leaves,
            } => {
                let last = steps.iter().rev().find_map(|step| match step {
                    Step::Call(call) | Step::Together(call) => Some(call),
                    _ => None,
                });
                let Some(last) = last else {
                    continue;
                };
                let mut call = change.apply(with(last, leaves));
                if let Some(kind) = call.kind() {
                    call.name = if by_alias { kind.alias } else { kind.name };
                }
                call.desk = desk;
                steps.push(match together {
                    true => Step::Together(Call {
                        leaves: None,
                        prompt: Prompt::None,
                        ..call
                    }),
                    false => Step::Call(call),
                });
            }
            Plan::Approved {
                call,
                decision,
                change,
                leaves,
                desk,
            } => {
                let call = with(&call, None);
                let mut elsewhere = call.clone();
                elsewhere.desk = desk;
                steps.extend([
                    Step::Call(call.clone()),
                    Step::Decide(0, decision),
                    Step::Call(change.apply(call.clone())),
                    Step::Call(with(&call, Some(leaves))),
                    Step::Call(elsewhere),
                    Step::Call(call),
                ]);
            }
        }
    }
    for step in &mut steps {
        if let Step::Call(call) | Step::Together(call) = step
            && !call.is_batch()
        {
            call.inner.clear();
        }
    }
    steps
}

pub fn case() -> impl Strategy<Value = Case> {
    let policies = vec((spelling(), policy()), 0..5);
    let steps = vec(plan(), 1..20).prop_map(filled_in);
    let hold = prop_oneof![3 => Just(false), 1 => Just(true)];
    (offer(), policies, vec(key(), 2), hold, steps).prop_map(
        |(offer, policies, keys, hold, steps)| Case {
            offer,
            policies: policies.into_iter().collect(),
            keys,
            hold,
            steps,
        },
    )
}
