import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../../src/kernel/json.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { editorTool } from "../../src/tools/editor.ts";
import { fileSearchTool } from "../../src/tools/file-search.ts";
import { planningTool } from "../../src/tools/planning.ts";
import { webFetchTool } from "../../src/tools/web-fetch.ts";
import { webSearchTool } from "../../src/tools/web-search.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { call } from "./tool-kit.ts";
import { tries } from "../long.ts";

const outside = scratchFolder();
writeFileSync(join(outside, "secret"), "secret-canary");
const root = join(outside, "project");
mkdirSync(join(root, "src"), { recursive: true });
writeFileSync(join(root, "src", "a.txt"), "one\ntwo\n");
symlinkSync(outside, join(root, "out"));
symlinkSync(join(outside, "secret"), join(root, "link"));
const workspace = fileWorkspace({ root, git: false });

const path = fc.oneof(
  fc.constantFrom(
    "src/a.txt",
    "src",
    ".",
    "..",
    "../secret",
    "out/secret",
    "link",
    "/etc/passwd",
    "",
    "src/../../secret",
    "src\\..\\..\\secret",
    "a\0b",
    "%2e%2e/secret",
    "__proto__",
    "constructor/prototype",
    ".git/config",
    "\u202esrc",
  ),
  fc.array(fc.constantFrom("..", ".", "src", "out", "a.txt", "é", "con", " ", "~"), { maxLength: 5 }).map((parts) => parts.join("/")),
  fc.string({ unit: "binary", maxLength: 30 }),
);
const url = fc.oneof(
  path,
  fc.webUrl(),
  fc.ipV4().map((ip) => `http://${ip}/`),
  fc.ipV6().map((ip) => `http://[${ip}]/`),
  fc.integer({ min: 0 }).map((n) => `http://${n}/`),
);
const value: fc.Arbitrary<unknown> = fc.oneof(
  path,
  url,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.oneof(path, fc.integer()), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
);

const tools: readonly Tool[] = [
  editorTool({ workspace }),
  fileSearchTool({ workspace }),
  planningTool(),
  // Names mean a private place, so that nothing leaves this machine and nothing may be reached.
  webFetchTool({ resolve: () => Promise.resolve([{ address: "10.0.0.1", family: 4 }]) }),
  webSearchTool({
    providers: [
      { name: "Echo", search: ({ text }) => Promise.resolve({ kind: "found", hits: [{ title: text, url: text, snippet: text }] }) },
    ],
  }),
];

/** The words of a program that stumbled, rather than of one that refuses. */
const STUMBLED = /TypeError|RangeError|is not a function|Cannot read|Cannot access|undefined|\[object/;

it.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s takes whatever a model writes, and answers in words",
  { tags: "numbers" },
  async (_name, tool) => {
    const members = Object.entries(
      (tool.spec.parameters as { readonly properties: Record<string, { readonly enum?: readonly string[] }> }).properties,
    );
    const args = fc.record(
      Object.fromEntries(
        members.map(([name, { enum: allowed }]) => [
          name,
          allowed === undefined ? fc.oneof({ weight: 3, arbitrary: path }, value) : fc.constantFrom(...allowed),
        ]),
      ),
      { requiredKeys: members.filter(([, { enum: allowed }]) => allowed !== undefined).map(([name]) => name) },
    );
    await fc.assert(
      fc.asyncProperty(args, async (written) => {
        if (tool.name === "web_fetch" && isPublic(written)) return;
        const { outcome, result } = await call(tool, written as Json);
        expect(["ok", "failed", "invalid"]).toContain(outcome);
        expect(result.error ?? "").not.toMatch(STUMBLED);
        expect(JSON.stringify(result)).not.toContain("secret-canary");
      }),
      { numRuns: tries(134, 1_600) },
    );
    expect(readdirSync(outside).sort()).toEqual(["project", "secret"]);
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret-canary");
  },
);

/** Literal addresses are no names: those of the internet are left in peace. */
function isPublic({ url: written }: Readonly<Record<string, unknown>>): boolean {
  return typeof written === "string" && URL.canParse(written) && /^(\[|[\d.]+$)/.test(new URL(written).hostname);
}
