//! What only a caller with a key can do: calls of the InnerVoice counter, which
//! wait for the user.

use std::sync::Arc;

use anyhow::Result;

use super::sockets::pour;
use crate::{caller::Caller, requests};

/// In fields that have no place for it, or no bound.
const FILLER: usize = 512 * 1024;

/// Rules that have few times or none, or that many candidates must be tried for.
const REPEATS: [&str; 8] = [
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;INTERVAL=7",
    "FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=2,4,6,9,11",
    "FREQ=DAILY;INTERVAL=999999999;BYDAY=MO",
    "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MINUTELY;BYHOUR=3;BYMINUTE=59;BYSECOND=59;BYSETPOS=-366",
    "FREQ=YEARLY;BYYEARDAY=366;BYDAY=MO;BYSETPOS=-1",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;COUNT=999999999",
];

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
    pour(&caller, socket, |id| {
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
    pour(&caller, socket, |id| {
        let rule = REPEATS[id as usize % REPEATS.len()];
        let reminder = format!(
            r#"{{"time":"2027-01-01T07:00:00+09:00","note":"{id}","repeat":"RRULE:{rule}"}}"#
        );
        requests::call(id, "reminder.create", &reminder)
    })
    .await
}
