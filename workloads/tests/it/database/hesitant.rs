// SPDX-License-Identifier: MIT OR Apache-2.0
//! A session whose transactions give way to other threads between operations, at random, so that
//! transactions of a microsecond meet those of others.

use std::ops::ControlFlow;
use std::thread;

use lockstep_workloads::database::{
    Access, Body, Mode, Order, Outcome, Session, StoreSession, TableId, Value,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct Hesitant {
    pub session: StoreSession,
    random: ChaCha8Rng,
}

impl Hesitant {
    pub fn new(session: StoreSession, seed: u64) -> Self {
        Self { session, random: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl Session for Hesitant {
    type Error = <StoreSession as Session>::Error;

    fn transact<B: Body>(&mut self, body: &mut B) -> Result<Outcome<B::Output>, Self::Error> {
        let Self { session, random } = self;
        session.transact(&mut Hesitating { body, random })
    }
}

struct Hesitating<'h, B> {
    body: &'h mut B,
    random: &'h mut ChaCha8Rng,
}

impl<B: Body> Body for Hesitating<'_, B> {
    type Output = B::Output;

    fn mode(&self) -> Mode {
        self.body.mode()
    }

    fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<B::Output>, A::Error> {
        let mut inside = Inside { access, random: self.random };
        let outcome = self.body.run(&mut inside);
        inside.hesitate();
        outcome
    }
}

struct Inside<'i, A> {
    access: &'i mut A,
    random: &'i mut ChaCha8Rng,
}

impl<A> Inside<'_, A> {
    fn hesitate(&mut self) {
        if self.random.random_ratio(1, 4) {
            thread::yield_now();
        }
    }
}

impl<A: Access> Access for Inside<'_, A> {
    type Error = A::Error;
    type Row<'r> = A::Row<'r>;
    type RowMut<'r> = A::RowMut<'r>;

    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&A::Row<'_>) -> T,
    ) -> Result<Option<T>, A::Error> {
        self.hesitate();
        self.access.get(table, key, read)
    }

    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut A::RowMut<'_>) -> T,
    ) -> Result<Option<T>, A::Error> {
        self.hesitate();
        self.access.update(table, key, change)
    }

    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, A::Error> {
        self.hesitate();
        self.access.insert(table, row)
    }

    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, A::Error> {
        self.hesitate();
        self.access.delete(table, key)
    }

    fn scan(
        &mut self,
        table: TableId,
        from: &[i64],
        to: &[i64],
        order: Order,
        visit: impl FnMut(&A::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), A::Error> {
        self.hesitate();
        self.access.scan(table, from, to, order, visit)
    }

    fn scan_index(
        &mut self,
        table: TableId,
        index: usize,
        prefix: &[Value<'_>],
        order: Order,
        visit: impl FnMut(&A::Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), A::Error> {
        self.hesitate();
        self.access.scan_index(table, index, prefix, order, visit)
    }
}
