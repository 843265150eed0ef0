//! The layout of memory: instances of objects at constant addresses, and what they hold before the first write.
//!
//! Every allocation, activation and thread has instances of its own. An address is a granule and an offset, as on the
//! semantics page; an instance gets granules of its own, in order of creation. So addresses of different instances
//! differ by construction, and the simplifier answers most questions about aliasing.

use crate::facts::ProgramFacts;
use crate::skeleton::ThreadIndex;
use crate::summarize::Refused;
use leno_ir::analysis::points_to::{AbstractId, AbstractObject};
use leno_ir::analysis::sharing::Sharing;
use leno_ir::index::{Idx, IndexVec};
use leno_ir::index_type;
use leno_ir::program::{DataModel, FuncId, Object, ObjectId, ObjectKind};
use leno_logic::term::{Term, Terms};
use leno_symbolic::contents::{Addresses, Initial};
use leno_symbolic::operators;
use leno_symbolic::region::Region;
use rustc_hash::FxHashMap;
use std::ops::RangeInclusive;

index_type!(
    /// An instance of an object.
    InstanceId,
    "i"
);

#[derive(Clone, Debug)]
pub struct Instance {
    pub object: AbstractId,
    pub base: u64,
    pub size: u64,
    /// Its actual size, if that is not constant: at most `size`.
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

impl Instance {
    pub fn region(&self) -> Region {
        Region { base: self.base, size: self.size, extent: self.extent }
    }
}

/// See the module.
pub struct Layout<'p> {
    facts: &'p ProgramFacts<'p>,
    all: IndexVec<InstanceId, Instance>,
    by_object: FxHashMap<AbstractId, Vec<InstanceId>>,
    by_granule: Vec<InstanceId>,
    /// Objects of static storage; thread-local ones, of each thread that has used them.
    statics: FxHashMap<(ObjectId, Option<ThreadIndex>), InstanceId>,
    functions: FxHashMap<FuncId, InstanceId>,
    /// Contents that come from the environment.
    given: Vec<Vec<u8>>,
    /// The addresses of the standard streams.
    streams: Vec<u64>,
}

/// The bits of an address that are an offset in a granule.
pub fn offset_bits(model: DataModel) -> u32 {
    match model {
        DataModel::Lp64 => 40,
        DataModel::Ilp32 => 16,
    }
}

