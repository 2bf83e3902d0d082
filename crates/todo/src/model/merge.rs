//! Merges two changes of one text, line by line. Changes of the same lines are a
//! conflict, and so are additions beside a changed line.

use std::{collections::HashMap, ops::Range};

use super::lines::{self, slice};

/// `base` with both changes, or the conflicting lines of `base`, counted from
/// 1.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Range<usize>> {
    if ours == theirs || base == theirs {
        return Ok(ours.to_owned());
    }
    if base == ours {
        return Ok(theirs.to_owned());
    }
    let (a, b, c) = (pieces(base), pieces(ours), pieces(theirs));
    let mine = hunks(&a, &b);
    let other = hunks(&a, &c);
    let mut result = String::with_capacity(theirs.len() + ours.len() / 8);
    let (mut i, mut j, mut at) = (0, 0, 0);
    loop {
        let (one, two) = (mine.get(i), other.get(j));
        let (hunk, from) = match (one, two) {
            (None, None) => break,
            (Some(one), Some(two)) if one == two && part(&b, &one.new) == part(&c, &two.new) => {
                j += 1;
                i += 1;
                (one, &b)
            }
            (Some(one), Some(two)) if touch(&one.old, &two.old) => {
                let from = one.old.start.min(two.old.start);
                let to = one.old.end.max(two.old.end).max(from + 1);
                return Err(from + 1..to + 1);
            }
            (Some(one), Some(two)) if two.old.start < one.old.start => {
                j += 1;
                (two, &c)
            }
            (Some(one), _) => {
                i += 1;
                (one, &b)
            }
            (None, Some(two)) => {
                j += 1;
                (two, &c)
            }
        };
        result.extend(part(&a, &(at..hunk.old.start)).iter().copied());
        result.extend(part(from, &hunk.new).iter().copied());
        at = hunk.old.end;
    }
    result.extend(part(&a, &(at..a.len())).iter().copied());
    Ok(result)
}

/// `now` without the change from `before` to `after`. If later changes conflict
/// with that: the lines of `after`, as far as they are known.
pub fn revert(before: &str, after: &str, now: &str) -> Result<String, Option<Range<usize>>> {
    let reverted = merge(after, before, now).map_err(Some)?;
    // A line that the change moved, and that was moved again or deleted since,
    // must not return to its old place.
    let (before, after, current) = (counts(before), counts(after), counts(now));
    for (line, count) in counts(&reverted) {
        let of = |counts: &HashMap<&str, usize>| counts.get(line).copied().unwrap_or(0);
        let removed = of(&before).saturating_sub(of(&after));
        if count > of(&current) + removed {
            return Err(None);
        }
    }
    Ok(reverted)
}

/// How often each line occurs, except empty ones.
fn counts(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    let lines = pieces(text).into_iter().map(str::trim_end);
    for line in lines.filter(|line| !line.is_empty()) {
        *counts.entry(line).or_default() += 1;
    }
    counts
}

