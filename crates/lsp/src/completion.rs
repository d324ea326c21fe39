//! What could be written at a place.

use std::collections::BTreeMap;
use std::path::Path;

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, Documentation, InsertTextFormat,
    MarkupContent, MarkupKind, TextEdit,
};
use saltus::library::FileSystem;
use saltus_names::{
    BUILTIN_FUNCTIONS, ClassId, Found, Member, MemberKind, Names, Predefined, Target, Type, attributes,
    predefined_literals,
};
use saltus_syntax::SyntaxKind;
use saltus_syntax::ast::{ClassKind, Name};
use serde_json::json;

use crate::facts;
use crate::hover;
use crate::requests::At;
use crate::signature::{Before, dotted_before, open_parentheses, resolve_name, tokens_before};
use crate::world::{Look, World};

/// Where in a class something is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Top,
    Declarations,
    Equations,
    Statements,
}

/// What could be written at a place.
pub(crate) fn completion(world: &World, at: &At) -> Option<CompletionList> {
    let (look, offset) = world.look_at(&at.text_document.uri, at.position)?;
    let mut tokens = tokens_before(world, &look, offset)?;
    // The word that is being written is no context.
    let word = match tokens.last() {
        Some(last) if last.end == offset && (last.kind == SyntaxKind::Identifier || last.kind.is_keyword()) => {
            let start = last.start;
            tokens.pop();
            start
        }
        Some(last) if last.end == offset && is_number(last.kind) => return None,
        _ => offset,
    };
    let mut names = Names::new(look.session.library());
    let classes = names.classes_at(&look.parsed, offset);
    let mut found = Items {
        world,
        look: &look,
        items: BTreeMap::new(),
    };
    found.collect(&mut names, classes.last().copied(), &tokens);
    let range = world.range(saltus::source::Span::new(look.parsed.file, word, offset.max(word)))?;
    let items = found.items.into_values().map(|mut item| {
        let text = item.insert_text.take().unwrap_or_else(|| item.label.clone());
        item.text_edit = Some(CompletionItemTextEdit::TextEdit(TextEdit { range, new_text: text }));
        item
    });
    Some(CompletionList {
        is_incomplete: false,
        items: items.collect(),
        ..CompletionList::default()
    })
}

fn is_number(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::UnsignedInteger | SyntaxKind::UnsignedReal)
}

struct Items<'w> {
    world: &'w World,
    look: &'w Look,
    /// By rank and label.
    items: BTreeMap<(u8, String), CompletionItem>,
}

const RANK_EXPECTED: u8 = 0;
const RANK_OWN: u8 = 1;
const RANK_INHERITED: u8 = 2;
const RANK_AROUND: u8 = 3;
const RANK_TOP: u8 = 4;
const RANK_LANGUAGE: u8 = 5;

