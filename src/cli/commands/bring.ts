import { resolve } from "node:path";
import { UsageError } from "../../kernel/errors.ts";
import { nameOf, restoreProject } from "../../fleet/run-project.ts";
import { fileWorkspace } from "../../workspace/file-workspace.ts";
import { folderName } from "../company.ts";
import type { ExitCode } from "../errors.ts";
import { withFleet } from "../fleet-place.ts";
import { recordedRun } from "../fleet-run.ts";
import { workerFolders } from "../moving-workspaces.ts";
import { invalidOption } from "../option-values.ts";
import { report } from "../output.ts";
import { plural } from "../screen/amounts.ts";
import { shown } from "../screen/text.ts";
import type { Session } from "../session.ts";
import type { Flags } from "../settings.ts";

/** `troupe bring <id>`: writes the project of a run into a folder here. The run goes on where it is. */
export function bring(session: Session, id: string, flags: Flags): Promise<ExitCode> {
  if (flags.out === "") throw invalidOption("--out", "a folder", "");
  return withFleet<ExitCode>(session, flags, async ({ journal }) => {
    const { host, screen, interruptions } = session;
    const { signal } = interruptions;
    const runId = await recordedRun(journal, id);
    const root = resolve(host.cwd, flags.out ?? nameOf(runId));
    const { moving } = await workerFolders(session, flags, screen.logger);
    if (moving === undefined) await restoreProject(root, { runId, journal, stored: undefined, signal });
    else await moving.copy(runId, journal, root, { signal });
    const files = (await fileWorkspace({ root, git: false }).list()).length;
    const name = shown(runId, 60);
    if (files === 0) {
      const hint = moving === undefined ? " Files that commands made come with --workspaces." : "";
      throw new UsageError("PROJECT_EMPTY", `Expected a run with files, but ${name} has none so far.${hint}`);
    }
    const told = `The project of ${name} is in ${shown(folderName(host, root))}, with ${plural(files, "file")}.`;
    await report(session, told, { type: "brought", run: runId, folder: root, files });
    return 0;
  });
}
