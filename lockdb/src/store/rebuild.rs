//! After recovery: the indexes, and the counts of what is dead, made anew from the pages.

use super::error::Result;
use super::layout::RecordId;
use super::pages::{PageState, Pages};
use super::schema::RowRef;
use super::table::{Table, Which};

/// Reads every version once: enters the rows into the indexes, gives the VIDs of deleted tuples
/// free, and counts what no VID map leads to. No transaction is running.
pub(crate) fn rebuild(pages: &Pages, tables: &[Table]) -> Result<()> {
    for page in 1..pages.end() {
        if pages.usage(page).0 != PageState::Sealed {
            continue;
        }
        pages.ensure(page)?;
        pages.clear_dead(page);
        let table = &tables[pages.region().table(page) as usize];
        for line in 0..pages.region().lines(page) {
            let record = RecordId::new(page, line as u8);
            let version = pages.region().version(record);
            let is_head = table.head(version.vid()) == record;
            if !is_head || version.is_tombstone() {
                pages.note_dead(version);
            }
            if is_head {
                // It may tell of a commit that was lost.
                version.invalidate(0);
            }
            if is_head && version.is_tombstone() {
                // Nobody is left who could see the row; its number begins anew.
                table.set_head(version.vid(), RecordId::NONE);
            } else if is_head {
                enter(table, version.vid(), RowRef::new(table.schema(), version.payload()));
            }
        }
    }
    for table in tables {
        let used = table.vids();
        let free = (0..used).filter(|&vid| table.head(vid).is_none());
        table.adopt_vids(used, free.collect::<Vec<_>>());
    }
    Ok(())
}

fn enter(table: &Table, vid: u32, row: RowRef<'_>) {
    let secondary = (0..table.schema().indexes().len()).map(Which::Secondary);
    for which in std::iter::once(Which::Primary).chain(secondary) {
        let entered = table.index(which).insert_sync(table.entry(which, vid, row), vid);
        debug_assert!(entered.is_ok(), "one row of a key");
    }
}
