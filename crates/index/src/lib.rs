//! Typed indices and vectors indexed by them.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A typed index: a position in an [`IndexVec`] of one kind of thing.
pub trait Idx: Copy + Eq + Ord {
    /// The index of the given position.
    fn from_usize(position: usize) -> Self;
    /// The position as a number.
    fn index(self) -> usize;
}

/// Declares a typed index.
#[macro_export]
macro_rules! typed_index {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(unreachable_pub, reason = "made for what is public and for what is not")]
        pub struct $name(pub u32);

        impl $crate::Idx for $name {
            fn from_usize(position: usize) -> Self {
                // 2^32 of anything is past every memory limit checked at the edge.
                $name(u32::try_from(position).expect("more than 2^32 items"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

/// A vector indexed by a typed index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexVec<I, T> {
    items: Vec<T>,
    marker: PhantomData<fn(I) -> I>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    pub fn new() -> Self {
        Self::default()
    }
    /// A vector of `len` copies of `value`.
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        Self {
            items: vec![value; len],
            marker: PhantomData,
        }
    }
    /// Appends and returns the new index.
    pub fn push(&mut self, value: T) -> I {
        self.items.push(value);
        I::from_usize(self.items.len() - 1)
    }
    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }
    /// Gives back room that was made for more items.
    pub fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
    }
    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// All items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
    /// All items in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
    /// All indices in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_usize)
    }
    /// Items with their indices.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (I::from_usize(i), item))
    }
    /// The item, if the index is in range.
    pub fn get(&self, index: I) -> Option<&T> {
        self.items.get(index.index())
    }
    /// Gives all items one value.
    pub fn fill(&mut self, value: T)
    where
        T: Clone,
    {
        self.items.fill(value);
    }
    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Idx, T: Serialize> Serialize for IndexVec<I, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<'de, I: Idx, T: Deserialize<'de>> Deserialize<'de> for IndexVec<I, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            marker: PhantomData,
        }
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self {
            items: items.into_iter().collect(),
            marker: PhantomData,
        }
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    fn index(&self, index: I) -> &T {
        &self.items[index.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.items[index.index()]
    }
}

impl<'a, I: Idx, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}
