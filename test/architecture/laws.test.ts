import { describe, expect, it } from "vitest";
import { undocumented, violations, type Law } from "./laws.ts";
import { ROOMS } from "./rooms.ts";

const ownNames = ["troupe", "troupe/testing"];
/** A small house that keeps every law; each test plants one violation in it. */
const sound: Readonly<Record<string, string>> = {
  "src/kernel/clock.ts": "export const now = (): number => Date.now();",
  "src/message/message.ts": 'import { now } from "../kernel/clock.ts";\nexport const sent = now;',
  "src/team/team.ts": 'import type { sent } from "../message/message.ts";\nexport const team = "team";\nexport type Sent = typeof sent;',
  "src/index.ts": 'export { team } from "./team/team.ts";',
  "src/adapters/openai.ts":
    'import OpenAI from "openai";\nimport { readFileSync } from "node:fs";\nexport const made = [OpenAI, readFileSync, process.env, new Date()];',
  "src/tools/shell.ts": 'import { open } from "../workspace/index.ts";\nexport const shell = open;',
  "src/workspace/index.ts": "export const open = 1;",
  "src/testing/index.ts": 'import { made } from "../adapters/openai.ts";\nexport const scripted = made;',
  "src/cli/main.ts":
    'import { scripted } from "../testing/index.ts";\nimport { Command } from "commander";\nconsole.log(scripted, Command, await import(String(1)));',
  "actions/write-code.ts":
    'import { team } from "../src/index.ts";\nimport { open } from "../src/workspace/index.ts";\nexport const written = [team, open];',
  "roles/engineer.ts": 'import { written } from "../actions/write-code.ts";\nexport const engineer = written;',
  "examples/01-hello.ts": 'import { team } from "troupe";\nimport { scripted } from "troupe/testing";\nconsole.log(team, scripted);',
  "test/team.test.ts": 'import { scripted } from "../src/testing/index.ts";\nexport const tested = scripted;',
};

/** The laws that break when files are added to the sound house, or replaced in it, and where. */
function broken(planted: Readonly<Record<string, string>>): string[] {
  return violations(new Map(Object.entries({ ...sound, ...planted })), ownNames).map(({ law, at }) => `${law} ${at}`);
}

interface Planted {
  readonly law: Law;
  readonly path: string;
  readonly text: string;
  readonly line?: number;
}

function plant(law: Law, path: string, text: string, line = 1): Planted {
  return { law, path, text, line };
}

const longLine = "export const x = 1;\n";

