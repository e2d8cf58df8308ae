"""Files as they are stored: compressed, in a zip archive or in any encoding, and temporary copies that can be read."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import lzma
import os
import shutil
import struct
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, cast

from tanbark.messages import warn
from tanbark.sources.source import SourceError, raised_by_arrow

BLOCK_BYTES = 2**20
"""Number of bytes that are read at a time."""
USABLE_DISK_SHARE = 0.9
"""Share of the free disk space that a temporary copy may use."""
MAX_FILES_LISTED = 5
"""Maximum number of files of an archive that a message lists."""
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Compression of text files by the ending of their names."""
FALLBACK_ENCODING = "cp1252"
"""Encoding of text files that are not UTF-8."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OverflowError, ValueError)
"""Errors of reading a damaged zip archive."""
_BYTE_ORDER_MARKS = (
    # UTF-32 comes first, because its mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class StoredFile:
    """A file, or the only file in a zip archive.

    As a text, it is its name in messages.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    called : str or None
        Name in messages instead of the path, for temporary files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.called: str | None = None
        self._copies: list[Path] = []

    def __str__(self) -> str:
        return str(self.path) if self.called is None else self.called

    @property
    def inner_name(self) -> str:
        """Name of the file, or of the file in the archive."""
        return self.path.name if self._member is None else self._member.filename.rsplit("/", 1)[-1]

    @property
    def suffixes(self) -> tuple[str, str]:
        """Endings of the name in lower case: that of the format, and that of the compression of a text or ""."""
        name = Path(self.inner_name.lower())
        if name.suffix in COMPRESSIONS:
            return Path(name.stem).suffix, name.suffix
        return name.suffix, ""

    @cached_property
    def contents(self) -> Path:
        """Absolute path of the file; the file in an archive is unpacked into a temporary file."""
        if self._member is None:
            # Other libraries replace a leading "~" by the home folder.
            return self.path.absolute()
        unpacked = self._temporary("unpacked" + "".join(self.suffixes))
        with self._archive() as archive, archive.open(self._member) as file:
            self._write(unpacked, iter(lambda: file.read(BLOCK_BYTES), b""), self._member.file_size)
        return unpacked

    @property
    def local(self) -> Path:
        """Path for the library that reads the file."""
        return self.contents

    def first_bytes(self, size: int) -> bytes:
        """Return the first bytes of the file, without unpacking all of an archive."""
        if self._member is None:
            with self.path.open("rb") as file:
                return file.read(size)
        with self._archive() as archive, archive.open(self._member) as member:
            return member.read(size)

    @cached_property
    def _member(self) -> zipfile.ZipInfo | None:
        """The only file in an archive, or None if the file is not an archive."""
        if self.path.suffix.lower() != ".zip":
            return None
        with self._archive() as archive:
            # macOS adds hidden files that describe the others.
            members = [
                one
                for one in archive.infolist()
                if not one.is_dir()
                and not one.filename.startswith("__MACOSX/")
                and not one.filename.rsplit("/", 1)[-1].startswith(".")
            ]
        if len(members) != 1:
            some = ", ".join(one.filename for one in members[:MAX_FILES_LISTED])
            some += ", ..." if len(members) > MAX_FILES_LISTED else ""
            found = f"holds {len(members):,} files ({some})" if members else "holds no file"
            raise SourceError(f"{self} {found}, but a zip archive must hold exactly one; unpack it first")
        if members[0].flag_bits & 1:
            raise SourceError(f"{self} is encrypted; unpack it first")
        return members[0]

    @contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        """Open the archive, and convert errors of reading it to SourceError."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                yield archive
        except SourceError:
            raise
        except NotImplementedError as error:
            raise SourceError(f"{self} has a kind of zip compression that is not supported; unpack it first") from error
        except ZIP_ERRORS as error:
            raise SourceError(f"{self} is not a valid zip archive") from error
        except OSError as error:
            # A damaged archive has files at impossible places.
            if error.errno != errno.EINVAL:
                raise
            raise SourceError(f"{self} is not a valid zip archive") from error

    def _temporary(self, name: str) -> Path:
        """Return the path of a temporary file, which is removed together with this object or when Python ends."""
        folder = tempfile.mkdtemp(prefix="tanbark-")
        weakref.finalize(self, _remove_folder, folder, os.getpid())
        copy = Path(folder, name)
        self._copies.append(copy)
        return copy

    def with_own_name(self, message: str) -> str:
        """Return a message with the name of the file instead of those of its temporary copies."""
        for copy in self._copies:
            message = message.replace(str(copy), str(self))
        return message

    def _write(self, path: Path, blocks: Iterable[bytes], size: int = 0) -> None:
        """Write a temporary file of an expected size, and raise SourceError if it would fill the disk."""
        free = shutil.disk_usage(path.parent).free
        with path.open("wb") as file:
            for block in blocks:
                size = max(size, file.tell() + len(block))
                if size > USABLE_DISK_SHARE * free:
                    raise SourceError(
                        f"{self} needs a temporary copy of at least {size:,} bytes, but {path.parent.parent} has only "
                        f"{free:,} bytes free; set TMPDIR to a folder on a larger disk"
                    )
                file.write(block)


def _remove_folder(folder: str, process: int) -> None:
    """Remove a temporary folder, unless this is a fork of the process that uses it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class TextFile(StoredFile):
    """A text file, which may be compressed and may have any encoding.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, default=None
        Encoding of the text. None means that of its byte order mark, otherwise UTF-8 if the text is valid UTF-8,
        otherwise Windows-1252 with a warning.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        super().__init__(path)
        self.encoding = encoding

    @cached_property
    def local(self) -> Path:
        """Path of the text in UTF-8, which may be compressed: a temporary copy if the text has another encoding."""
        encoding = self._verified_encoding()
        if encoding == "utf-8":
            return self.contents
        copy = self._temporary(f"utf-8{self.suffixes[0]}")
        self._write(copy, self._transcoded(encoding))
        return copy

    def open(self) -> IO[str]:
        """Open the text, which is decompressed within `unpacking_errors`."""
        return io.TextIOWrapper(_unpacked(self.local), encoding="utf-8-sig", newline="")

    def first_bytes(self, size: int) -> bytes:
        """Return the first bytes of the text, without unpacking all of it."""
        if not self.suffixes[1]:
            return super().first_bytes(size)
        with self.unpacking_errors(), _unpacked(self.contents) as file:
            return file.read(size)

    @contextmanager
    def unpacking_errors(self) -> Iterator[None]:
        """Convert errors of decompressing a text to SourceError."""
        try:
            yield
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise SourceError(f"{self} is not a valid gzip file") from error
        except OSError as error:
            if not raised_by_arrow(error):
                raise
            raise SourceError(f"{self} is not a valid zstd file") from error

    def _verified_encoding(self) -> str:
        """Return the encoding; "utf-8" only if all of the text is valid."""
        encoding = self.encoding
        if encoding is None:
            start = self.first_bytes(4)
            encoding = next((name for mark, name in _BYTE_ORDER_MARKS if start.startswith(mark)), None)
        if encoding is not None and codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
            return encoding
        decoder = codecs.getincrementaldecoder("utf-8")()
        before, is_ascii = 0, True
        for block in self._blocks():
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                is_ascii = is_ascii and error.object[: error.start].isascii()
                at = before + error.start - (len(error.object) - len(block))
                break
            if b"\0" in block:
                raise SourceError(
                    f"{self} has null characters and is not UTF-8 text; name its encoding, such as utf-16-le"
                )
            before += len(block)
            is_ascii = is_ascii and text.isascii()
        else:
            return "utf-8"
        if encoding is None and is_ascii:
            warn(f"{self} is not UTF-8 text: read as Windows-1252; use encoding= for another one")
            return FALLBACK_ENCODING
        raise SourceError(
            f"{self} is not UTF-8 text: line {self._line(at)} has an invalid character; correct it, or name the "
            "encoding of the file with encoding="
        )

    def _line(self, at: int) -> int:
        """Return the line, from 1, in which a byte of the text is."""
        line = 1
        for block in self._blocks():
            line += block[: max(at, 0)].count(b"\n")
            at -= len(block)
        return line

    def _transcoded(self, encoding: str) -> Iterator[bytes]:
        """Yield the text in UTF-8 without a byte order mark."""
        decoder = codecs.getincrementaldecoder(encoding)()
        is_first = True
        for block in self._blocks():
            try:
                text = decoder.decode(block, final=not block)
                if is_first and text:
                    text, is_first = text.removeprefix("\ufeff"), False
                yield text.encode()
            except UnicodeError as error:
                if self.encoding is None and encoding == FALLBACK_ENCODING:
                    raise SourceError(
                        f"{self} is neither UTF-8 nor Windows-1252 text; name its encoding with encoding="
                    ) from error
                raise SourceError(f"{self} is not {encoding} text; name another encoding") from error
            if "\0" in text:
                raise SourceError(f"{self} has null characters when read as {encoding}; name another encoding")

    def _blocks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes of the file in blocks, the last of which is empty."""
        with self.unpacking_errors(), _unpacked(self.contents) as file:
            block = b"first"
            while block:
                block = file.read(BLOCK_BYTES)
                yield block


def _unpacked(path: Path) -> IO[bytes]:
    """Open a file for reading, and decompress it if its name says so."""
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path))
    if path.suffix.lower() == ".zst":
        import pyarrow as pa

        return cast(IO[bytes], pa.input_stream(path, compression="zstd"))
    return path.open("rb")


def check_encoding(encoding: str) -> None:
    """Raise SourceError if Python has no text encoding of this name."""
    try:
        b"a".decode(encoding)
    except UnicodeError:
        # A single byte need not be valid.
        return
    except (LookupError, ValueError):
        raise SourceError(
            f"there is no encoding {encoding!r}; use a name that Python knows, such as utf-8, cp1252 or utf-16"
        ) from None
