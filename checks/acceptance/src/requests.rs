// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests for the lock unit and its responses, as the checks write them.

use driver::lock_unit::stream::{Tag, UnitOperation, UnitRequest, UnitResponse, field};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

use crate::context::CheckError;
use crate::queue::Completion;

/// The tag of a number below 128.
pub(crate) fn tag(number: u8) -> Tag {
    Tag::new(number).expect("the checks number their tags from 0 to 127")
}

fn request(number: u8, transaction: Timestamp, operation: UnitOperation) -> UnitRequest {
    UnitRequest { tag: tag(number), transaction, operation }
}

pub(crate) fn acquire(tag: u8, transaction: Timestamp, key: TupleKey, rule: Rule) -> UnitRequest {
    request(tag, transaction, UnitOperation::Acquire(key, rule))
}

pub(crate) fn release(tag: u8, transaction: Timestamp, key: TupleKey) -> UnitRequest {
    request(tag, transaction, UnitOperation::Release(key))
}

pub(crate) fn cancel(number: u8, transaction: Timestamp, target: u8) -> UnitRequest {
    request(number, transaction, UnitOperation::Cancel(tag(target)))
}

pub(crate) fn poll(number: u8, transaction: Timestamp, target: u8) -> UnitRequest {
    request(number, transaction, UnitOperation::Poll(tag(target)))
}

/// The beat of an operation that does not exist.
pub(crate) fn unknown(tag: u8, transaction: Timestamp) -> [u64; 3] {
    let [low, middle, high] = release(tag, transaction, TupleKey::initial(0)).encode();
    [field::set(low, field::OPERATION, 9), middle, high]
}

/// The response in a completion.
pub(crate) fn response(completion: &Completion) -> Result<UnitResponse, CheckError> {
    UnitResponse::decode(completion.response).map_err(|bad| CheckError::wrong(bad.to_string()))
}
