import { readFileSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import { root } from "./root.mjs";

/** Modules that only the benches use: built into `dist/inside`, which is not packed. */
const INSIDE = [
  "kernel/random",
  "memory/memory",
  "message/message",
  "message/message-queue",
  "runtime/record/apply",
  "runtime/record/run-log",
  "runtime/record/run-state",
  "runtime/snapshot/snapshot",
];

/**
 * Joined with what uses it, in its form for bundlers. What Node takes wakes the loader of CommonJS, which costs a quarter of what zod costs.
 */
const EMITTER = "eventemitter3";

/**
 * Joins the sources into one file for each entry point, for each example, and for what they share. Writes nothing.
 *
 * `import "troupe"` needs three shared files at once, because every file costs a program that loads it: `words` is what the command's
 * help needs too, `plain` what entry points need that do without zod, `core` is the rest. What is imported later stays apart.
 *
 * @param examples paths of programs, from the top of the house
 * @returns the text of each file, by its path below `dist`
 */
export async function bundle(examples) {
  const { rolldown } = await import("rolldown");
  const { exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const targets = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [target.default]));
  const entries = [...targets, bin.troupe].map((built) => built.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts"));
  const input = Object.fromEntries([
    ...[...entries, ...examples].map((path) => [path.replace(/\.ts$/, ""), join(root, path)]),
    ...INSIDE.map((path) => [`inside/${path}`, join(root, `src/${path}.ts`)]),
  ]);
  const early = new EarlyModules(entries.map((path) => normalize(join(root, path))));
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: "node",
    tsconfig: false,
    transform: { target: "es2023", typescript: { onlyRemoveTypeImports: true } },
    external: (id) => !id.startsWith(".") && !isAbsolute(id) && id !== EMITTER,
    resolve: { alias: { [EMITTER]: join(root, "node_modules/eventemitter3/dist/eventemitter3.esm.js") } },
    treeshake: { moduleSideEffects: false },
    // The path of each source above what it became would be a hundredth of what every program reads.
    experimental: { attachDebugInfo: "none" },
    plugins: [early.plugin],
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  try {
    const { output } = await bundled.generate({
      entryFileNames: "[name].js",
      chunkFileNames: "chunks/[name].js",
      // A process that runs while dist is built again must not find another export under an old letter.
      minifyInternalExports: false,
      comments: { jsdoc: false, legal: true, annotation: true },
      codeSplitting: {
        groups: [
          { name: "words", test: (id) => early.isForMain(id) && early.isForHelp(id) },
          { name: "plain", test: (id) => early.isForMain(id) && early.isPlain(id) },
          { name: "core", test: (id) => early.isForMain(id) },
        ],
      },
    });
    return new Map(output.map(({ fileName, code }) => [fileName, code]));
  } finally {
    await bundled.close();
  }
}

/** Modules that entry points load before any call. Known once the bundler has read everything. */
class EarlyModules {
  #entries;
  #imports = new Map();
  #reached = new Map();

  /** @param entries the main one first, the command last */
  constructor(entries) {
    this.#entries = entries;
  }

  get plugin() {
    const imports = this.#imports;
    return {
      name: "early-modules",
      buildEnd() {
        for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
      },
    };
  }

  isForMain(id) {
    return this.#from(this.#entries[0]).has(id);
  }

  isForHelp(id) {
    return this.#from(this.#entries.at(-1)).has(id);
  }

  /** True when an entry point that must not need zod needs it. */
  isPlain(id) {
    return this.#entries.some((entry) => this.#from(entry).has(id) && !this.#from(entry).has("zod"));
  }

  #from(start) {
    const known = this.#reached.get(start);
    if (known !== undefined) return known;
    const reached = new Set([start]);
    for (const id of reached) for (const next of this.#imports.get(id) ?? []) reached.add(next);
    this.#reached.set(start, reached);
    return reached;
  }
}
