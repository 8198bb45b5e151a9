/**
 * A model by a seed that answers every question of the software company sensibly, but fallibly: wrong code, syntax errors, the wrong language,
 * three fences, nothing, truncated replies, broken JSON, tools that are not there, refusals, work called done that is not, and failures of the
 * server. It finds out by the request itself what is asked: by the tools that are offered, or by the fields of the answer that is wanted.
 */
import { replyOf, roleOf } from "./answers.mjs";
import { tinyIdeas } from "./tiny-ideas.mjs";

/** Random numbers from 0 to 1 by a seed. */
export function randomBy(seed) {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SERVER_FAULTS = [
  { fault: "server-error", status: 500 },
  { fault: "server-error", status: 503 },
  { fault: "rate-limit", retryAfter: "1" },
  { fault: "reset", after: 0 },
  { fault: "cut" },
  { fault: "stall", after: 0 },
  { fault: "bad-json" },
  { fault: "empty-choices" },
  { fault: "wrong-shape" },
];

const TEXT_FAULTS = [
  () => "",
  () => "I am sorry, but I cannot help with that.",
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => text.replace(/[}\]]\s*$/, ""),
  (text) => `Here it is:\n\n\`\`\`json\n${text}\n\`\`\`\n\nAnd an example:\n\n\`\`\`json\n{"a": 1}\n\`\`\`\n\n\`\`\`\nnpm test\n\`\`\``,
  (text) => `<think>First I think {"reasoning": 1}.</think>${text}`,
  () => '{"answer": "done", "everything": "is fine"}',
];

/** The fault of a file. */
const FILE_FAULTS = [
  (text, { wrong: [from, to] }) => text.replace(from, to),
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => `${text}\n}}} )(\n`,
  () => "<!doctype html>\n<title>Hello</title>\n",
  (text) => `\`\`\`\n${text}\`\`\`\n\nThis file does the work:\n\n\`\`\`sh\nls\n\`\`\`\n`,
  (text) => `${text.split("\n").slice(0, 3).join("\n")}\n# ... rest unchanged\n`,
  () => "",
  (text) => `throw new Error("boom");\n${text}`,
];

