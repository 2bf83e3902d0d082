//! Identical calls at once: an approval or an idempotency key lets one through.

use super::{
    super::{
        case::Call,
        counter::TOOL_FAILED,
        rules::{Basis, Delivery, Expected, Identity, State, is_undone},
        world::Answered,
    },
    Judge, Verdict, about_it, ensure,
};

/// The desks at which they are made.
const AT_ONCE: [usize; 3] = [0, 1, 0];

/// What another of the calls may be told when one uses the approval. Another
/// process may see that the work was begun, and not that it ended.
const TOO_LATE: [&str; 3] = ["APPROVAL_REQUIRED", "APPROVAL_USED", "OUTCOME_UNKNOWN"];

impl Judge<'_> {
    pub(super) async fn together(&mut self, call: &Call) -> Verdict {
        let identity = self.identity(call);
        // What one desk has delivered, the other may replay.
        let anywhere = Call {
            desk: usize::MAX,
            ..call.clone()
        };
        let expected = self.model.expected(&anywhere, &identity);
        let (answers, executions) = self.world.together(call, &AT_ONCE).await;
        for answer in &answers {
            self.note(&identity, Some(answer), &executions);
        }
        about_it(&identity, &executions)?;
        let kind = call.kind();
        let has_key = kind.is_some_and(|kind| kind.keyed) && call.arguments.request.is_some();
        let times = match &expected {
            _ if is_undone(call) => 0,
            Expected::Runs(Basis::Free) if !has_key => AT_ONCE.len(),
            Expected::Runs(_) => 1,
            Expected::Refused(_) | Expected::Asks | Expected::Replays { .. } => 0,
        };
        let done = executions.first().map(|it| it.call.clone());
        let (codes, by): (&[&str], _) = match &expected {
            Expected::Refused(codes) => (codes, None),
            Expected::Asks => (&["APPROVAL_REQUIRED"], None),
            Expected::Runs(Basis::Free) => (&[], done),
            Expected::Runs(Basis::Approval) => (&TOO_LATE, done),
            Expected::Replays { by, .. } => (&["APPROVAL_REQUIRED"], Some(by.clone())),
        };
        let is_done = |answer: &Answered| match &answer.result {
            Ok(reply) => {
                let by = if times > 1 { &answer.call } else { &by };
                by.as_ref().is_some_and(|by| reply["call"] == **by)
            }
            Err(code) => code == TOOL_FAILED && call.fails(),
        };
        let is_right = |answer: &Answered| match &answer.result {
            Err(code) if codes.contains(&code.as_str()) => true,
            _ => is_done(answer),
        };
        let one_is_done = match &expected {
            Expected::Runs(_) => true,
            Expected::Replays { perhaps, .. } => !perhaps,
            Expected::Refused(_) | Expected::Asks => false,
        };
        let is_fine = executions.len() == times
            && answers.iter().all(is_right)
            && (!one_is_done || answers.iter().any(is_done));
        ensure!(
            is_fine,
            "at once, expected {expected:?}, {times} times\nseen {answers:?}\ndone {executions:?}"
        );
        self.learn_together(call, &identity, &expected, by);
        let asked = Err("APPROVAL_REQUIRED".to_owned());
        if answers.iter().any(|answer| answer.result == asked) {
            self.model.ask(&identity);
        }
        Ok(())
    }

    fn learn_together(
        &mut self,
        call: &Call,
        identity: &Identity,
        expected: &Expected,
        by: Option<String>,
    ) {
        let Some(by) = by else {
            return;
        };
        let answer = Delivery::Perhaps;
        match expected {
            Expected::Runs(basis) => {
                if !call.fails() {
                    self.model.note_done(call, identity, &by);
                }
                if *basis == Basis::Approval {
                    self.model.set(identity, State::Used { by, answer });
                }
            }
            Expected::Replays { .. } => self.model.replayed(identity, &by, answer),
            Expected::Refused(_) | Expected::Asks => {}
        }
    }
}