impl Items<'_> {
    fn collect(&mut self, names: &mut Names<'_>, scope: Option<ClassId>, tokens: &[Before]) {
        let classes = open_classes(tokens);
        let section = classes.last().map_or(Section::Top, |(_, section)| *section);
        let statement = &tokens[statement_start(tokens)..];
        let begins_with = |kind| statement.first().is_some_and(|first: &Before| first.kind == kind);
        if begins_with(SyntaxKind::ImportKw) || begins_with(SyntaxKind::WithinKw) {
            return self.import(names, statement);
        }
        if in_annotation(statement) {
            return self.annotation();
        }
        if tokens.last().is_some_and(|last| last.kind == SyntaxKind::Dot) {
            return self.behind_dot(names, scope, tokens);
        }
        if tokens.last().is_some_and(|last| last.kind == SyntaxKind::EndKw) {
            return self.end(classes.last().map(|(name, _)| name.as_str()), section);
        }
        let Some(scope) = scope else {
            return self.templates(Section::Top, true);
        };
        let open = open_parentheses(statement);
        let in_declaration = section == Section::Declarations;
        if let Some(last) = open.last() {
            let argument = &statement[last.argument.min(statement.len())..];
            let begins = argument.is_empty() || argument.iter().all(|token| is_modifier_prefix(token.kind));
            if in_declaration && !is_in_value(statement, &open) {
                if begins {
                    return self.modifiers(names, scope, statement, &open);
                }
                if argument.last().is_some_and(|token| token.kind == SyntaxKind::Equals) {
                    self.expected_of_modifier(names, scope, statement, &open, argument);
                }
            } else if begins {
                self.arguments(names, scope, &last.name);
            }
        } else if statement.last().is_some_and(|token| token.kind == SyntaxKind::Equals) {
            self.expected_of_declaration(names, scope, statement, in_declaration);
        }
        let begins = statement.is_empty();
        self.names_in_scope(names, scope, begins && in_declaration);
        if open.is_empty() {
            self.templates(section, begins);
        }
        if !(begins && in_declaration) {
            self.functions();
        }
    }

    fn add(&mut self, rank: u8, label: &str, kind: CompletionItemKind, detail: Option<String>) -> &mut CompletionItem {
        let item = self.items.entry((rank, label.to_owned())).or_default();
        item.label = label.to_owned();
        item.kind = Some(kind);
        item.detail = detail;
        item.sort_text = Some(format!("{rank}{label}"));
        item
    }

    fn add_snippet(&mut self, label: &str, text: &str, detail: &str) {
        if self.world.snippets {
            let item = self.add(
                RANK_LANGUAGE,
                label,
                CompletionItemKind::Snippet,
                Some(detail.to_owned()),
            );
            item.insert_text = Some(text.to_owned());
            item.insert_text_format = Some(InsertTextFormat::Snippet);
        }
    }

    fn member(&mut self, names: &mut Names<'_>, member: &Member, rank: u8) {
        let (kind, detail) = match &member.kind {
            MemberKind::Component(clause, _) => {
                let kind = if facts::is_fixed(clause) {
                    CompletionItemKind::Constant
                } else {
                    CompletionItemKind::Field
                };
                (kind, Some(clause.type_name.to_string()))
            }
            MemberKind::Class(class) => (class_kind(names.definition(*class).kind), None),
            MemberKind::Literal(..) => (CompletionItemKind::EnumMember, None),
        };
        let said = facts::description(names, member);
        let item = self.add(rank, &member.name.name, kind, detail);
        item.documentation = said.map(Documentation::String);
    }

    /// The classes of a package in files of their own are described when they are looked at.
    fn stored(&mut self, names: &mut Names<'_>, class: ClassId, rank: u8) {
        let path = names.qualified_name(class);
        for name in names.stored_names(class) {
            let data = json!({"file": self.look.path.to_string_lossy(), "class": format!("{path}.{name}")});
            self.add(rank, &name, CompletionItemKind::Module, None).data = Some(data);
        }
    }

    fn behind_dot(&mut self, names: &mut Names<'_>, scope: Option<ClassId>, tokens: &[Before]) {
        let path = dotted_before(tokens, tokens.len() - 1);
        let found = match scope {
            Some(scope) => resolve_name(names, scope, &path),
            None => {
                let path: Vec<Name> = path.iter().map(Name::new).collect();
                names.from_root(&path)
            }
        };
        match found {
            Some(Found::Class(class)) => {
                let inside = scope.is_some_and(|scope| is_inside(names, scope, class));
                self.members_of(names, class, inside, false);
                self.stored(names, class, RANK_OWN);
            }
            Some(Found::Member(member)) => {
                if let Some(Type::Class(class)) = names.type_of(&member) {
                    self.members_of(names, class, false, true);
                }
            }
            Some(Found::Predefined(predefined)) => {
                for literal in predefined_literals(predefined) {
                    self.add(RANK_OWN, literal, CompletionItemKind::EnumMember, None);
                }
            }
            None => {}
        }
    }

    fn members_of(&mut self, names: &mut Names<'_>, class: ClassId, with_protected: bool, of_component: bool) {
        for member in names.members(class) {
            let is_class = matches!(member.kind, MemberKind::Class(_));
            let callable = match member.kind {
                MemberKind::Class(class) => names.definition(class).kind == ClassKind::Function,
                _ => false,
            };
            if (member.protected && !with_protected) || (of_component && is_class && !callable) {
                continue;
            }
            let rank = if member.owner == class {
                RANK_OWN
            } else {
                RANK_INHERITED
            };
            self.member(names, &member, rank);
        }
    }

    fn names_in_scope(&mut self, names: &mut Names<'_>, scope: ClassId, types_only: bool) {
        let mut current = Some(scope);
        let mut around = false;
        while let Some(class) = current {
            for member in names.members(class) {
                let is_class = matches!(member.kind, MemberKind::Class(_));
                if types_only && !is_class {
                    continue;
                }
                let rank = match (around, member.owner == class) {
                    (true, _) => RANK_AROUND,
                    (false, true) => RANK_OWN,
                    (false, false) => RANK_INHERITED,
                };
                if !self.has(&member.name.name) {
                    self.member(names, &member, rank);
                }
            }
            self.stored(names, class, RANK_AROUND);
            self.imported(names, class);
            current = if names.definition(class).encapsulated {
                None
            } else {
                names.parent(class)
            };
            around = true;
        }
        self.top_level();
        for predefined in Predefined::ALL {
            self.add(RANK_TOP, predefined.name(), CompletionItemKind::TypeParameter, None);
        }
        if !types_only {
            self.add(
                RANK_LANGUAGE,
                "time",
                CompletionItemKind::Variable,
                Some("Real".to_owned()),
            );
        }
    }

    fn has(&self, label: &str) -> bool {
        (RANK_EXPECTED..=RANK_AROUND).any(|rank| self.items.contains_key(&(rank, label.to_owned())))
    }

    fn imported(&mut self, names: &mut Names<'_>, class: ClassId) {
        use saltus_syntax::ast::{ElementKind, ImportKind};
        let definition = std::sync::Arc::clone(names.definition(class));
        let elements = definition
            .composition()
            .map_or(&[][..], |composition| &composition.elements);
        for element in elements {
            let ElementKind::Import(import) = &element.kind else {
                continue;
            };
            match &import.kind {
                ImportKind::Qualified => {
                    if let Some(last) = import.name.parts.last() {
                        self.add(
                            RANK_AROUND,
                            &last.name,
                            CompletionItemKind::Module,
                            Some(import.name.to_string()),
                        );
                    }
                }
                ImportKind::Renaming(alias) => {
                    self.add(
                        RANK_AROUND,
                        &alias.name,
                        CompletionItemKind::Module,
                        Some(import.name.to_string()),
                    );
                }
                ImportKind::List(listed) => {
                    for name in listed {
                        self.add(
                            RANK_AROUND,
                            &name.name,
                            CompletionItemKind::Module,
                            Some(import.name.to_string()),
                        );
                    }
                }
                ImportKind::Unqualified => {
                    if let Some(package) = names.lookup_class(class, &import.name) {
                        self.members_of(names, package, false, false);
                        self.stored(names, package, RANK_AROUND);
                    }
                }
            }
        }
    }

    /// Top-level classes: those of the file, of the workspace and of libraries.
    fn top_level(&mut self) {
        for class in self.look.session.library().given().iter() {
            if let Some(name) = class.path.first() {
                let kind = class_kind(class.definition.kind);
                self.add(RANK_TOP, name, kind, None).documentation =
                    facts::class_description(&class.definition).map(Documentation::String);
            }
        }
        for folder in self.look.session.library().search_path() {
            for name in top_level_names(self.world, folder) {
                let data = json!({"file": self.look.path.to_string_lossy(), "class": name});
                self.add(RANK_TOP, &name, CompletionItemKind::Module, None).data = Some(data);
            }
        }
    }

    fn import(&mut self, names: &mut Names<'_>, statement: &[Before]) {
        match statement.last() {
            Some(last) if last.kind == SyntaxKind::Dot => {
                let path: Vec<Name> = dotted_before(statement, statement.len() - 1)
                    .iter()
                    .map(Name::new)
                    .collect();
                if let Some(Found::Class(class)) = names.from_root(&path) {
                    self.members_of(names, class, false, false);
                    self.stored(names, class, RANK_OWN);
                }
            }
            _ => self.top_level(),
        }
    }

    /// What can be modified behind the last parenthesis.
    fn modifiers(
        &mut self,
        names: &mut Names<'_>,
        scope: ClassId,
        statement: &[Before],
        open: &[crate::signature::Open],
    ) {
        for word in ["each", "final", "redeclare", "replaceable"] {
            self.add(RANK_LANGUAGE, word, CompletionItemKind::Keyword, None);
        }
        let Some(type_) = modified_type(names, scope, statement, open) else {
            return;
        };
        if let Type::Class(class) = type_ {
            for member in names.members(class) {
                if member.protected || member.is_final || matches!(member.kind, MemberKind::Literal(..)) {
                    continue;
                }
                let rank = if member.owner == class {
                    RANK_OWN
                } else {
                    RANK_INHERITED
                };
                self.member(names, &member, rank);
                let value = format!("{} = ", member.name);
                if member.component().is_some_and(|(clause, _)| facts::is_fixed(clause))
                    && let Some(item) = self.items.get_mut(&(rank, member.name.to_string()))
                {
                    item.insert_text = Some(value);
                }
            }
        }
        if let Some(predefined) = names.predefined_or_enumeration(type_) {
            for (name, meaning) in attributes(predefined) {
                let item = self.add(
                    RANK_OWN,
                    name,
                    CompletionItemKind::Property,
                    Some(predefined.name().to_owned()),
                );
                item.documentation = Some(Documentation::String((*meaning).to_owned()));
                item.insert_text = Some(format!("{name} = "));
            }
        }
    }

    /// The names of the arguments of a function.
    fn arguments(&mut self, names: &mut Names<'_>, scope: ClassId, function: &[String]) {
        let Some(Found::Class(function)) = resolve_name(names, scope, function) else {
            return;
        };
        for input in facts::signature(names, function).0 {
            let said = facts::description(names, &input);
            let label = format!("{} =", input.name);
            let item = self.add(RANK_EXPECTED, &label, CompletionItemKind::Property, None);
            item.documentation = said.map(Documentation::String);
            item.insert_text = Some(format!("{label} "));
        }
    }

    /// Literals, where an enumeration is expected behind `name =` in a modification.
    fn expected_of_modifier(
        &mut self,
        names: &mut Names<'_>,
        scope: ClassId,
        statement: &[Before],
        open: &[crate::signature::Open],
        argument: &[Before],
    ) {
        let name = dotted_before(argument, argument.len() - 1);
        let Some(type_) = modified_type(names, scope, statement, open) else {
            return;
        };
        let found = match type_ {
            Type::Class(class) => name.first().and_then(|first| names.member(class, first)),
            Type::Predefined(_) => None,
        };
        if name.first().is_some_and(|name| name == "stateSelect") {
            return self.literals(names, Type::Predefined(Predefined::StateSelect));
        }
        if let Some(Found::Member(member)) = found
            && let Some(type_) = names.type_of(&member)
        {
            self.literals(names, type_);
        }
        if name
            .first()
            .is_some_and(|name| matches!(name.as_str(), "start" | "min" | "max"))
        {
            self.literals(names, type_);
        }
    }

    /// Literals behind `Type name =` and behind `variable =`.
    fn expected_of_declaration(&mut self, names: &mut Names<'_>, scope: ClassId, statement: &[Before], declared: bool) {
        let type_ = if declared {
            declared_type(names, scope, statement)
        } else {
            let name = dotted_before(statement, statement.len() - 1);
            match resolve_name(names, scope, &name) {
                Some(Found::Member(member)) => names.type_of(&member),
                _ => None,
            }
        };
        if let Some(type_) = type_ {
            self.literals(names, type_);
        }
    }

    fn literals(&mut self, names: &mut Names<'_>, type_: Type) {
        match type_ {
            Type::Class(class) => {
                let Some(enumeration) = names.enumeration_of(class) else {
                    if names.predefined_of(type_) == Some(Predefined::Boolean) {
                        self.literals(names, Type::Predefined(Predefined::Boolean));
                    }
                    return;
                };
                let path = names.qualified_name(class);
                for member in names.members(enumeration) {
                    let said = facts::description(names, &member);
                    let label = format!("{path}.{}", member.name);
                    let item = self.add(RANK_EXPECTED, &label, CompletionItemKind::EnumMember, None);
                    item.documentation = said.map(Documentation::String);
                    item.filter_text = Some(format!("{} {label}", member.name));
                }
            }
            Type::Predefined(Predefined::Boolean) => {
                for word in ["true", "false"] {
                    self.add(RANK_EXPECTED, word, CompletionItemKind::Keyword, None);
                }
            }
            Type::Predefined(predefined) => {
                for literal in predefined_literals(predefined) {
                    let label = format!("{}.{literal}", predefined.name());
                    self.add(RANK_EXPECTED, &label, CompletionItemKind::EnumMember, None);
                }
            }
        }
    }

    fn functions(&mut self) {
        for function in BUILTIN_FUNCTIONS {
            if function.name.starts_with(char::is_uppercase) {
                continue;
            }
            let detail = format!("({})", function.arguments.join(", "));
            let item = self.add(RANK_LANGUAGE, function.name, CompletionItemKind::Function, Some(detail));
            item.documentation = Some(Documentation::String(function.description.to_owned()));
        }
    }

    fn annotation(&mut self) {
        for name in [
            "Documentation",
            "Evaluate",
            "HideResult",
            "Dialog",
            "Icon",
            "Diagram",
            "Placement",
            "Line",
            "experiment",
            "derivative",
            "inverse",
            "Inline",
            "LateInline",
            "choices",
            "uses",
            "version",
            "defaultComponentName",
            "unassignedMessage",
            "missingInnerMessage",
            "smoothOrder",
            "StartTime",
            "StopTime",
            "Tolerance",
            "Interval",
        ] {
            self.add(RANK_LANGUAGE, name, CompletionItemKind::Property, None);
        }
    }

    /// What may stand behind `end`.
    fn end(&mut self, class: Option<&str>, section: Section) {
        if let Some(name) = class {
            self.add(RANK_EXPECTED, name, CompletionItemKind::Class, None)
                .insert_text = Some(format!("{name};"));
        }
        if matches!(section, Section::Equations | Section::Statements) {
            for word in ["if", "for", "when", "while"] {
                self.add(RANK_OWN, word, CompletionItemKind::Keyword, None).insert_text = Some(format!("{word};"));
            }
        }
    }

    fn templates(&mut self, section: Section, begins: bool) {
        let words: &[&str] = match (section, begins) {
            (Section::Top, _) => &[
                "within",
                "package",
                "model",
                "block",
                "connector",
                "record",
                "type",
                "function",
                "class",
            ],
            (Section::Declarations, true) => &[
                "parameter",
                "constant",
                "discrete",
                "input",
                "output",
                "flow",
                "stream",
                "inner",
                "outer",
                "final",
                "replaceable",
                "redeclare",
                "extends",
                "import",
                "equation",
                "algorithm",
                "public",
                "protected",
                "initial",
                "annotation",
                "end",
                "model",
                "block",
                "connector",
                "record",
                "type",
                "function",
                "package",
                "partial",
                "encapsulated",
                "external",
                "expandable",
                "operator",
                "pure",
                "impure",
            ],
            (Section::Declarations, false) => &[
                "if",
                "constrainedby",
                "annotation",
                "true",
                "false",
                "not",
                "and",
                "or",
                "then",
                "else",
            ],
            (Section::Equations, true) => &[
                "if",
                "for",
                "when",
                "connect",
                "elseif",
                "else",
                "elsewhen",
                "end",
                "equation",
                "algorithm",
                "initial",
                "public",
                "protected",
                "annotation",
            ],
            (Section::Statements, true) => &[
                "if",
                "for",
                "while",
                "when",
                "elseif",
                "else",
                "elsewhen",
                "end",
                "equation",
                "algorithm",
                "initial",
                "return",
                "break",
                "annotation",
            ],
            (Section::Equations | Section::Statements, false) => &[
                "then",
                "loop",
                "in",
                "true",
                "false",
                "not",
                "and",
                "or",
                "if",
                "else",
                "annotation",
            ],
        };
        for word in words {
            self.add(RANK_LANGUAGE, word, CompletionItemKind::Keyword, None);
        }
        if !begins {
            return;
        }
        match section {
            Section::Top | Section::Declarations => {
                self.add_snippet(
                    "model …",
                    "model ${1:Name}\n  $0\nequation\n  \nend ${1:Name};",
                    "a new model",
                );
                self.add_snippet("function …", "function ${1:name}\n  input Real ${2:u};\n  output Real ${3:y};\nalgorithm\n  ${3:y} := $0;\nend ${1:name};", "a new function");
                self.add_snippet("package …", "package ${1:Name}\n  $0\nend ${1:Name};", "a new package");
            }
            Section::Equations => {
                self.add_snippet(
                    "if …",
                    "if ${1:condition} then\n  $0\nelse\n  \nend if;",
                    "an if-equation: a mode for each branch",
                );
                self.add_snippet("when …", "when ${1:condition} then\n  $0\nend when;", "at events");
                self.add_snippet("for …", "for ${1:i} in ${2:1:n} loop\n  $0\nend for;", "a loop");
                self.add_snippet("connect …", "connect(${1:a}, ${2:b});", "a connection");
            }
            Section::Statements => {
                self.add_snippet("if …", "if ${1:condition} then\n  $0\nend if;", "a branch");
                self.add_snippet("for …", "for ${1:i} in ${2:1:n} loop\n  $0\nend for;", "a loop");
                self.add_snippet("while …", "while ${1:condition} loop\n  $0\nend while;", "a loop");
            }
        }
    }
}

