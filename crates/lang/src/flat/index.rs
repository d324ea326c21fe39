//! What is indexed in a flat model.

saltus_index::typed_index! {
    /// A variable of a flat model.
    VariableId,
    /// A specialised function.
    FunctionId,
    /// An enumeration type.
    EnumerationId,
    /// Where something comes from.
    ProvenanceId,
    /// A variable inside a function.
    LocalId,
}
