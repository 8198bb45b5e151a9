import { resolve } from "node:path";
import type { RunWorkspaces } from "../fleet/index.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import type { ObjectStore } from "../kernel/object-store.ts";
import type { Flags } from "./options.ts";
import type { Session } from "./session.ts";

const FOLDER = ".troupe/workspaces";
const HINT = "Say file:/shared/dir, or s3://bucket/prefix?endpoint=https://host&region=name.";

/** The folders of the runs of a worker. */
export interface WorkerFolders {
  readonly workspaces: Pick<RunWorkspaces, "folderOf">;
  /** Moves them; undefined where they stay on this machine. */
  readonly moving: RunWorkspaces | undefined;
}

/** The folders of runs below `--folder`, which `--workspaces` moves. @throws UsageError `OPTION_INVALID` */
export async function workerFolders({ host }: Session, flags: Flags, logger: Logger): Promise<WorkerFolders> {
  const { workspaces } = flags;
  const folder = resolve(host.cwd, flags.folder ?? FOLDER);
  if (workspaces === undefined) {
    const { runFolder } = await import("../fleet/run-project.ts");
    return { workspaces: { folderOf: (runId) => runFolder(folder, runId) }, moving: undefined };
  }
  const objects = await objectsAt(workspaces, host.cwd, host.env);
  const { runWorkspaces } = await import("../fleet/index.ts");
  const moving = runWorkspaces({ objects, folder, logger });
  return { workspaces: moving, moving };
}

async function objectsAt(text: string, cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<ObjectStore> {
  const { fileObjects, s3Objects } = await import("../adapters/objects.ts");
  if (/^file:./.test(text)) return fileObjects({ dir: resolve(cwd, text.slice("file:".length)) });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The text is not shown: it may be an address with keys.
  if (url?.protocol !== "s3:" || url.username !== "")
    throw new UsageError("OPTION_INVALID", `Expected --workspaces as an address, got another text. ${HINT}`);
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "", AWS_SESSION_TOKEN: sessionToken } = env;
  if (accessKeyId === "" || secretAccessKey === "") {
    throw new UsageError(
      "OPTION_INVALID",
      "Expected the keys of the account in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, got none. Set both.",
    );
  }
  const region = url.searchParams.get("region") ?? env["AWS_REGION"] ?? "us-east-1";
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
  const session = sessionToken === undefined || sessionToken === "" ? {} : { sessionToken };
  return s3Objects({
    endpoint,
    region,
    bucket: url.hostname,
    ...(prefix === "" ? {} : { prefix }),
    credentials: { accessKeyId, secretAccessKey, ...session },
  });
}