const plants: readonly Planted[] = [
  plant("room", "src/stray.ts", "export {};"),
  plant("room", "src/attic/box.ts", "export {};"),

  plant("arrow", "src/kernel/bad.ts", '\nimport { sent } from "../message/message.ts";\nexport const x = sent;', 2),
  plant("arrow", "src/message/bad.ts", 'import type { Sent } from "../team/team.ts";\nexport type X = Sent;'),
  plant("arrow", "src/message/bad.ts", 'export type X = import("../team/team.ts").Sent;'),
  plant("arrow", "src/message/bad.ts", 'export { team } from "../team/team.ts";'),
  plant("arrow", "src/message/bad.ts", 'export const x = (): unknown => import("../team/team.ts");'),
  plant("arrow", "src/message/bad.ts", 'import "../team/team.ts";'),
  plant("arrow", "src/team/bad.ts", 'import { made } from "../adapters/openai.ts";\nexport const x = made;'),
  plant("arrow", "src/team/bad.ts", 'import { team } from "../index.ts";\nexport const x = team;'),
  plant("arrow", "src/team/bad.ts", 'import { remoteRuns } from "../fleet/remote-runs.ts";\nexport const x = remoteRuns;'),
  plant("arrow", "src/team/bad.ts", 'import { scripted } from "../testing/index.ts";\nexport const x = scripted;'),
  plant("arrow", "src/index.ts", 'export { open } from "./workspace/index.ts";'),
  plant("arrow", "src/adapters/bad.ts", 'import { open } from "../workspace/index.ts";\nexport const x = open;'),
  plant("arrow", "src/adapters/bad.ts", 'import { team } from "../index.ts";\nexport const x = team;'),
  plant("arrow", "src/workspace/bad.ts", 'import { shell } from "../../src/cli/main.ts";\nexport const x = shell;'),
  plant("arrow", "src/inspector/bad.ts", 'import { scripted } from "../testing/index.ts";\nexport const x = scripted;'),
  plant("arrow", "actions/bad.ts", 'import { engineer } from "../roles/engineer.ts";\nexport const x = engineer;'),
  plant("arrow", "actions/bad.ts", 'import { team } from "../src/team/team.ts";\nexport const x = team;'),
  plant("arrow", "roles/bad.ts", 'import { scripted } from "../src/testing/index.ts";\nexport const x = scripted;'),
  plant("arrow", "roles/bad.ts", 'import { main } from "../src/cli/main.ts";\nexport const x = main;'),
  plant("arrow", "src/message/bad.ts", 'import { now } from "../kernel/clock.js";\nexport const x = now;'),
  plant("arrow", "src/message/bad.ts", 'import { now } from "../../test/team.test.ts";\nexport const x = now;'),
  plant("arrow", "examples/02-bad.ts", 'import { team } from "../src/index.ts";\nconsole.log(team);'),
  plant("arrow", "examples/02-bad.ts", 'import { team } from "troupe/inner";\nconsole.log(team);'),

  plant("package", "src/model/bad.ts", 'import OpenAI from "openai";\nexport const x = OpenAI;'),
  plant("package", "src/model/bad.ts", 'import { readFileSync } from "node:fs";\nexport const x = readFileSync;'),
  plant("package", "src/model/bad.ts", 'import { createHash } from "crypto";\nexport const x = createHash;'),
  plant("package", "src/memory/bad.ts", 'import Index from "minisearch";\nexport const x = Index;'),
  plant("package", "src/model/bad.ts", 'export const x = (): unknown => import("minisearch");'),
  plant("package", "src/workspace/bad.ts", 'import { Command } from "commander";\nexport const x = Command;'),
  plant("package", "actions/bad.ts", 'import { rm } from "node:fs/promises";\nexport const x = rm;'),
  plant("package", "src/model/bad.ts", 'import type { X } from "@scope/name/deep";\nexport type Y = X;'),

  plant("computed-import", "src/adapters/bad.ts", "export const x = (name: string): unknown => import(name);"),
  plant("computed-import", "examples/02-bad.ts", "await import(String(1));"),

  plant("size", "src/model/bad.ts", longLine.repeat(401)),
  plant("file-name", "src/model/utils.ts", "export {};"),
  plant("file-name", "src/model/string-helpers.ts", "export {};"),
  plant("file-name", "src/model/types.ts", "export {};"),
  plant("file-name", "test/common.ts", "export {};"),
  plant("file-name", "src/model/ChatModel.ts", "export {};"),
  plant("file-name", "src/model/chat_model.ts", "export {};"),

  plant("any", "src/model/bad.ts", "export const x = (y: readonly any[]): number => y.length;"),
  plant("any", "test/bad.test.ts", "export const x = 1 as any;"),
  plant("default-export", "src/model/bad.ts", "export default 1;"),
  plant("default-export", "src/model/bad.ts", "const x = 1;\nexport { x as default };", 2),
  plant("enum", "src/model/bad.ts", "export enum Colour { Red }"),
  plant("enum", "src/model/bad.ts", "declare const enum Colour { Red }\nexport {};"),
  plant("namespace", "src/model/bad.ts", "export namespace Colour { export const red = 1; }"),
  plant("namespace", "src/model/bad.ts", 'export {};\ndeclare module "../kernel/clock.ts" { interface Clock { readonly x: 1 } }', 2),
  plant("namespace", "examples/02-bad.ts", "namespace Colour { export const red = 1; }\nconsole.log(Colour.red);"),
  plant("export-all", "src/model/bad.ts", 'export * from "../kernel/clock.ts";'),
  plant("export-all", "src/model/bad.ts", 'export * as clock from "../kernel/clock.ts";'),

  plant("machine", "src/model/bad.ts", "export const x = Date.now();"),
  plant("machine", "src/kernel/bad.ts", 'export const x = (): void => console.error("x");'),
  plant("machine", "src/model/bad.ts", "export const x = new Date();"),
  plant("machine", "src/model/bad.ts", "export const x = Date();"),
  plant("machine", "src/model/bad.ts", "export const x = Math.random();"),
  plant("machine", "src/model/bad.ts", "export const x = () => setTimeout(() => {}, 1);"),
  plant("machine", "src/model/bad.ts", "export const x = () => globalThis.setInterval(() => {}, 1);"),
  plant("machine", "src/model/bad.ts", "export const x = process.env;"),
  plant("machine", "src/model/bad.ts", "export const x = { process };"),
  plant("machine", "src/model/bad.ts", "export const x = () => console.log(1);"),
  plant("machine", "src/model/bad.ts", "export const x = AbortSignal.timeout(1);"),
  plant("machine", "src/model/bad.ts", "export const x = `${performance.now()}`;"),
  plant("machine", "src/model/bad.ts", "function inner(process: number) { return process; }\nexport const x = [inner, process];", 2),
  plant("machine", "src/model/bad.ts", 'import { randomUUID } from "node:crypto";\nexport const x = randomUUID;'),
  plant("machine", "src/index.ts", "export const x = setImmediate;"),
  plant("machine", "actions/bad.ts", "export const x = (process as unknown);"),
  plant("machine", "roles/bad.ts", "export class X { at = fetch; }"),

  plant("unfinished", "src/model/bad.ts", "export const x = 1; // TODO: more"),
  plant("unfinished", "src/model/bad.ts", "\n/**\n * FIXME\n */\nexport const x = 1;", 2),
  plant("unfinished", "test/bad.test.ts", "/* XXX */ export const x = 1;"),
];

