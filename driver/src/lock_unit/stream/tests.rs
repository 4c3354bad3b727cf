// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;

#[test]
fn a_request_has_its_fields_where_the_document_says() {
    let (tag, transaction) = (Tag::new(5).unwrap(), Timestamp::new(0xABCD).unwrap());
    let (key, target) = (TupleKey::new(0x1234, 7), Tag::new(9).unwrap());
    for (operation, beat) in [
        (UnitOperation::Acquire(key, Rule::Queue), [0xABCD_0005, 0x1234, 7]),
        (UnitOperation::Acquire(key, Rule::NoWait), [0xABCD_1005, 0x1234, 7]),
        (UnitOperation::Acquire(key, Rule::WaitDie), [0xABCD_2005, 0x1234, 7]),
        (UnitOperation::Release(key), [0xABCD_0105, 0x1234, 7]),
        (UnitOperation::Cancel(target), [0xABCD_0205, 0, 9 << 32]),
        (UnitOperation::Poll(target), [0xABCD_0305, 0, 9 << 32]),
    ] {
        let request = UnitRequest { tag, transaction, operation };
        assert_eq!(request.encode(), beat, "{operation:?}");
        assert_eq!(UnitRequest::decode(beat), Some(request), "{operation:?}");
    }
}

#[test]
fn a_response_is_read_back() {
    let response = UnitResponse::decode(0x7_9185 | 1 << 12).unwrap();
    assert_eq!(response.tag, Tag::new(5).unwrap());
    assert!(response.again && response.notice);
    assert_eq!((response.code, response.position), (Code::Queued, 1));
    assert_eq!(response.transaction, Timestamp::new(7));
    assert!(UnitResponse::decode(0xF00).is_err());
}

fn operations() -> Vec<UnitOperation> {
    let (key, target) = (TupleKey::new(u64::MAX - 1, u32::MAX - 2), Tag::new(127).unwrap());
    let acquires = RULES.map(|rule| UnitOperation::Acquire(key, rule));
    let others =
        [UnitOperation::Release(key), UnitOperation::Cancel(target), UnitOperation::Poll(target)];
    acquires.into_iter().chain(others).collect()
}

#[test]
fn every_request_is_read_back_whatever_stands_beside_its_fields() {
    let ignored = [!(field::TAG | field::OPERATION | field::RULE | field::TIMESTAMP), 0];
    let high = !(field::VERSION | field::TARGET);
    for (number, operation) in operations().into_iter().enumerate() {
        let request = UnitRequest {
            tag: Tag::new(100 + number as u8).unwrap(),
            transaction: Timestamp::MAX,
            operation,
        };
        let [low, middle, top] = request.encode();
        assert_eq!(UnitRequest::decode([low, middle, top]), Some(request));
        assert_eq!(UnitRequest::decode([low | ignored[0], middle, top | high]), Some(request));
    }
}

#[test]
fn a_request_that_means_nothing_still_has_its_tag() {
    let tag = Tag::new(64).unwrap();
    let operation = UnitOperation::Acquire(TupleKey::new(1, 0), Rule::Queue);
    let [low, middle, high] = UnitRequest { tag, transaction: Timestamp::MAX, operation }.encode();
    let bad = [
        field::set(low, field::OPERATION, 4),
        field::set(low, field::OPERATION, 15),
        field::set(low, field::RULE, 3),
        field::set(low, field::TIMESTAMP, 0),
    ];
    for low in bad {
        assert_eq!(UnitRequest::decode([low, middle, high]), None);
        assert_eq!(Tag::of_request([low, middle, high]), tag);
    }
}

#[test]
fn every_response_is_read_back() {
    for (number, code) in Code::ALL.into_iter().enumerate() {
        assert_eq!(code as usize, number);
        let response = UnitResponse {
            tag: Tag::new(127 - number as u8).unwrap(),
            code,
            again: number % 2 == 0,
            position: number as u8 % 8,
            notice: number % 3 == 0,
            transaction: Timestamp::new(number as u64),
        };
        assert_eq!(UnitResponse::decode(response.encode()), Ok(response));
    }
}
