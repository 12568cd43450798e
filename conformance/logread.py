#!/usr/bin/env python3
"""A second reader of the session log, written against the format alone (contract, "The log").
usage: logread.py SESSION_DIRECTORY; prints the records that count, on stderr the damage and the
torn end or null; exits 1 if it found either. Blobs: the length only is checked, no BLAKE3."""
import contextlib, json, pathlib, re, sys, zlib  # noqa: E401
from functools import reduce

FIELDS, MEMBER = ("seq", "epoch", "at", "kind", "data"), b"\x1f\x8b\x08" + bytes(6) + b"\xff"
TABLE = [reduce(lambda n, _: n >> 1 ^ 0x82F63B78 * (n & 1), range(8), n) for n in range(256)]

def crc32c(data):
    return ~reduce(lambda crc, byte: TABLE[(crc ^ byte) & 255] ^ crc >> 8, data, -1 % 2**32) % 2**32

def unpack(data):  # a broken gzip member is passed over to where the next seems to begin
    while (at := data.find(MEMBER)) >= 0:
        member, content = zlib.decompressobj(31), b""
        with contextlib.suppress(zlib.error):
            content = member.decompress(data[at:], (1 << 17) + 1)
        whole = member.eof and len(content) <= 1 << 17
        yield content if whole else b""
        data = member.unused_data if whole else data[at + 1:]

def decode(line):
    """The object of a line whose checksum holds, else the reason why it is none."""
    match = re.fullmatch(rb'(.*),"crc":"([0-9a-f]{8})"\}', line, re.DOTALL)
    if not match or crc32c(match[1]) != int(match[2], 16):
        return "checksum"
    try:
        found = json.loads(line)
        return found if {"v", "prev", *FIELDS[1:]} <= found.keys() else "envelope"
    except (ValueError, AttributeError):
        return "envelope"

def split(data):
    """Pieces: (offset, length, ends with LF, object or reason, records that may have been there)"""
    at = 0
    for chunk in re.findall(rb"[^\n]*\n|[^\n]+", data):
        whole, pieces, start = decode(chunk.removesuffix(b"\n")), [], at
        starts = rb'(?<!^)(?=\{"v":)' if isinstance(whole, str) else rb"$^"
        for part in re.split(starts, chunk):
            body, ended = part.removesuffix(b"\n"), part.endswith(b"\n")
            found, lost = decode(body), max(1, part.count(b',"crc":"'))
            lost = lost if isinstance(found, str) else 0
            if isinstance(found, str) and isinstance(decode(body[:-1]), dict):
                pieces.append((at, len(body) - 1, True, decode(body[:-1]), 0))
                at, part, lost = at + len(body) - 1, part[len(body) - 1:], 0
            pieces.append((at, len(part), ended, whole if isinstance(found, str) else found, lost))
            at += len(part)
        broken, lost = all(isinstance(piece[3], str) for piece in pieces), chunk.count(b',"crc":"')
        yield from [(start, len(chunk), ended, whole, max(1, lost))] if broken else pieces