fn class_kind(kind: ClassKind) -> CompletionItemKind {
    match kind {
        ClassKind::Package => CompletionItemKind::Module,
        ClassKind::Function | ClassKind::OperatorFunction | ClassKind::Operator => CompletionItemKind::Function,
        ClassKind::Record | ClassKind::OperatorRecord => CompletionItemKind::Struct,
        ClassKind::Connector | ClassKind::ExpandableConnector => CompletionItemKind::Interface,
        ClassKind::Type => CompletionItemKind::TypeParameter,
        ClassKind::Model | ClassKind::Block | ClassKind::Class => CompletionItemKind::Class,
    }
}

/// Whether a class is another one or inside of it.
fn is_inside(names: &Names<'_>, class: ClassId, outer: ClassId) -> bool {
    std::iter::successors(Some(class), |class| names.parent(*class)).any(|class| class == outer)
}

/// The top-level classes stored in a folder.
fn top_level_names(world: &World, folder: &Path) -> Vec<String> {
    let entries = world.files.list(folder).unwrap_or_default();
    if entries.iter().any(|entry| entry.name == "package.mo") {
        let own = folder.file_name().and_then(|name| name.to_str());
        return own
            .and_then(|name| name.split(' ').next())
            .map(str::to_owned)
            .into_iter()
            .collect();
    }
    let names = entries.into_iter().filter_map(|entry| {
        if entry.is_folder {
            let package = folder.join(&entry.name).join("package.mo");
            let is_package = world.files.version(&package).is_some();
            is_package.then(|| entry.name.split(' ').next().unwrap_or("").to_owned())
        } else {
            entry.name.strip_suffix(".mo").map(str::to_owned)
        }
    });
    names
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}

