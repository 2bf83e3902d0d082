//! A call that may need the user's approval.

use kit::{Context, Result, approval::Card, sql::Budget};
use serde_json::Value;

use super::card;
use crate::{
    approvals::Approval,
    desk::Desk,
    served_counter::{PreparedTool, ServedCounter},
    stations::{identify::Identified, inner_calls::OtherTools},
};

pub struct ApprovalRequest<'a> {
    pub desk: &'a Desk,
    pub served: &'a ServedCounter,
    pub tool: &'a PreparedTool,
    pub who: &'a Identified,
    pub context: &'a Context,
    pub arguments: &'a Value,
    pub others: &'a OtherTools<'a>,
}

impl ApprovalRequest<'_> {
    /// The tool's own card, or one that lists the arguments.
    pub async fn card(&self) -> Result<Card> {
        if let (Some(describe), Some(store)) = (&self.tool.tool.card, &self.served.counter.store) {
            let (describe, context) = (describe.clone(), self.context.clone());
            let arguments = self.arguments.clone();
            let read = move |sql: &mut dyn kit::Sql| describe(&context, sql, &arguments);
            return store.query(Budget::default(), read).await;
        }
        Ok(card::of_arguments(self.tool, self.arguments))
    }

    /// Refuses if the recipient or the state has changed while the user was looking
    /// at the card.
    pub async fn check_card(&self, approved: &Approval) -> Result<()> {
        let shown = &approved.card;
        if shown.recipient.is_none() && shown.state.is_none() {
            return Ok(());
        }
        let now = self.card().await?;
        shown.check(now.recipient.as_deref(), now.state.as_deref())
    }

    /// Where the user finds the question.
    pub fn address(&self, approval: &Approval) -> String {
        let console = self.desk.settings.console_url();
        format!("{console}/console/approvals#{}", approval.id)
    }
}
