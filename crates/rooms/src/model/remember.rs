//! A bounded map of what a process remembers of agents.

use std::collections::HashMap;

/// How many agents of a room a process remembers. Members may leave through other
/// processes without this one noticing.
const REMEMBERED: usize = 4_096;

/// Sets what is remembered of `agent`. If the map is full, another agent is forgotten.
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
    fn only_so_many_agents_are_remembered() {
        let mut known = HashMap::new();
        for number in 0..2 * REMEMBERED {
            remember(&mut known, &format!("agent-{number}"), number);
        }
        assert_eq!(known.len(), REMEMBERED);
        assert!(known.contains_key(&format!("agent-{}", 2 * REMEMBERED - 1)));
    }
}
