import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub, type OpenAIStub } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { command, expectEnd, expectRefusal, freshFolder, linesIn, newestIn, placed, type Said } from "./kept-run.ts";

const CREW = `
name: desk
rounds: 6
roles:
  - name: Rita
    actions: [{ name: Draft, prompt: "Draft: {{text}}" }]
  - name: Emil
    model: strict-1
    actions: [{ name: Polish, on: Draft, prompt: "Polish: {{text}}" }]
`;

/** A server that answers with the last words it was told. */
function echoing(): Promise<OpenAIStub> {
  return openaiStub({
    handler: ({ messages, model }: OpenAIBody) => ({ text: `${model} read <${JSON.stringify(messages.at(-1)?.content).slice(1, -1)}>` }),
  });
}

const free = ["--price", "0,0"] as const;
const reach = (stub: OpenAIStub): readonly string[] => ["--base-url", stub.url, "--model", "stub-1", ...free];

const folderWith = (text: string, name: string = "company.yaml"): string => placed({ [name]: text }).cwd;

/** The user names the model of the crew's second role. */
const env = { TROUPE_MODELS: JSON.stringify({ "strict-1": {} }) };
const run = (cwd: string, stub: OpenAIStub, ...more: readonly string[]): Promise<Said> =>
  command(cwd, ["run", "--crew", "company.yaml", "news", "--allow-unpriced", ...reach(stub), ...more], { env });

describe("troupe run --crew", () => {
  it("lets a crew of a file work, each role with its model, and prints its answer", async () => {
    await using stub = await echoing();
    const { code, stdout, stderr } = await run(folderWith(CREW), stub);
    expect(stderr).not.toMatch(/error/i);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Done\.\n\nstrict-1 read <Polish: stub-1 read <Draft: news>>\n\n/);
    expect(stdout).toMatch(/Rounds +2 of 6/);
    expect(stdout).not.toMatch(/Tests/);
  });

  it("shows what the roles say to one another, if it is asked to", async () => {
    await using stub = await echoing();
    const { stderr, stdout } = await run(folderWith(CREW), stub, "--talk");
    expect(stderr + stdout).toMatch(/^You to Rita$[\s\S]*^Rita to Emil$[\s\S]*^Emil$/m);
  });

  it("keeps the crew with the run: without its file the run is shown, replayed and forked", async () => {
    await using stub = await echoing();
    const cwd = folderWith(CREW);
    await run(cwd, stub);
    const id = await newestIn(cwd);
    rmSync(join(cwd, "company.yaml"));
    expect((await command(cwd, ["replay", id])).stdout).toMatch(/^equal: 2 steps/);
    const asked = stub.requests.length;
    await expectEnd(cwd, ["resume", id], 0, "strict-1 read <Polish");
    const fork = ["fork", id, "--at", "1", "--base-url", stub.url, ...free];
    await expectEnd(cwd, fork, 0, "2 answers reused (2 of models), 0 model calls made");
    expect(stub.requests.length).toBe(asked);
  });

  it("goes on with a run that was cut off, in the crew it was begun with", async () => {
    await using stub = await echoing();
    const cwd = folderWith(CREW);
    const cut = await run(cwd, stub, "--rounds", "1");
    expect(cut.code).toBe(4);
    writeFileSync(join(cwd, "company.yaml"), CREW.replace("Polish: {{text}}", "Ruin: {{text}}"));
    await expectEnd(cwd, ["resume", await newestIn(cwd), "--base-url", stub.url, ...free], 0, "strict-1 read <Polish: stub-1");
  });

  it("takes a module that exports a crew, and refuses to go on with another one", async () => {
    await using stub = await echoing();
    const text = (watch: string): string =>
      `export const crew = ({ workspace }) => ({ name: typeof workspace.write, roles: [{ name: "Ann", watch: ["UserRequirement"${watch}], actions: [{ name: "Say" }] }] });`;
    const cwd = folderWith(text(""), "crew.mjs");
    await expectEnd(cwd, ["run", "--crew", "crew.mjs", "hello", ...reach(stub)], 0, "stub-1 read <hello>");
    expect((await command(cwd, ["replay", await newestIn(cwd)])).stdout).toMatch(/^equal/);
  });

  it("lets a shipped crew work in the folder that was named, and leaves what is there", async () => {
    const replies = [
      { text: "", toolCalls: [{ name: "file_search", arguments: JSON.stringify({ command: "list" }) }] },
      { text: "Two rows." },
    ];
    let asked = 0;
    await using stub = await openaiStub({ handler: () => replies[asked++] ?? { text: "again" } });
    const cwd = folderWith("city\nRome\nOslo\n", "data.csv");
    const words = ["run", "--crew", "data-interpreter", "count the rows", "--out", ".", ...reach(stub)];
    await expectEnd(cwd, words, 0, /^Done\.\n\nTwo rows\.\n/);
    expect(readFileSync(join(cwd, "data.csv"), "utf8")).toBe("city\nRome\nOslo\n");
    expect(existsSync(join(cwd, ".git"))).toBe(false);
  });

  it("says Done of a product only when it is proven, also where a file uses the company", async () => {
    await using stub = await openaiStub({ handler: () => ({ text: "I am done." }) });
    const cwd = folderWith("use: software-company\nwith: { size: S, stack: node }\n");
    const { code, stdout } = await run(cwd, stub);
    expect(code).not.toBe(0);
    expect(stdout).not.toMatch(/^Done/);
  });

  it("refuses to go on with a module that has changed, unless it is forced", async () => {
    await using stub = await echoing();
    const text = (watch: string, prompt: string): string =>
      `export const crew = { roles: [
        { name: "Ann", actions: [{ name: "Say" }] },
        { name: "Ben", watch: [${watch}], actions: [{ name: "Repeat", prompt: "${prompt}" }] },
      ] };`;
    const cwd = folderWith(text('"Say"', "{{text}}"), "crew.mjs");
    expect((await command(cwd, ["run", "--crew", "crew.mjs", "hello", "--rounds", "1", ...reach(stub)])).code).toBe(4);
    const resumed = (...more: readonly string[]): Promise<Said> => command(cwd, ["continue", "--base-url", stub.url, ...free, ...more]);
    writeFileSync(join(cwd, "crew.mjs"), `${text('"Say"', "{{text}}")}\n`);
    expect(await resumed()).toMatchObject({ code: 2, stderr: expect.stringMatching(/has changed\. Continue all the same: --force/) });
    expect(await resumed("--force")).toMatchObject({ code: 0 });
  });

  it("asks no model when the crew has a fault", async () => {
    await using stub = await echoing();
    const cwd = folderWith(CREW.replace("on: Draft", "on: [Draft, Polish], sendTo: [<self>]"));
    const { code, stderr } = await run(cwd, stub);
    expect([code, stub.requests.length]).toEqual([2, 0]);
    expect(stderr).toMatch(/Nothing ends the circle Emil \(Polish\) -> Emil \(Polish\)/);
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      "a crew that is none",
      ["--crew", "nobody"],
      /software-company, waterfall, data-interpreter, research, .*kanban.*, or a file such as company\.yaml/,
    ],
    ["a file that is not there", ["--crew", "none.yaml"], /none\.yaml/],
    ["options of another crew", ["--crew", "company.yaml", "--size", "L"], /Expected --size with the crew software-company/],
    ["a module that exports nothing", ["--crew", "empty.mjs"], /to export a crew, got none/],
    ["a module that breaks", ["--crew", "broken.mjs"], /to be a module with a crew, but/],
  ])("is refused in words: %s", async (_what, words, expected) => {
    const modules = { "empty.mjs": "export const other = 1;", "broken.mjs": "throw new Error('broken');" };
    const { cwd } = placed({ "company.yaml": CREW, ...modules });
    await expectRefusal(cwd, ["run", ...words, "hello"], expected, { env: { OPENAI_API_KEY: "sk-test-0123456789abcdef0123" } });
  });
});

