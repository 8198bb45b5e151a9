import { describe, expect, it } from "vitest";
import { region, shownCode, withExampleCode } from "../../tools/example-code.mjs";
import { anchors, codeBlocks, commands, links, words } from "./markdown.ts";

describe("codeBlocks", () => {
  it("reads language, origin, code and line", () => {
    expect(codeBlocks("# A\n\n```ts examples/a.ts#b\none\n\ntwo\n```\ntext\n```\nplain\n```\n")).toEqual([
      { language: "ts", from: "examples/a.ts#b", code: "one\n\ntwo", line: 3 },
      { language: "", from: "", code: "plain", line: 9 },
    ]);
  });

  it("takes the indentation of a list off, and a longer fence around a shorter one", () => {
    expect(codeBlocks("- x\n  ```sh\n  npm start\n  ```\n")[0]?.code).toBe("npm start");
    expect(codeBlocks("````md\n```ts\nx\n```\n````")).toEqual([{ language: "md", from: "", code: "```ts\nx\n```", line: 1 }]);
  });

  it("takes the rest of the page when a fence stays open", () => {
    expect(codeBlocks("```ts\none\ntwo")).toEqual([{ language: "ts", from: "", code: "one\ntwo", line: 1 }]);
  });
});

describe("links", () => {
  it("finds relative links with their anchors and lines", () => {
    expect(links('[a](docs/a.md)\n[b](#here) [c](<b c.md> "t") ![i](x.png)\n[d](a%20b.md#x)')).toEqual([
      { path: "docs/a.md", anchor: "", line: 1 },
      { path: "", anchor: "here", line: 2 },
      { path: "x.png", anchor: "", line: 2 },
      { path: "a b.md", anchor: "x", line: 3 },
    ]);
  });

  it("leaves out the web, mail and code", () => {
    expect(links("[a](https://a.b) [m](mailto:a@b) `[x](y.md)`\n```\n[z](z.md)\n```\n[q](q.md)")).toEqual([
      { path: "q.md", anchor: "", line: 5 },
    ]);
  });
});

describe("anchors", () => {
  it("makes them as GitHub does", () => {
    expect([...anchors("# The `Role`, told\n## A & B\n## A & B\n```\n# no\n```\n### [Link](x.md) here")]).toEqual([
      "the-role-told",
      "a--b",
      "a--b-1",
      "link-here",
    ]);
  });
});

describe("commands", () => {
  const block = (language: string, code: string) => ({ language, from: "", code, line: 1 });

  it("splits, joins and strips", () => {
    expect(
      commands(block("sh", '# first\nnpm ci && npm start # go\nTROUPE_BASE_URL=http://x KEY=1 troupe "a b" \\\n  --rounds 3\n')),
    ).toEqual(["npm ci", "npm start", 'troupe "a b" --rounds 3']);
  });

  it("leaves quoted signs alone", () => {
    expect(commands(block("sh", `troupe "a; b # c" | tee 'x && y'`))).toEqual([`troupe "a; b # c"`, "tee 'x && y'"]);
  });

  it("takes only what follows a prompt in a transcript", () => {
    expect(commands(block("console", "$ npm test\n12 passed\nnpm is quiet"))).toEqual(["npm test"]);
  });

  it("reads words with quotes", () => {
    expect(words(`troupe "Create a --game" --out 'a b' x`)).toEqual(["troupe", "Create a --game", "--out", "a b", "x"]);
  });
});

describe("region", () => {
  const source =
    "import x;\n  // #region outer\n  const a = 1;\n\n    // #region inner\n    const b = 2;\n    // #endregion\n  // #endregion\nend();\n// #region open\n";

  it("gives what stands between the marks, outdented, without other marks", () => {
    expect(region(source, "outer")).toBe("const a = 1;\n\n  const b = 2;");
    expect(region(source, "inner")).toBe("const b = 2;");
  });

  it("is undefined for a name that is not there or never ends", () => {
    expect(region(source, "oute")).toBeUndefined();
    expect(region(source, "open")).toBeUndefined();
  });
});

describe("shownCode", () => {
  const source = [
    'import { readFileSync } from "node:fs";',
    'import { type Role, Team, usd as dollars } from "troupe";',
    "// #region team",
    "const team = new Team({ budget: dollars(1) }); // readFileSync",
    'const text = "readFileSync";',
    "// #endregion",
    "// #region type",
    "const roles: Role[] = [];",
    "// #endregion",
    "// #region plain",
    "const path = node.readFileSync;",
    "// #endregion",
  ].join("\n");

  it("puts the imports that a region uses before it, each with the names it uses", () => {
    expect(shownCode(source, "team")).toBe(
      'import { Team, usd as dollars } from "troupe";\n\nconst team = new Team({ budget: dollars(1) }); // readFileSync\nconst text = "readFileSync";',
    );
    expect(shownCode(source, "type")).toBe('import type { Role } from "troupe";\n\nconst roles: Role[] = [];');
  });

  it("keeps an import of types, and takes no address for a comment", () => {
    const typed = 'import type { Address } from "node:net";\n// #region a\nconst url = `http://${(x as Address).port}`;\n// #endregion\n';
    expect(shownCode(typed, "a")).toBe('import type { Address } from "node:net";\n\nconst url = `http://${(x as Address).port}`;');
  });

  it("shows no import where none is used", () => {
    expect(shownCode(source, "plain")).toBe("const path = node.readFileSync;");
  });

  it("is undefined for a region that is not there", () => {
    expect(shownCode(source, "other")).toBeUndefined();
  });

  it("shows a whole file without marks", () => {
    expect(shownCode("// #region a\none();\n// #endregion\ntwo();\n", undefined)).toBe("one();\ntwo();");
  });

  it("replaces the blocks of a page that name their source, and leaves the others", () => {
    const page = "```ts examples/a.ts#type\nold\n```\n\n```sh\nls\n```\n\n```ts examples/a.ts#gone\nkept\n```\n";
    expect(withExampleCode(page, () => source)).toBe(
      page.replace("old", 'import type { Role } from "troupe";\n\nconst roles: Role[] = [];'),
    );
  });
});
