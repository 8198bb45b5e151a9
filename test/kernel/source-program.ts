import { isAbsolute } from "node:path";
import { rolldown } from "rolldown";

/**
 * A program made of the sources, in one text: nothing has to be built for it, and it starts as soon as Node.js does. It calls the `main` of the
 * file at `path` with its last argument, which is JSON, and is given to `node --input-type=module -` as input.
 */
export async function sourceProgram(path: string): Promise<string> {
  const bundled = await rolldown({ input: path, platform: "node", external: (id) => !id.startsWith(".") && !isAbsolute(id) });
  try {
    const { output } = await bundled.generate({ codeSplitting: false });
    return `${output[0].code}\nawait main(JSON.parse(process.argv.at(-1)));\n`;
  } finally {
    await bundled.close();
  }
}
