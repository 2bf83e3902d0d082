//! Headers of tar entries, as POSIX defines them (ustar, and pax for long names).

pub const BLOCK: usize = 512;
/// An archive ends with two empty blocks.
pub const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

/// Longest name in a plain header.
const NAME: usize = 100;
/// Largest size that fits into eleven octal digits.
const OCTAL: u64 = 0o777_7777_7777;

/// Everything before the content of a file.
pub fn header(name: &str, size: u64, modified: u64) -> Vec<u8> {
    if name.len() <= NAME {
        return block(name, size, modified, b'0').to_vec();
    }
    // The real name is in an entry before the file's own.
    let record = pax("path", name);
    let mut header = block("PaxHeaders/name", record.len() as u64, modified, b'x').to_vec();
    header.extend_from_slice(record.as_bytes());
    header.resize(header.len() + padding(record.len() as u64), 0);
    let end = (0..=NAME).rfind(|at| name.is_char_boundary(*at));
    let short = name.get(..end.unwrap_or_default()).unwrap_or_default();
    header.extend_from_slice(&block(short, size, modified, b'0'));
    header
}

/// The zeros that follow a content of this size.
pub fn padding(size: u64) -> usize {
    let over = (size % BLOCK as u64) as usize;
    (BLOCK - over) % BLOCK
}

/// `LENGTH KEY=VALUE\n`, where the length counts itself.
fn pax(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let digits = |number: usize| number.to_string().len();
    let mut length = rest + digits(rest);
    length = rest + digits(length);
    format!("{length} {key}={value}\n")
}

fn block(name: &str, size: u64, modified: u64, kind: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in block.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    };
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    match size <= OCTAL {
        true => put(124, format!("{size:011o}\0").as_bytes()),
        false => {
            // GNU's form for sizes from 8 GB on: a bit that says so, then the number.
            put(124, &[0x80, 0, 0, 0]);
            put(128, &size.to_be_bytes());
        }
    }
    put(136, format!("{:011o}\0", modified.min(OCTAL)).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    for (to, from) in block.iter_mut().skip(148).zip(sum.as_bytes()) {
        *to = *from;
    }
    block
}

/// The size and the time in the header of the first entry, whose name is known.
pub fn size_and_time(block: &[u8]) -> Option<(u64, u64)> {
    let octal = |range: std::ops::Range<usize>| {
        let text = std::str::from_utf8(block.get(range)?).ok()?;
        u64::from_str_radix(text, 8).ok()
    };
    Some((octal(124..135)?, octal(136..147)?))
}
