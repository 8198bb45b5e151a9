import { relative, resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { defined } from "../../kernel/value-kind.ts";
import type { LimitOptions } from "../../model/limits.ts";
import { mergeParts } from "../../research/experiment/merge.ts";
import type { ExitCode } from "../errors.ts";
import type { Flags } from "../options.ts";
import { counted, plural, shellWord, shown } from "../screen/text.ts";
import { report, type Session } from "../session.ts";

export function askedIn({ reps, seed, cells, part, record, budget, limits }: Flags) {
  const kept = record === undefined || record === "paid" ? undefined : record === "all";
  return {
    ...defined({ reps, seed, part, budget, record: kept, cells: cells === undefined ? undefined : numbersIn(cells) }),
    ...(limits === undefined ? {} : { limits: limitsIn(limits) }),
  };
}

function limitsIn(text: string): LimitOptions {
  const parts = text.split(",").map((part) => /^\s*(\w+)=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? []);
  if (parts.some(([, name]) => name === undefined))
    throw new UsageError("OPTION_INVALID", `Expected --limits such as concurrency=8,requestsPerMinute=500, got ${shown(text, 200)}.`);
  return Object.fromEntries(parts.map(([, name = "", value]) => [name, Number(value)]));
}

/** The cells of `0,4,10-19`. */
function numbersIn(text: string): readonly number[] {
  return text.split(",").flatMap((one) => {
    const [, first = "", last = first] = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(one) ?? [];
    if (first === "" || Number(last) < Number(first))
      throw new UsageError("OPTION_INVALID", `Expected --cells to be numbers and ranges such as 0,4,10-19, got ${shown(text, 200)}.`);
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => Number(first) + n);
  });
}

export async function experimentMerge(session: Session, _flags: Flags, dir: string, ...given: readonly string[]): Promise<ExitCode> {
  const { cwd } = session.host;
  const out = resolve(cwd, dir);
  const found = await mergeParts(
    out,
    given.map((part) => resolve(cwd, part)),
  );
  const { total, done, failed } = found;
  const exitCode = done === total && failed === 0 ? 0 : 1;
  const next = `troupe experiment ${exitCode === 0 ? "table" : "status"} ${shellWord(relative(cwd, out) || ".")}`;
  const sentence = `${counted(done)} of ${plural(total, "run")} in ${shown(out)}${failed === 0 ? "" : `, ${counted(failed)} failed`}. See: ${next}`;
  await report(session, sentence, { type: "merged", out, ...found, exitCode });
  return exitCode;
}
