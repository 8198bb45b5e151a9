import { describe, expect, it } from "vitest";
import { pageScripts } from "../../src/checks/page-scripts.ts";
import { projectOf } from "./project.ts";

describe("the scripts of a page", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      "are those that it names",
      {
        "index.html": `<script src='a.js?v=1'></script><SCRIPT defer src=b/c.js></SCRIPT><script>d()</script>`,
        "a.js": "",
        "b/c.js": "",
        "d.js": "",
      },
      ["a.js", "b/c.js"],
    ],
    [
      "and what those import",
      {
        "web/p.htm": `<script type="module" src="./a.js"></script>`,
        "web/a.js": `import x from "./b.mjs";\nexport { y } from "../c.js"; import "node:fs";`,
        "web/b.mjs": `import("./d.js")`,
        "c.js": `import "./web/a.js"`,
        "web/d.js": "",
      },
      ["c.js", "web/a.js", "web/b.mjs", "web/d.js"],
    ],
    [
      "and those below the root of a server",
      { "public/index.html": `<script src="/js/a.js"></script>`, "public/js/a.js": "", "js/b.js": "" },
      ["public/js/a.js"],
    ],
    [
      "and none that are elsewhere",
      {
        "index.html": `<script src="https://a.test/a.js"></script><script src="../../a.js"></script><script src="gone.js"></script>`,
        "a.js": "",
      },
      [],
    ],
  ])("%s", async (_what, files, scripts) => {
    const found = await pageScripts(projectOf(files), Object.keys(files));
    expect([...found].sort()).toEqual(scripts);
  });
});