class Log:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.records, self.damage, self.torn, self.last, self.lost = [], [], None, 0, 0
        for name, data, header, limit in (chain := self.chain()):
            self.segment(name, data[:limit], header, limit, name == chain[-1][0])
        self.next_seq = self.last + self.lost + 1

    def chain(self):
        files, parts, epoch, me = [], [], 0, self.root.name
        self.plain = {path.name: path.read_bytes() for path in self.root.glob("log/*.jsonl")}
        packed = {path.stem: path.read_bytes() for path in self.root.glob("older/*.gz")}
        whole = {name: b"".join(unpack(data)) for name, data in packed.items()} | self.plain
        for name, data in sorted(whole.items()):
            first = next(split(data), (0, 0, 0, ""))[3]
            heads = isinstance(first, dict) and first["kind"] == "segment" and "seq" not in first
            head = (name, data, first["data"] if heads else {})
            files += [head] if data or name not in self.plain else []
        known = [header for *_, header in files if header]
        own = [header for header in known if header["session"] == me]
        # A fork says how many segments are its parent's; believed too if no own header is whole.
        said = [header["parent"]["segments"] for header in own if "parent" in header]
        shared = (said or [not own and 0 < len(known) < len(files) and known[-1]["number"]])[-1]
        for (name, data, header), then in zip(files, files[1:] + [("", b"", {})]):
            if header:
                number, tail = header["number"], then[2].get("after") or {}
                then = tail.get("number") == number and tail["segment"] or header["segment"]
                ours = header["session"] == me or number <= shared and then == header["segment"]
                if not ours or number != int(name[:8]):
                    self.bad(name, 0, len(data), "envelope")
                    continue
                if header["epoch"] < epoch:
                    continue
                epoch, after = header["epoch"], header["after"]
                while parts and (not after or int(parts[-1][0][:8]) > after["number"]): parts.pop()
                if parts and int(parts[-1][0][:8]) == after["number"]:
                    parts[-1][3] = after["length"]
            parts.append([name, data, header or None, None])
        return parts

    def bad(self, segment, offset, length, reason):
        found = dict(segment=segment, offset=offset, length=length, after_seq=self.last)
        last, found["reason"] = self.damage[-1] if self.damage else {}, reason
        if last and found == last | dict(offset=last["offset"] + last["length"], length=length):
            found = self.damage.pop() | dict(length=last["length"] + length)
        self.damage.append(found)

    def segment(self, name, data, header, limit, is_last):
        pieces, end, prev = list(split(data)), len(data), None
        broken_end = pieces and isinstance(pieces[-1][3], str) and not pieces[-1][2]
        if is_last and limit is None and broken_end and name in self.plain:
            end, length = pieces.pop()[:2]
            self.torn = dict(segment=name, offset=end, length=length)
        epoch = header and header["epoch"]
        if header:
            prev, before = pieces.pop(0)[3]["crc"], header["first_seq"] - 1
            if self.last < before and not self.lost:
                self.bad(name, 0, 0, "missing")
            self.last, self.lost = max(self.last, before), 0
        for at, (offset, length, _, line, lost) in enumerate(pieces):
            fault, following = None, pieces[at + 1][3] if at + 1 < len(pieces) else None
            if isinstance(line, str) or "seq" not in line:
                fault = line if isinstance(line, str) else "envelope"
            else:
                epoch, seq = line["epoch"] if epoch is None else epoch, line["seq"]
                dense, linked = seq == self.last + 1, prev in (None, line["prev"])
                then = following["prev"] if isinstance(following, dict) else None
                foreign = not linked and (then == prev or dense and then != line["crc"])
                fault = "epoch" if line["epoch"] != epoch else "sequence" if seq <= self.last \
                    else "link" if foreign else None
                if not fault and not (dense and linked) and (prev or not self.lost):
                    self.bad(name, offset, 0, "link" if dense else "missing")
            if fault:
                self.bad(name, offset, length, fault)
                lost += isinstance(line, dict) and fault != "sequence"
                prev, self.lost = None, self.lost + lost
                continue
            prev, line["data"] = line["crc"], self.blob(line["data"])
            if line["data"] is ...:
                self.bad(name, offset, length, "blob")
            else:
                self.records.append({key: line[key] for key in FIELDS})
            self.last, self.lost = seq, 0
        if limit is not None and limit > end:
            self.bad(name, end, limit - end, "missing")
            self.lost = max(1, self.lost)

    def blob(self, data):
        if not isinstance(data, dict) or list(data) != ["$blob"]:
            return data
        path = self.root / "blobs" / data["$blob"]["name"]
        whole = path.is_file() and path.stat().st_size == data["$blob"]["bytes"]
        return json.loads(path.read_bytes()) if whole else ...

if __name__ == "__main__":
    log = Log(sys.argv[1])
    print(*map(json.dumps, log.records), sep="\n")
    print(*map(json.dumps, log.damage + [log.torn]), sep="\n", file=sys.stderr)
    sys.exit(1 if log.damage or log.torn else 0)
