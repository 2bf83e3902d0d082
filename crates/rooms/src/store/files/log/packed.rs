//! Compact lists of small numbers, for an index of a million messages.

/// Numbers of a fixed number of bits, several to a word.
#[derive(Debug)]
pub struct Packed {
    words: Vec<u64>,
    bits: u32,
    count: usize,
}

impl Packed {
    /// `bits` is 1 to 32.
    pub fn new(bits: u32) -> Self {
        Self {
            words: Vec::new(),
            bits,
            count: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    fn per_word(&self) -> usize {
        (u64::BITS / self.bits) as usize
    }

    fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Which word, and how far from its end.
    fn place(&self, at: usize) -> (usize, u32) {
        let per_word = self.per_word();
        (at / per_word, (at % per_word) as u32 * self.bits)
    }

    pub fn get(&self, at: usize) -> Option<u32> {
        if at >= self.count {
            return None;
        }
        let (word, shift) = self.place(at);
        let number = self.words.get(word)? >> shift & self.mask();
        u32::try_from(number).ok()
    }

    /// Adds a number, making all of them wider if it does not fit.
    pub fn push(&mut self, number: u32) {
        while u64::from(number) > self.mask() {
            self.widen();
        }
        let (word, shift) = self.place(self.count);
        if word == self.words.len() {
            make_space(&mut self.words);
            self.words.push(0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= u64::from(number) << shift;
        }
        self.count += 1;
    }

    fn widen(&mut self) {
        let mut wider = Self::new(self.bits * 2);
        wider.reserve(self.count);
        for number in self.iter(0) {
            wider.push(number);
        }
        *self = wider;
    }

    pub fn truncate(&mut self, count: usize) {
        if count >= self.count {
            return;
        }
        self.count = count;
        let (word, shift) = self.place(count);
        self.words.truncate(word + usize::from(shift > 0));
        if let (Some(last), true) = (self.words.get_mut(word), shift > 0) {
            *last &= (1 << shift) - 1;
        }
    }

    /// From `at` on.
    pub fn iter(&self, at: usize) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (at.min(self.count)..self.count).filter_map(|at| self.get(at))
    }

    /// Bytes of memory, spare room included.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    pub fn reserve(&mut self, count: usize) {
        let words = count.div_ceil(self.per_word());
        self.words
            .reserve_exact(words.saturating_sub(self.words.len()));
    }

    pub fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }
}

/// Ascending numbers, possibly repeated, stored as differences: about a byte each.
#[derive(Debug, Default)]
pub struct Ascending {
    steps: Vec<u8>,
    /// Every [`Self::STRIDE`]th number, and where the steps after it begin.
    marks: Vec<(u32, u32)>,
    count: usize,
    last: u32,
}

impl Ascending {
    const STRIDE: usize = 64;

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory, spare room included.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.steps.capacity() + self.marks.capacity() * size_of::<(u32, u32)>()
    }

    /// `number` is not smaller than the last.
    pub fn push(&mut self, number: u32) {
        if self.count.is_multiple_of(Self::STRIDE) {
            let steps = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
            make_space(&mut self.marks);
            self.marks.push((number, steps));
        } else {
            let mut step = number - self.last;
            make_space(&mut self.steps);
            while step > 0x7f {
                self.steps.push(step as u8 | 0x80);
                step >>= 7;
            }
            self.steps.push(step as u8);
        }
        self.last = number;
        self.count += 1;
    }

    /// The numbers from the one at `at` on.
    pub fn from(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        let stride = at / Self::STRIDE;
        let marks = self.marks.get(stride..).unwrap_or_default();
        let numbers = marks.iter().enumerate().flat_map(move |(more, mark)| {
            let ends = self.marks.get(stride + more + 1).map(|next| next.1);
            let steps = mark.1 as usize..ends.map_or(self.steps.len(), |end| end as usize);
            Steps {
                number: Some(mark.0),
                steps: self.steps.get(steps).unwrap_or_default(),
            }
        });
        numbers.skip(at % Self::STRIDE)
    }

    /// How many are smaller than `number`.
    pub fn below(&self, number: u32) -> usize {
        let marks = self.marks.partition_point(|mark| mark.0 < number);
        let first = marks.saturating_sub(1) * Self::STRIDE;
        first
            + self
                .from(first)
                .take(Self::STRIDE)
                .take_while(|n| *n < number)
                .count()
    }

    pub fn truncate(&mut self, count: usize) {
        if count >= self.count {
            return;
        }
        // Only whole strides can be removed; the rest is added again.
        let kept = count - count % Self::STRIDE;
        let rest: Vec<u32> = self.from(kept).take(count - kept).collect();
        self.last = match kept.checked_sub(1) {
            Some(last) => self.from(last).next().unwrap_or_default(),
            None => 0,
        };
        if let Some((_, steps)) = self.marks.get(kept / Self::STRIDE) {
            self.steps.truncate(*steps as usize);
        }
        self.marks.truncate(kept / Self::STRIDE);
        self.count = kept;
        for number in rest {
            self.push(number);
        }
    }
}

struct Steps<'a> {
    number: Option<u32>,
    steps: &'a [u8],
}

impl Iterator for Steps<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let number = self.number.take()?;
        let mut step = 0;
        for (at, byte) in self.steps.iter().enumerate() {
            step |= u32::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.steps = self.steps.get(at + 1..).unwrap_or_default();
                self.number = Some(number + step);
                break;
            }
        }
        Some(number)
    }
}

/// Grows a vector by an eighth. Doubling would waste half of the memory of a room that
/// was just loaded.
pub fn make_space<T>(vector: &mut Vec<T>) {
    if vector.len() == vector.capacity() {
        vector.reserve_exact(vector.len() / 8 + 8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_come_back_and_grow_wider() {
        for bits in [1, 4, 12] {
            let mut packed = Packed::new(bits);
            let mut plain = Vec::new();
            for n in 0..1_000_u32 {
                let number = n * n % 5_000 % (1 << (n / 100 + 1));
                packed.push(number);
                plain.push(number);
                if n % 97 == 0 {
                    let kept = plain.len() * 3 / 4;
                    packed.truncate(kept);
                    plain.truncate(kept);
                }
            }
            assert_eq!(packed.len(), plain.len());
            assert_eq!(packed.iter(0).collect::<Vec<_>>(), plain);
            assert_eq!(packed.iter(40).collect::<Vec<_>>(), plain[40..]);
            assert_eq!(packed.get(plain.len()), None);
            assert_eq!(packed.iter(plain.len() + 9).count(), 0);
        }
    }

    #[test]
    fn ascending_numbers_come_back() {
        let mut ascending = Ascending::default();
        assert_eq!((ascending.len(), ascending.below(7)), (0, 0));
        let mut plain = Vec::new();
        for n in 0..700_u32 {
            let number = n * n * n + 3;
            // Every tenth a hundred times, over several strides.
            for _ in 0..if n % 10 == 0 { 100 } else { 1 } {
                ascending.push(number);
                plain.push(number);
            }
            if n % 150 == 149 {
                let kept = plain.len() - 70 - (n as usize % 4) * 2;
                ascending.truncate(kept);
                plain.truncate(kept);
            }
        }
        assert_eq!(ascending.len(), plain.len());
        for at in [0, 1, 63, 64, 65, 300, plain.len()] {
            assert_eq!(ascending.from(at).collect::<Vec<_>>(), plain[at..]);
        }
        for number in [0, 3, 4, 5_000, 100_000_000, u32::MAX] {
            let below = plain.partition_point(|known| *known < number);
            assert_eq!(ascending.below(number), below, "{number}");
        }
    }
}
