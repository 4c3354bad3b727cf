use lockdb::store::schema::{Schema, Type};
use lockdb::store::*;
use std::time::Instant;
fn main() {
    let db = Database::in_memory(Options::default()).unwrap();
    let t = db.create_table(Schema::builder("a").column("id", Type::Int64).column("balance", Type::Int64).primary_key(&["id"]).build().unwrap()).unwrap();
    let n = 100_000i64;
    let mut s = db.session().unwrap();
    for base in (0..n).step_by(1000) {
        s.transaction(Isolation::Snapshot, |tx| { for i in base..base+1000 { tx.insert(&t, &[i.into(), 1000.into()])?; } Ok::<_, Error>(()) }).unwrap();
    }
    let opts = TransactionOptions { isolation: Isolation::Snapshot, sync: Sync::None };
    for threads in [1, 2] {
        let start = Instant::now();
        let per = 2_000_000u64;
        std::thread::scope(|sc| { for w in 0..threads { let (db, t) = (&db, &t); sc.spawn(move || {
            let mut s = db.session().unwrap();
            let mut x = 88172645463325252u64 + w;
            let mut next = || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; ((x >> 11) % n as u64) as i64 };
            for _ in 0..per { let (a, b) = (next(), next()); if a == b { continue; }
                s.transaction(opts, |tx| {
                    tx.update(t, &a, |r| Ok(r.set_int(1, r.as_row().int(1) - 1)))?;
                    tx.update(t, &b, |r| Ok(r.set_int(1, r.as_row().int(1) + 1)))?;
                    Ok::<_, Error>(())
                }).unwrap();
            }
        }); } });
        let e = start.elapsed().as_secs_f64();
        println!("transfer {threads} threads: {:.0} tx/s, {} pages", per as f64 * threads as f64 / e, db.pages_in_use());
        let start = Instant::now();
        std::thread::scope(|sc| { for w in 0..threads { let (db, t) = (&db, &t); sc.spawn(move || {
            let mut s = db.session().unwrap();
            let mut x = 88172645463325252u64 + w; let mut sum = 0;
            let mut next = || { x ^= x << 13; x ^= x >> 7; x ^= x << 17; ((x >> 11) % n as u64) as i64 };
            for _ in 0..per { let a = next();
                sum += s.transaction(opts, |tx| { Ok::<_, Error>(tx.get(t, &a)?.unwrap().int(1)) }).unwrap();
            }
            std::hint::black_box(sum);
        }); } });
        println!("reads {threads} threads: {:.0}/s", per as f64 * threads as f64 / start.elapsed().as_secs_f64());
    }
    let mut sum = 0;
    s.transaction(opts, |tx| { sum = 0; tx.scan(&t, |r| { sum += r.int(1); std::ops::ControlFlow::Continue(()) }) }).unwrap();
    assert_eq!(sum, n * 1000);
}
