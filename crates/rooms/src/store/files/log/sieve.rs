//! Which messages may have an id: six bits per message instead of the id.

use super::{packed::make_space, segment::hash_of};

/// How many messages share one mesh of the sieve.
pub const MESH: usize = 64;
const WORDS: usize = 6;
/// How many bits an id sets. With four, one mesh in eighteen seems to hold an id that it
/// does not.
const BITS_PER_ID: u32 = 4;

/// One Bloom filter for every [`MESH`] messages.
#[derive(Default)]
pub struct Sieve {
    meshes: Vec<[u64; WORDS]>,
}

impl Sieve {
    pub fn add(&mut self, number: usize, id: &str) {
        let mesh = number / MESH;
        while self.meshes.len() <= mesh {
            make_space(&mut self.meshes);
            self.meshes.push([0; WORDS]);
        }
        if let Some(mesh) = self.meshes.get_mut(mesh) {
            for (word, bit) in mesh.iter_mut().zip(bits(id)) {
                *word |= bit;
            }
        }
    }

    /// The first numbers of the meshes that may hold the id, newest first.
    pub fn may_hold(&self, id: &str) -> impl Iterator<Item = usize> {
        let wanted = bits(id);
        let meshes = self.meshes.iter().enumerate().rev();
        meshes.filter_map(move |(at, mesh)| {
            let holds = mesh.iter().zip(wanted).all(|(word, bit)| word & bit == bit);
            holds.then_some(at * MESH)
        })
    }

    /// Forgets the messages from `count` on. A mesh with remaining messages keeps all its
    /// bits: it lets a few more ids through.
    pub fn truncate(&mut self, count: usize) {
        self.meshes.truncate(count.div_ceil(MESH));
    }

    pub fn reserve(&mut self, count: usize) {
        self.meshes.reserve_exact(count / MESH + 1);
    }

    pub fn shrink(&mut self) {
        self.meshes.shrink_to_fit();
    }
}

/// The bits of an id in each word of a mesh.
fn bits(id: &str) -> [u64; WORDS] {
    const PLACES: u64 = WORDS as u64 * u64::BITS as u64;
    let hash = hash_of(id);
    let mut words = [0; WORDS];
    for turn in 0..BITS_PER_ID {
        let place = hash.rotate_right(turn * 16) % PLACES;
        if let Some(word) = words.get_mut((place / u64::from(u64::BITS)) as usize) {
            *word |= 1 << (place % u64::from(u64::BITS));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_with_few_false_matches() {
        let mut sieve = Sieve::default();
        for number in 0..10_000 {
            sieve.add(number, &format!("msg_{number}"));
        }
        sieve.truncate(9_999);
        for number in (0..9_999).step_by(31) {
            let id = format!("msg_{number}");
            let mut meshes = sieve.may_hold(&id);
            assert!(meshes.any(|first| first == number - number % MESH));
        }
        let through: usize = (0..100)
            .map(|number| sieve.may_hold(&format!("none_{number}")).count())
            .sum();
        // Of 157 meshes for each of a hundred ids.
        assert!(through < 2_000, "{through}");
    }
}
