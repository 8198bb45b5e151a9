import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { sqlite } from "../../src/adapters/sqlite.ts";
import { main } from "../../src/cli/program.ts";
import { nextMacrotask, systemClock } from "../../src/kernel/clock.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { openaiStub, type OpenAIStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { fakeHost, type FakeHost, type FakeOptions, scratchFolder } from "./fake-host.ts";

/** A new folder to be in. */
export function freshFolder(): string {
  return scratchFolder();
}

/** The input of a command; the rest is a plain pipe. */
export interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** The end of a command and its output. */
export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end inside this process, as the built one does it in one of its own. */
export async function command(cwd: string, words: readonly string[], { env = {}, stdin = "" }: Given = {}): Promise<Said> {
  const host = fakeHost({ cwd, clock: systemClock, env: { PATH: process.env["PATH"] ?? "", ...env } });
  host.stdin.end(stdin);
  const code = await main(host, words);
  await nextMacrotask();
  return { code, stdout: host.stdout.text, stderr: host.stderr.text };
}

/** Runs a command that ends with a code, and whose output has something that matches. */
export async function expectEnd(
  cwd: string,
  words: readonly string[],
  code: number,
  output: string | RegExp = "",
  given: Given = {},
): Promise<Said> {
  const said = await command(cwd, words, given);
  const text = said.stdout + said.stderr;
  expect({ words, code: said.code, text }).toMatchObject({ words, code, text: matching(output) });
  return said;
}

/** Runs a command that is refused with 2, for a reason. */
export async function expectRefusal(cwd: string, words: readonly string[], reason: string | RegExp, given: Given = {}): Promise<Said> {
  const said = await command(cwd, words, given);
  expect({ words, ...said }).toMatchObject({ words, code: 2, stderr: matching(reason) });
  return said;
}

function matching(text: string | RegExp): string {
  return (typeof text === "string" ? expect.stringContaining(text) : expect.stringMatching(text)) as string;
}

/** A new folder with these files; `~/` begins one of the config folder of the home beside it. */
export function placed(files: Readonly<Record<string, string>> = {}) {
  const [cwd, home] = [freshFolder(), freshFolder()];
  for (const [name, text] of Object.entries(files)) {
    const path = name.startsWith("~/") ? join(home, ".config/troupe", name.slice(2)) : join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { cwd, home, env: { HOME: home } };
}

/** A new folder whose store has what some work writes into it. */
export async function storeWith(work: (journal: Journal, cwd: string) => Promise<unknown>): Promise<string> {
  const cwd = freshFolder();
  mkdirSync(join(cwd, ".troupe"));
  const journal = sqlite({ path: join(cwd, ".troupe/runs.db") });
  await work(journal, cwd);
  await journal.close();
  return cwd;
}

/** A folder in which the bundled to-do list was begun, without its tests, and stopped after some rounds. */
export async function stoppedRun(rounds = 2, ...more: readonly string[]): Promise<{ readonly cwd: string; readonly id: string }> {
  const cwd = freshFolder();
  await expectEnd(cwd, ["demo", "todo", "--quiet", "--no-run-tests", "--seed", "1", "--rounds", String(rounds), ...more], 4);
  return { cwd, id: await newestIn(cwd) };
}

/** The words that let the waterfall write the small project with a server. */
export function greeting(url: string, ...more: readonly string[]): readonly string[] {
  return ["Greet me on a page", "--crew", "waterfall", "--base-url", url, "--sandbox", "none", ...more];
}

/** A host whose person sits at a terminal. */
export function terminalHost(options: FakeOptions = {}): FakeHost {
  return fakeHost({ isTTY: true, cwd: freshFolder(), clock: systemClock, env: { PATH: process.env["PATH"] ?? "" }, ...options });
}

export function git(cwd: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"];
  return execFileSync("git", ["-C", cwd, ...who, ...args], { encoding: "utf8" }).trim();
}

/** A reply that calls a tool. */
export function calls(name: string, args: object, text = ""): StubReply {
  return { text, toolCalls: [{ name, arguments: JSON.stringify(args) }] };
}

/** A server that answers by how many results of tools it has seen. */
export function serving(...replies: readonly StubReply[]): Promise<OpenAIStub> {
  const results = ({ messages }: OpenAIBody): number => messages.filter(({ role }) => role === "tool").length;
  return openaiStub({ handler: (body) => replies[results(body)] ?? { text: "nothing is left to do" } });
}

/** The options that reach a server. */
export const reach = (stub: OpenAIStub): readonly string[] => ["--base-url", stub.url, "--model", "stub-1"];

/** The ids of the runs that are kept in a folder, the newest first. */
export async function idsIn(cwd: string): Promise<readonly string[]> {
  const { stdout } = await command(cwd, ["runs", "ls", "--json"]);
  return linesIn(stdout).map((line) => (line as { id: string }).id);
}

/** The id of the newest run that is kept in a folder. */
export async function newestIn(cwd: string): Promise<string> {
  return (await idsIn(cwd))[0] ?? "";
}

/** Lines of JSON as values. */
export function linesIn(stdout: string): readonly unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

/** The events among lines of JSON. */
export function eventsIn(stdout: string): readonly RunEvent[] {
  return linesIn(stdout).filter((line): line is RunEvent => typeof (line as { seq?: unknown }).seq === "number");
}

/** The contents of the files of a project, without its history. */
export function contentsOf(root: string): Readonly<Record<string, string>> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !/^\.(git|troupe)\//.test(path));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** Returns the heading of a question, which says its task. */
export function taskOf({ messages }: OpenAIBody): string {
  for (const { role, content } of messages) {
    const heading = role === "user" && typeof content === "string" ? /^# (.+)$/m.exec(content)?.[1] : undefined;
    if (heading !== undefined) return heading;
  }
  return "";
}
