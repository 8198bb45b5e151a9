import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";
import { isolates } from "../checks/project.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { someOf } from "../long.ts";
import { type Script, scriptedRun, wordsOf, writes } from "./scripted-company.ts";

const idea = (id: string): string => readFileSync(join(root, "evaluation/ideas", id, "idea.md"), "utf8").trim();

function reference(id: string): Record<string, string> {
  const folder = join(root, "evaluation/references", id);
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

const criterion = (id: string, check: object): object => ({
  id,
  priority: "P0",
  given: "the product",
  when: "it is used",
  then: "it works",
  check,
});
const brief = (name: string, size: string, stack: string, ...checks: readonly object[]): object => ({
  speech: "It is clear.",
  name,
  size,
  stack,
  assumptions: [],
  questions: [],
  criteria: checks.map((check, n) => criterion(`A${n + 1}`, check)),
});
const picks = {
  kind: "command",
  steps: [{ run: ["node", "bin/csvcol.js", "pick", "b"], stdin: "a,b\n1,2\n", stdout: { equals: "b\n2" } }],
};

/** Micro-dollars: half of what a single agent once cost for such a tool. */
const MOST_COST = 8_000;

/** A board whose logic is tested, and whose page never starts: a file cannot load a module. */
const deadBoard = {
  "package.json": '{ "name": "board", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test" } }\n',
  "index.html":
    '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Board</title></head>\n<body>\n<h1>Board</h1>\n<input id="new-card"><button id="add">Add</button>\n<ul data-column="todo"></ul>\n<script type="module" src="page.js"></script>\n</body>\n</html>\n',
  "page.js":
    'import { added } from "./board.js";\nlet cards = [];\ndocument.getElementById("add").addEventListener("click", () => {\n  cards = added(cards, document.getElementById("new-card").value);\n  document.querySelector("ul").replaceChildren(...cards.map((card) => Object.assign(document.createElement("li"), { className: "card", textContent: card })));\n});\n',
  "board.js":
    '/** Returns the cards with one more. */\nexport function added(cards, title) {\n  const text = title.trim();\n  return text === "" ? cards : [...cards, text];\n}\n',
  "test/board.test.js":
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { added } from "../board.js";\n\nfor (let n = 0; n < 8; n++) test(`A1: card ${n} is added`, () => assert.deepEqual(added(["a"], ` ${n} `), ["a", String(n)]));\ntest("A1: an empty card is not", () => assert.deepEqual(added([], " "), []));\n',
  "README.md": "# Board\n\n## Use\n\nOpen index.html.\n\n```sh\nnpm test\n```\n",
};

describe.runIf(isolates)("a kanban page that is dead on arrival, with nine tests that pass", { tags: ["company", "long"] }, () => {
  const adds = {
    kind: "page",
    steps: [
      { do: "type", at: "#new-card", text: "Milk" },
      { do: "click", at: "#add" },
      { do: "expect", at: ".card", count: 1 },
    ],
  };
  const tests = { kind: "command", steps: [{ run: ["node", "--test"] }] };

  const ways: readonly (readonly [string, readonly object[]])[] = [
    ["with a criterion that only runs its tests", [tests]],
    ["with a criterion that opens it", [adds]],
  ];
  it.each(someOf(ways, 1))("is never done, %s", { tags: "company" }, async (_, checks) => {
    const script: Script = { manager: brief("board", "S", "page", ...checks), engineer: [writes(deadBoard)] };
    const { code, result, all } = await scriptedRun(scratchFolder(), idea("kanban"), script);
    expect(result).toMatchObject({ status: "finished", exitCode: 6, delivery: { isDone: false } });
    expect(code).toBe(6);
    expect(result.delivery?.verification.suites).toMatchObject([{ kind: "passed", passed: 9 }]);
    expect(JSON.stringify(result.delivery?.verification.faults)).toContain("page.js");
    expect(all.length).toBeLessThanOrEqual(8);
  });
});

describe.runIf(isolates)("a specification of forty rules", () => {
  it.each(someOf(["M", "S", "L"], 1))("reaches every role word for word, at size %s", { tags: "company" }, async (size) => {
    const words = idea("task-queue");
    const source = {
      "queuesim/__init__.py": '"""Simulates queues."""\n',
      "queuesim/__main__.py": 'print("ok")\n',
      "queuesim/events.py":
        'def events_of(tasks: list[str]) -> list[str]:\n    """Return the events of tasks."""\n    raise NotImplementedError(tasks)\n',
    };
    const files = Object.entries(source).map(([path, code]) => ({ path, purpose: "a part", code }));
    const test =
      'from queuesim.events import events_of\n\n\ndef test_a1_a_task_is_queued() -> None:\n    assert events_of(["a"]) == ["0 queued a"]\n';
    const script: Script = {
      manager: brief("queuesim", size, "python", {
        kind: "command",
        steps: [{ run: ["python3", "-m", "queuesim"], stdout: { contains: ["ok"] } }],
      }),
      architect: { approach: "One part.", files, tasks: [] },
      qa: [writes({ "tests/test_events.py": test })],
      planner: { tasks: [{ id: "t1", title: "the simulator", owns: Object.keys(source), tests: ["tests/test_events.py"], needs: [] }] },
      engineer: [{ toolCalls: [{ name: "give_up", arguments: '{"why":"This is enough to read the order."}' }] }],
    };
    const cwd = scratchFolder();
    const { requests, all } = await scriptedRun(cwd, words, script);
    expect(all.filter((request) => !wordsOf(request).includes(words)).map((request) => wordsOf(request).slice(0, 80))).toEqual([]);
    const asked = Object.entries(requests).filter(([, given]) => given.length > 0);
    const between = { S: [], M: ["architect", "qa"], L: ["architect", "qa", "planner"] }[size];
    expect(asked.map(([role]) => role)).toEqual(["manager", ...(between ?? []), "engineer"]);
    expect(readFileSync(join(cwd, "product/docs/requirement.md"), "utf8")).toContain(words);
  });
});

describe.runIf(isolates)("--force in a project with uncommitted work", { tags: ["company", "long"] }, () => {
  it("loses no byte of it", async () => {
    const cwd = scratchFolder();
    const git = (...words: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...words], { cwd, encoding: "utf8" });
    mkdirSync(join(cwd, "src"));
    writeFileSync(join(cwd, "src/csv.js"), "export const old = 1;\n");
    writeFileSync(join(cwd, "README.md"), "# Mine\n");
    git("init", "-q");
    git("add", ".");
    git("commit", "-q", "-m", "Begin");
    const work = {
      "src/csv.js": "export const uncommitted = 'the work of a day';\n",
      "README.md": "# Mine, changed and not committed\n",
      "notes.txt": "never added\n",
    };
    for (const [path, text] of Object.entries(work)) writeFileSync(join(cwd, path), text);
    const script: Script = {
      manager: brief("csvcol", "S", "node", picks),
      engineer: [writes(reference("csv-columns"), "README.md", "src/csv.js"), writes(reference("csv-columns"))],
    };
    await scriptedRun(cwd, idea("csv-columns"), script, ["--out", ".", "--force"]);
    const held = [...textsIn(cwd), ...blobsOf(git)];
    for (const text of Object.values(work)) expect(held).toContain(text);
  });
});

