//! A person makes the policy of a tool stricter than the configuration does, or takes
//! that back. Each attempt leaves a record.

use std::sync::Arc;

use kit::{Caller, Error, Result, Sql, sql::Param};
use serde_json::{Map, json};

use crate::{
    audit::acts::POLICY_SET,
    desk::Desk,
    desk_act::DeskAct,
    policies,
    served_counter::{FoundTool, PreparedTool},
    settings::Policy,
    state,
};

/// What a person wants.
#[derive(Debug, Clone)]
pub struct WantedPolicy {
    pub counter: String,
    /// By any of its names.
    pub tool: String,
    pub policy: Policy,
    /// The policy in force when the person looked. If it is another by now, nothing is
    /// changed: they might loosen what somebody else has just tightened.
    pub seen: Option<Policy>,
}

/// Sets the policy of a tool. It binds this process when this returns, and the others on
/// the same data a moment later.
pub async fn set(desk: &Arc<Desk>, caller: Caller, wanted: WantedPolicy) -> Result<()> {
    let (counter, tool) = find(desk, &wanted.counter, &wanted.tool)?;
    let own = Arc::clone(desk);
    // It goes on when the browser leaves, so that the record says what was done.
    let work = desk
        .in_flight
        .spawn(async move { recorded(&own, caller, (counter, &tool), &wanted).await });
    work.await.map_err(Error::internal)?
}

/// A tool that this desk offers, by any of its names, and its counter.
pub fn find(desk: &Desk, counter: &str, tool: &str) -> Result<(&'static str, Arc<PreparedTool>)> {
    let served = desk.counter(counter);
    let served = served.ok_or_else(|| unknown(counter, tool))?;
    match served.find(tool) {
        FoundTool::Tool(tool) => Ok((served.counter.about.name, Arc::clone(tool))),
        FoundTool::Hidden { .. } | FoundTool::Unknown => Err(unknown(counter, tool)),
    }
}

async fn recorded(
    desk: &Desk,
    caller: Caller,
    (counter, tool): (&'static str, &PreparedTool),
    wanted: &WantedPolicy,
) -> Result<()> {
    let arguments = Map::from_iter([
        ("tool".to_owned(), json!(tool.tool.name)),
        ("policy".to_owned(), json!(wanted.policy.word())),
        ("before".to_owned(), json!(tool.policy().word())),
    ]);
    let row = PolicyRow {
        caller: caller.clone(),
        counter,
        tool: tool.tool.name,
        file_policy: tool.file_policy,
        wanted: wanted.policy,
        seen: wanted.seen,
        now: desk.clock.now().as_millisecond(),
    };
    let act = DeskAct {
        caller,
        counter,
        name: POLICY_SET,
        arguments,
        rows: state::POLICIES,
    };
    let allowed = check(counter, tool, wanted);
    act.run(desk, allowed, move |sql| row.write(sql)).await?;
    desk.policies.refresh().await
}

/// Refuses what is looser than the configuration.
fn check(counter: &str, tool: &PreparedTool, wanted: &WantedPolicy) -> Result<()> {
    let file = tool.file_policy;
    if wanted.policy >= file {
        return Ok(());
    }
    let (file, policy) = (file.word(), wanted.policy.word());
    let setting = format!(
        "[approval] tools = {{ \"{counter}.{}\" = \"{file}\" }}",
        tool.tool.name
    );
    let (english, japanese) = match tool.policy_is_configured {
        true => ("The configuration says", "設定ファイルは"),
        false => ("Unless the configuration says otherwise, it is", "既定は"),
    };
    Err(Error::new(
        "POLICY_TOO_LOOSE",
        format!("{english} {setting}. Here it can become stricter, but not {policy}."),
    )
    .next("Nothing was changed. To loosen it, change the configuration file and restart.")
    .japanese(format!(
        "{japanese} {setting} です。ここでは厳しくすることだけができ、{policy} にはできません。\
         何も変更していません。緩めるには設定ファイルを変更して再起動してください。"
    )))
}

fn unknown(counter: &str, tool: &str) -> Error {
    let name = kit::text::visible(&format!("{counter}.{tool}"));
    let (name, _) = kit::text::cut(&name, 100);
    Error::new("UNKNOWN_NAME", format!("There is no tool `{name}`."))
        .next("Check its name on the page of tools.")
        .japanese(format!(
            "「{name}」というツールはありません。名前を確かめてください。"
        ))
}

fn changed_meanwhile(now: Policy) -> Error {
    let now = now.word();
    Error::new(
        "POLICY_CHANGED",
        format!("Somebody else has changed this policy meanwhile: it is now {now}."),
    )
    .next("Nothing was changed. Look at it again, and choose anew.")
    .japanese(format!(
        "このポリシーはその間に別の人が変更しました。いまは {now} です。\
         何も変更していません。確かめてから、もう一度選んでください。"
    ))
}

/// What is stored.
#[derive(Clone)]
struct PolicyRow {
    caller: Caller,
    counter: &'static str,
    tool: &'static str,
    file_policy: Policy,
    wanted: Policy,
    seen: Option<Policy>,
    now: i64,
}

impl PolicyRow {
    fn write(&self, sql: &mut dyn Sql) -> Result<()> {
        let of_tool: [Param<'_>; 2] = [self.counter.into(), self.tool.into()];
        let tightened = policies::tightened(sql, self.counter, self.tool)?;
        let before = self.file_policy.max(tightened);
        if self.seen.is_some_and(|seen| seen != before) && before != self.wanted {
            return Err(changed_meanwhile(before));
        }
        if self.wanted == self.file_policy {
            let delete = "DELETE FROM desk_policies WHERE counter = $1 AND tool = $2";
            sql.execute(delete, &of_tool)?;
        } else if self.wanted != before {
            sql.execute(
                "INSERT INTO desk_policies (counter, tool, policy, set_by, set_at)
                 VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (counter, tool) DO UPDATE
                 SET policy = excluded.policy, set_by = excluded.set_by,
                     set_at = excluded.set_at",
                &[
                    self.counter.into(),
                    self.tool.into(),
                    self.wanted.word().into(),
                    (&*self.caller.name).into(),
                    self.now.into(),
                ],
            )?;
        }
        Ok(())
    }
}
