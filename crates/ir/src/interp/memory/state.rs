//! What of memory decides what can happen: contents and lives, but not where in the program a life has ended.

use super::{Instance, Kind, Memory};
use std::hash::{Hash, Hasher};

impl Memory {
    pub(in crate::interp) fn add_state(&self, state: &mut impl Hasher) {
        // (The others never change.)
        let is_variable = |object: &&Instance| !matches!(object.kind, Kind::Function | Kind::Constant);
        let variables = self.statics.iter().filter(is_variable);
        variables.for_each(|object| (&object.bytes, &object.definedness, object.unknown).hash(state));
        for arena in &self.arenas {
            // (Where recycled granules are used again, the cursor does not matter.)
            (arena.granules.len(), (!self.recycles).then_some(arena.cursor)).hash(state);
            arena.granules.iter().for_each(|object| object.add_state(state));
        }
        (&self.current, self.taken_from_above).hash(state);
        self.vast.len().hash(state);
        for (granule, object) in &self.vast {
            granule.hash(state);
            object.add_state(state);
        }
    }
}

impl Instance {
    fn add_state(&self, state: &mut impl Hasher) {
        (self.kind, self.alive, self.is_kept, self.size, self.origin, self.slot, self.made_by).hash(state);
        (self.unknown, self.forgotten, self.reused).hash(state);
        if self.alive {
            (&self.bytes, &self.definedness).hash(state);
        }
    }
}
