"""IP-XACT packages of the device, the lock unit and the element, in Vivado's version: IEEE 1685-2009."""

import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import cores
import model
import verilog
from peakrdl_ipxact import IPXACTExporter
from peakrdl_ipxact.exporter import Standard


SOURCES = ["cores.py", "model.py", "properties.rdl", "requirements.txt", "verilog.py"]
SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
CLOCK, RESET, INTERRUPT = "clk_i", "rst_ni", "intr_o"
SYNTHESIS, SIMULATION = "xilinx_anylanguagesynthesis", "xilinx_anylanguagebehavioralsimulation"
# Of an AXI port, what the bus definition has no name for: it goes beside the interface.
BESIDE = ("awatop",)


def files(device):
    lock_unit, element = (device.blocks[name].node for name in ("lock_unit", "visibility_pe"))
    packages = {
        "lockstep_device": ("rtl/shell/lockstep_device.sv", device.node, device),
        "tuple_lock_unit": ("bsv/generated/tuple_lock_unit.v", lock_unit, device),
        "visibility_pe": ("rtl/visibility/visibility_pe.sv", element, device),
    }
    parts = ["lockstep_device", *model.BLOCKS]
    return {
        f"hw/ip/{name}/component.xml": (package(name, *one), parts)
        for name, one in packages.items()
    }