/// The lines that differ, each with `-` or `+` before it.
pub fn diff(old: &str, new: &str) -> String {
    let (a, b) = (pieces(old), pieces(new));
    let mut text = String::new();
    for hunk in hunks(&a, &b) {
        let gone = part(&a, &hunk.old).iter().map(|line| ('-', line));
        let added = part(&b, &hunk.new).iter().map(|line| ('+', line));
        for (sign, line) in gone.chain(added) {
            text.push(sign);
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// Merges conflicting changes without loss: all of `theirs`, then the lines
/// that `ours` added.
pub fn both(base: &str, ours: &str, theirs: &str) -> String {
    let (a, b, c) = (pieces(base), pieces(ours), pieces(theirs));
    let mut result = theirs.to_owned();
    for line in hunks(&a, &b).iter().flat_map(|hunk| part(&b, &hunk.new)) {
        if c.contains(line) {
            continue;
        }
        if !result.is_empty() && !result.ends_with('\n') {
            result.push('\n');
        }
        result.push_str(line);
    }
    result
}

/// Overlapping, or an addition at the edge of the other change: their order is
/// unclear.
fn touch(one: &Range<usize>, two: &Range<usize>) -> bool {
    match one.is_empty() || two.is_empty() {
        true => one.start <= two.end && two.start <= one.end,
        false => one.start < two.end && two.start < one.end,
    }
}

fn part<'a, 'b>(lines: &'b [&'a str], range: &Range<usize>) -> &'b [&'a str] {
    lines.get(range.clone()).unwrap_or_default()
}

/// Lines with their endings; a byte-order mark is part of the first.
fn pieces(text: &str) -> Vec<&str> {
    let mut start = 0;
    lines::split(text)
        .into_iter()
        .map(|line| slice(text, std::mem::replace(&mut start, line.next)..line.next))
        .collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

/// What changed from `a` to `b`.
fn hunks(a: &[&str], b: &[&str]) -> Vec<Hunk> {
    let before = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let rest = a.len().min(b.len()) - before;
    let after = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take(rest)
        .take_while(|(x, y)| x == y)
        .count();
    let (old, new) = (before..a.len() - after, before..b.len() - after);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let (inner_a, inner_b) = (part(a, &old), part(b, &new));
    let kept = if inner_a.is_empty() || inner_b.is_empty() {
        Vec::new()
    } else {
        kept(inner_a, inner_b).unwrap_or_default()
    };
    let mut hunks = Vec::new();
    let (mut x, mut y) = (old.start, new.start);
    let end = (old.end, new.end);
    for (i, j) in kept
        .into_iter()
        .map(|(i, j)| (i + before, j + before))
        .chain([end])
    {
        if x < i || y < j {
            hunks.push(Hunk {
                old: x..i,
                new: y..j,
            });
        }
        (x, y) = (i + 1, j + 1);
    }
    hunks
}

/// The most edits to look for. Beyond that, everything between the common start
/// and end is one change.
const MOST_EDITS: usize = 500;

/// Pairs of unchanged lines, by Myers' algorithm.
fn kept(a: &[&str], b: &[&str]) -> Option<Vec<(usize, usize)>> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    let most = (a.len() + b.len()).min(MOST_EDITS);
    let offset = most as isize + 1;
    let mut furthest = vec![0isize; 2 * most + 3];
    let get =
        |furthest: &[isize], k: isize| furthest.get((k + offset) as usize).copied().unwrap_or(0);
    let mut trace: Vec<Vec<isize>> = Vec::new();
    for d in 0..=most as isize {
        trace.push(furthest.clone());
        for k in (-d..=d).step_by(2) {
            let down = k == -d || (k != d && get(&furthest, k - 1) < get(&furthest, k + 1));
            let mut x = if down {
                get(&furthest, k + 1)
            } else {
                get(&furthest, k - 1) + 1
            };
            let mut y = x - k;
            while x < n && y < m && y >= 0 && a.get(x as usize) == b.get(y as usize) {
                x += 1;
                y += 1;
            }
            if let Some(cell) = furthest.get_mut((k + offset) as usize) {
                *cell = x;
            }
            if x >= n && y >= m {
                return Some(back(&trace, offset, n, m));
            }
        }
    }
    None
}

fn back(trace: &[Vec<isize>], offset: isize, n: isize, m: isize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (n, m);
    let mut pairs = Vec::new();
    for (d, furthest) in trace.iter().enumerate().rev() {
        let d = d as isize;
        let get = |k: isize| furthest.get((k + offset) as usize).copied().unwrap_or(0);
        let k = x - y;
        let down = k == -d || (k != d && get(k - 1) < get(k + 1));
        let (from_x, from_k) = if down {
            (get(k + 1), k + 1)
        } else {
            (get(k - 1), k - 1)
        };
        let from_y = from_x - from_k;
        while x > from_x.max(0) && y > from_y.max(0) && d > 0 || d == 0 && x > 0 && y > 0 {
            x -= 1;
            y -= 1;
            pairs.push((x as usize, y as usize));
        }
        if d > 0 {
            (x, y) = (from_x, from_y);
        }
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_merged() {
        let base = "a\nb\nc\nd\ne\nf\ng\n";
        let ours = "a\nB\nc\nd\ne\nf\ng\n";
        let theirs = "0\na\nb\nc\nd\nE\nf\nh\n";
        let both = "0\na\nB\nc\nd\nE\nf\nh\n";
        assert_eq!(merge(base, ours, theirs).unwrap(), both);
        let theirs = "a\nb\nc\nd\nE\nf\nh\n";
        assert_eq!(merge(base, ours, theirs).unwrap(), "a\nB\nc\nd\nE\nf\nh\n");
        // Neighbours too: they may be two tasks.
        let (ours, theirs) = ("a\nx\nc\n", "A\nb\nC\n");
        assert_eq!(merge("a\nb\nc\n", ours, theirs).unwrap(), "A\nx\nC\n");
    }

    #[test]
    fn the_same_change_on_both_sides_is_merged_once() {
        assert_eq!(
            merge("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n").unwrap(),
            "a\nx\nc\n"
        );
        let (base, ours, theirs) = ("a\nb\nc\nd\n", "a\nx\nc\nd\n", "a\nx\nc\ny\n");
        assert_eq!(merge(base, ours, theirs).unwrap(), "a\nx\nc\ny\n");
    }

    #[test]
    fn changes_of_one_line_are_a_conflict() {
        assert_eq!(merge("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"), Err(2..3));
        assert!(merge("a\nb\n", "a\nb\nx\n", "a\nb\ny\n").is_err());
    }

    #[test]
    fn a_revert_neither_restores_nor_doubles_what_was_changed_since() {
        let (before, after) = ("a\nb\nc\nd\n", "c\na\nb\nd\n");
        for (now, reverted) in [
            (after, Some(before)),
            (before, Some(before)),
            ("c\na\nb\nd\nx\n", Some("a\nb\nc\nd\nx\n")),
            // Deleted, moved elsewhere, changed.
            ("a\nb\nd\n", None),
            ("a\nc\nb\nd\n", None),
            ("C\na\nb\nd\n", None),
        ] {
            let result = revert(before, after, now).ok();
            assert_eq!(result.as_deref(), reverted, "{now:?}");
        }
    }

    #[test]
    fn nothing_that_was_added_is_lost() {
        let merged = both("a\nb\n", "a\nx\nb\ny", "a\nc");
        assert_eq!(merged, "a\nc\nx\ny");
        assert_eq!(both("a\n", "a\nx\n", "a\nx\n"), "a\nx\n");
    }

    #[test]
    fn line_endings_are_kept() {
        let (base, ours, theirs) = ("a\r\nb\r\nc", "x\r\nb\r\nc", "a\r\nb\r\nc\r\nd");
        assert_eq!(merge(base, ours, theirs).unwrap(), "x\r\nb\r\nc\r\nd");
    }

    #[test]
    fn hunks_turn_one_text_into_the_other() {
        let texts = [
            "",
            "a\n",
            "a\nb\nc\n",
            "c\nb\na\n",
            "b\nb\na\nc\nb\n",
            "x\na\ny\nb\nz\n",
        ];
        for one in texts {
            for two in texts {
                let (a, b) = (pieces(one), pieces(two));
                let mut rebuilt = String::new();
                let mut at = 0;
                for hunk in hunks(&a, &b) {
                    rebuilt.extend(part(&a, &(at..hunk.old.start)).iter().copied());
                    rebuilt.extend(part(&b, &hunk.new).iter().copied());
                    at = hunk.old.end;
                }
                rebuilt.extend(part(&a, &(at..a.len())).iter().copied());
                assert_eq!(rebuilt, two, "{one:?} to {two:?}");
            }
        }
    }
}