fn is_modifier_prefix(kind: SyntaxKind) -> bool {
    matches!(kind, SyntaxKind::EachKw | SyntaxKind::FinalKw)
}

/// Where the statement or element at the end begins.
fn statement_start(tokens: &[Before]) -> usize {
    use SyntaxKind::*;
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            RightParen | RightBracket | RightBrace => depth += 1,
            LeftParen | LeftBracket | LeftBrace => depth = depth.saturating_sub(1),
            Semicolon => return at + 1,
            EquationKw | AlgorithmKw | PublicKw | ProtectedKw | LoopKw if depth == 0 => return at + 1,
            // Those of if-expressions do not begin anything.
            ThenKw | ElseKw if depth == 0 && begins_body(&tokens[..at]) => return at + 1,
            Identifier
                if depth == 0
                    && is_class_head(&tokens[..at])
                    && tokens.get(at + 1).is_none_or(|next| next.kind != Equals) =>
            {
                return at + 1 + usize::from(tokens.get(at + 1).is_some_and(|next| next.kind == String));
            }
            _ => {}
        }
    }
    0
}

/// Whether `then` or `else` behind these tokens belongs to an equation or a statement: what it belongs to begins one.
fn begins_body(tokens: &[Before]) -> bool {
    use SyntaxKind::*;
    for token in tokens.iter().rev() {
        match token.kind {
            Semicolon | EquationKw | AlgorithmKw | LoopKw => return true,
            Equals | Assign => return false,
            _ => {}
        }
    }
    false
}

