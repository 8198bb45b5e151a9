import { describe, expect, it } from "vitest";
import { checkSyntax } from "../../src/checks/syntax.ts";
import type { Fault } from "../../src/checks/verification.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { projectOf, sandbox } from "./project.ts";

async function faultsOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<Fault[]> {
  return (await checkSyntax({ root: projectOf(files), sandbox })).faults;
}

/** The files at fault with the beginnings of the messages. */
function told(faults: readonly Fault[]): string[] {
  return faults.map(({ kind, file, message }) => `${kind} ${file ?? ""}: ${message}`);
}

describe("checkSyntax", () => {
  it("finds no fault in what Node.js and Python can read", async () => {
    expect(
      await faultsOf({
        "package.json": `\uFEFF{ "type": "commonjs" }`,
        "cli.js": `#!/usr/bin/env node\nif (process.argv.length > 9) return;\nmodule.exports = await1 = 1;`,
        "a.mjs": `#!/usr/bin/env node\nimport "gone"; export const a = await 1;`,
        "esm/package.json": `{ "type": "module" }`,
        "esm/b.js": `export default import.meta.url;`,
        "bare/package.json": `{}`,
        "bare/c.js": `import fs from "node:fs"; fs;`,
        "d.py": `# -*- coding: latin-1 -*-\nasync def f():\n    await g()\n`,
        "tsconfig.json": `{ // comment\n }`,
        "tests/fixtures/bad.js": `this is broken on purpose`,
        "tests/bad.json": `{`,
        "node_modules/x/y.js": `not ours (`,
        "image.png.js.bin": new Uint8Array([0, 1, 2]),
        "data.json": `[1, "ü"]`,
      }),
    ).toEqual([]);
  });

  it("names each file that cannot be read, and the place", async () => {
    const faults = await faultsOf({
      "a.mjs": `const a = 1;\nconst a = 2;`,
      "b.cjs": `export const b = 1;`,
      "c.js": `function (`,
      "d.py": `def f(:\n    pass\n`,
      "e.json": `{ "a": 1, }`,
      "f.py": "x = 1\0",
      "g.mjs": new Uint8Array([0xff, 0xfe, 0x00]),
    });
    expect(told(faults)).toEqual([
      expect.stringMatching(/^syntax a\.mjs: a\.mjs:2\nconst a = 2;[^]*has already been declared/),
      expect.stringMatching(/^syntax b\.cjs: b\.cjs:1\nexport/),
      expect.stringMatching(/^syntax c\.js: c\.js:1\nfunction \(/),
      expect.stringMatching(/^syntax e\.json: SyntaxError/),
      expect.stringMatching(/^syntax g\.mjs: /),
      "syntax d.py: SyntaxError: invalid syntax, line 1: def f(:",
      expect.stringMatching(/^syntax f\.py: (ValueError|SyntaxError): source code (string )?cannot contain null bytes/),
    ]);
  });

  it("expects that a page loads from the disk what it names", async () => {
    const faults = await faultsOf({
      "index.html": `<!doctype html><!-- <script src="old.js"></script> -->
        <link rel="stylesheet" href="styles.css"><link rel=stylesheet href='gone.css?v=1'><link href="https://fonts.example/x.css" rel="stylesheet">
        <img src="data:image/png;base64,AA"><img src="logo%20a.png"><a href="nowhere.html">a</a>
        <script src="src/good.js"></script><script src="src/module.js"></script><script src="src/bad.js"></script>
        <script type="module" src="src/app.js"></script><script src="/abs.js"></script>
        <script>const x = ;</script><script type="application/json">{ "x": }</script><SCRIPT>var good = 1;</SCRIPT>`,
      "styles.css": "",
      "logo a.png": "",
      "src/good.js": "var a = 1;",
      "src/module.js": "export const b = 1;",
      "src/bad.js": "let (",
      "src/app.js": "import './x.js';",
    });
    expect(told(faults)).toEqual([
      `page index.html: It loads src/app.js with type="module". A browser refuses that from the disk. Use a classic script.`,
      "page index.html: It names /abs.js, which begins at the root of the disk. Use a relative path.",
      "syntax index.html: A script in it is no JavaScript: SyntaxError: Unexpected token ';'",
      "page index.html: It names gone.css?v=1, which is not there. A file that the product writes stands in .gitignore.",
      "page index.html: It loads https://fonts.example/x.css from the network. Use a file of the project.",
      expect.stringMatching(/^syntax src\/bad\.js: src\/bad\.js:1/),
      "syntax src/module.js: index.html loads it as a classic script, and it has import or export. Write it without them.",
    ]);
  });

  it("says nothing where nothing is run", async () => {
    const root = projectOf({ "a.mjs": "(" });
    expect(await checkSyntax({ root, sandbox: refusedSandbox("there is none", "Install it.") })).toMatchObject({ faults: [] });
  });
});
