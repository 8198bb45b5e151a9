import { UsageError } from "../../kernel/errors.ts";
import type { FinishedCell } from "./cell-run.ts";
import { type CellUse, type SweepSpending, sweepUse } from "./cell-use.ts";
import { type Manifest, usedBy } from "./manifest.ts";
import { oddText, type WorldFacts } from "./odd.ts";
import { manifestIn, type SweepFolder } from "./sweep-folder.ts";
import { parquetTable, type Row } from "./tables.ts";

export interface SweepTables {
  readonly rows: readonly Row[];
  readonly series: readonly Row[];
  readonly finished: readonly FinishedCell[];
  readonly world?: WorldFacts | undefined;
}

/** Writes the tables of a folder, and what its runs used into its manifest. Returns what they spent. */
export async function writtenResults(
  folder: SweepFolder | undefined,
  { rows, series, finished, world }: SweepTables,
): Promise<SweepSpending & { readonly use: CellUse }> {
  const spending = sweepUse(finished);
  if (folder === undefined) return spending;
  await folder.writeRows("rows", rows);
  if (series.length > 0) await folder.writeRows("series", series);
  await writeParquet(folder, { rows, series });
  const manifest = await manifestIn(folder.path);
  if (manifest === undefined) return spending;
  const whole: Manifest = { ...manifest, world: manifest.world ?? world ?? null, used: usedBy(spending.use) };
  await folder.writeManifest(whole);
  await folder.write("ODD.md", oddText(whole, rows));
  return spending;
}

/** Writes Parquet files where the package for them is installed. */
async function writeParquet(folder: SweepFolder, tables: { readonly [name: string]: readonly Row[] }): Promise<void> {
  for (const [name, rows] of Object.entries(tables)) {
    if (rows.length === 0) continue;
    try {
      await folder.write(`${name}.parquet`, await parquetTable(rows));
    } catch (error) {
      if (error instanceof UsageError && error.code === "PACKAGE_MISSING") return;
      throw error;
    }
  }
}
