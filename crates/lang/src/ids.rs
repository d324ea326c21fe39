//! Typed indices of what flattening works on.

saltus_index::typed_index! {
    /// A class in its environment: lexical scope and modifications.
    ClassId,
    /// An element of a component that has components of its own.
    InstanceId,
    /// A component of an instance.
    ComponentId,
}
