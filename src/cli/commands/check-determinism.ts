import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { findNondeterminism } from "../../checks/determinism.ts";
import { UsageError } from "../../kernel/errors.ts";
import { thrownText } from "../../kernel/value-text.ts";
import type { ExitCode } from "../errors.ts";
import { printLines } from "../output.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";

/** `troupe check --determinism <file>`: tells what makes the runs of a program differ. Ends with 1 when there is something. */
export async function checkDeterminism(session: Session, file: string | undefined): Promise<ExitCode> {
  if (file === undefined)
    throw new UsageError("OPTION_INVALID", "Expected a program to check, got none. Name a file: troupe check --determinism study.js");
  const text = await readFile(resolve(session.host.cwd, file), "utf8").catch((cause: unknown) => {
    const why = shown(thrownText(cause), 200);
    throw new UsageError("FILE_UNREADABLE", `Expected a program to check in "${shown(file, 200)}", but ${why}. Name a file.`, { cause });
  });
  const faults = await findNondeterminism(text);
  const exitCode = faults.length === 0 ? 0 : 1;
  if (session.json !== undefined) await session.json.write({ type: "determinism", file, exitCode, faults });
  else if (faults.length === 0)
    await printLines(session, [
      "Nothing in the roles, experiments, policies of edges and schedulers of this file differs from run to run, as far as its own text shows.",
    ]);
  else
    await printLines(
      session,
      faults.map(({ line, column, text: said }) => `${shown(file, 200)}:${line}:${column}  ${said}`),
    );
  return exitCode;
}
