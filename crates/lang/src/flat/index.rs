//! Typed indices and vectors indexed by them.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index: a position in an [`IndexVec`] of one kind of thing.
pub trait Idx: Copy + Eq + Ord {
    /// The index of the given position.
    fn from_usize(position: usize) -> Self;
    /// The position as a number.
    fn index(self) -> usize;
}

macro_rules! typed_index {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(unreachable_pub, reason = "made for the flat model, which is public, and for what is not")]
        pub struct $name(pub u32);

        impl $crate::flat::Idx for $name {
            fn from_usize(position: usize) -> Self {
                // The limits on the size of models are far below 2^32.
                $name(position as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

typed_index! {
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

/// A vector indexed by a typed index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        IndexVec {
            items: Vec::new(),
            marker: PhantomData,
        }
    }
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_usize(self.items.len());
        self.items.push(item);
        id
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item, if the index is valid.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// All items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items in order, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All items with their indices.
    pub fn iter_enumerated(&self) -> impl Iterator<Item = (I, &T)> {
        self.items
            .iter()
            .enumerate()
            .map(|(position, item)| (I::from_usize(position), item))
    }

    /// All indices.
    pub fn indices(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_usize)
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        IndexVec {
            items: iter.into_iter().collect(),
            marker: PhantomData,
        }
    }
}
pub(crate) use typed_index;
