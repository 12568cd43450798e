use std::io::ErrorKind;

use super::is_nobody;

/// SQEQ-7: whoever comes while a host is being killed starts the next one.
#[test]
fn a_host_that_is_being_killed_is_nobody_and_a_socket_of_another_user_is_not() {
    let table = [
        (ErrorKind::NotFound, true),
        (ErrorKind::ConnectionRefused, true),
        (ErrorKind::ConnectionReset, true),
        (ErrorKind::ConnectionAborted, true),
        (ErrorKind::PermissionDenied, false),
        (ErrorKind::Other, false),
    ];
    for (kind, expected) in table {
        assert_eq!(is_nobody(kind), expected, "{kind:?}");
    }
}
