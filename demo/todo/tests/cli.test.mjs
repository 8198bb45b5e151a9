import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { COMMANDS } from "../src/args.mjs";
import { main } from "../src/cli.mjs";
import { formatList } from "../src/format.mjs";

const PROGRAM = fileURLToPath(new URL("../src/todo.mjs", import.meta.url));

let folder;
let env;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "todo-cli-"));
  env = { TODO_FILE: join(folder, "list.json") };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs one command in this process and gives its exit code and what it printed. */
async function todo(...argv) {
  const [out, err] = [[], []];
  const now = () => "2030-01-02T03:04:05.000Z";
  const code = await main(argv, {
    env,
    now,
    print: (line) => out.push(line),
    complain: (line) => err.push(line),
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}

/** Runs the program itself. */
function spawnTodo(...argv) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...argv], { env: { ...process.env, ...env } });
    let [out, err] = ["", ""];
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

describe("commands", () => {
  test("a day with the list", async () => {
    assert.equal((await todo("add", "Buy", "milk")).out, "Added 1: Buy milk");
    assert.equal((await todo("add", "Call Ann")).out, "Added 2: Call Ann");
    assert.equal((await todo("done", "1")).out, "Done 1: Buy milk");
    assert.equal((await todo("list")).out, "1  [x] Buy milk\n2  [ ] Call Ann\n\n1 open, 1 done");
    assert.equal((await todo("clear")).out, "Cleared 1 item. 1 item left.");
    assert.equal((await todo("remove", "2")).out, "Removed 2: Call Ann");
    assert.match((await todo("list")).out, /Nothing here yet/);
  });

  test("no command shows the list, and the short forms work", async () => {
    await todo("add", "milk");
    assert.deepEqual(await todo(), await todo("ls"));
    await todo("done", "1");
    assert.equal((await todo("undo", "1")).out, "Reopened 1: milk");
    assert.equal((await todo("rm", "1")).code, 0);
  });

  test("list shows open or done items alone", async () => {
    await todo("add", "milk");
    await todo("add", "bread");
    await todo("done", "2");
    assert.match((await todo("list", "--open")).out, /^1 {2}\[ \] milk\n\n1 open, 1 done$/);
    assert.match((await todo("list", "--done")).out, /^2 {2}\[x\] bread\n/);
  });

  test("list --json is for other programs", async () => {
    await todo("add", "milk");
    const [item] = JSON.parse((await todo("list", "--json")).out);
    assert.deepEqual([item.id, item.text, item.done], [1, "milk", false]);
    await todo("clear", "--all");
    assert.equal((await todo("list", "--json")).out, "[]");
  });

  test("marking twice is told and is no failure", async () => {
    await todo("add", "milk");
    await todo("done", "1");
    assert.deepEqual(await todo("done", "1"), { code: 0, out: "Done already 1: milk", err: "" });
  });

  test("--file goes before TODO_FILE", async () => {
    const other = join(folder, "other.json");
    await todo("--file", other, "add", "elsewhere");
    assert.match(readFileSync(other, "utf8"), /elsewhere/);
    assert.match((await todo("list")).out, /Nothing here yet/);
  });

  test("a text that starts with a dash goes after two dashes", async () => {
    assert.equal((await todo("add", "--", "-5 degrees")).out, "Added 1: -5 degrees");
    assert.match((await todo("add", "-5 degrees")).err, /add --/);
  });

  test("help names every command", async () => {
    const { code, out } = await todo("help");
    assert.equal(code, 0);
    for (const { form, summary } of COMMANDS) assert.ok(out.includes(form) && out.includes(summary), form);
    assert.deepEqual(await todo("add", "--help"), { code: 0, out, err: "" });
  });
});

describe("mistakes", () => {
  test("a command line that makes no sense is exit code 2, and nothing is written", async () => {
    const wrong = [
      ["add"],
      ["done"],
      ["done", "one"],
      ["done", "0"],
      ["remove", "1.5"],
      ["list", "now"],
      ["list", "--all"],
      ["clear", "--json"],
      ["list", "--open", "--done"],
      ["list", "--nonsense"],
      ["--file"],
      ["--file=", "list"],
      ["constructor"],
    ];
    for (const argv of wrong) {
      const { code, out, err } = await todo(...argv);
      assert.equal(code, 2, argv.join(" "));
      assert.equal(out, "");
      assert.match(err, /See: node src\/todo\.mjs help$/);
    }
    assert.match((await todo("list")).out, /Nothing here yet/);
  });

  test("a slip of the finger gets a suggestion, something else does not", async () => {
    assert.match((await todo("lits")).err, /Did you mean "list"\?/);
    assert.match((await todo("remvoe", "1")).err, /Did you mean "remove"\?/);
    assert.doesNotMatch((await todo("frobnicate")).err, /Did you mean/);
  });

  test("an unknown number is exit code 1, and no item of the command is touched", async () => {
    await todo("add", "milk");
    const { code, err } = await todo("remove", "1", "9");
    assert.equal(code, 1);
    assert.match(err, /There is no item 9\. The list has 1\./);
    assert.match((await todo("list")).out, /milk/);
  });

  test("a file that cannot be used is exit code 1 and names the file", async () => {
    writeFileSync(env.TODO_FILE, "not a list");
    const { code, err } = await todo("list");
    assert.equal(code, 1);
    assert.ok(err.includes(env.TODO_FILE));
  });
});

describe("output", () => {
  const items = [
    { id: 9, text: "open\u001b[2J", done: false },
    { id: 10, text: "ready", done: true },
  ];

  test("numbers line up, and no text acts on the terminal", () => {
    assert.equal(formatList(items, items), " 9  [ ] open\ufffd[2J\n10  [x] ready\n\n1 open, 1 done");
  });

  test("colour is used only when asked for", () => {
    assert.ok(!formatList(items, items).includes("\u001b"));
    assert.ok(formatList(items, items, { colour: true }).includes("\u001b[32mx\u001b[0m"));
  });
});

describe("the program", () => {
  test("prints results and errors on their own streams and gives the exit code", async () => {
    assert.deepEqual(await spawnTodo("add", "milk"), { code: 0, out: "Added 1: milk\n", err: "" });
    const { code, out, err } = await spawnTodo("done", "5");
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.equal(err, "todo: There is no item 5. The list has 1.\n");
    assert.equal((await spawnTodo("nonsense")).code, 2);
  });

  test("four programs at the same time lose nothing", async () => {
    const results = await Promise.all(["a", "b", "c", "d"].map((text) => spawnTodo("add", text)));
    assert.deepEqual(
      results.map(({ code }) => code),
      [0, 0, 0, 0],
    );
    assert.match((await todo("list")).out, /4 open, 0 done/);
  });
});
