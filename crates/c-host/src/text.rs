//! The C text around a function.
//!
//! The shared library has two entries: `saltus_call` takes an array of `saltus_argument`, one for each parameter, makes of them
//! what the function takes, calls it and puts back what it wrote; `saltus_release` frees the texts that the function made.

use std::fmt::Write;

use saltus_routines::{ExternalFunction, Kind, Language, Parameter, Passing};

/// `ModelicaUtilities.h`: the functions that C code may call (12.9.6).
pub(crate) const UTILITIES: &str = r#"#ifndef MODELICA_UTILITIES_H
#define MODELICA_UTILITIES_H
#include <stddef.h>
#include <stdarg.h>
#ifdef __cplusplus
extern "C" {
#endif
void ModelicaMessage(const char *text);
void ModelicaFormatMessage(const char *format, ...);
void ModelicaVFormatMessage(const char *format, va_list values);
void ModelicaWarning(const char *text);
void ModelicaFormatWarning(const char *format, ...);
void ModelicaVFormatWarning(const char *format, va_list values);
void ModelicaError(const char *text) __attribute__((noreturn));
void ModelicaFormatError(const char *format, ...) __attribute__((noreturn));
void ModelicaVFormatError(const char *format, va_list values) __attribute__((noreturn));
char *ModelicaAllocateString(size_t length);
char *ModelicaAllocateStringWithErrorReturn(size_t length);
char *ModelicaDuplicateString(const char *text);
char *ModelicaDuplicateStringWithErrorReturn(const char *text);
#ifdef __cplusplus
}
#endif
#endif
"#;

/// How they are done: an error jumps out of the function to where it was called, texts are kept until the caller has read them.
const SUPPORT: &str = r#"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { double *numbers; size_t count; char **texts; void *address; } saltus_argument;
typedef struct saltus_text { struct saltus_text *next; } saltus_text;
static jmp_buf saltus_back;
static char saltus_message[1024];
static saltus_text *saltus_texts;
const char *saltus_said(void) { return saltus_message; }
void saltus_release(void) {
  while (saltus_texts) { saltus_text *next = saltus_texts->next; free(saltus_texts); saltus_texts = next; }
}
void ModelicaVFormatMessage(const char *format, va_list values) { vfprintf(stderr, format, values); }
void ModelicaMessage(const char *text) { fputs(text, stderr); }
void ModelicaFormatMessage(const char *format, ...) {
  va_list values; va_start(values, format); vfprintf(stderr, format, values); va_end(values);
}
void ModelicaVFormatWarning(const char *format, va_list values) { vfprintf(stderr, format, values); }
void ModelicaWarning(const char *text) { fputs(text, stderr); }
void ModelicaFormatWarning(const char *format, ...) {
  va_list values; va_start(values, format); vfprintf(stderr, format, values); va_end(values);
}
void ModelicaVFormatError(const char *format, va_list values) {
  vsnprintf(saltus_message, sizeof saltus_message, format, values);
  longjmp(saltus_back, 1);
}
void ModelicaError(const char *text) {
  snprintf(saltus_message, sizeof saltus_message, "%s", text);
  longjmp(saltus_back, 1);
}
void ModelicaFormatError(const char *format, ...) {
  va_list values; va_start(values, format);
  vsnprintf(saltus_message, sizeof saltus_message, format, values);
  va_end(values);
  longjmp(saltus_back, 1);
}
char *ModelicaAllocateStringWithErrorReturn(size_t length) {
  saltus_text *made = calloc(1, sizeof(saltus_text) + length + 1);
  if (!made) return NULL;
  made->next = saltus_texts;
  saltus_texts = made;
  return (char *)(made + 1);
}
char *ModelicaAllocateString(size_t length) {
  char *made = ModelicaAllocateStringWithErrorReturn(length);
  if (!made) ModelicaError("out of memory");
  return made;
}
char *ModelicaDuplicateStringWithErrorReturn(const char *text) {
  char *made = ModelicaAllocateStringWithErrorReturn(strlen(text));
  return made ? strcpy(made, text) : NULL;
}
char *ModelicaDuplicateString(const char *text) { return strcpy(ModelicaAllocateString(strlen(text)), text); }
"#;

/// What becomes of one parameter.
#[derive(Debug, Default)]
struct Pieces {
    /// Its type, where the function is declared here.
    declared: String,
    before: String,
    passed: String,
    after: String,
}

/// The whole text.
pub(crate) fn source(function: &ExternalFunction) -> Result<String, String> {
    let is_given = !function.origin.include.trim().is_empty();
    let by_address = function.language == Language::Fortran;
    let (mut arguments, mut returned) = (Vec::new(), None);
    for (at, parameter) in function.parameters.iter().enumerate() {
        match parameter.passing {
            _ if parameter.kind == Kind::Moment => {}
            Passing::Returned => returned = Some((at, parameter)),
            _ => arguments.push(pieces(at, parameter, by_address)?),
        }
    }
    let name = match function.language {
        Language::C => function.name.to_string(),
        Language::Fortran => format!("{}_", function.name.to_lowercase()),
    };
    let list = |part: fn(&Pieces) -> &str| arguments.iter().map(part).collect::<Vec<_>>().join(", ");
    let (ty, result) = match returned {
        None => ("void", String::new()),
        Some((at, parameter)) => result(at, parameter)?,
    };
    let mut text = format!("#include \"ModelicaUtilities.h\"\n{}\n", function.origin.include);
    if !is_given {
        let declared = list(|pieces| &pieces.declared);
        let declared = if declared.is_empty() { "void" } else { &declared };
        let _ = writeln!(text, "extern {ty} {name}({declared});");
    }
    text.push_str(SUPPORT);
    text.push_str("int saltus_call(saltus_argument *saltus_given) {\n");
    for pieces in &arguments {
        text.push_str(&pieces.before);
    }
    text.push_str("  if (setjmp(saltus_back)) return 1;\n");
    let call = format!("{name}({})", list(|pieces| &pieces.passed));
    if result.is_empty() {
        let _ = writeln!(text, "  {call};");
    } else {
        let _ = writeln!(text, "  {}", result.replace("CALL", &call));
    }
    for pieces in &arguments {
        text.push_str(&pieces.after);
    }
    text.push_str("  return 0;\n}\n");
    Ok(text)
}

