"""Do DuckDB, pyarrow and polars read the parts and the merged table of a sweep alike?

    python3 checker/sweeps.py FOLDER FILE.parquet FILE.csv

FOLDER has the parts, the other two are their merged table in both forms.
"""

import argparse
import csv
import sys
from pathlib import Path

import duckdb
import polars
import pyarrow.parquet


def rows_of_duckdb(parts):
    found = duckdb.sql(f"SELECT * FROM read_parquet('{parts}') ORDER BY point, background")
    return found.columns, found.fetchall()


def rows_of_pyarrow(parts):
    files = sorted(parts.parent.glob(parts.name))
    table = pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files)
    table = table.sort_by([("point", "ascending"), ("background", "ascending")])
    return table.column_names, [tuple(row.values()) for row in table.to_pylist()]


def rows_of_polars(parts):
    frame = polars.read_parquet(parts).sort(["point", "background"])
    return frame.columns, frame.rows()


def difference(parts, merged, table):
    """The first disagreement of a reader, or of a table, with the parts as DuckDB reads them."""
    columns, rows = rows_of_duckdb(parts)
    if not rows:
        return f"{parts}: no rows"
    for name, read in [("pyarrow", rows_of_pyarrow), ("polars", rows_of_polars)]:
        if read(parts) != (columns, rows):
            return f"{name} reads the parts otherwise than DuckDB"
        if read(merged) != (columns, rows):
            return f"{name} reads the merged table otherwise than DuckDB the parts"
    with table.open(newline="", encoding="utf-8") as text:
        header, *lines = csv.reader(text)
    if header != columns or len(lines) != len(rows):
        return f"{table}: {len(lines)} rows of {header}, and {len(rows)} of {columns} in the parts"
    for line, row in zip(lines, rows):
        for name, shown, value in zip(columns, line, row):
            if isinstance(value, float):
                alike = abs(float(shown) - value) <= 5e-4 * max(abs(value), 1)
            else:
                alike = shown == ("" if value is None else str(value))
            if not alike:
                return f"{table}: {name} of point {row[0]} is {shown}, and {value} in the parts"
    return None


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("merged", type=Path)
    parser.add_argument("table", type=Path)
    args = parser.parse_args(arguments)
    wrong = difference(args.folder / "part-*.parquet", args.merged, args.table)
    print(wrong or f"{args.folder}: three readers agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
