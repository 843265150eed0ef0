//! Calls, and the starting of threads (a call that the new thread makes).
//!
//! A call of a function that is known here is made with that function's own types, whatever the call site thinks:
//! what the representation says about mismatches (drop, leave out, truncate, extend) is then simply written down,
//! and no compiler gets to see a call through a wrong type, which gcc turns into a trap. Where the callee is
//! known only at run time, its address is cast to what the call site says.
//!
//! `pthread_create` wants a function of one pointer. So each kind of spawn gets its own start routine, which takes
//! the function and its arguments out of a record on the heap and makes the real call.

use crate::expr::Text;
use crate::instr::Writer;
use crate::names;
use crate::types;
use leno_ir::program::{Access, Callee, Expr, FuncId, LocalId, Program, Type};
use std::fmt::Write;

impl Writer<'_> {
    pub(crate) fn call(&mut self, dst: Option<LocalId>, callee: &Callee, args: &[Expr]) -> String {
        match callee {
            Callee::Direct(id) | Callee::Indirect(Expr::Function(id)) => self.known_call(dst, *id, args),
            Callee::Indirect(address) => self.unknown_call(dst, address, args),
        }
    }

    fn known_call(&self, dst: Option<LocalId>, id: FuncId, args: &[Expr]) -> String {
        let callee = &self.program().functions[id];
        let call = format!("{}({})", names::function(self.program(), id), self.adapted(id, args));
        match (dst, callee.ret) {
            (Some(dst), Some(ret)) => {
                let value = self.scope.same_bits(Text::tight(call), ret, self.local_type(dst));
                format!("{} = {};", self.name(dst), value.text)
            }
            // Nothing comes back: the value is not determined, and stays what it was.
            (_, _) => format!("{call};"),
        }
    }

    /// Arguments as the parameters of a known function want them.
    fn adapted(&self, id: FuncId, args: &[Expr]) -> String {
        let parameters = types::parameters(&self.program().functions[id]);
        let argument = |(index, ty): (usize, Type)| match args.get(index) {
            Some(arg) => self.scope.same_bits(self.scope.text(arg), self.scope.ty(arg), ty).text,
            None => "0".to_string(),
        };
        parameters.enumerate().map(argument).collect::<Vec<_>>().join(", ")
    }

    fn unknown_call(&self, dst: Option<LocalId>, address: &Expr, args: &[Expr]) -> String {
        let ret = dst.map(|dst| self.local_type(dst));
        let arg_types: Vec<Type> = args.iter().map(|arg| self.scope.ty(arg)).collect();
        let pointer = format!("(({}){})", types::function_pointer(ret, &arg_types), self.scope.operand(address));
        let values: Vec<String> = args.iter().map(|arg| self.scope.value(arg)).collect();
        let call = format!("{pointer}({})", values.join(", "));
        match dst {
            Some(dst) => format!("{} = {};", self.name(dst), within(call, self.local_type(dst))),
            None if some_function_returns_on_x87_stack(self.program()) => format!("{call}; leno_drop_float();"),
            None => format!("{call};"),
        }
    }

    pub(crate) fn spawn(&mut self, handle: Option<&Access>, func: &Expr, args: &[Expr]) -> String {
        let args_types: Vec<Type> = args.iter().map(|arg| self.scope.ty(arg)).collect();
        let callee = match func {
            Expr::Function(id) => Some(*id),
            _ => None,
        };
        let number = self.starts.number(Start { callee, args: args_types });
        let mut code = format!("{{ struct leno_start{number} *start = leno_new_start(sizeof *start);");
        if callee.is_none() {
            let _ = write!(code, " start->base.function = {};", self.scope.value(func));
        }
        for (index, arg) in args.iter().enumerate() {
            let _ = write!(code, " start->a{index} = {};", self.scope.value(arg));
        }
        let _ = write!(code, " ptr thread = leno_spawn(leno_thread{number}, start);");
        if let Some(access) = handle {
            let word = self.program().model.word();
            let value = self.scope.same_bits(Text::tight("thread".to_string()), word, access.ty);
            let _ = write!(code, " {}", self.store(access, value));
        }
        code.push_str(" leno_release(start); }");
        code
    }
}

