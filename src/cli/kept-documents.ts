import { readFile, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import type { KeptDocuments } from "../../actions/company/specify.ts";
import { ACCEPTANCE_FILE, newestOrder, orderDocuments, REQUIREMENT_FILE } from "../../actions/company/work-order.ts";
import { ifThere } from "../kernel/system-error.ts";
import type { Message } from "../message/message.ts";
import { makeOwnFolder, withHeld } from "../workspace/held-folder.ts";
import type { Workspace } from "../workspace/workspace.ts";

function besidePath(path: string): string {
  return `.troupe/${basename(path)}`;
}

export async function documentsBeside(workspace: Workspace, root: string): Promise<KeptDocuments | undefined> {
  if ((await workspace.read(ACCEPTANCE_FILE)) !== undefined) return undefined;
  const beside = (path: string): Promise<string | undefined> => ifThere(readFile(join(root, besidePath(path)), "utf8"));
  return { requirement: await beside(REQUIREMENT_FILE), acceptance: await beside(ACCEPTANCE_FILE) };
}

export async function keepDocuments(root: string, messages: readonly Message[]): Promise<void> {
  const order = newestOrder({ get: () => messages });
  if (order?.isBeside !== true) return;
  const real = await realpath(root);
  // It keeps git from seeing them.
  await makeOwnFolder(real, "kept");
  for (const { path, content } of orderDocuments(order))
    await withHeld(real, besidePath(path), true, (file) => file.replace(Buffer.from(`${content}\n`)));
}
