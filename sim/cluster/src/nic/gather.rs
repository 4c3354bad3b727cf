// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames that the software of a NIC makes: the messages of a burst, gathered for each receiver.
//!
//! A frame has each message behind its length in two bytes. A length of 0 is the end: what follows fills
//! the frame up to the least size of the medium.

use cluster::engine::{Class, Effects, Endpoint, Stage};

/// Bytes of a message's length in a frame.
pub const LENGTH_BYTES: usize = 2;
/// Most data of a datagram of UDP (RFC 768) over IPv4, which sends a longer one than a frame has room for in
/// fragments (RFC 791).
const LONGEST: usize = 65_507;

/// How the messages of a part get into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// The card makes one of each message by itself.
    ByCard,
    /// Software on a core makes them, and a core handles them at the other side.
    BySoftware {
        /// Most bytes of messages in a frame, with their lengths.
        room: usize,
        /// Least bytes of them.
        least: usize,
        /// Whether messages to one receiver share frames.
        together: bool,
    },
}

/// A frame that was made of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Who gets it.
    pub to: Endpoint,
    /// The kind of traffic of all its messages.
    pub class: Class,
    /// What its first message is for.
    pub stage: Stage,
    /// The messages with their lengths.
    pub bytes: Vec<u8>,
}

/// The frames of a burst, and memory for the next ones.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    frames: Vec<Gathered>,
    spare: Vec<Vec<u8>>,
    refused: u32,
}

impl Gathering {
    /// Makes frames of the messages of a burst; the frames before are forgotten. Membership traffic
    /// shares no frames, as nothing may delay it. A message that is too long for a frame is a datagram of several
    /// by itself. An empty message and one that fits no datagram are refused.
    pub fn fill(&mut self, effects: &Effects, frames: Frames) {
        self.spare.extend(self.frames.drain(..).map(|mut frame| {
            frame.bytes.clear();
            frame.bytes
        }));
        self.refused = 0;
        let Frames::BySoftware { room, least, together } = frames else { return };
        for send in effects.sends() {
            let message = effects.bytes_of(&send.bytes);
            let length = message.len() + LENGTH_BYTES;
            let Ok(prefix @ 1..) = u16::try_from(message.len()) else {
                self.refused += 1;
                continue;
            };
            if length > LONGEST {
                self.refused += 1;
                continue;
            }
            let shares = together && send.class != Class::Control;
            let open =
                self.frames.iter().rposition(|it| (it.to, it.class) == (send.to, send.class));
            let open = open.filter(|it| shares && self.frames[*it].bytes.len() + length <= room);
            let place = open.unwrap_or_else(|| {
                let bytes = self.spare.pop().unwrap_or_default();
                let (to, class, stage) = (send.to, send.class, send.stage);
                self.frames.push(Gathered { to, class, stage, bytes });
                self.frames.len() - 1
            });
            let bytes = &mut self.frames[place].bytes;
            bytes.extend_from_slice(&prefix.to_le_bytes());
            bytes.extend_from_slice(message);
        }
        for frame in &mut self.frames {
            let size = frame.bytes.len().max(least);
            frame.bytes.resize(size, 0);
        }
    }

    /// The frames of the last burst.
    pub fn frames(&self) -> &[Gathered] {
        &self.frames
    }

    /// How many of its messages were refused.
    pub fn refused(&self) -> u32 {
        self.refused
    }
}

/// The messages of a frame; what is malformed ends it.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (message, rest) = rest.split_at_checked(length).filter(|_| length > 0)?;
        bytes = rest;
        Some(message)
    })
}

#[cfg(test)]
mod tests {
    use cluster::engine::NodeId;

    use super::*;

    fn sent(messages: &[(u16, Class, usize)]) -> Effects {
        let mut effects = Effects::new();
        for (number, (to, class, length)) in messages.iter().enumerate() {
            let to = Endpoint::host(NodeId(*to), 0);
            effects.send(to, *class, Stage::Micro, |bytes| {
                bytes.resize(bytes.len() + length, number as u8 + 1);
            });
        }
        effects
    }

    const FRAMES: Frames = Frames::BySoftware { room: 100, least: 18, together: true };

    #[test]
    fn messages_to_one_receiver_share_frames_as_far_as_they_fit() {
        let (fore, control) = (Class::Foreground, Class::Control);
        let effects = sent(&[
            (1, fore, 30),
            (2, fore, 4),
            (1, fore, 40),
            (1, fore, 30),
            (1, control, 5),
            (1, control, 5),
            (2, fore, 99),
            (2, fore, 0),
            (1, fore, 65_506),
            (1, fore, 10),
        ]);
        let mut gathering = Gathering::default();
        // The second time, memory is used again.
        for _ in 0..2 {
            gathering.fill(&effects, FRAMES);
            let frames: Vec<_> = gathering
                .frames()
                .iter()
                .map(|it| (it.to.node.0, it.bytes.len(), messages(&it.bytes).count()))
                .collect();
            let expected =
                [(1, 74, 2), (2, 18, 1), (1, 44, 2), (1, 18, 1), (1, 18, 1), (2, 101, 1)];
            assert_eq!(frames, expected);
            assert_eq!(gathering.refused(), 2, "one is too long, one is empty");
        }
        let bytes = &gathering.frames()[2].bytes;
        assert_eq!(messages(bytes).collect::<Vec<_>>(), [&[4; 30][..], &[10; 10][..]]);
    }

    #[test]
    fn without_sharing_each_has_a_frame() {
        let effects = sent(&[(1, Class::Foreground, 30); 3]);
        let mut gathering = Gathering::default();
        gathering.fill(&effects, Frames::BySoftware { room: 100, least: 0, together: false });
        assert_eq!(gathering.frames().len(), 3);
        gathering.fill(&effects, Frames::ByCard);
        assert_eq!(gathering.frames(), []);
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        seeds::each!(200, |seed| {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            };
            let length = usize::from(next());
            let bytes: Vec<u8> = (0..length).map(|_| next() % 8).collect();
            let read: usize = messages(&bytes).map(|it| it.len() + LENGTH_BYTES).sum();
            assert!(read <= bytes.len());
        });
    }
}
