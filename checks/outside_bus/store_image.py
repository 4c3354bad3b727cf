# SPDX-License-Identifier: MIT OR Apache-2.0
"""A small table as docs/store-layouts.md and docs/shared-state.md lay it out, and what a walk finds in it.

Written from these documents alone. Some of its pages are on storage and some are images of the shared state; heads
are in the chunk of a VID map, or in a VID entry of the shared state.
"""

import random
import struct

PAGE, MAGIC, POINTERS = 8192, b"LKPG", 64
DATA, VID_CHUNK, MAP_CHUNK = 1, 2, 3
MAP_WORDS = 1016
NO_PLACE, BEYOND, CHECKSUM, STRANGER, OTHER_TABLE, NO_LINE, BAD_LINE, OTHER_TUPLE, NOT_OLDER, BUS = range(1, 11)
# Places in device memory.
JOB, PROGRAM, VID_PLACES, MAP_PLACES, VID_ENTRIES, PAGE_ENTRIES = 0x100, 0x400, 0x900, 0x940, 0x980, 0x1C00
IMAGES, STORAGE, MEMORY = 0x4000, 0x10000, 0x40000
STORAGE_PAGES = 20


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def crc_of_byte(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


CRC_TABLE = [crc_of_byte(byte) for byte in range(256)]


class Version:
    """A version that has been given a line."""

    def __init__(self, vid, number, created, predecessor, payload, gone):
        self.vid, self.number, self.created, self.predecessor = vid, number, created, predecessor
        self.payload, self.gone = payload, gone


class Page:
    """A data page while it is filled."""

    def __init__(self, number):
        self.number, self.versions = number, []

    def room(self):
        return PAGE - POINTERS - sum(36 + 8 + len(one.payload) for one in self.versions)

    def content(self, table):
        pointers, body, end = b"", b"", PAGE
        for one in self.versions:
            padded = one.payload + bytes(-len(one.payload) % 8)
            header = struct.pack("<QQQII", one.created, 0, one.predecessor, one.vid, one.number)
            end -= 32 + len(padded)
            body = header + padded + body
            pointers += struct.pack("<I", end | len(one.payload) << 14 | one.gone << 28)
        free = bytes(end - POINTERS - len(pointers))
        newest = max((one.created for one in self.versions), default=0)
        return (self.number, table, len(self.versions), end, newest, pointers + free + body)


class Store:
    """The table: its VIDs from 0 on, and all bytes of a job that visits it."""

    def __init__(self, vids, longest, table=5):
        self.table, self.identity, self.epoch = table, random.getrandbits(64), random.getrandbits(40)
        self.vids, self.memory = vids, bytearray(random.randbytes(MEMORY))
        self.failing = set()
        numbers = random.sample(range(1, 60), 7)
        self.on_storage, self.in_images = sorted(numbers[:4]), sorted(numbers[4:])
        self.pages = {number: Page(number) for number in numbers}
        self.places = {}  # of a page on storage: the physical page
        self.heads, self.entries, self.last_commit = {}, {}, 0
        self.draw_versions(longest)
        self.write_pages()

    def draw_versions(self, longest):
        chains = {vid: [] for vid in range(self.vids)}
        order = [vid for vid in chains for _ in range(random.randint(0, 4))]
        random.shuffle(order)
        changed = set(random.sample(range(self.vids), self.vids // 3))
        for commit, vid in enumerate(order, 100):
            # What is in an image is newer than all that is on storage.
            page = random.choice([one for one in self.pages.values() if one.room() > longest + 100])
            predecessor = chains[vid][-1] if chains[vid] else 0
            payload = random.randbytes(random.choice([24, 24, 32, random.randint(24, longest)]))
            gone = random.random() < 0.1
            page.versions.append(Version(vid, len(chains[vid]) + 1, commit, predecessor, payload, gone))
            chains[vid].append(page.number * 256 + len(page.versions) - 1)
        self.last_commit = 100 + len(order)
        for vid, chain in chains.items():
            self.heads[vid] = chain[-1] if chain else 0
            if vid in changed:
                self.entries[vid] = self.heads[vid]
                # The map of the checkpoint has an older head, or none.
                self.heads[vid] = random.choice([0, *chain])

    def write(self, at, content):
        self.memory[at : at + len(content)] = content

    def write_page(self, at, kind, number, table, lines, upper, newest, rest):
        head = struct.pack(
            "<QIHHQQI12xQ", number, table, lines, upper, newest, self.epoch, kind, self.identity
        )  # fmt: skip
        self.write(at, MAGIC + struct.pack("<I", crc32c(head + rest)) + head + rest)

    def sum_up(self, at):
        """Gives a page the checksum of what it has now."""
        struct.pack_into("<I", self.memory, at + 4, crc32c(self.memory[at + 8 : at + PAGE]))

    def place(self, physical):
        return (self.epoch & (1 << 23) - 1) << 40 | physical

    def write_pages(self):
        physical = random.sample(range(2, STORAGE_PAGES), len(self.on_storage) + 2)
        vid_chunk, map_chunk, *data = physical
        heads = [self.heads.get(vid, 0) for vid in range(MAP_WORDS)]
        self.vid_chunk = STORAGE + PAGE * vid_chunk
        rest = struct.pack("<1016Q", *heads)
        self.write_page(self.vid_chunk, VID_CHUNK, self.table << 32, self.table, 0, PAGE, 0, rest)
        places = [0] * MAP_WORDS
        for number, at in zip(self.on_storage, data):
            self.places[number], places[number] = at, self.place(at)
            self.write_page(STORAGE + PAGE * at, DATA, *self.pages[number].content(self.table))
        self.map_chunk = STORAGE + PAGE * map_chunk
        self.write_page(self.map_chunk, MAP_CHUNK, 0, 0, 0, PAGE, 0, struct.pack("<1016Q", *places))
        self.write(VID_PLACES, struct.pack("<Q", self.place(vid_chunk)))
        self.write(MAP_PLACES, struct.pack("<Q", self.place(map_chunk)))
        entries = b""
        for image, number in enumerate(self.in_images):
            self.write_page(IMAGES + PAGE * image, DATA, *self.pages[number].content(self.table))
            entries += struct.pack("<QI", number, image) + self.memory[IMAGES + PAGE * image + 4 :][:4]
        self.write(PAGE_ENTRIES, entries)
        changes = (struct.pack("<IIQ", vid, self.table, record) for vid, record in sorted(self.entries.items()))
        self.write(VID_ENTRIES, b"".join(changes))

    def write_job(self, first, end, snapshot, program=0, flags=0b11):
        """Writes the job block for these VIDs; gives its address."""
        inside = [vid for vid in sorted(self.entries) if first <= vid < end]
        before = sum(vid < first for vid in self.entries)
        self.write(JOB, struct.pack(
            "<IIQQQQQQQIIQQQQIIQQ", first, end, snapshot, STORAGE, STORAGE_PAGES, VID_PLACES, MAP_PLACES, 60,
            VID_ENTRIES + 16 * before, len(inside), len(self.in_images), PAGE_ENTRIES, IMAGES, self.identity,
            self.epoch, self.table, flags, program, 0,
        ))  # fmt: skip
        return JOB

    # What a walk finds, in the bytes as they are now.

    def head(self, vid):
        """RecordID, or the fault of the chunk."""
        if vid in self.entries:
            return self.entries[vid], 0
        _, _, fault = self.check(self.vid_chunk, VID_CHUNK, self.table << 32, False)
        return struct.unpack_from("<Q", self.memory, self.vid_chunk + 64 + 8 * vid)[0], fault

    def check(self, at, kind, number, is_image):
        """Table, lines and fault of a page."""
        content = bytes(self.memory[at : at + PAGE])
        page, table, lines = struct.unpack_from("<QIH", content, 8)
        epoch, found_kind = struct.unpack_from("<QI", content, 32)
        (store,) = struct.unpack_from("<Q", content, 56)
        if any(at // 64 <= line < (at + PAGE) // 64 for line in self.failing):
            fault = BUS
        elif content[:4] != MAGIC or struct.unpack_from("<I", content, 4)[0] != crc32c(content[8:]):
            fault = CHECKSUM
        elif (found_kind, page) != (kind, number) or not is_image and (store, epoch) != (self.identity, self.epoch):
            fault = STRANGER
        else:
            fault = 0
        return table, lines, fault

    def where(self, page):
        """Address of a page and whether it is an image; or the fault."""
        if page in self.in_images:
            return IMAGES + PAGE * self.in_images.index(page), True, 0
        place = struct.unpack_from("<Q", self.memory, self.map_chunk + 64 + 8 * page)[0] if page < 60 else 0
        physical = place & (1 << 40) - 1
        fault = NO_PLACE if place == 0 else BEYOND if physical >= STORAGE_PAGES else 0
        return STORAGE + PAGE * physical, False, fault

    def walk(self, vid, snapshot):
        """None, or: code, record, and of a row its number, commit and payload."""
        record, fault = self.head(vid)
        if fault:
            return fault, None
        newer = 1 << 64
        while record:
            page, line = record >> 8, record & 0xFF
            at, is_image, fault = self.where(page)
            if fault:
                return fault, record
            table, lines, fault = self.check(at, DATA, page, is_image)
            if not fault:
                fault = OTHER_TABLE if table != self.table else NO_LINE if line >= lines else 0
            if fault:
                return fault, record
            (pointer,) = struct.unpack_from("<I", self.memory, at + POINTERS + 4 * line)
            offset, length, gone = pointer & 0x3FFF, pointer >> 14 & 0x3FFF, pointer >> 28 & 1
            if offset % 8 or offset < POINTERS + 4 * lines or offset + 32 + length + -length % 8 > PAGE:
                return BAD_LINE, record
            created, _, predecessor, found, number = struct.unpack_from("<QQQII", self.memory, at + offset)
            if found != vid:
                return OTHER_TUPLE, record
            if created >= newer:
                return NOT_OLDER, record
            if created <= snapshot:
                payload = bytes(self.memory[at + offset + 32 :][:length])
                return None if gone else (0, record, number, created, payload)
            newer, record = created, predecessor
        return None
