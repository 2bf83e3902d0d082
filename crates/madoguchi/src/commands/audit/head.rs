//! `audit head`, and the heads that `audit verify --against` reads.

use std::{fs, path::Path, process::ExitCode, sync::Arc};

use desk::audit::{self, AuditStore, HeadKey, PublicHeadKey, StoredHead, TrailHead, parse_heads};
use kit::{Error, Result, time::Clock};
use serde_json::json;

use crate::{
    cli::{AuditHead, AuditVerify},
    open::OwnRows,
    output::{Cell, Look, aligned, compact, pretty, print},
};

pub async fn print_head(
    rows: &OwnRows,
    store: &Arc<dyn AuditStore>,
    arguments: &AuditHead,
) -> Result<ExitCode> {
    if arguments.public_key {
        return print(&pretty(&key(rows).await?.public().jwk()));
    }
    let now = Clock::system().now().as_millisecond();
    let head = audit::blocking(store, move |store, _| TrailHead::read(store, now)).await?;
    if arguments.sign {
        let signed = key(rows).await?.sign(head)?;
        return print(&compact(&json!(signed)));
    }
    if arguments.json {
        return print(&pretty(&head));
    }
    let mut lines = vec![vec![
        Cell::new(Look::Dim, head.at),
        "".into(),
        head.hash.into(),
    ]];
    for chain in head.checkpoints.into_iter().chain(head.segments) {
        lines.push(vec![
            format!("  {}", chain.segment).into(),
            chain.seq.to_string().into(),
            Cell::new(Look::Dim, chain.hash),
        ]);
    }
    aligned(&lines).print()
}

async fn key(rows: &OwnRows) -> Result<HeadKey> {
    HeadKey::of(&rows.state().await?.secret)
}

/// The heads with which the trail is compared. Signatures are checked.
pub async fn expected(rows: &OwnRows, arguments: &AuditVerify) -> Result<Vec<TrailHead>> {
    let Some(path) = &arguments.against else {
        return Ok(Vec::new());
    };
    let heads = parse_heads(&text(path)?)?;
    let is_signed = |stored: &StoredHead| stored.signature.is_some();
    let key = match &arguments.key {
        Some(path) => Some(PublicHeadKey::of_jwk(&text(path)?)?),
        None if heads.iter().any(is_signed) => Some(key(rows).await?.public()),
        None => None,
    };
    for stored in &heads {
        // A named key means that all of them must be signed.
        if let Some(key) = &key
            && (arguments.key.is_some() || is_signed(stored))
        {
            key.check(stored)?;
        }
    }
    Ok(heads.into_iter().map(|stored| stored.head).collect())
}

fn text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| {
        Error::new(
            "FILE_UNREADABLE",
            format!("{} can't be read: {error}.", path.display()),
        )
        .next("Check the name of the file.")
    })
}
