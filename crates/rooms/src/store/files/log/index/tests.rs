use std::{
    fs,
    time::{Duration, Instant},
};

use super::*;
use crate::store::files::{
    dir::{ARCHIVE, LOG},
    log::upkeep,
    original_lock::OriginalLock,
};

const AUTHORS: usize = 21;

fn line(number: usize) -> String {
    let author = number * number % AUTHORS;
    // Some blocks end by their number of messages, some by their bytes.
    let text = "x".repeat(if number % 400 < 30 { 3_000 } else { 20 });
    let mentions = match number % 3 {
        0 => format!(r#""m{}","everybody""#, number % 7),
        _ => String::new(),
    };
    let client = match number > 900 && number.is_multiple_of(2) {
        true => format!(r#","clientMessageId":"c{number}""#),
        false => String::new(),
    };
    format!(
        r#"{{"id":"i{number}","agentName":"a{author}","message":"{text}","mentions":[{mentions}]{client}}}"#
    ) + "\n"
}

fn check(index: &Index, files: &Files, count: usize) {
    assert_eq!(index.count(), count);
    let mut reader = index.reader(files);
    let there: Vec<usize> = (0..count).step_by(13).chain([count - 1]).collect();
    for number in there.iter().rev().chain(&there) {
        let read = reader.line(*number).unwrap().unwrap();
        assert_eq!(read, MessageLine::parse(line(*number).as_bytes()).unwrap());
        assert_eq!(index.find(&read.id, files).unwrap(), Some(*number));
        if let Some(client_id) = &read.client_message_id {
            let found = index.find_client_id(&read.agent_name, client_id, files);
            assert_eq!(found.unwrap(), Some(read));
        }
        let author = |number: usize| number * number % AUTHORS;
        let others = (*number..count).filter(|other| author(*other) != 4);
        assert_eq!(index.count_by_others("a4", *number), others.count());
        assert_eq!(index.is_by_others("a4", *number), author(*number) != 4);
    }
    for missing in ["i", "i-1", &format!("i{count}")] {
        assert_eq!(index.find(missing, files).unwrap(), None);
    }
    assert_eq!(reader.line(count).unwrap(), None);
    for position in [0, 100, count - 1] {
        let mentioned = index.mentions_of("m3", position).filter(|number| {
            let line = reader.line(*number).unwrap().unwrap();
            line.mentions.iter().any(|name| name == "m3")
        });
        let expected = (position..count).filter(|number| number % 21 == 3);
        assert!(mentioned.eq(expected));
    }
    let sent = (0..AUTHORS).map(|author| index.sent_by(&format!("a{author}")));
    assert_eq!(sent.sum::<u64>(), count as u64);
}

fn index_of(log: &str) -> (Index, Files, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join(LOG), log).unwrap();
    let files = Files::open(directory.path()).unwrap();
    let mut index = Index::default();
    index.refresh(&files).unwrap();
    (index, files, directory)
}

/// Every mention is of another name, as somebody would send to fill memory;
/// and somebody else wrote more than a hundred into each line.
#[test]
fn a_mention_takes_four_bytes_whoever_is_mentioned() {
    const MESSAGES: usize = 500;
    let mut log = String::new();
    for message in 0..MESSAGES {
        let names = (0..2_000).map(|n| format!(r#""mentioned-{message}-{n}""#));
        let names = names.collect::<Vec<_>>().join(",");
        log +=
            &format!(r#"{{"id":"i{message}","agentName":"a","message":"x","mentions":[{names}]}}"#);
        log.push('\n');
    }
    let (index, _files, _directory) = index_of(&log);
    assert_eq!(index.mentions.len(), MESSAGES * MAX_MENTIONS);
    let bytes = index.mentions.bytes();
    assert!(bytes <= 4 * index.mentions.len(), "{bytes}");
    let is_found = |n: &usize| {
        let name = format!("mentioned-7-{n}");
        index.mentions_of(&name, 0).any(|message| message == 7)
    };
    assert!((0..100).all(|n| is_found(&n)));
    // The others only seem to be mentioned, and few of them.
    let seeming = (100..2_000).filter(is_found).count();
    assert!(seeming < 100, "{seeming}");
}

#[test]
fn the_index_keeps_a_limited_number_of_authors() {
    const AUTHORS: usize = 1 << 16;
    let line = |n| format!(r#"{{"id":"i{n}","agentName":"author-{n}","message":"x"}}"#) + "\n";
    let log: String = (0..AUTHORS + 1_000).map(line).collect();
    let (index, _files, _directory) = index_of(&log);
    assert_eq!(index.known_authors.len(), AUTHORS);
    assert_eq!(index.sent.len(), AUTHORS);
    assert_eq!(index.sent_by("author-7"), 1);
    assert_eq!(index.count(), AUTHORS + 1_000);
}

/// Between the messages lie lines that are none; the log grows, moves to
/// the archive, and is found again by who knew it and by who did not.
#[test]
fn every_message_is_found_in_log_and_archive() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, numbers: std::ops::Range<usize>| {
        let mut text = String::from("damaged\n\n");
        for number in numbers {
            text += &line(number);
            if number % 150 == 7 {
                text += "{\"id\":\"none\"}\n \n";
            }
        }
        fs::write(directory.path().join(name), text).unwrap();
    };
    let mut known = Index::default();
    let mut look = |count| {
        let files = Files::open(directory.path()).unwrap();
        let mut new = Index::default();
        for index in [&mut known, &mut new] {
            index.refresh(&files).unwrap();
            check(index, &files, count);
        }
    };
    write(LOG, 0..500);
    look(500);
    write(LOG, 0..1_500);
    look(1_500);
    // A move that was broken off, and its end.
    write(ARCHIVE, 0..1_100);
    look(1_500);
    fs::remove_file(directory.path().join(LOG)).unwrap();
    write(LOG, 1_100..1_501);
    look(1_501);
}

/// Many at once, from a log with blank lines.
#[test]
fn a_move_to_the_archive_changes_no_number_and_reads_little() {
    let log: String = (0..1_500).map(line).map(|line| line + "\n \n").collect();
    let (mut index, _, directory) = index_of(&log);
    let generation = index.generation();
    let patience = Duration::from_secs(5);
    let until = Instant::now() + patience;
    let lock = OriginalLock::take(directory.path(), LOG, until, patience).unwrap();
    // Large logs are shortened by a fifth more.
    for (most, kept) in [(1_499, 1_200), (999, 999), (998, 998), (128, 128), (1, 1)] {
        let files = Files::open(directory.path()).unwrap();
        upkeep::shorten(directory.path(), most, &lock, (&mut index, &files)).unwrap();
        assert_eq!(index.log.count(), kept);
        let files = Files::open(directory.path()).unwrap();
        index.refresh(&files).unwrap();
        check(&index, &files, 1_500);
        assert_eq!(index.generation(), generation, "it was read again");
        let mut new = Index::default();
        new.refresh(&files).unwrap();
        check(&new, &files, 1_500);
        assert_eq!(new.log.count(), kept);
        assert_eq!(new.archive.end(), index.archive.end());
    }
}

/// One by one, so that the log is cut at every message, at the start of a block too. The
/// blocks of the archive are as large as if it had been read.
#[test]
fn moves_of_single_messages_keep_the_index_small() {
    const COUNT: usize = 400;
    let log: String = (0..COUNT).map(line).collect();
    let (mut index, _, directory) = index_of(&(String::from("\n \n") + &log));
    let generation = index.generation();
    let patience = Duration::from_secs(60);
    let until = Instant::now() + patience;
    let lock = OriginalLock::take(directory.path(), LOG, until, patience).unwrap();
    for most in (1..COUNT).rev() {
        let files = Files::open(directory.path()).unwrap();
        upkeep::shorten(directory.path(), most, &lock, (&mut index, &files)).unwrap();
        assert_eq!(index.log.count(), most);
        assert_eq!(index.generation(), generation, "it was read again");
        let files = Files::open(directory.path()).unwrap();
        let mut reader = index.reader(&files);
        for number in [0, COUNT - most - 1, COUNT - most, COUNT - 1] {
            assert!(reader.is_at(number, &format!("i{number}")).unwrap());
        }
    }
    let files = Files::open(directory.path()).unwrap();
    check(&index, &files, COUNT);
    let mut new = Index::default();
    new.refresh(&files).unwrap();
    check(&new, &files, COUNT);
    assert!(index.archive.blocks() <= new.archive.blocks() + 3);
}

/// What is damaged, or repeated after a move that was broken off, is read again.
#[test]
fn a_move_of_more_than_messages_is_read_again() {
    let mut log: String = (0..600).map(line).collect();
    log += "damaged\n";
    let (mut index, _, directory) = index_of(&log);
    let patience = Duration::from_secs(5);
    let until = Instant::now() + patience;
    let lock = OriginalLock::take(directory.path(), LOG, until, patience).unwrap();
    let archived: String = (0..100).map(line).collect();
    fs::write(directory.path().join(ARCHIVE), archived).unwrap();
    for (most, kept) in [(500, 500), (400, 400)] {
        let files = Files::open(directory.path()).unwrap();
        index.refresh(&files).unwrap();
        upkeep::shorten(directory.path(), most, &lock, (&mut index, &files)).unwrap();
        let files = Files::open(directory.path()).unwrap();
        check(&index, &files, 600);
        assert_eq!((index.log.count(), index.damaged()), (kept, 1));
    }
}
