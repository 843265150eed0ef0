//! Instances of objects: every allocation, activation and thread gets its own, with an address that is a constant.
//!
//! An address is a granule and an offset, as on the semantics page; an instance gets granules of its own, in order of
//! creation. So addresses of different instances differ by construction, and most aliasing questions are answered by
//! the simplifier.

use crate::skeleton::ThreadIndex;
use leno_ir::points_to::AbstractId;
use leno_ir::program::{DataModel, ObjectId};
use leno_ir::sharing::Sharing;
use leno_logic::term::Term;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(pub u32);

/// What memory holds before anybody writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Initial {
    Zero,
    Undefined,
    /// The initial value of a static object.
    Static(ObjectId),
    /// What is given from outside: the arguments of the program.
    Given(u32),
}

#[derive(Clone, Debug)]
pub struct Instance {
    pub object: AbstractId,
    pub base: u64,
    pub size: u64,
    /// Its real size, if that is not known: at most the other one.
    pub extent: Option<Term>,
    pub sharing: Sharing,
    pub initial: Initial,
    pub is_heap: bool,
    pub is_constant: bool,
    /// The thread that it is local to.
    pub owner: Option<ThreadIndex>,
    /// Whether its address may be in a register or in memory.
    pub is_pointed_to: bool,
    /// Functions can be pointed to, but not accessed.
    pub is_function: bool,
}

/// All instances so far.
#[derive(Default)]
pub struct Instances {
    all: Vec<Instance>,
    by_object: FxHashMap<AbstractId, Vec<InstanceId>>,
    by_granule: Vec<InstanceId>,
}

pub fn offset_bits(model: DataModel) -> u32 {
    match model {
        DataModel::Lp64 => 32,
        DataModel::Ilp32 => 16,
    }
}

impl Instances {
    /// A new instance; its base is set here. None when addresses have run out.
    pub fn add(&mut self, model: DataModel, mut instance: Instance) -> Option<InstanceId> {
        let bits = offset_bits(model);
        let id = InstanceId(self.all.len() as u32);
        let granules = (instance.size >> bits) + 1;
        let first = self.by_granule.len() as u64 + 1;
        let limit = 1u64 << (u32::from(model.pointer_bits()) - bits);
        if granules > 1 << 20 || first + granules >= limit {
            return None;
        }
        instance.base = first << bits;
        self.by_granule.extend(std::iter::repeat_n(id, granules as usize));
        self.by_object.entry(instance.object).or_default().push(id);
        self.all.push(instance);
        Some(id)
    }

    /// The number of the next instance.
    pub fn next(&self) -> InstanceId {
        InstanceId(self.all.len() as u32)
    }

    /// Nobody can point to the instances from this one on any more.
    pub fn hide_from(&mut self, first: InstanceId) {
        for instance in &self.all[first.0 as usize..] {
            if let Some(ids) = self.by_object.get_mut(&instance.object) {
                ids.retain(|id| *id < first);
            }
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.all.len() as u32).map(InstanceId)
    }

    /// The first address that belongs to an instance, and how many do.
    pub fn addresses(&self, model: DataModel, id: InstanceId) -> (u64, u64) {
        let instance = self.get(id);
        let bits = offset_bits(model);
        (instance.base, ((instance.size >> bits) + 1) << bits)
    }

    /// How many granules have been given away.
    pub fn granules(&self) -> u64 {
        self.by_granule.len() as u64
    }

    pub fn get(&self, id: InstanceId) -> &Instance {
        &self.all[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: InstanceId) -> &mut Instance {
        &mut self.all[id.0 as usize]
    }

    pub fn of(&self, object: AbstractId) -> &[InstanceId] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The instance that an address belongs to.
    pub fn at(&self, model: DataModel, address: u64) -> Option<InstanceId> {
        let granule = address >> offset_bits(model);
        self.by_granule.get((granule as usize).checked_sub(1)?).copied()
    }
}