/// A result of a width that C does not have, from a callee that may have been of another type.
fn within(call: String, ty: Type) -> String {
    match ty {
        Type::Int(8 | 16 | 32 | 64 | 128) | Type::Ptr | Type::Float(_) => call,
        Type::Int(width) => format!("{call} & {}", crate::constant::integer(crate::constant::mask(width), width)),
    }
}

fn some_function_returns_on_x87_stack(program: &Program) -> bool {
    let on_stack = |ret: Option<Type>| ret.is_some_and(|ty| types::returned_on_x87_stack(ty, program.model));
    program.functions.iter().any(|function| on_stack(function.ret))
}

/// One kind of spawn.
#[derive(Clone, PartialEq, Eq)]
struct Start {
    callee: Option<FuncId>,
    args: Vec<Type>,
}

/// All kinds of spawn that a program has.
#[derive(Default)]
pub(crate) struct Starts {
    kinds: Vec<Start>,
}

impl Starts {
    fn number(&mut self, start: Start) -> usize {
        self.kinds.iter().position(|known| *known == start).unwrap_or_else(|| {
            self.kinds.push(start);
            self.kinds.len() - 1
        })
    }

    /// The records and start routines.
    pub(crate) fn write(&self, program: &Program, hooked: bool, out: &mut String) {
        for (number, start) in self.kinds.iter().enumerate() {
            let fields: String =
                start.args.iter().enumerate().map(|(i, ty)| format!(" {} a{i};", types::value(*ty))).collect();
            let _ = write!(
                out,
                "struct leno_start{number} {{ struct leno_start base;{fields} }};\n\
                 static void *leno_thread{number}(void *record) {{\n    \
                 leno_await_release(record);\n    \
                 struct leno_start{number} start = *(struct leno_start{number} *)record;\n    \
                 free(record);\n    {}\n}}\n\n",
                start_call(program, start, hooked)
            );
        }
    }
}

/// The call that a start routine makes, with what the thread returns. With hooks, its end is told.
fn start_call(program: &Program, start: &Start, hooked: bool) -> String {
    let ended = |result: String| if hooked { format!("leno_finished({result})") } else { result };
    let Some(id) = start.callee else {
        let pointer = types::function_pointer(Some(Type::Ptr), &start.args);
        let args: Vec<String> = (0..start.args.len()).map(|index| format!("start.a{index}")).collect();
        let call = format!("(void *)(({pointer})start.base.function)({})", args.join(", "));
        return format!("return {};", ended(call));
    };
    let callee = &program.functions[id];
    // Conversions of values do not depend on the function they stand in.
    let scope = crate::expr::Scope { program, function: callee };
    let argument = |(index, ty): (usize, Type)| match start.args.get(index) {
        Some(from) => scope.same_bits(Text::tight(format!("start.a{index}")), *from, ty).text,
        None => "0".to_string(),
    };
    let args: Vec<String> = types::parameters(callee).enumerate().map(argument).collect();
    let call = format!("{}({})", names::function(program, id), args.join(", "));
    match callee.ret {
        Some(ret) => {
            let result = scope.same_bits(Text::tight(call), ret, Type::Ptr).operand();
            format!("return {};", ended(format!("(void *){result}")))
        }
        None => format!("{call};\n    return {};", ended("0".to_string())),
    }
}

/// The declaration of a function, without storage class and semicolon.
pub(crate) fn prototype(program: &Program, id: FuncId) -> String {
    let function = &program.functions[id];
    let named =
        |(index, ty): (usize, Type)| format!("{} {}", types::value(ty), names::local(function, LocalId(index as u32)));
    let parameters: Vec<String> = types::parameters(function).enumerate().map(named).collect();
    let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
    let ret = function.ret.map_or("void", types::value);
    format!("{ret} {}({parameters})", names::function(program, id))
}
