//! The primitives that the writer and its pool wait on. The crate's unit tests have those of a
//! scheduler that tries their interleavings, everybody else the standard library's.

#[cfg(not(test))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, mpsc},
    thread,
};

#[cfg(test)]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, mpsc},
    thread,
};
