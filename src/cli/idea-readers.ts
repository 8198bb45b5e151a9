import { resolve } from "node:path";
import { UsageError } from "../kernel/errors.ts";
import type { Host } from "./host.ts";
import type { IdeaReaders } from "./idea.ts";
import { shown } from "./screen/text.ts";
import { fileStart, firstBytes, isEndless } from "./text-file.ts";

/** Reads ideas from files and from standard input. */
export function readersOf(host: Host): IdeaReaders {
  return {
    async file(path, limit) {
      const place = resolve(host.cwd, path);
      if (await isEndless(place)) throw endless(path);
      return fileStart(place, limit);
    },
    stdin: (limit) => firstBytes(host.stdin, limit),
  };
}

function endless(path: string): UsageError {
  const file = shown(path, 200);
  return new UsageError(
    "IDEA_UNREADABLE",
    `Expected to read the idea from a regular file, but "${file}" is a pipe, a device or a socket. Read it as input: troupe - < ${file}`,
  );
}