fn field_type(kind: Kind) -> &'static str {
    if kind == Kind::Whole { "int" } else { "double" }
}

/// The type and the fields of a record.
fn record(at: usize, fields: &[Kind]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .enumerate()
        .map(|(number, &kind)| format!("{} f{number};", field_type(kind)))
        .collect();
    format!("struct saltus_record{at} {{ {} }}", fields.join(" "))
}

fn from_record(at: usize, fields: usize) -> String {
    (0..fields).fold(String::new(), |mut text, number| {
        let _ = write!(text, " saltus_given[{at}].numbers[{number}] = r{at}.f{number};");
        text
    })
}

/// The type of what is returned, and the statement that calls.
fn result(at: usize, parameter: &Parameter) -> Result<(&'static str, String), String> {
    let given = format!("saltus_given[{at}]");
    if parameter.is_array {
        return Err("C functions return no arrays; they write them by their address".to_owned());
    }
    if !parameter.fields.is_empty() {
        let (declared, back) = (record(at, &parameter.fields), from_record(at, parameter.fields.len()));
        let text = format!(
            "{declared} r{at}; __auto_type made = CALL; _Static_assert(sizeof made == sizeof r{at}, \"the record has other fields \
             in C\"); memcpy(&r{at}, &made, sizeof made);{back}"
        );
        return Ok(("void", text));
    }
    Ok(match parameter.kind {
        Kind::Real => ("double", format!("{given}.numbers[0] = CALL;")),
        Kind::Whole => ("int", format!("{given}.numbers[0] = CALL;")),
        Kind::Text => ("const char *", format!("{given}.texts[0] = (char *)CALL;")),
        Kind::Object => ("void *", format!("{given}.address = (void *)CALL;")),
        Kind::Size | Kind::Moment => return Err("a size is not returned".to_owned()),
    })
}

fn pieces(at: usize, parameter: &Parameter, by_address: bool) -> Result<Pieces, String> {
    let given = format!("saltus_given[{at}]");
    let written = parameter.passing == Passing::Written;
    let mut pieces = Pieces::default();
    if !parameter.fields.is_empty() {
        let declared = record(at, &parameter.fields);
        let values: Vec<String> = parameter
            .fields
            .iter()
            .enumerate()
            .map(|(number, &kind)| format!("({}){given}.numbers[{number}]", field_type(kind)))
            .collect();
        pieces.declared = "void *".to_owned();
        pieces.before = format!("  {declared} r{at} = {{ {} }};\n", values.join(", "));
        pieces.passed = format!("(void *)&r{at}");
        if written {
            pieces.after = format!("  {}\n", from_record(at, parameter.fields.len()));
        }
        return Ok(pieces);
    }
    let pointer = written || by_address;
    match (parameter.kind, parameter.is_array) {
        (Kind::Real, true) => {
            pieces.declared = if written { "double *" } else { "const double *" }.to_owned();
            pieces.passed = format!("{given}.numbers");
        }
        (Kind::Real, false) if pointer => {
            pieces.declared = "double *".to_owned();
            pieces.passed = format!("{given}.numbers");
        }
        (Kind::Real, false) => {
            pieces.declared = "double".to_owned();
            pieces.passed = format!("{given}.numbers[0]");
        }
        (Kind::Whole | Kind::Size, false) if !pointer => {
            let ty = if parameter.kind == Kind::Size { "size_t" } else { "int" };
            pieces.declared = ty.to_owned();
            pieces.passed = format!("({ty}){given}.numbers[0]");
        }
        (Kind::Whole | Kind::Size, _) => {
            pieces.declared = if written { "int *" } else { "const int *" }.to_owned();
            pieces.before = format!(
                "  int w{at}[{given}.count + 1];\n  for (size_t k = 0; k < {given}.count; k++) w{at}[k] = \
                 (int){given}.numbers[k];\n"
            );
            pieces.passed = format!("w{at}");
            if written {
                pieces.after = format!("  for (size_t k = 0; k < {given}.count; k++) {given}.numbers[k] = w{at}[k];\n");
            }
        }
        (Kind::Text, _) if by_address => return Err("texts cannot be passed to FORTRAN 77".to_owned()),
        (Kind::Text, true) => {
            pieces.declared = "const char **".to_owned();
            pieces.passed = format!("(void *){given}.texts");
        }
        (Kind::Text, false) if written => {
            pieces.declared = "const char **".to_owned();
            pieces.passed = format!("(void *){given}.texts");
        }
        (Kind::Text, false) => {
            pieces.declared = "const char *".to_owned();
            pieces.passed = format!("{given}.texts[0]");
        }
        (Kind::Object, false) => {
            pieces.declared = "void *".to_owned();
            pieces.passed = format!("{given}.address");
        }
        (Kind::Object, true) | (Kind::Moment, _) => return Err("arrays of external objects are not passed".to_owned()),
    }
    Ok(pieces)
}