def package(name, top, node, device):
    """The text of one component."""
    known = verilog.sources()
    ports = verilog.ports(top)
    interfaces = group(ports)
    language = "SystemVerilog" if top.endswith(".sv") else "Verilog"
    component = element("component")
    for tag, text in (
        ("vendor", "lockstep"),
        ("library", "hw"),
        ("name", name),
        ("version", "1.0"),
    ):
        add(component, tag, text)
    buses = add(component, "busInterfaces")
    add_interfaces(buses, interfaces)
    for port in ports:
        if port.name == INTERRUPT:
            add_interrupt(buses, port.name)
    add_spaces(add(component, "addressSpaces"), interfaces)
    component.append(memory_maps(node, device))
    model_of_it = add(component, "model")
    add_model(model_of_it, name, language, ports)
    add_files(add(component, "fileSets"), verilog.closure(known, [name]))
    add(component, "description", known[name].text)
    parameters = verilog.parameters(top)
    if parameters:
        add_settings(model_of_it, component, parameters)
    xml.register_namespace("spirit", SPIRIT)
    xml.indent(component, "  ")
    text = xml.tostring(component, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def element(tag):
    return xml.Element(f"{{{SPIRIT}}}{tag}")


def add(parent, tag, text=None, **attributes):
    named = {f"{{{SPIRIT}}}{key}": value for key, value in attributes.items()}
    child = xml.SubElement(parent, f"{{{SPIRIT}}}{tag}", named)
    child.text = text
    return child


def group(ports):
    """The AMBA interfaces by name: for each signal in capitals the port that carries it."""
    result = {}
    for port in ports:
        prefix, _, signal = port.name.rpartition("_")
        if prefix.startswith(("s_ax", "m_ax")) and signal not in BESIDE:
            result.setdefault(prefix, {})[signal.upper()] = port
    return result


def add_interfaces(parent, interfaces):
    for name, signals in interfaces.items():
        kind = "axis" if "_axis" in name else "aximm"
        one = add_interface(parent, name, "interface", kind)
        if name.startswith("m_"):
            master = add(one, "master")
            if kind == "aximm":
                add(master, "addressSpaceRef", addressSpaceRef=name)
        else:
            slave = add(one, "slave")
            if kind == "aximm":
                add(slave, "memoryMapRef", memoryMapRef=name)
        add_port_maps(one, {signal: port.name for signal, port in signals.items()})
        if kind == "aximm":
            add_parameters(one, **axi_parameters(name, signals))
    clock = add_interface(parent, CLOCK, "signal", "clock")
    add(clock, "slave")
    add_port_maps(clock, {"CLK": CLOCK})
    add_parameters(clock, ASSOCIATED_BUSIF=":".join(interfaces), ASSOCIATED_RESET=RESET)
    reset = add_interface(parent, RESET, "signal", "reset")
    add(reset, "slave")
    add_port_maps(reset, {"RST": RESET})
    add_parameters(reset, POLARITY="ACTIVE_LOW")


def axi_parameters(name, signals):
    """What Vivado wants to know of an AXI interface; our registers are AXI4-Lite."""
    widths = {"ADDR_WIDTH": "ARADDR", "DATA_WIDTH": "RDATA", "ID_WIDTH": "ARID"}
    result = {name: signals[of].width for name, of in widths.items() if of in signals}
    if "AWADDR" not in signals:
        result["READ_WRITE_MODE"] = "READ_ONLY"
    result["PROTOCOL"] = "AXI4LITE" if name.startswith("s_axil") else "AXI4"
    return {name: str(value) for name, value in result.items()}


def add_interrupt(parent, port):
    interrupt = add_interface(parent, port, "signal", "interrupt")
    add(interrupt, "master")
    add_port_maps(interrupt, {"INTERRUPT": port})
    add_parameters(interrupt, SENSITIVITY="LEVEL_HIGH")


def add_interface(parent, name, library, kind):
    one = add(parent, "busInterface")
    add(one, "name", name)
    vlnv = {"vendor": "xilinx.com", "library": library, "version": "1.0"}
    add(one, "busType", name=kind, **vlnv)
    add(one, "abstractionType", name=f"{kind}_rtl", **vlnv)
    return one


def add_port_maps(one, signals):
    maps = add(one, "portMaps")
    for signal, port in signals.items():
        pair = add(maps, "portMap")
        add(add(pair, "logicalPort"), "name", signal)
        add(add(pair, "physicalPort"), "name", port)


def add_parameters(one, **values):
    parameters = add(one, "parameters")
    for name, value in values.items():
        parameter = add(parameters, "parameter")
        add(parameter, "name", name)
        add(parameter, "value", value)


def add_spaces(parent, interfaces):
    """What the masters can reach: all of a 64-bit address space."""
    for name, signals in interfaces.items():
        if name.startswith("m_") and "ARADDR" in signals:
            space = add(parent, "addressSpace")
            add(space, "name", name)
            add(space, "range", f"0x{1 << signals['ARADDR'].width:X}")
            add(space, "width", str(signals["RDATA"].width))


def memory_maps(node, device):
    """What PeakRDL-ipxact makes of it, for the port s_axil, without what is outside the RTL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "component.xml"
        IPXACTExporter(standard=Standard.IEEE_1685_2009).export(node, str(path))
        maps = xml.parse(path).getroot().find(f"{{{SPIRIT}}}memoryMaps")
    (only,) = maps
    only.find(f"{{{SPIRIT}}}name").text = "s_axil"
    outside = {one.name for one in device.instances if one.block not in model.BLOCKS}
    for block in only.findall(f"{{{SPIRIT}}}addressBlock"):
        if block.find(f"{{{SPIRIT}}}name").text in outside:
            only.remove(block)
            continue
        block.find(f"{{{SPIRIT}}}range").text = "0x1000"
        block.find(f"{{{SPIRIT}}}width").text = "32"
    return maps


def add_model(parent, name, language, ports):
    views = add(parent, "views")
    for view, purpose in ((SYNTHESIS, "synthesis"), (SIMULATION, "simulation")):
        one = add(views, "view")
        add(one, "name", view)
        add(one, "envIdentifier", f":vivado.xilinx.com:{purpose}")
        add(one, "language", language)
        add(one, "modelName", name)
        add(add(one, "fileSetRef"), "localName", view)
    all_ports = add(parent, "ports")
    for port in ports:
        one = add(all_ports, "port")
        add(one, "name", port.name)
        wire = add(one, "wire")
        add(wire, "direction", port.direction)
        if port.width > 1:
            vector = add(wire, "vector")
            add(vector, "left", str(port.width - 1))
            add(vector, "right", "0")


def add_settings(of_model, component, parameters):
    """Each parameter of the module twice: as the module has it, and as a user may set it."""
    inner, outer = add(of_model, "modelParameters"), add(component, "parameters")
    for name, default in parameters:
        one = add(inner, "modelParameter", dataType="integer")
        add(one, "name", name)
        place = {"format": "long", "id": f"MODELPARAM_VALUE.{name}"}
        add(one, "value", default, resolve="generated", **place)
        one = add(outer, "parameter")
        add(one, "name", name)
        place = {"format": "long", "id": f"PARAM_VALUE.{name}"}
        add(one, "value", default, resolve="user", **place)


def add_files(parent, sources):
    """Paths count from the component."""
    for view in (SYNTHESIS, SIMULATION):
        file_set = add(parent, "fileSet")
        add(file_set, "name", view)
        for path in (source.path for source in sources):
            file = add(file_set, "file")
            add(file, "name", f"../../{path}")
            add(
                file, "fileType", "systemVerilogSource" if path.endswith(".sv") else "verilogSource"
            )
            # As in the cores. A simulation has no clock buffer.
            if path.endswith(f"/{cores.GATE}.sv") and view == SYNTHESIS:
                define = add(file, "define")
                add(define, "name", cores.BUFFER)
                add(define, "value", "1")
