// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fields at fixed offsets: one list of them gives the struct, its bytes, and the table that the
//! document is compared with.

/// A number, or an array of bytes, as it stands in memory that host and device share.
pub(super) trait Field: Sized {
    /// Puts it into as many bytes as it has.
    fn put(&self, into: &mut [u8]);
    /// Takes it out of as many bytes as it has.
    fn get(from: &[u8]) -> Self;
}

macro_rules! number {
    ($($of:ty),+) => {
        $(impl Field for $of {
            fn put(&self, into: &mut [u8]) {
                into.copy_from_slice(&self.to_le_bytes());
            }

            fn get(from: &[u8]) -> Self {
                Self::from_le_bytes(from.try_into().expect("a field has its own size"))
            }
        })+
    };
}

number!(u8, u16, u32, u64);

impl<const N: usize> Field for [u8; N] {
    fn put(&self, into: &mut [u8]) {
        into.copy_from_slice(self);
    }

    fn get(from: &[u8]) -> Self {
        from.try_into().expect("a field has its own size")
    }
}

impl<const N: usize> Field for [u64; N] {
    fn put(&self, into: &mut [u8]) {
        for (word, bytes) in self.iter().zip(into.as_chunks_mut().0) {
            *bytes = word.to_le_bytes();
        }
    }

    fn get(from: &[u8]) -> Self {
        let words = from.as_chunks().0;
        std::array::from_fn(|index| u64::from_le_bytes(words[index]))
    }
}

/// Defines a struct of so many bytes without padding, each field naturally aligned.
macro_rules! layout {
    (
        $(#[$of:meta])*
        pub struct $name:ident: $bytes:literal {
            $($(#[$about:meta])* pub $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(C)]
        pub struct $name {
            $($(#[$about])* pub $field: $type,)+
        }

        const _: () = {
            assert!(size_of::<$name>() == $bytes, "its size");
            assert!($(size_of::<$type>() +)+ 0 == $bytes, "no padding");
        };

        impl $name {
            /// Its size.
            pub const BYTES: usize = $bytes;

            /// Name, offset and size of each field.
            pub const FIELDS: &[(&str, usize, usize)] = &[
                $((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$type>()),)+
            ];

            /// Its bytes.
            pub fn encode(&self) -> [u8; $bytes] {
                let mut bytes = [0; $bytes];
                $({
                    let at = std::mem::offset_of!($name, $field);
                    let to = at + size_of::<$type>();
                    $crate::job::layout::Field::put(&self.$field, &mut bytes[at..to]);
                })+
                bytes
            }

            /// From its bytes, without a look at what they say.
            pub fn decode(bytes: &[u8; $bytes]) -> Self {
                Self {
                    $($field: {
                        let at = std::mem::offset_of!($name, $field);
                        $crate::job::layout::Field::get(&bytes[at..at + size_of::<$type>()])
                    },)+
                }
            }
        }

        impl $crate::job::layout::Field for $name {
            fn put(&self, into: &mut [u8]) {
                into.copy_from_slice(&self.encode());
            }

            fn get(from: &[u8]) -> Self {
                Self::decode(from.try_into().expect("a field has its own size"))
            }
        }
    };
}
