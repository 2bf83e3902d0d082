//! What a process remembers of agents, within a bound.

use std::collections::HashMap;

/// How many agents a process remembers something of in one room. Members may
/// leave through other processes, of which this one does not hear.
const REMEMBERED: usize = 4_096;

/// Sets what is remembered of `agent`, forgetting somebody else if it is too much.
pub fn remember<T>(known: &mut HashMap<String, T>, agent: &str, value: T) {
    if let Some(known) = known.get_mut(agent) {
        *known = value;
        return;
    }
    if known.len() >= REMEMBERED
        && let Some(other) = known.keys().next().cloned()
    {
        known.remove(&other);
    }
    known.insert(agent.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_of_agents_has_a_bound() {
        let mut known = HashMap::new();
        for number in 0..2 * REMEMBERED {
            remember(&mut known, &format!("agent-{number}"), number);
        }
        assert_eq!(known.len(), REMEMBERED);
        assert!(known.contains_key(&format!("agent-{}", 2 * REMEMBERED - 1)));
    }
}
