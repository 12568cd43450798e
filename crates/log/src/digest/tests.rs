use std::path::Path;
use std::sync::Arc;

use crate::fs::{Fs, MemoryFs};
use crate::store::Store;

/// The store locks with what explores schedules, in this crate's own tests; these have one thread, so
/// one schedule.
fn alone(test: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(test, 1);
}

fn store(fs: &Arc<dyn Fs>) -> Store {
    Store::open(Arc::clone(fs), Path::new(":memory:")).unwrap()
}

/// LOG-8: of the key's own kind, the same in every process of the store, another in another store.
#[test]
fn a_digest_is_keyed_by_its_store_and_is_not_the_plain_one() {
    alone(|| {
        let fs: Arc<dyn Fs> = Arc::new(MemoryFs::new());
        let key = store(&fs).digest_key().unwrap();
        let digest = key.digest(b"content");
        assert_eq!((digest.len(), key.id().len()), (32, 16));
        assert_eq!(store(&fs).digest_key().unwrap().digest(b"content"), digest);
        assert_ne!(key.digest(b"other"), digest);
        let plain = blake3::hash(b"content").to_hex();
        assert_ne!(plain.get(..32), Some(digest.as_str()));
        let other = Store::in_memory().digest_key().unwrap();
        assert_ne!(other.digest(b"content"), digest);
        assert!(!format!("{key:?}").contains(&digest), "{key:?}");
    });
}

/// LOG-8: a digest of before the key was replaced is found by its key's id.
#[test]
fn a_key_that_is_no_longer_in_use_is_kept_and_found_by_its_id() {
    alone(|| {
        let fs: Arc<dyn Fs> = Arc::new(MemoryFs::new());
        let old = store(&fs).digest_key().unwrap();
        fs.remove(Path::new("keys/blob-current")).unwrap();
        let new = store(&fs);
        let (new, again) = (
            new.digest_key().unwrap(),
            new.digest_key_of(old.id()).unwrap(),
        );
        assert_ne!(new.id(), old.id());
        assert_eq!(again, Some(old));
        let ids = store(&fs).key_ids().unwrap();
        assert_eq!(ids.len(), 2);
        assert_eq!(store(&fs).digest_key_of("0123456789abcdef").unwrap(), None);
    });
}
