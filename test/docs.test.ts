import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, manifest, root } from "./architecture/read-house.ts";
import { command as troupe } from "./cli/kept-run.ts";
import { shownCode } from "../tools/example-code.mjs";
import { anchors, codeBlocks, commands, links, words, type CodeBlock } from "./docs/markdown.ts";

const pages = [
  ...["README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", "BENCHMARKS.md"].filter((path) => existsSync(join(root, path))),
  ...filesBelow("docs", ".md"),
  ...filesBelow("skills", ".md"),
];
/** npm's own commands that need no script. */
const NPM_COMMANDS = ["install", "rebuild", "ci", "i", "link", "pack", "run", "start", "test", "init", "exec"];

describe.each(pages)("%s", (page) => {
  const text = read(page);

  it("shows only code that is run: each ts block is a part of an example, with its imports", () => {
    // The reference is made of declarations, and of examples that the compiler has checked.
    const blocks = page.startsWith("docs/reference/") ? [] : codeBlocks(text);
    expect(blocks.flatMap((block) => (/^(ts|typescript|js|javascript|mjs)$/.test(block.language) ? codeTrouble(page, block) : []))).toEqual(
      [],
    );
  });

  it("shows only commands that exist", async () => {
    const shell = codeBlocks(text).filter((block) => /^(sh|bash|shell|console)$/.test(block.language));
    for (const command of shell.flatMap((block) => commands(block)))
      expect([command, await commandTrouble(command)]).toEqual([command, []]);
  });

  it("names only files that are there", () => {
    const named = [...text.matchAll(/`((?:test|src|examples|tools|roles|actions|evaluation|demo)\/[\w./-]+)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("leads nowhere that is not there", () => {
    expect(links(text).flatMap((link) => linkTrouble(page, link))).toEqual([]);
  });
});

it.each(["docs/guide.md", ...filesBelow("docs/guides", ".md")])("%s opens with a program, after one paragraph at most", (page) => {
  const [title = "", ...rest] = read(page).split(/\n\n+/);
  const [opening = ""] = /^[^#|`>*-]|^`[^`]/.test(rest[0] ?? "") ? rest.slice(1) : rest;
  expect(title).toMatch(/^# .+$/);
  expect(opening.split("\n", 1)).toEqual([expect.stringMatching(/^```ts examples\//)]);
});

it("a decision has a number of its own, in its name and in its heading", () => {
  const decisions = filesBelow("docs/decisions", ".md");
  const numbers = decisions.map((path) => Number(/\/(\d{4})-/.exec(path)?.[1]));
  expect(decisions.length).toBeGreaterThan(40);
  expect(numbers.filter((number, place) => numbers.indexOf(number) !== place)).toEqual([]);
  expect(decisions.map((path) => Number(/^# (\d+)\. \w/.exec(read(path))?.[1]))).toEqual(numbers);
});

it("README.md and docs/design.md are among the pages", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/design.md"]));
});

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function codeTrouble(page: string, block: CodeBlock): string[] {
  const place = `${page}:${block.line}`;
  const [path = "", name] = block.from.split("#", 2);
  if (!/^(examples\/(research\/|ports\/)?|templates\/ts\/src\/)[\w.-]+\.ts$/.test(path))
    return [`${place}: the fence must say where the code is run: \`\`\`ts examples/NN-name.ts#region`];
  if (!existsSync(join(root, path))) return [`${place}: ${path} does not exist`];
  const source = read(path);
  const shown = shownCode(source, name);
  if (shown === undefined) return [`${place}: ${path} has no "// #region ${name}" that ends`];
  return shown === block.code.trim() ? [] : [`${place}: differs from ${block.from}; npm run reference writes it:\n${shown}`];
}

async function commandTrouble(command: string): Promise<readonly string[]> {
  const [program = "", ...args] = words(command);
  if (program === "npm") return npmTrouble(args);
  if (program === "troupe") return troupeTrouble(args);
  if (program === "node" || program === "bash") return fileTrouble(args);
  if (program === "npx" && args.includes(manifest.name)) return ["the package is not published"];
  return [];
}

async function npmTrouble([command = "", ...args]: readonly string[]): Promise<readonly string[]> {
  if (!NPM_COMMANDS.includes(command)) return [`npm has no command ${command}`];
  const script = command === "run" ? args[0] : ["start", "test"].includes(command) ? command : undefined;
  if (script !== undefined && manifest.scripts[script] === undefined) return [`package.json has no script ${script}`];
  const passed = args.indexOf("--");
  return command === "start" && passed !== -1 ? troupeTrouble(args.slice(passed + 1)) : [];
}

async function troupeTrouble(args: readonly string[]): Promise<readonly string[]> {
  const help = await helpOf(args);
  return args
    .filter((word) => /^--?[a-z]/i.test(word))
    .map((flag) => flag.replace(/=.*$/, ""))
    .filter((flag) => !new RegExp(`(^|[\\s,|])${flag}(?![\\w-])`).test(help))
    .map((flag) => `troupe has no ${flag}`);
}

/** Returns the help of the command, and of the commands it names below each other. */
async function helpOf(args: readonly string[]): Promise<string> {
  let help = await helpOnce([]);
  let last = help;
  for (const [nth, word] of args.entries()) {
    if (!/^[a-z]+$/.test(word) || !new RegExp(`^ +${word}\\b`, "m").test(last)) break;
    last = await helpOnce(args.slice(0, nth + 1));
    help += `\n${last}`;
  }
  return help;
}

async function helpOnce(args: readonly string[]): Promise<string> {
  const { code, stdout } = await troupe(root, [...args, "--help"]);
  expect([args, code]).toEqual([args, 0]);
  return stdout;
}

/** A file that a page starts must exist; one in dist, its source. */
function fileTrouble(args: readonly string[]): string[] {
  const file = args.find((word) => !word.startsWith("-"));
  if (file === undefined || !file.includes("/")) return [];
  const source = file.replace(/^\.\//, "").replace(/^dist\/(.*)\.js$/, "$1.ts");
  return existsSync(join(root, source)) ? [] : [`${source} does not exist`];
}

function linkTrouble(page: string, { path, anchor, line }: { path: string; anchor: string; line: number }): string[] {
  const target = path === "" ? page : posix.join(posix.dirname(page), path);
  const place = `${page}:${line}`;
  if (!existsSync(join(root, target))) return [`${place}: ${target} does not exist`];
  const isMissing = anchor !== "" && target.endsWith(".md") && !anchorsOf(target).has(anchor);
  return isMissing ? [`${place}: ${target} has no heading #${anchor}`] : [];
}

const anchorsByPage = new Map<string, ReadonlySet<string>>();

function anchorsOf(page: string): ReadonlySet<string> {
  const known = anchorsByPage.get(page) ?? anchors(read(page));
  anchorsByPage.set(page, known);
  return known;
}