describe("violations", () => {
  it("finds none in a sound house", () => {
    expect(broken({})).toEqual([]);
  });

  it.each(plants)("reports $law: $path: $text", ({ law, path, text, line }) => {
    const place = ["room", "size", "file-name"].includes(law) ? path : `${path}:${line}`;
    expect(broken({ [path]: text })).toEqual([`${law} ${place}`]);
  });

  it("reports a cycle of values once, with its files", () => {
    const planted = {
      "src/model/one.ts": 'import { two } from "./two.ts";\nexport const one = (): unknown => two;',
      "src/model/two.ts": 'import { three } from "./three.ts";\nexport const two = (): unknown => three;',
      "src/model/three.ts": 'import { type one } from "./one.ts";\nexport const three = 3;\nexport type One = typeof one;',
    };
    const found = violations(new Map(Object.entries({ ...sound, ...planted })), ownNames);
    expect(found).toEqual([{ law: "cycle", at: "src/model/one.ts", what: "src/model/one.ts <-> src/model/three.ts <-> src/model/two.ts" }]);
  });

  it("reports a file that imports itself", () => {
    expect(broken({ "src/model/self.ts": 'import { self } from "./self.ts";\nexport { self };' })).toEqual(["cycle src/model/self.ts"]);
  });

  it("sees no cycle where one import is erased or deferred", () => {
    expect(
      broken({
        "src/model/one.ts": 'import { two } from "./two.ts";\nexport const one = (): unknown => two;',
        "src/model/two.ts":
          'import type { one } from "./one.ts";\nexport const two = async (): Promise<typeof one> => (await import("./one.ts")).one;',
      }),
    ).toEqual([]);
  });

  it("reports a median that grew too large", () => {
    const long = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`src/model/long-${n}.ts`, longLine.repeat(150)]));
    expect(broken(long)).toEqual(["median src, actions, roles"]);
    expect(broken(Object.fromEntries(Object.entries(long).map(([path, text]) => [path, text.slice(longLine.length)])))).toEqual([]);
  });

  it("allows 400 lines", () => {
    expect(broken({ "src/model/long.ts": longLine.repeat(400) })).toEqual([]);
  });

  it("does not mistake words for the machine, or text for code", () => {
    const text = `
      import { createHash } from "node:crypto";
      export interface Model { process(): void; fetch?: typeof fetch; readonly console: string }
      export const x = (model: Model): unknown => [model.process, model["console"], { process: 1, Date: 2 }, new Date(0), "Date.now()", /TODO/];
      export const said = \`TODO: \${createHash("sha256").digest("hex")} // FIXME \`;
      export function ask(fetch: (url: string) => string): string { return [1].map(() => fetch("https://a.b/c")).join(); }
      export function tick({ setTimeout: later, console }: { setTimeout: number; console: string }): unknown { return [later, console]; }
      export class Box { process = 1; static console(): number { return new Box().process; } }
      for (const process of [1]) void process;
      try { void 0; } catch (console) { void console; }
    `;
    expect(broken({ "src/model/words.ts": text })).toEqual([]);
  });

  it("throws on a file it cannot read", () => {
    expect(() => broken({ "src/model/bad.ts": "export const = 1;" })).toThrow(/Parse/i);
  });

  it("knows every room of the core in order", () => {
    const core = ROOMS.filter((room) => room.kind === "core").map((room) => room.name);
    const upward = core.flatMap((from, index) => core.slice(index + 1).map((to) => ({ from, to })));
    const found = upward.map(({ from, to }) =>
      broken({
        [`src/${to}/there.ts`]: "export const there = 1;",
        [`src/${from}/here.ts`]: `import { there } from "../${to}/there.ts";\nexport const here = there;`,
      }),
    );
    expect(found).toEqual(upward.map(({ from }) => [`arrow src/${from}/here.ts:1`]));
    const downward = upward.map(({ from, to }) =>
      broken({
        [`src/${from}/there.ts`]: "export const there = 1;",
        [`src/${to}/here.ts`]: `import { there } from "../${from}/there.ts";\nexport const here = there;`,
      }),
    );
    expect(downward.flat()).toEqual([]);
  });
});

