//! A library as a program: its functions are called from outside, by any number of threads at any time.
//!
//! The program that is made of it first calls the functions of `init`, one after another, while nothing else runs. If one of them
//! returns a number other than 0 it has failed, and nothing more happens (so do modules of operating systems say it).
//! Then it starts threads in the functions of `entries` for ever, any number of each; at some time, which may never
//! come, it calls those of `exit` itself, while the threads that were started may still run.
//!
//! **Arguments** are anything of their type. Numbers are any numbers. A pointer points to memory outside of the library, as
//! large as its type says; nothing is known of what it holds, and all pointers to one type share it, so that whatever may be
//! the same object is treated as such. Of `void *` and `char *` not even the size is known: no access to it is proved to be
//! in bounds. That an argument is null, or the address of something in the library, is not considered.

use leno_ir::index::{Idx, IndexVec};
use leno_ir::program::{
    BinaryOp, Block, BlockId, Body, Callee, Expr, FuncId, Function, Instr, Local, LocalId, Object, ObjectId,
    ObjectKind, Op, Program, Span, Terminator, TerminatorKind, Type,
};
use std::collections::BTreeMap;

/// What a pointer argument points to: the name of its type, and how many bytes it has (0: not known).
pub type Pointee = (String, u64);

/// How a library is used.
#[derive(Clone, Default, Debug)]
pub struct Library {
    pub init: Vec<String>,
    pub entries: Vec<String>,
    pub exit: Vec<String>,
    /// By function and parameter; what is not there is memory of unknown size.
    pub pointees: BTreeMap<String, Vec<Option<Pointee>>>,
}

/// The program, and what was assumed of arguments, a line each.
pub fn open(program: &Program, library: &Library) -> Result<(Program, Vec<String>), String> {
    let mut harness = Harness {
        program: program.clone(),
        library,
        locals: IndexVec::new(),
        blocks: IndexVec::new(),
        outside: BTreeMap::new(),
    };
    // (The parameters of every program.)
    harness.local(Type::I32);
    harness.local(Type::Ptr);
    harness.build()?;
    harness.finish()
}

/// The register that a result is in, and its type.
type Returned = (LocalId, Type);

struct Harness<'l> {
    program: Program,
    library: &'l Library,
    locals: IndexVec<LocalId, Local>,
    blocks: IndexVec<BlockId, Block>,
    /// The memory that arguments point to, by type.
    outside: BTreeMap<Pointee, ObjectId>,
}

fn instr(op: Op) -> Instr {
    Instr { op, span: Span::NONE }
}