describe("troupe check", () => {
  it("tells the bounds of a crew without a model, and ends with 0", async () => {
    const { code, stdout } = await command(folderWith(CREW), ["check", ...free, "--allow-unpriced"]);
    expect(stdout).toMatch(/^company\.yaml: 0 faults, 1 warning\n {2}warn +No model can be reached now/);
    expect(stdout).toMatch(/Rita +starts at most once; 1 call, \$0\.00\d* at most/);
    expect(code).toBe(0);
  });

  it("tells faults and ends with 2, also as JSON", async () => {
    const cwd = folderWith(
      CREW.replace("on: Draft", "on: Plan").replace("name: Draft", "name: Draft, sendTo: [Emil]").replace("Polish: {{text}}", "x"),
    );
    await expectRefusal(cwd, ["check"], /company\.yaml:9:\d+: Expected a cause that somebody of the crew has, got "Plan"/);
    const unpriced = await expectEnd(folderWith(CREW), ["check", "company.yaml", "--model", "nobody-knows", "--json"], 2);
    const faults = [{ code: "PRICE_UNKNOWN" }, { code: "PRICE_UNKNOWN" }];
    expect(linesIn(unpriced.stdout)).toMatchObject([{ type: "check", exitCode: 2, faults }]);
  });

  it("says how to name a crew where there is none", async () => {
    await expectRefusal(freshFolder(), ["check"], /there is no company\.yaml here/);
  });
});