/// Whether a name behind these tokens is that of a class that begins.
fn is_class_head(tokens: &[Before]) -> bool {
    use SyntaxKind::*;
    let is_class = |kind| {
        matches!(
            kind,
            ModelKw | BlockKw | PackageKw | ConnectorKw | RecordKw | FunctionKw | ClassKw | TypeKw | OperatorKw
        )
    };
    match tokens {
        [.., before, last] if is_class(last.kind) => before.kind != EndKw,
        [last] => is_class(last.kind),
        _ => false,
    }
}

/// The classes open at the end of the tokens, the outermost first: their names and the section each is in.
fn open_classes(tokens: &[Before]) -> Vec<(String, Section)> {
    use SyntaxKind::*;
    let mut open: Vec<(std::string::String, Section)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let section = match token.kind {
            Identifier if is_class_head(&tokens[..at]) => {
                let is_short = tokens.get(at + 1).is_some_and(|next| next.kind == Equals);
                if !is_short {
                    open.push((token.text.clone(), Section::Declarations));
                }
                continue;
            }
            Identifier if at > 0 && tokens[at - 1].kind == EndKw => {
                open.pop();
                continue;
            }
            EquationKw => Section::Equations,
            AlgorithmKw => Section::Statements,
            PublicKw | ProtectedKw => Section::Declarations,
            _ => continue,
        };
        if let Some(last) = open.last_mut() {
            last.1 = section;
        }
    }
    open
}