/** Tests that prove nothing. */
const TEST_FAULTS = [
  (text) => text.replace(/assert[^\n]*/g, "pass").replace(/\(\) => pass/g, "() => {}"),
  (text) => text.replace(/test\("/g, 'test.skip("').replace(/def test_/g, "def skipped_"),
  () => "",
];

/** The words of a request. */
function textOf({ messages }) {
  return messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n");
}

function ideaOf(body) {
  const text = textOf(body);
  return tinyIdeas.find(({ idea }) => text.includes(idea.slice(0, 40))) ?? tinyIdeas[0];
}

/** The fields of the answer that is wanted; undefined for free text. */
function fieldsOf(body) {
  const schema =
    body.response_format?.json_schema?.schema ?? body.tools?.find(({ function: { name } }) => name === "reply")?.function.parameters;
  return schema === undefined ? undefined : Object.keys(schema.properties ?? {});
}

class Model {
  #random;
  /** The share of answers that are wrong in some way. */
  #share;
  /** Times a worker was asked; after many it gives up being wrong, so that some runs end well. */
  #asked = 0;

  constructor(seed) {
    this.#random = randomBy(seed);
    this.#share = [0, 0.1, 0.25, 0.5, 0.9][seed % 5];
  }

  #fails() {
    return this.#random() < this.#share;
  }

  #one(list) {
    return list[Math.floor(this.#random() * list.length)];
  }

  answer(body) {
    this.#asked += 1;
    if (this.#random() < this.#share / 4) return this.#one(SERVER_FAULTS);
    const names = (body.tools ?? []).map((tool) => tool.function.name);
    if (names.includes("done")) return this.#work(body, names);
    const text = JSON.stringify(this.#value(body));
    const said = this.#fails() ? this.#one(TEXT_FAULTS)(text) : text;
    return replyOf({ content: said, finish: this.#fails() && this.#fails() ? "length" : "stop" }, `stub-${this.#asked}`, body);
  }

  /** The answer to a question with a form. */
  #value(body) {
    const { name, stack, criteria, source, stub, files } = ideaOf(body);
    const fields = fieldsOf(body) ?? [];
    const text = textOf(body);
    const asks = (field, heading) => fields.includes(field) || text.includes(`# ${heading}\n`);
    if (asks("criteria", "Specify")) {
      const size = /The size is ([SML])\./.exec(text)?.[1] ?? "S";
      const given = this.#fails() ? criteria.slice(0, 1) : criteria;
      return { speech: "It is small.", name, size, stack, assumptions: [], questions: [], criteria: given };
    }
    if (asks("accepts", "Review")) {
      const check = { kind: "command", steps: [{ run: ["node", "--version"], exit: this.#fails() ? 1 : 0 }] };
      const complaints = this.#fails() ? [{ text: "It may be wrong.", ...(this.#fails() ? { check } : {}) }] : [];
      return { reasons: "I have read it.", judgements: [], complaints, accepts: !this.#fails() };
    }
    if (asks("approach", "DesignSystem")) {
      const interfaces = Object.entries(files).map(([path, code]) => ({ path, purpose: "a part", code: path === source ? stub : code }));
      return { approach: "A function and a command.", files: interfaces };
    }
    if (asks("tasks", "PlanWork")) {
      return {
        speech: "One task.",
        tasks: [{ id: "T1", title: "Write it", instruction: "Write it.", owns: [source], files: [source], dependsOn: [] }],
      };
    }
    return { status: "finished", summary: "It is done.", answer: "It is done." };
  }

  /** A turn of a worker: files are written, and the work is called done. */
  #work(body, names) {
    const idea = ideaOf(body);
    const isTester = roleOf(body).includes("qa");
    const calls = isTester ? this.#testing(idea) : this.#writing(idea, body, names);
    const key = `stub-${this.#asked}`;
    if (!this.#fails()) return replyOf({ content: "I write it.", calls }, key, body);
    const odd = [
      { content: "I have done everything, and all tests pass." },
      { content: "", calls: [{ name: "done", arguments: { summary: "All is done." } }] },
      { content: "", calls: [{ name: "write_file", arguments: { path: "x" } }] },
      { content: "", calls: [{ name: "write_files", arguments: '{"files": [{"path": "a.mjs", "content": "export' }] },
      { content: "", calls: [{ name: "shell", arguments: { command: "cat /etc/passwd; sleep 1" } }] },
      { content: "", calls: [{ name: "write_files", arguments: { files: [{ path: "../../outside.txt", content: "x" }] } }] },
      { content: "", calls: [{ name: "write_files", arguments: { files: [{ path: "docs/acceptance.json", content: "{}" }] } }] },
      { content: "", calls: [{ name: "give_up", arguments: { why: "It is too hard." } }] },
      { content: "" },
      { content: "I wri", finish: "length" },
    ];
    return replyOf(this.#one(odd), key, body);
  }

  #testing(idea) {
    const faulty = this.#fails();
    const files = Object.entries(idea.tests).map(([path, content]) => ({
      path,
      content: faulty ? this.#one(TEST_FAULTS)(content) : content,
    }));
    return [this.#written(files), { name: "done", arguments: { summary: "The tests are written." } }];
  }

  #writing(idea, body, names) {
    const own = textOf(body).includes("Tests, written by QA") ? idea.files : { ...idea.files, ...idea.tests };
    const files = Object.entries(own).map(([path, content]) => ({ path, content: this.#fileOf(idea, path, content) }));
    const read = Object.keys(own).map((path) => ({ path }));
    const reads = names.includes("read_files")
      ? [{ name: "read_files", arguments: { paths: read.map(({ path }) => path) } }]
      : this.#views(own, names);
    return [...reads, this.#written(files), { name: "done", arguments: { summary: "The product is written." } }];
  }

  /** A file that is there must be read before it is written over. */
  #views(files, names) {
    if (!names.includes("editor") || this.#asked < 3) return [];
    return Object.keys(files).map((path) => ({ name: "editor", arguments: { command: "view", path } }));
  }

  #written(files) {
    return { name: "write_files", arguments: { files } };
  }

  #fileOf(idea, path, content) {
    if (!this.#fails()) return content;
    if (path in idea.tests) return this.#one(TEST_FAULTS)(content);
    return path === idea.source || this.#fails() ? this.#one(FILE_FAULTS)(content, idea) : content;
  }
}

/** Returns a handler for the stub of `troupe/testing`. */
export function fallibleModel(seed) {
  const model = new Model(seed);
  return (body) => model.answer(body);
}
