//! What only a caller with a key can do: calls of the InnerVoice counter, which
//! wait for the user.

use std::sync::Arc;

use anyhow::Result;

use super::sockets::{CALL_COST, pour};
use crate::{caller::Caller, requests};

/// In fields that have no place for it, or no bound.
const FILLER: usize = 512 * 1024;

/// Rules that have few times or none, so that many days must be tried, and rules
/// with very many times.
const REPEATS: [&str; 7] = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
    "FREQ=MONTHLY;BYMONTH=2;BYDAY=5FR",
    "FREQ=DAILY;INTERVAL=9999;BYDAY=MO",
    "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;COUNT=999999999",
    "FREQ=HOURLY",
];

/// The counter takes 100 requests in a minute, and most are for the approvals.
const REPEAT_COST: usize = 100;

/// Calls that wait for the user, as large as they may be and larger.
pub async fn approvals(caller: Arc<Caller>, _: usize) -> Result<()> {
    let filler = "a".repeat(FILLER);
    let socket = caller.socket(caller.ports.innervoice, "/").await?;
    let _held = caller.tally.hold();
    let extra = |id: u64| match id % 3 {
        0 => String::new(),
        1 => format!(r#","x":"{filler}""#),
        _ => format!(r#","idempotency_key":"{id}{filler}""#),
    };
    pour(&caller, socket, CALL_COST, |id| {
        let extra = extra(id);
        let (tool, fields) = match id / 3 % 3 {
            0 => {
                let note = "n".repeat(1_900);
                let fields = format!(r#""time":"2099-01-01T07:00:00+09:00","note":"{id} {note}""#);
                ("reminder.create", fields)
            }
            1 => {
                let text = "d".repeat(9_900);
                let fields = format!(
                    r#""title":"{id}","start":"2099-01-01T07:00:00+09:00","duration_min":60,"description":"{text}""#
                );
                ("calendar.create", fields)
            }
            _ => {
                let text = "t".repeat(19_900);
                let fields = format!(r#""to":"a@example.com","text":"{id} {text}""#);
                ("message.send", fields)
            }
        };
        requests::call(id, tool, &format!("{{{fields}{extra}}}"))
    })
    .await
}

pub async fn repeats(caller: Arc<Caller>, _: usize) -> Result<()> {
    let socket = caller.socket(caller.ports.innervoice, "/").await?;
    let _held = caller.tally.hold();
    pour(&caller, socket, REPEAT_COST, |id| {
        let rule = REPEATS[id as usize % REPEATS.len()];
        let reminder =
            format!(r#"{{"time":"2090-01-01T07:00:00+09:00","note":"{id}","repeat":"{rule}"}}"#);
        requests::call(id, "reminder.create", &reminder)
    })
    .await
}
