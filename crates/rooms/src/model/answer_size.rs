//! How large an answer may be, so that no client refuses it.

/// Bytes of the items in an answer. With the rest of the answer they stay below 256 KB.
pub const ANSWER_BYTES: usize = 240_000;
/// Bytes of an item's fields that its JSON may lack.
const FIELDS_BYTES: usize = 200;

/// Bytes that an item takes in an answer, at most. The answer has it twice: as JSON,
/// and in a text in which quotes and backslashes are escaped once more.
pub fn bytes_in_answer(json: &[u8]) -> usize {
    let escaped = memchr::memchr2_iter(b'"', b'\\', json).count();
    2 * (json.len() + FIELDS_BYTES) + escaped
}
