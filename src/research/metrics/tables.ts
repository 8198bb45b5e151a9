import { iterable, object, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { type CellValue, isCellValue } from "../experiment/cell.ts";
import { columnsOf, csvOf, jsonLinesOf, type Row } from "../experiment/row.ts";
import { optionalPackage } from "../optional-package.ts";

/**
 * Returns rows as lines of JSON.
 *
 * @throws UsageError `TABLE_INVALID` for a value that is no text, finite number, boolean or null; `ARGUMENT_INVALID`
 * @example
 * import { jsonLinesTable } from "troupe/research";
 *
 * console.log(jsonLinesTable([{ n: 10, gini: 0.4 }]).trim()); // {"n":10,"gini":0.4}
 */
export function jsonLinesTable(rows: Iterable<Row>): string {
  return jsonLinesOf(checkedRows("jsonLinesTable", rows));
}

/**
 * Returns rows as CSV (RFC 4180) with a head. Null is an empty field, an empty text is `""`.
 *
 * @throws UsageError as {@link jsonLinesTable}
 * @example
 * import { csvTable } from "troupe/research";
 *
 * console.log(csvTable([{ name: 'the "star"', n: 10 }]).split("\r\n")[1]); // "the ""star""",10
 */
export function csvTable(rows: Iterable<Row>): string {
  return csvOf(checkedRows("csvTable", rows));
}

/**
 * Returns rows as a Parquet file. A column has one type: booleans, numbers (DOUBLE), or texts, where it has different ones. It needs the
 * package `hyparquet-writer`.
 *
 * @throws UsageError `TABLE_INVALID` for no column, and as {@link jsonLinesTable}; `PACKAGE_MISSING`
 * @example
 * import { parquetTable } from "troupe/research";
 *
 * const file = await parquetTable([{ n: 10, gini: 0.4 }, { n: 20, gini: null }]);
 * console.log(new TextDecoder().decode(file.subarray(0, 4))); // PAR1
 */
export async function parquetTable(rows: Iterable<Row>): Promise<Uint8Array> {
  const table = checkedRows("parquetTable", rows);
  const columns = columnsOf(table);
  if (columns.length === 0)
    throw new UsageError(
      "TABLE_INVALID",
      "Expected rows of parquetTable with at least one column, got none. Write a file for a table that has rows.",
    );
  const { parquetWriteBuffer } = await optionalPackage("hyparquet-writer", "0.17", async () => import("hyparquet-writer"));
  const columnData = columns.map((name) => {
    const values = table.map((row) => row[name] ?? null);
    const type = typeOf(values);
    return { name, type, data: type === "STRING" ? values.map((value) => (value === null ? null : String(value))) : values };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

function typeOf(values: readonly CellValue[]): "BOOLEAN" | "DOUBLE" | "STRING" {
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  if (kinds.size !== 1) return "STRING";
  if (kinds.has("boolean")) return "BOOLEAN";
  return kinds.has("number") ? "DOUBLE" : "STRING";
}

function checkedRows(caller: string, rows: Iterable<Row>): readonly Row[] {
  takes(caller, "rows", rows, iterable("rows"));
  const checked: Row[] = [];
  for (const row of rows) {
    takes(caller, "a row", row, object("an object with values by the names of columns"));
    for (const [name, value] of Object.entries(row)) {
      if (isCellValue(value)) continue;
      throw new UsageError(
        "TABLE_INVALID",
        `Expected texts, finite numbers, booleans or null in rows of ${caller}, got ${valueText(value)} in the column ${valueText(name)}. Write parts as columns of their own, or as JSON.`,
      );
    }
    checked.push(row);
  }
  return checked;
}
