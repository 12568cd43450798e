//! `sessiond schema`: the published schemas, written anew.

use std::fs;

use sessiond_protocol::schema;

use crate::args::Schema;
use crate::failure::Failure;
use crate::output::print;

/// Writes the schemas and prints their paths.
pub(crate) fn run(options: &Schema) -> Result<(), Failure> {
    let folder = options.out.join(schema::folder());
    fs::create_dir_all(&folder).map_err(Failure::os("make the directory"))?;
    for published in schema::all() {
        let path = folder.join(published.name);
        fs::write(&path, published.text()).map_err(Failure::os("write a schema"))?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