fn in_annotation(statement: &[Before]) -> bool {
    let at = statement
        .iter()
        .rposition(|token| token.kind == SyntaxKind::AnnotationKw);
    at.is_some_and(|at| {
        let mut depth = 0i32;
        for token in &statement[at..] {
            match token.kind {
                SyntaxKind::LeftParen => depth += 1,
                SyntaxKind::RightParen => depth -= 1,
                _ => {}
            }
        }
        depth > 0
    })
}

/// Whether the innermost parentheses belong to an expression: something in front of them is a value.
fn is_in_value(statement: &[Before], open: &[crate::signature::Open]) -> bool {
    let mut from = 0;
    for parenthesis in open {
        let between = &statement[from..parenthesis.at];
        // `type T = Base(` is no value; `x(a = f(` and `Real x = f(` are.
        let equals = between
            .iter()
            .position(|token| matches!(token.kind, SyntaxKind::Equals | SyntaxKind::Assign));
        let is_short = from == 0
            && between.iter().any(|token| {
                matches!(
                    token.kind,
                    SyntaxKind::TypeKw
                        | SyntaxKind::ConnectorKw
                        | SyntaxKind::ModelKw
                        | SyntaxKind::PackageKw
                        | SyntaxKind::BlockKw
                        | SyntaxKind::RecordKw
                        | SyntaxKind::FunctionKw
                        | SyntaxKind::ClassKw
                )
            });
        if equals.is_some() && !is_short && !between.iter().any(|token| token.kind == SyntaxKind::RedeclareKw) {
            let equals = equals.unwrap_or(0);
            // A comma behind the value ends it.
            let ended = between[equals..].iter().any(|token| token.kind == SyntaxKind::Comma);
            if !ended {
                return true;
            }
        }
        from = parenthesis.at + 1;
    }
    false
}

