//! Processes tell each other what changed.

use std::{
    future::poll_fn,
    time::{Duration, Instant},
};

use kit::{Announcement, Store, announcement::next};
use store::testing;
use tokio::{sync::broadcast::Receiver, time::timeout};

use crate::read;

const SOON: Duration = Duration::from_secs(10);

pub async fn heard(receiver: &mut Receiver<Announcement>) -> Announcement {
    let heard = timeout(SOON, next(receiver)).await;
    heard.unwrap().unwrap()
}

pub fn topic(name: &str) -> Announcement {
    Announcement::Topic(name.into())
}

/// Waits until the receiver is connected.
pub async fn connected(receiver: &mut Receiver<Announcement>) {
    assert_eq!(heard(receiver).await, Announcement::Missed);
}

#[tokio::test]
async fn on_sqlite_announcements_stay_in_the_process() {
    let scratch = testing::sqlite().await;
    let mut receiver = scratch.database.announcements();
    scratch.database.clone().announce("rooms/a");
    assert_eq!(heard(&mut receiver).await, topic("rooms/a"));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn every_process_on_a_database_hears_what_one_announces() {
    let scratch = testing::postgres().await;
    let (one, other) = (&scratch.database, scratch.again().await);
    let (mut here, mut there) = (one.announcements(), other.announcements());
    connected(&mut here).await;
    connected(&mut there).await;
    for name in ["rooms/a", "部屋"] {
        one.announce(name);
        assert_eq!(heard(&mut here).await, topic(name));
        assert_eq!(heard(&mut there).await, topic(name));
    }
    other.announce("back");
    // Nobody hears an announcement twice.
    assert_eq!(heard(&mut here).await, topic("back"));
    assert_eq!(heard(&mut there).await, topic("back"));
    assert!(here.is_empty() && there.is_empty());
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn announcements_in_quick_succession_are_sent_together() {
    let scratch = testing::postgres().await;
    let other = scratch.again().await;
    let mut there = other.announcements();
    connected(&mut there).await;
    let name = read(&other, |sql| sql.query("SELECT current_database()", &[]));
    let name = name.await.unwrap()[0].text(0).unwrap();
    let mut sent = messages(&name).await;
    let count = 500;
    for number in 0..count {
        scratch.database.announce(&format!("rooms/{number}"));
    }
    for _ in 0..count {
        let heard = heard(&mut there).await;
        assert!(matches!(heard, Announcement::Topic(_)), "{heard:?}");
    }
    timeout(SOON, sent.recv()).await.unwrap();
    let mut messages = 1;
    while timeout(Duration::from_millis(100), sent.recv())
        .await
        .is_ok()
    {
        messages += 1;
    }
    assert!(messages < 20, "{messages} messages");
}

/// What is sent to all processes on a database.
async fn messages(database: &str) -> tokio::sync::mpsc::UnboundedReceiver<()> {
    let mut config: tokio_postgres::Config = testing::Postgres::shared().url().parse().unwrap();
    config.dbname(database);
    let (client, mut connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if matches!(message, tokio_postgres::AsyncMessage::Notification(_)) {
                let _ = sender.send(());
            }
        }
    });
    client.batch_execute("LISTEN madoguchi").await.unwrap();
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(client);
    });
    receiver
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn after_a_lost_connection_everybody_looks_at_everything() {
    let scratch = testing::postgres().await;
    let (one, other) = (&scratch.database, scratch.again().await);
    let mut there = other.announcements();
    connected(&mut there).await;
    let ended = read(one, |sql| {
        sql.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE 'LISTEN%'",
            &[],
        )
    });
    assert_eq!(ended.await.unwrap().len(), 1);
    assert_eq!(heard(&mut there).await, Announcement::Missed);
    one.announce("again");
    assert_eq!(heard(&mut there).await, topic("again"));
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn what_is_announced_last_is_sent_before_the_end() {
    let scratch = testing::postgres().await;
    let other = scratch.again().await;
    let mut there = other.announcements();
    connected(&mut there).await;
    let brief = scratch.again().await;
    brief.announce("last words");
    brief.close().await.unwrap();
    assert_eq!(heard(&mut there).await, topic("last words"));
}

/// Others are woken within milliseconds, also under load.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs other programs; scripts/test runs it"]
async fn announcements_arrive_within_milliseconds() {
    let scratch = testing::postgres().await;
    let other = scratch.again().await;
    let mut there = other.announcements();
    connected(&mut there).await;
    let mut times = Vec::new();
    for number in 0..200 {
        let name = format!("rooms/{number}");
        let began = Instant::now();
        scratch.database.announce(&name);
        assert_eq!(heard(&mut there).await, topic(&name));
        times.push(began.elapsed());
    }
    times.sort();
    eprintln!("median {:?}, 99 % {:?}", times[100], times[198]);
    assert!(times[100] < Duration::from_millis(500), "{:?}", times[100]);
}
