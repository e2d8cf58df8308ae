"""Arrow tables, written to files of every kind."""

import gzip
import io
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

KINDS = ("csv", "csv.gz", "csv.zst", "jsonl", "json", "jsonl.zst", "arff", "parquet", "feather", "arrows", "xlsx")
"""Endings of the files that `write` writes; each may be followed by .zip."""


def write(table, path):
    """Write a table to a file, in the format of its ending, and return the path."""
    path.write_bytes(content(table, path.name))
    return path


def content(table, name):
    """Return the bytes of a file with a table, in the format of its name."""
    stem, _, suffix = name.rpartition(".")
    if suffix == "gz":
        return gzip.compress(content(table, stem))
    if suffix == "zst":
        return pa.Codec("zstd").compress(content(table, stem), asbytes=True)
    if suffix == "zip":
        return zipped({stem.rpartition("/")[2]: content(table, stem)})
    return WRITERS[suffix](table)


def zipped(members):
    """Return a zip archive of files, given by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def csv_bytes(table):
    rows = [",".join("" if v is None else str(v) for v in row.values()) for row in table.to_pylist()]
    return ("\n".join([",".join(table.column_names), *rows]) + "\n").encode()


def arff_bytes(table):
    kinds = [f"@attribute {f.name} {'string' if pa.types.is_string(f.type) else 'numeric'}" for f in table.schema]
    rows = [",".join("?" if v is None else str(v) for v in row.values()) for row in table.to_pylist()]
    return "\n".join(["@relation t", *kinds, "@data", *rows]).encode()


def json_lines_bytes(table):
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


def json_bytes(table):
    return json.dumps(table.to_pylist(), indent=1).encode()


def parquet_bytes(table):
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=100)
    return file.getvalue()


def arrow_bytes(table):
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return file.getvalue()


def arrow_stream_bytes(table):
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return file.getvalue()


def excel_bytes(table):
    return workbook_bytes({"Sheet": [table.column_names, *(list(row.values()) for row in table.to_pylist())]})


def workbook_bytes(sheets, change=None):
    """Return an Excel workbook with the rows of each sheet; `change` may alter it before it is written."""
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(row)
    if change is not None:
        change(workbook)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


WRITERS = {
    "csv": csv_bytes,
    "jsonl": json_lines_bytes,
    "json": json_bytes,
    "arff": arff_bytes,
    "parquet": parquet_bytes,
    "feather": arrow_bytes,
    "arrow": arrow_bytes,
    "arrows": arrow_stream_bytes,
    "xlsx": excel_bytes,
}