impl<'p> Layout<'p> {
    /// All objects of static storage, except thread-local ones, at their addresses.
    pub fn new(facts: &'p ProgramFacts<'p>) -> Result<Layout<'p>, Refused> {
        let mut layout = Layout {
            facts,
            all: IndexVec::new(),
            by_object: FxHashMap::default(),
            by_granule: Vec::new(),
            statics: FxHashMap::default(),
            functions: FxHashMap::default(),
            given: Vec::new(),
            streams: Vec::new(),
        };
        for (object, data) in facts.program.objects.iter_enumerated() {
            if data.kind != ObjectKind::ThreadLocal {
                let initial = if is_stream(data) { layout.add_stream()? } else { Initial::Static(object) };
                layout.add_static(object, None, initial)?;
            }
        }
        Ok(layout)
    }

    fn model(&self) -> DataModel {
        self.facts.program.model
    }

    /// A new instance of an object.
    pub fn add(
        &mut self,
        what: AbstractObject,
        size: u64,
        initial: Initial,
        is_heap: bool,
        is_constant: bool,
    ) -> Result<InstanceId, Refused> {
        let object = self.facts.points_to.object(what);
        let object = object.ok_or_else(|| Refused::new("an object that the analysis does not know"))?;
        let bits = offset_bits(self.model());
        let granules = (size >> bits) + 1;
        let first = self.by_granule.len() as u64 + 1;
        let limit = 1u64 << (u32::from(self.model().pointer_bits()) - bits);
        if granules > 1 << 20 || first + granules >= limit {
            return Err(Refused::new("addresses have run out"));
        }
        let is_function = matches!(what, AbstractObject::Function(_));
        let id = self.all.push(Instance {
            object,
            base: first << bits,
            size,
            extent: None,
            sharing: if is_function { Sharing::ReadOnly } else { self.facts.shared.of(object) },
            initial,
            is_heap,
            is_constant,
            owner: None,
            is_pointed_to: true,
            is_function,
        });
        self.by_granule.extend(std::iter::repeat_n(id, granules as usize));
        self.by_object.entry(object).or_default().push(id);
        Ok(id)
    }

    fn add_static(
        &mut self,
        object: ObjectId,
        owner: Option<ThreadIndex>,
        initial: Initial,
    ) -> Result<InstanceId, Refused> {
        let data = &self.facts.program.objects[object];
        let is_constant = data.kind == ObjectKind::Constant;
        let id = self.add(AbstractObject::Static(object), data.size, initial, false, is_constant)?;
        self.all[id].owner = owner;
        self.statics.insert((object, owner), id);
        Ok(id)
    }

    /// The value of `stdin`, `stdout` or `stderr`: an address of something that the program cannot look into.
    fn add_stream(&mut self) -> Result<Initial, Refused> {
        let id = self.add(AbstractObject::Unknown, 1, Initial::Zero, false, true)?;
        self.all[id].is_function = true;
        let address = self.all[id].base;
        self.streams.push(address);
        let bytes = address.to_le_bytes()[..self.model().pointer_bytes() as usize].to_vec();
        Ok(self.give(bytes))
    }

    /// Contents that come from the environment.
    pub fn give(&mut self, bytes: Vec<u8>) -> Initial {
        self.given.push(bytes);
        Initial::Given(self.given.len() as u32 - 1)
    }

    /// Whether an address is that of a standard stream.
    pub fn is_stream(&self, address: u64) -> bool {
        self.streams.contains(&address)
    }

    /// The address of an object of static storage, as `thread` sees it.
    pub fn static_address(&mut self, object: ObjectId, thread: ThreadIndex) -> Result<u64, Refused> {
        let owner = (self.facts.program.objects[object].kind == ObjectKind::ThreadLocal).then_some(thread);
        let id = match self.statics.get(&(object, owner)) {
            Some(id) => *id,
            None => self.add_static(object, owner, Initial::Static(object))?,
        };
        Ok(self.all[id].base)
    }

    pub fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        let id = match self.functions.get(&function) {
            Some(id) => *id,
            None => {
                let id = self.add(AbstractObject::Function(function), 1, Initial::Zero, false, true)?;
                self.functions.insert(function, id);
                id
            }
        };
        Ok(self.all[id].base)
    }

    /// The thread-local objects of a thread, in the order in which it has used them.
    pub fn thread_locals(&self, thread: ThreadIndex) -> Vec<InstanceId> {
        let own = self.statics.iter().filter(|((_, owner), _)| *owner == Some(thread));
        let mut own: Vec<InstanceId> = own.map(|(_, id)| *id).collect();
        own.sort_unstable();
        own
    }

    /// The id of the next instance.
    pub fn next(&self) -> InstanceId {
        self.all.next_id()
    }

    /// No pointer can point to the instances from this one on any more.
    pub fn hide_from(&mut self, first: InstanceId) {
        for id in self.ids().skip(first.index()) {
            if let Some(ids) = self.by_object.get_mut(&self.all[id].object) {
                ids.retain(|id| *id < first);
            }
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = InstanceId> + use<> {
        self.all.ids()
    }

    /// The first address that belongs to an instance, and how many do.
    pub fn addresses(&self, id: InstanceId) -> (u64, u64) {
        let instance = &self.all[id];
        let bits = offset_bits(self.model());
        (instance.base, ((instance.size >> bits) + 1) << bits)
    }

    /// How many granules have been given away.
    pub fn granules(&self) -> u64 {
        self.by_granule.len() as u64
    }

    pub fn get(&self, id: InstanceId) -> &Instance {
        &self.all[id]
    }

    pub fn get_mut(&mut self, id: InstanceId) -> &mut Instance {
        &mut self.all[id]
    }

    pub fn of(&self, object: AbstractId) -> &[InstanceId] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }

    /// The instance that an address belongs to.
    pub fn at(&self, address: u64) -> Option<InstanceId> {
        let granule = address >> offset_bits(self.model());
        self.by_granule.get((granule as usize).checked_sub(1)?).copied()
    }

    /// The instance that an address is in or next to: a little before the beginning of one is nearer to it than to the one
    /// that is there.
    pub fn nearest(&self, address: u64) -> Option<InstanceId> {
        let bits = offset_bits(self.model());
        let here = self.at(address);
        let is_inside = |id: &InstanceId| address - self.all[*id].base <= self.all[*id].size;
        if here.as_ref().is_some_and(is_inside) || address >> bits == 0 {
            return here;
        }
        let next = ((address >> bits) + 1) << bits;
        let before = self.at(next).filter(|id| self.all[*id].base == next && next - address < 1 << (bits - 1));
        before.or(here)
    }

    /// Whether an address has an offset in this range from a base.
    pub fn is_between(&self, terms: &mut Terms, address: Term, base: u64, offsets: RangeInclusive<i64>) -> Term {
        let first = self.pointer(terms, base.wrapping_add_signed(*offsets.start()));
        let from_first = terms.sub(address, first);
        let length = (offsets.end() - offsets.start()) as u64;
        let length = self.pointer(terms, length);
        terms.ule(from_first, length)
    }

    /// A constant address, as a term.
    pub fn pointer(&self, terms: &mut Terms, address: u64) -> Term {
        operators::pointer(terms, self.model(), address)
    }

    /// Whether an access lies within an instance.
    pub fn is_inside(&self, terms: &mut Terms, id: InstanceId, address: Term, bytes: u64, writes: bool) -> Term {
        let instance = &self.all[id];
        if instance.is_function || (writes && instance.is_constant) {
            return Term::FALSE;
        }
        instance.region().contains(terms, address, bytes)
    }

    /// What some bytes hold before the first write.
    pub fn initial_bytes(
        &mut self,
        terms: &mut Terms,
        initial: Initial,
        offset: u64,
        bytes: u32,
    ) -> Result<Term, Refused> {
        let given = std::mem::take(&mut self.given);
        let value = initial.value(terms, self.facts.program, &given, (offset, bytes), self);
        self.given = given;
        value
    }
}

impl Addresses for Layout<'_> {
    type Error = Refused;

    fn object_address(&mut self, object: ObjectId) -> Result<u64, Refused> {
        let id = self.statics.get(&(object, None));
        let id = id.ok_or_else(|| Refused::new("the address of a thread-local object as an initial value"))?;
        Ok(self.all[*id].base)
    }

    fn function_address(&mut self, function: FuncId) -> Result<u64, Refused> {
        Layout::function_address(self, function)
    }
}

/// Whether an object is `stdin`, `stdout` or `stderr`.
pub fn is_stream(data: &Object) -> bool {
    data.kind == ObjectKind::External && ["stdin", "stdout", "stderr"].contains(&data.name.as_str())
}