describe("undocumented", () => {
  const files = new Map([
    [
      "src/index.ts",
      'export { one, two as second } from "./a/one.ts";\nexport type { Three } from "./a/one.ts";\n/** Four. */\nexport const four = 4;\nexport const five = 5;\nexport { six } from "./a/six.ts";',
    ],
    [
      "src/a/one.ts",
      "/** One. */\nexport function one(): number;\nexport function one(): number { return 1; }\nexport const two = 2;\n/* not a doc comment */\nexport interface Three { readonly a: 1 }",
    ],
    ["src/a/six.ts", 'import { seven } from "./seven.ts";\nexport { seven as six } from "./seven.ts";\nexport const x = seven;'],
    ["src/a/seven.ts", "/** Seven. */\nconst seven = 7;\n\nexport { seven };"],
  ]);

  it("names what has no doc comment, through files that pass it on", () => {
    expect(undocumented(files, "src/index.ts")).toEqual(["second", "Three", "five"]);
  });

  it("names an export that leads nowhere", () => {
    expect(undocumented(new Map([["src/index.ts", 'export { one } from "./gone.ts";']]), "src/index.ts")).toEqual(["one"]);
  });

  it("tells an entry point that is missing", () => {
    expect(undocumented(files, "src/gone.ts")).toEqual(["src/gone.ts does not exist"]);
  });
});
