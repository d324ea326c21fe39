//! Values that may not exist: elements outside an array, enumeration values outside their type. Computing such a value
//! is a call that fails and says why.

use std::sync::Arc;

use saltus_source::Span;
use smallvec::SmallVec;

use crate::flat::{
    BinaryOp, Builtin, FlatExpr, FlatFunction, FunctionBody, FunctionCall, FunctionId, FunctionStatement, IndexVec,
    Local, ProvenanceKind, ScalarType,
};
use crate::flattener::Flattener;
use crate::tensor::{Elem, Tensor};

/// What is wrong with a number: the text before it, and the text behind it.
pub(crate) type Complaint = (String, String);

impl Flattener<'_> {
    /// In place of a value of this form: what cannot be computed, because of a number.
    pub(crate) fn missing_like(&mut self, form: &Tensor, number: &FlatExpr, why: &Complaint, span: Span) -> Tensor {
        let scalar = form.ty.scalar();
        let elems: SmallVec<[Elem; 1]> = form
            .elems
            .iter()
            .map(|elem| match (elem, scalar) {
                (Elem::Expr(_), Some(ty)) => Elem::Expr(self.missing(ty, number, why, span)),
                (Elem::Record(fields), _) => {
                    let fields = fields
                        .iter()
                        .map(|(name, field)| (name.clone(), self.missing_like(field, number, why, span)));
                    Elem::Record(fields.collect::<Vec<_>>().into())
                }
                (other, _) => other.clone(),
            })
            .collect();
        Tensor {
            ty: form.ty,
            dims: form.dims.clone(),
            elems,
        }
    }

    /// In place of a scalar: what cannot be computed, because of a number.
    pub(crate) fn missing(&mut self, ty: ScalarType, number: &FlatExpr, why: &Complaint, span: Span) -> FlatExpr {
        let function = self.failing_function(ty, why, span);
        FlatExpr::Call(Box::new(FunctionCall {
            function,
            output: 0,
            arguments: [number.clone()].into(),
            partials: Vec::new(),
            span,
        }))
    }

    fn failing_function(&mut self, ty: ScalarType, why: &Complaint, span: Span) -> FunctionId {
        let key = (ty, why.clone());
        if let Some(&known) = self.functions.failing.get(&key) {
            return known;
        }
        let mut locals = IndexVec::new();
        let mut local = |name: &str, ty| locals.push(Local::new(name, ty, Vec::new()));
        let (input, output) = (local("number", ScalarType::Integer), local("value", ty));
        let message = said(why, FlatExpr::Local(input, Box::default()), span);
        let provenance = self.add_provenance(span, &"".into(), ProvenanceKind::Function);
        let id = self.model.functions.push(FlatFunction {
            // No function of the user's: errors speak of the equation.
            name: Arc::from(""),
            locals,
            inputs: vec![input],
            outputs: vec![output],
            fields: Vec::new(),
            body: FunctionBody::Algorithm(vec![FunctionStatement::Assert(FlatExpr::Boolean(false), message)]),
            smooth_order: None,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            provenance,
        });
        self.functions.failing.insert(key, id);
        id
    }
}

/// The text of a complaint about a number.
pub(crate) fn said((before, behind): &Complaint, number: FlatExpr, span: Span) -> FlatExpr {
    let text = |text: &str| FlatExpr::String(text.into());
    let number = FlatExpr::Builtin(Builtin::String, Box::new([number]), span);
    let join = |a, b| FlatExpr::Binary(BinaryOp::Add, Box::new([a, b]), span);
    join(join(text(before), number), text(behind))
}

/// About a subscript that is outside its dimension.
pub(crate) fn outside(array: &str, size: u32) -> Complaint {
    let before = "the subscript ".to_owned();
    let behind = match array {
        "" => format!(" is outside 1..{size}"),
        _ => format!(" of `{array}` is outside 1..{size}"),
    };
    (before, behind)
}
