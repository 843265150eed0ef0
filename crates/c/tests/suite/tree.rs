//! Syntax trees in a compact form for tests: expressions and statements as S-expressions, and declarators in the
//! order in which they read in English (`x: [3] * int` is an array of 3 pointers to int).

use leno_c::ast::*;
use leno_c::parse::parse;
use leno_c::source::Source;
use leno_c::stack::with_big_stack;

/// The tree of a program, one item a line; or the first error.
pub fn tree(text: &str) -> String {
    let mut source = Source::new("test.c", text.as_bytes().to_vec());
    match with_big_stack(|| parse(&mut source)) {
        Ok(ast) => Tree { ast: &ast }.items(),
        Err(error) => {
            let place = source.location(error.span);
            let help = error.help.map_or(String::new(), |help| format!(" ({help})"));
            format!("{}:{}: {}{help}", place.line, place.column, error.message)
        }
    }
}

struct Tree<'a> {
    ast: &'a Ast,
}

fn join(parts: impl IntoIterator<Item = String>, separator: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

impl Tree<'_> {
    fn items(&self) -> String {
        let item = |item: &Item| match item {
            Item::Declaration(declaration) => self.declaration(declaration),
            Item::Function(function) => self.function(function),
            Item::StaticAssert(assertion) => self.static_assert(assertion),
            Item::Asm(_) => "(asm)".to_string(),
        };
        join(self.ast.items.iter().map(item), "\n")
    }

    fn name(&self, name: Name) -> String {
        self.ast.names.text(name).to_string()
    }

    fn static_assert(&self, assertion: &StaticAssert) -> String {
        format!("(static_assert {} {:?})", self.expr(assertion.cond), assertion.message)
    }

    fn declaration(&self, declaration: &Declaration) -> String {
        if declaration.declarators.is_empty() {
            return format!("({})", self.spec(declaration.spec));
        }
        let one = |one: &InitDeclarator| {
            let mut text = self.declarator(declaration.spec, &one.declarator);
            if let Some(label) = &one.asm_label {
                text += &format!(" asm {label}");
            }
            if let Some(init) = one.init {
                text += &format!(" = {}", self.init(init));
            }
            format!("({text})")
        };
        join(declaration.declarators.iter().map(one), " ")
    }

    fn function(&self, function: &FunctionDefinition) -> String {
        let old = join(function.old_params.iter().map(|old| format!(" {}", self.declaration(old))), "");
        format!("({}{old} {})", self.declarator(function.spec, &function.declarator), self.stmt(function.body))
    }

    fn declarator(&self, spec: SpecId, declarator: &Declarator) -> String {
        let mut words = Vec::new();
        if let Some(name) = declarator.name {
            words.push(format!("{}:", self.name(name)));
        }
        words.extend(declarator.derived.iter().map(|derived| self.derived(derived)));
        words.push(self.spec(spec));
        words.extend(declarator.attributes.iter().map(|attribute| self.attribute(attribute)));
        words.join(" ")
    }

    fn derived(&self, derived: &Derived) -> String {
        match derived {
            Derived::Pointer(qualifiers) => format!("*{}", qualifier_words(*qualifiers).join(" ")),
            Derived::Array(array) => {
                let mut words: Vec<String> =
                    qualifier_words(array.qualifiers).iter().map(|word| word.to_string()).collect();
                match array.size {
                    ArraySize::None => {}
                    ArraySize::Star => words.push("*".to_string()),
                    ArraySize::Expr(size) => words.push(self.expr(size)),
                }
                format!("[{}]", words.join(" "))
            }
            Derived::Function(function) => match &function.params {
                Params::Unspecified => "fn(?)".to_string(),
                Params::Names(names) => format!("fn({})", join(names.iter().map(|(name, _)| self.name(*name)), " ")),
                Params::Prototype { params, variadic } => {
                    let one = |param: &Parameter| self.declarator(param.spec, &param.declarator);
                    let dots = variadic.then(|| "...".to_string());
                    format!("fn({})", join(params.iter().map(one).chain(dots), ", "))
                }
            },
        }
    }

    fn spec(&self, spec: SpecId) -> String {
        let spec = &self.ast.specs[spec];
        let mut words: Vec<String> = Vec::new();
        words.extend(spec.storage.map(|storage| format!("{storage:?}").to_lowercase()));
        words.extend(spec.is_thread_local.then(|| "thread".to_string()));
        words.extend(spec.is_inline.then(|| "inline".to_string()));
        words.extend(spec.is_noreturn.then(|| "noreturn".to_string()));
        words.extend(qualifier_words(spec.qualifiers).iter().map(|word| word.to_string()));
        for alignas in &spec.alignas {
            words.push(match alignas {
                Alignas::Type(ty) => format!("alignas({})", self.ty(ty)),
                Alignas::Expr(value) => format!("alignas({})", self.expr(*value)),
            });
        }
        words.push(match &spec.ty {
            TypeSpecifier::Implicit => "implicit".to_string(),
            TypeSpecifier::Record(record) => self.record(record),
            TypeSpecifier::Enum(enumeration) => self.enumeration(enumeration),
            TypeSpecifier::Typedef(name) => self.name(*name),
            TypeSpecifier::TypeofExpr(value) => format!("typeof({})", self.expr(*value)),
            TypeSpecifier::TypeofType(ty) => format!("typeof({})", self.ty(ty)),
            TypeSpecifier::Atomic(ty) => format!("atomic({})", self.ty(ty)),
            TypeSpecifier::Int(int) => format!("{int:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        });
        words.extend(spec.attributes.iter().map(|attribute| self.attribute(attribute)));
        words.join(" ")
    }

    fn attribute(&self, attribute: &Attribute) -> String {
        let argument = |argument: &AttributeArg| match argument {
            AttributeArg::Name(name) => self.name(*name),
            AttributeArg::Expr(value) => self.expr(*value),
        };
        format!("@{}({})", attribute.name, join(attribute.args.iter().map(argument), ","))
    }

    fn record(&self, record: &RecordSpecifier) -> String {
        let mut words = vec![if record.is_union { "union" } else { "struct" }.to_string()];
        words.extend(record.tag.map(|tag| self.name(tag)));
        if let Some(members) = &record.members {
            let one = |member: &Member| match member {
                Member::Field { spec, declarator, bits } => {
                    let bits = bits.map_or(String::new(), |bits| format!(" : {}", self.expr(bits)));
                    format!("{}{bits};", self.declarator(*spec, declarator))
                }
                Member::StaticAssert(assertion) => self.static_assert(assertion),
            };
            words.push(format!("{{{}}}", join(members.iter().map(one), " ")));
        }
        words.extend(record.attributes.iter().map(|attribute| self.attribute(attribute)));
        words.join(" ")
    }

    fn enumeration(&self, enumeration: &EnumSpecifier) -> String {
        let mut words = vec!["enum".to_string()];
        words.extend(enumeration.tag.map(|tag| self.name(tag)));
        if let Some(enumerators) = &enumeration.enumerators {
            let one = |one: &Enumerator| {
                let value = one.value.map_or(String::new(), |value| format!("={}", self.expr(value)));
                format!("{}{value}", self.name(one.name))
            };
            words.push(format!("{{{}}}", join(enumerators.iter().map(one), " ")));
        }
        words.extend(enumeration.attributes.iter().map(|attribute| self.attribute(attribute)));
        words.join(" ")
    }

    fn ty(&self, ty: &TypeName) -> String {
        self.declarator(ty.spec, &ty.declarator)
    }

    fn init(&self, init: InitId) -> String {
        match &self.ast.inits[init] {
            Initializer::Expr(value) => self.expr(*value),
            Initializer::List { items, .. } => {
                let one = |item: &InitItem| {
                    let equals = if item.designators.is_empty() { "" } else { "=" };
                    format!("{}{equals}{}", self.designators(&item.designators), self.init(item.value))
                };
                format!("{{{}}}", join(items.iter().map(one), " "))
            }
        }
    }

    fn designators(&self, designators: &[Designator]) -> String {
        let one = |designator: &Designator| match designator {
            Designator::Field(name, _) => format!(".{}", self.name(*name)),
            Designator::Index(index) => format!("[{}]", self.expr(*index)),
            Designator::Range(first, last) => format!("[{}...{}]", self.expr(*first), self.expr(*last)),
        };
        join(designators.iter().map(one), "")
    }

    fn stmt(&self, stmt: StmtId) -> String {
        let some = |value: Option<ExprId>| value.map_or("_".to_string(), |value| self.expr(value));
        match &self.ast.stmts[stmt].kind {
            StmtKind::Empty => "()".to_string(),
            StmtKind::Expr(value) => self.expr(*value),
            StmtKind::Compound(items) => format!("{{{}}}", join(items.iter().map(|item| self.block_item(item)), " ")),
            StmtKind::If { cond, then, otherwise } => {
                let otherwise = otherwise.map_or(String::new(), |otherwise| format!(" {}", self.stmt(otherwise)));
                format!("(if {} {}{otherwise})", self.expr(*cond), self.stmt(*then))
            }
            StmtKind::Switch { value, body } => format!("(switch {} {})", self.expr(*value), self.stmt(*body)),
            StmtKind::While { cond, body } => format!("(while {} {})", self.expr(*cond), self.stmt(*body)),
            StmtKind::DoWhile { body, cond } => format!("(do {} {})", self.stmt(*body), self.expr(*cond)),
            StmtKind::For { init, cond, step, body } => {
                let init = match init {
                    None => "_".to_string(),
                    Some(ForInit::Expr(value)) => self.expr(*value),
                    Some(ForInit::Declaration(declaration)) => self.declaration(declaration),
                };
                format!("(for {init} {} {} {})", some(*cond), some(*step), self.stmt(*body))
            }
            StmtKind::Goto(name) => format!("(goto {})", self.name(*name)),
            StmtKind::GotoComputed(target) => format!("(goto* {})", self.expr(*target)),
            StmtKind::Continue => "(continue)".to_string(),
            StmtKind::Break => "(break)".to_string(),
            StmtKind::Return(value) => format!("(return {})", some(*value)),
            StmtKind::Label { name, body } => format!("(label {} {})", self.name(*name), self.stmt(*body)),
            StmtKind::Case { value, end, body } => {
                let end = end.map_or(String::new(), |end| format!("...{}", self.expr(end)));
                format!("(case {}{end} {})", self.expr(*value), self.stmt(*body))
            }
            StmtKind::Default { body } => format!("(default {})", self.stmt(*body)),
            StmtKind::Asm(asm) => format!("(asm {:?} {} {})", asm.template, asm.has_operands, asm.clobbers_memory),
        }
    }

    fn block_item(&self, item: &BlockItem) -> String {
        match item {
            BlockItem::Stmt(stmt) => self.stmt(*stmt),
            BlockItem::Declaration(declaration) => self.declaration(declaration),
            BlockItem::NestedFunction(function) => format!("(nested {})", self.function(function)),
            BlockItem::StaticAssert(assertion) => self.static_assert(assertion),
            BlockItem::LocalLabels(names) => {
                format!("(labels {})", join(names.iter().map(|name| self.name(*name)), " "))
            }
        }
    }

    fn expr(&self, expr: ExprId) -> String {
        match &self.ast.exprs[expr].kind {
            ExprKind::Ident(name) => self.name(*name),
            ExprKind::Int { value, suffix, .. } => {
                format!("{value}{}{}", if suffix.unsigned { "u" } else { "" }, "l".repeat(suffix.long as usize))
            }
            ExprKind::Float { value, suffix } => format!("{}{}", value.text, format!("{suffix:?}").replace("None", "")),
            ExprKind::Char { value, kind } => format!("'{value}'{}", kind_word(*kind)),
            ExprKind::Str { units, kind } => {
                let text: String = units.iter().map(|unit| char::from_u32(*unit).unwrap_or('?')).collect();
                format!("{}{text:?}", kind_word(*kind))
            }
            ExprKind::Unary(operator, operand) => format!("({operator:?} {})", self.expr(*operand)),
            ExprKind::Binary(operator, left, right) => {
                format!("({operator:?} {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Assign(operator, left, right) => {
                let operator = operator.map_or("=".to_string(), |operator| format!("{operator:?}="));
                format!("({operator} {} {})", self.expr(*left), self.expr(*right))
            }
            ExprKind::Conditional { cond, then, otherwise } => {
                let then = then.map_or("_".to_string(), |then| self.expr(then));
                format!("(? {} {then} {})", self.expr(*cond), self.expr(*otherwise))
            }
            ExprKind::Comma(left, right) => format!("(, {} {})", self.expr(*left), self.expr(*right)),
            ExprKind::Call { callee, args } => {
                format!(
                    "(call {}{})",
                    self.expr(*callee),
                    join(args.iter().map(|arg| format!(" {}", self.expr(*arg))), "")
                )
            }
            ExprKind::Index(base, index) => format!("(index {} {})", self.expr(*base), self.expr(*index)),
            ExprKind::Member { base, field, arrow } => {
                format!("({} {} {})", if *arrow { "->" } else { "." }, self.expr(*base), self.name(*field))
            }
            ExprKind::Cast { ty, operand } => format!("(cast <{}> {})", self.ty(ty), self.expr(*operand)),
            ExprKind::CompoundLiteral { ty, init } => format!("(literal <{}> {})", self.ty(ty), self.init(*init)),
            ExprKind::SizeofExpr(operand) => format!("(sizeof {})", self.expr(*operand)),
            ExprKind::SizeofType(ty) => format!("(sizeof <{}>)", self.ty(ty)),
            ExprKind::AlignofExpr(operand) => format!("(alignof {})", self.expr(*operand)),
            ExprKind::AlignofType(ty) => format!("(alignof <{}>)", self.ty(ty)),
            ExprKind::Generic { control, associations } => {
                let one = |(ty, value): &(Option<TypeName>, ExprId)| {
                    let ty = ty.as_ref().map_or("default".to_string(), |ty| self.ty(ty));
                    format!(" <{ty}>:{}", self.expr(*value))
                };
                format!("(generic {}{})", self.expr(*control), join(associations.iter().map(one), ""))
            }
            ExprKind::StmtExpr(body) => format!("(stmt {})", self.stmt(*body)),
            ExprKind::LabelAddress(name) => format!("(&& {})", self.name(*name)),
            ExprKind::VaArg { list, ty } => format!("(va_arg {} <{}>)", self.expr(*list), self.ty(ty)),
            ExprKind::Offsetof { ty, path } => format!("(offsetof <{}> {})", self.ty(ty), self.designators(path)),
            ExprKind::Choose { cond, then, otherwise } => {
                format!("(choose {} {} {})", self.expr(*cond), self.expr(*then), self.expr(*otherwise))
            }
            ExprKind::TypesCompatible(first, second) => {
                format!("(compatible <{}> <{}>)", self.ty(first), self.ty(second))
            }
            ExprKind::Paren(inner) => format!("(paren {})", self.expr(*inner)),
        }
    }
}

fn qualifier_words(qualifiers: Qualifiers) -> Vec<&'static str> {
    let all = [
        (qualifiers.is_const, "const"),
        (qualifiers.is_volatile, "volatile"),
        (qualifiers.is_restrict, "restrict"),
        (qualifiers.is_atomic, "_Atomic"),
    ];
    all.iter().filter(|(present, _)| *present).map(|(_, word)| *word).collect()
}

fn kind_word(kind: CharKind) -> &'static str {
    match kind {
        CharKind::Plain => "",
        CharKind::Utf8 => "u8",
        CharKind::Wide => "L",
        CharKind::Char16 => "u",
        CharKind::Char32 => "U",
    }
}