function textsIn(folder: string): readonly string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => !path.startsWith(".git/"));
  return paths.filter((path) => statSync(join(folder, path)).isFile()).map((path) => readFileSync(join(folder, path), "utf8"));
}

function blobsOf(git: (...words: readonly string[]) => string): readonly string[] {
  const objects = git("cat-file", "--batch-all-objects", "--batch-check").split("\n");
  return objects.flatMap((line) => (line.includes(" blob ") ? [git("cat-file", "-p", line.split(" ")[0] ?? "")] : []));
}

describe.runIf(isolates)("a small CSV tool", { tags: ["company", "long"] }, () => {
  const manager = brief("csvcol", "S", "node", picks);

  it("is delivered in four calls by a company that makes no mistake", async () => {
    const { code, all, result } = await scriptedRun(scratchFolder(), idea("csv-columns"), {
      manager,
      engineer: [writes(reference("csv-columns"))],
    });
    expect({ code, calls: all.length }).toEqual({ code: 0, calls: 4 });
    expect(result.cost.known).toBeLessThan(MOST_COST);
  });

  it("takes at most eight calls, however often its engineer fails", async () => {
    const wrong = {
      ...reference("csv-columns"),
      "src/columns.js": "export class ColumnError extends Error {}\nexport const columnsOf = (rows) => rows;\n",
    };
    const engineer = Array.from({ length: 12 }, (_, n) => writes({ ...wrong, "src/columns.js": `${wrong["src/columns.js"]}// ${n}\n` }));
    const { code, all, result } = await scriptedRun(scratchFolder(), idea("csv-columns"), { manager, engineer });
    expect(code).toBe(6);
    expect(all.length).toBeLessThanOrEqual(8);
    expect(result.delivery?.verification.verdicts).toMatchObject([{ id: "A1", outcome: "failed" }]);
  });
});