/// The type that a declaration or an extends clause names.
fn declared_type(names: &mut Names<'_>, scope: ClassId, statement: &[Before]) -> Option<Type> {
    use SyntaxKind::*;
    let mut at = statement
        .iter()
        .position(|token| matches!(token.kind, Identifier | Dot))?;
    // A short class: what it is made of stands behind `=`.
    if is_class_head(&statement[..at]) && statement.get(at + 1).is_some_and(|next| next.kind == Equals) {
        at += 2;
        while statement
            .get(at)
            .is_some_and(|token| matches!(token.kind, InputKw | OutputKw))
        {
            at += 1;
        }
    }
    let mut name: Vec<std::string::String> = Vec::new();
    while let Some(token) = statement.get(at) {
        match token.kind {
            Identifier if name.is_empty() || statement[at - 1].kind == Dot => name.push(token.text.clone()),
            Dot => {}
            _ => break,
        }
        at += 1;
    }
    match resolve_name(names, scope, &name)? {
        Found::Class(class) => Some(Type::Class(class)),
        Found::Predefined(predefined) => Some(Type::Predefined(predefined)),
        Found::Member(_) => None,
    }
}

/// The type of what is modified in the innermost parentheses.
fn modified_type(
    names: &mut Names<'_>,
    scope: ClassId,
    statement: &[Before],
    open: &[crate::signature::Open],
) -> Option<Type> {
    let (_, inner) = open.split_first()?;
    let mut type_ = declared_type(names, scope, statement)?;
    for parenthesis in inner {
        let Type::Class(class) = type_ else { return None };
        // `redeclare Type name(` names the type itself.
        let before = &statement[..parenthesis.at];
        let redeclare = before.iter().rposition(|token| token.kind == SyntaxKind::RedeclareKw);
        let comma = before
            .iter()
            .rposition(|token| matches!(token.kind, SyntaxKind::Comma | SyntaxKind::LeftParen));
        if let Some(redeclare) = redeclare.filter(|redeclare| comma.is_none_or(|comma| comma < *redeclare)) {
            type_ = declared_type(names, scope, &statement[redeclare + 1..parenthesis.at])?;
            continue;
        }
        let mut found = Found::Class(class);
        for part in &parenthesis.name {
            found = names.inside(&found, part)?;
        }
        type_ = crate::navigation::class_behind(names, &found)?;
    }
    Some(type_)
}

/// What is known of an item that is looked at.
pub(crate) fn resolve(world: &World, mut item: CompletionItem) -> CompletionItem {
    let Some(data) = &item.data else { return item };
    let text = |name: &str| data.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    if let (Some(file), Some(class)) = (text("file"), text("class")) {
        let session = world.session(Path::new(&file));
        let mut names = Names::new(session.library());
        let path: Vec<Name> = class.split('.').map(Name::new).collect();
        if let Some(Found::Class(class)) = names.from_root(&path) {
            item.kind = Some(class_kind(names.definition(class).kind));
            let said = hover::describe(world, &mut names, &Target::Class(class));
            item.documentation = said.map(|value| {
                Documentation::MarkupContent(MarkupContent {
                    kind: MarkupKind::Markdown,
                    value,
                })
            });
        }
    }
    item
}