impl Harness<'_> {
    fn local(&mut self, ty: Type) -> LocalId {
        self.locals.push(Local { name: String::new(), ty, signed: false })
    }

    fn block(&mut self, instrs: Vec<Instr>, kind: TerminatorKind) -> BlockId {
        let terminator = Terminator { kind, span: Span::NONE };
        self.blocks.push(Block { instrs, terminator, span: Span::NONE })
    }

    fn build(&mut self) -> Result<(), String> {
        let library = self.library;
        let end = |harness: &Self| BlockId::new(harness.blocks.len() + 1);
        for name in &library.init {
            let (instrs, result) = self.call(name)?;
            let next = end(self);
            let Some((result, Type::Int(bits))) = result else {
                self.block(instrs, TerminatorKind::Goto(next));
                continue;
            };
            let is_fine = Expr::Binary(BinaryOp::Eq, Box::new([Expr::Local(result), Expr::int(0, bits)]));
            let failed = next;
            let next = BlockId::new(next.index() + 1);
            self.block(instrs, TerminatorKind::Branch { cond: is_fine, then: next, otherwise: failed });
            self.block(Vec::new(), TerminatorKind::Return(None));
        }
        let chosen = self.local(Type::I32);
        let again = self.block(vec![instr(Op::Nondet { dst: chosen })], TerminatorKind::Unreachable);
        let mut cases = Vec::new();
        for (number, name) in library.entries.iter().enumerate() {
            let (id, _) = self.function(name)?;
            let (mut instrs, args) = self.arguments(name, id);
            instrs.push(instr(Op::Spawn { handle: None, func: Expr::Function(id), args }));
            cases.push((number as u128, self.block(instrs, TerminatorKind::Goto(again))));
        }
        if !library.exit.is_empty() {
            let mut all = Vec::new();
            for name in &library.exit {
                all.extend(self.call(name)?.0);
            }
            let exit = self.block(all, TerminatorKind::Return(None));
            cases.push((library.entries.len() as u128, exit));
        }
        let choose = TerminatorKind::Switch { value: Expr::Local(chosen), cases, default: again };
        self.blocks[again].terminator.kind = choose;
        Ok(())
    }

    fn function(&self, name: &str) -> Result<(FuncId, Option<Type>), String> {
        let mut functions = self.program.functions.iter_enumerated();
        let found = functions.find(|(_, function)| function.name == name);
        let (id, function) = found.ok_or_else(|| format!("there is no function `{name}`"))?;
        Ok((id, function.ret))
    }

    /// The instructions that make the arguments and the call, and where its result is.
    fn call(&mut self, name: &str) -> Result<(Vec<Instr>, Option<Returned>), String> {
        let (id, ret) = self.function(name)?;
        let (mut instrs, args) = self.arguments(name, id);
        let result = ret.map(|ty| (self.local(ty), ty));
        let call = Op::Call { dst: result.map(|(dst, _)| dst), callee: Callee::Direct(id), args };
        instrs.push(instr(call));
        Ok((instrs, result))
    }

    fn arguments(&mut self, name: &str, id: FuncId) -> (Vec<Instr>, Vec<Expr>) {
        let function = &self.program.functions[id];
        let types: Vec<Type> = function.locals.iter().take(function.params as usize).map(|local| local.ty).collect();
        let known = self.library.pointees.get(name).cloned().unwrap_or_default();
        let (mut instrs, mut args) = (Vec::new(), Vec::new());
        for (number, ty) in types.into_iter().enumerate() {
            if ty == Type::Ptr {
                let pointee = known.get(number).cloned().flatten().unwrap_or(("void".to_string(), 0));
                args.push(Expr::Object(self.memory(pointee)));
                continue;
            }
            let dst = self.local(ty);
            instrs.push(instr(Op::Nondet { dst }));
            args.push(Expr::Local(dst));
        }
        (instrs, args)
    }

    fn memory(&mut self, pointee: Pointee) -> ObjectId {
        if let Some(id) = self.outside.get(&pointee) {
            return *id;
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let type_name = pointee.0.replace(|letter| !is_plain(letter), "_");
        let name = format!("outside.{}.{type_name}", self.outside.len());
        let (kind, size) = (ObjectKind::External, pointee.1);
        let object = Object { name, kind, size, align: 16, init: Vec::new(), span: Span::NONE };
        let id = self.program.objects.push(object);
        self.outside.insert(pointee, id);
        id
    }

    fn finish(self) -> Result<(Program, Vec<String>), String> {
        let mut program = self.program;
        let entry = Function {
            name: "_start".to_string(),
            params: 2,
            ret: None,
            locals: self.locals,
            slots: IndexVec::new(),
            body: Body::Blocks(self.blocks),
            span: Span::NONE,
        };
        program.entry = Some(program.functions.push(entry));
        if leno_ir::validate::validate(&program).is_err() {
            return Err("these functions cannot be started as threads".to_string());
        }
        let notes = self.outside.keys().map(|(name, bytes)| match bytes {
            0 => format!("pointer arguments to `{name}` point to memory of unknown size and contents"),
            _ => format!("pointer arguments to `{name}` point to {bytes} bytes of unknown contents"),
        });
        Ok((program, notes.collect()))
    }
}
