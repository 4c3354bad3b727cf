"""The register map as plain values: what the templates need to know of the SystemRDL."""

from dataclasses import dataclass

from peakrdl_regblock.udps import ALL_UDPS
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegfileNode, RegNode
from systemrdl.rdltypes import OnWriteType

# In this order: later files use what earlier ones define.
FILES = ("properties", "shell", "queue", "lock_unit", "visibility_pe", "dma_vectorizer", "nic_lookup",
         "lockstep_device")
# Those of the RTL; the others are pages that the PCI function keeps.
BLOCKS = ("shell", "queue", "lock_unit", "visibility_pe", "dma_vectorizer", "nic_lookup")
# Those with a port of their own, outside BAR0.
ALONE = ("visibility_pe", "dma_vectorizer")


@dataclass(frozen=True)
class Field:
    name: str
    text: str
    low: int
    width: int
    access: str  # "ro", "rw", "wo" or "w1c"
    reset: int | None  # None: known only to the hardware
    constant: bool
    smallest: int
    largest: int
    kind: str  # name of the enumeration of its values, or empty
    values: tuple  # of (name, number, text)

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.low


@dataclass(frozen=True)
class Register:
    name: str
    text: str
    offset: int  # in its block
    width: int  # 32 or 64 bits, the low half first
    count: int  # 1, or the length of the array
    stride: int
    fields: tuple
    takes_bytes: bool
    while_disabled: bool
    multiple_of: int

    @property
    def access(self):
        """Of the register as a whole: all our registers have fields of one kind."""
        kinds = {field.access for field in self.fields}
        assert len(kinds) == 1, f"{self.name} mixes {kinds}"
        return kinds.pop()

    @property
    def reset(self):
        """None when only the hardware knows some bit."""
        if any(field.reset is None for field in self.fields):
            return None
        return sum(field.reset << field.low for field in self.fields)

    @property
    def mask(self):
        return sum(field.mask for field in self.fields)

    def offsets(self):
        """Of each 32-bit word of each element."""
        for element in range(self.count):
            for word in range(self.width // 32):
                yield self.offset + element * self.stride + 4 * word


@dataclass(frozen=True)
class Block:
    name: str
    title: str
    text: str
    registers: tuple
    node: object  # of systemrdl, for the exporters that want it

    def register(self, name):
        return next(register for register in self.registers if register.name == name)


@dataclass(frozen=True)
class Instance:
    """A block at its place in BAR0."""

    name: str
    title: str
    text: str
    base: int
    block: str


@dataclass(frozen=True)
class Device:
    title: str
    text: str
    blocks: dict  # by name
    instances: tuple
    node: object


def compiled(folder, top):
    compiler = RDLCompiler()
    for definition in ALL_UDPS:
        compiler.register_udp(definition)
    for name in FILES:
        compiler.compile_file(str(folder / f"{name}.rdl"))
    return compiler.elaborate(top).top


def sentence(text):
    """One line."""
    return " ".join((text or "").split())


def read_field(node: FieldNode):
    if node.is_sw_readable and node.is_sw_writable:
        access = "w1c" if node.get_property("onwrite") == OnWriteType.woclr else "rw"
    else:
        access = "wo" if node.is_sw_writable else "ro"
    values = node.get_property("encode")
    largest = (1 << node.width) - 1
    return Field(
        name=node.inst_name,
        text=sentence(node.get_property("desc")),
        low=node.low,
        width=node.width,
        access=access,
        reset=node.get_property("reset", default=node.get_property("starts")),
        constant=not node.is_sw_writable and not node.is_hw_writable,
        smallest=node.get_property("smallest", default=0),
        largest=node.get_property("largest", default=largest),
        kind=values.type_name if values else "",
        values=tuple((m.name, m.value, sentence(m.rdl_desc)) for m in values or ()),
    )


def read_register(node: RegNode, prefix="", offset=0, count=1, stride=0):
    """One register; inside an array of register files it becomes an array itself."""
    return Register(
        name=prefix + node.inst_name,
        text=sentence(node.get_property("desc")),
        offset=offset + node.raw_address_offset,
        width=node.get_property("regwidth"),
        count=count * node.n_elements,
        stride=stride or node.array_stride or 0,
        fields=tuple(read_field(field) for field in node.fields()),
        takes_bytes=node.get_property("takes_bytes", default=False),
        while_disabled=node.get_property("while_disabled", default=False),
        multiple_of=node.get_property("multiple_of", default=1),
    )


def read_registers(node: AddrmapNode):
    for child in node.children(unroll=False):
        if isinstance(child, RegNode):
            yield read_register(child)
        else:
            assert isinstance(child, RegfileNode) and child.is_array, child.get_path()
            place = (child.raw_address_offset, child.n_elements, child.array_stride)
            for register in child.registers(unroll=False):
                assert not register.is_array, register.get_path()
                yield read_register(register, f"{child.inst_name}_", *place)


def read_block(folder, name):
    node = compiled(folder, name)
    text = sentence(node.get_property("desc"))
    return Block(name, node.get_property("name"), text, tuple(read_registers(node)), node)


def read(folder):
    """The whole device. A mistake in the SystemRDL ends the program with its place."""
    node = compiled(folder, "lockstep_device")
    instances = tuple(
        Instance(
            name=child.inst_name,
            title=child.get_property("name"),
            text=sentence(child.get_property("desc")),
            base=child.raw_address_offset,
            block=child.orig_type_name,
        )
        for child in node.children()
    )
    names = dict.fromkeys([*(instance.block for instance in instances), *ALONE])
    blocks = {name: read_block(folder, name) for name in names}
    text = sentence(node.get_property("desc"))
    return Device(node.get_property("name"), text, blocks, instances, node)
