import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Joins the file of its last argument with what it imports, and prints it. */
const JOIN = `
import { isAbsolute } from "node:path";
import { rolldown } from "rolldown";
const bundled = await rolldown({ input: process.argv.at(-1), platform: "node", external: (id) => !id.startsWith(".") && !isAbsolute(id) });
const { output } = await bundled.generate({ codeSplitting: false });
await bundled.close();
process.stdout.write(output[0].code);
`;

/**
 * A program made of the sources, in one text: nothing has to be built for it, and it starts as soon as Node.js does. It calls the `main` of the
 * file at `path` with its last argument, which is JSON, and is given to `node --input-type=module -` as input.
 *
 * Another process joins it: the memory that rolldown takes would stay with the tests, where each program they start costs more of it.
 */
export async function sourceProgram(path: string): Promise<string> {
  const words = ["--input-type=module", "-e", JOIN, path];
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root, maxBuffer: 64 * 1024 ** 2 });
  return `${stdout}\nawait main(JSON.parse(process.argv.at(-1)));\n`;
}
