//! Typed indices. All are dense, zero-based and 32 bits wide.

/// The sentinel stored where an optional index is absent; no graph is that large.
pub(crate) const NONE: u32 = u32::MAX;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as a position in an array.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The index of an array position.
            ///
            /// # Panics
            /// If the position does not fit 32 bits.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                assert!(index < NONE as usize, "graph larger than 32-bit indices");
                Self(index as u32)
            }
        }
    };
}

index_type!(
    /// A row of an incidence structure: an equation, to the callers.
    Row
);
index_type!(
    /// A column of an incidence structure: an unknown, to the callers.
    Column
);
index_type!(
    /// A block of a block triangular order.
    BlockId
);
index_type!(
    /// A connected component.
    ComponentId
);
index_type!(
    /// A node of a directed graph.
    Node
);

/// All rows below `count`, in order.
pub(crate) fn rows(count: usize) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator {
    (0..count).map(|i| Row(i as u32))
}

/// All columns below `count`, in order.
pub(crate) fn columns(count: usize) -> impl DoubleEndedIterator<Item = Column> + ExactSizeIterator {
    (0..count).map(|i| Column(i as u32))
}
