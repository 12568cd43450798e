//! Handing one descriptor over the lifeline.
//!
//! The program's stdin can not be inherited by number: the guard's three standard numbers are
//! taken, and a fourth without close-on-exec would leak into whatever another thread starts at
//! that moment (WIRE-11).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// A descriptor travels with at least one byte.
const CARRIER: [u8; 1] = [b'\n'];

/// Sends `descriptor` to the far end of `socket`.
pub(super) fn send(socket: impl AsFd, descriptor: impl AsFd) -> io::Result<()> {
    let descriptors = [descriptor.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(
        socket,
        &[IoSlice::new(&CARRIER)],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Receives the descriptor that [`send`] sent; it is close-on-exec.
pub(super) fn receive(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut byte = CARRIER;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::empty(),
    )?;
    let descriptor = control
        .drain()
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        })
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    // Not every system can do both at once; the guard has one thread, so nothing starts between.
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
    Ok(descriptor)
}
