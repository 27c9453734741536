"""What ptxas gave each kernel, read in a cubin (an ELF file): registers, bytes of stack and of instructions, static shared memory."""

import re
import struct

FRAME_SIZE, REGISTERS = 0x11, 0x2F  # attributes of the section .nv.info
INSTRUCTION = 16  # bytes


def sections(data):
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + index * size) for index in range(count)]
    strings = headers[names][4]
    return [(text(data, strings + header[0]), header) for header in headers]


def text(data, start):
    return data[start:data.index(b"\0", start)].decode()


def resources(path):
    """By the name of a kernel's function: registers, stack, instructions, shared memory."""
    data = path.read_bytes()
    by_name = dict(sections(data))
    table = by_name[".symtab"]
    strings = by_name[".strtab"][4]
    symbols = [text(data, strings + struct.unpack_from("<I", data, table[4] + at)[0]) for at in range(0, table[5], 24)]
    found = {FRAME_SIZE: {}, REGISTERS: {}}
    info = by_name[".nv.info"]
    at, end = info[4], info[4] + info[5]
    while at < end:
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        if form == 4:
            if attribute in found:
                symbol, value = struct.unpack_from("<II", data, at + 4)
                found[attribute][symbols[symbol]] = value
            at += 4 + size
        else:
            at += 4
    kernels = {}
    for name, header in by_name.items():
        match = re.match(r"\.text\.(__omp_offloading_[0-9a-f]+_[0-9a-f]+_(\w+)_l\d+)$", name)
        if match:
            shared = by_name.get(f".nv.shared.{match[1]}")
            kernels[match[2]] = (found[REGISTERS][match[1]], found[FRAME_SIZE].get(match[1], 0), header[5] // INSTRUCTION, shared[5] if shared else 0)
    return kernels
