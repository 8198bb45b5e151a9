import assert from "node:assert/strict";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { addItem, emptyList } from "../src/list.mjs";
import { createStore, StoreError } from "../src/store.mjs";

const NOW = "2030-01-02T03:04:05.000Z";
const add = (text) => (list) => addItem(list, text, NOW);

let folder;
let path;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "todo-store-"));
  path = join(folder, "list.json");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a file that does not exist is an empty list, and reading does not make it", async () => {
  assert.deepEqual(await createStore(path).read(), emptyList());
  assert.deepEqual(readdirSync(folder), []);
});

test("what was written is read again, and nothing else stays in the folder", async () => {
  const { item } = await createStore(path).update(add("milk"));
  assert.equal(item.id, 1);
  assert.deepEqual((await createStore(path).read()).items, [item]);
  assert.deepEqual(readdirSync(folder), ["list.json"]);
});

test("the file is for its owner only", { skip: process.platform === "win32" }, async () => {
  await createStore(path).update(add("milk"));
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("twenty changes at the same time all count", async () => {
  const texts = Array.from({ length: 20 }, (_, index) => `item ${index}`);
  await Promise.all(texts.map((text) => createStore(path).update(add(text))));
  const { items } = await createStore(path).read();
  assert.deepEqual(items.map(({ text }) => text).sort(), texts.sort());
  assert.deepEqual(
    items.map(({ id }) => id),
    texts.map((_, index) => index + 1),
  );
});

test("a file that is not a list is refused and left as it is", async () => {
  for (const content of ["", "{broken", "[]", '{"version":2,"nextId":1,"items":[]}']) {
    writeFileSync(path, content);
    await assert.rejects(createStore(path).update(add("milk")), StoreError);
    assert.equal(readFileSync(path, "utf8"), content);
    assert.deepEqual(readdirSync(folder), ["list.json"], "no lock and no draft is left");
  }
});

test("a change that fails leaves the old list", async () => {
  await createStore(path).update(add("milk"));
  const before = readFileSync(path, "utf8");
  await assert.rejects(createStore(path).update(add(" ")), /needs a text/);
  assert.equal(readFileSync(path, "utf8"), before);
  await createStore(path).update(add("bread"));
});

test("a lock that is never given back ends in an error that names its file", async () => {
  writeFileSync(`${path}.lock`, "");
  await assert.rejects(createStore(path, { lockWaitMs: 0 }).update(add("milk")), (error) => {
    assert.ok(error instanceof StoreError);
    assert.ok(error.message.includes(`${path}.lock`));
    return true;
  });
  assert.deepEqual(await createStore(path).read(), emptyList(), "reading needs no lock");
});

test("a folder that does not exist and a path that is a folder are told as such", async () => {
  await assert.rejects(
    createStore(join(folder, "missing", "list.json")).update(add("milk")),
    /folder .*missing does not exist/,
  );
  await assert.rejects(createStore(folder).read(), /it is a folder/);
});

test("a link to the file stays a link", { skip: process.platform === "win32" }, async () => {
  const link = join(folder, "link.json");
  await createStore(path).update(add("milk"));
  symlinkSync(path, link);
  await createStore(link).update(add("bread"));
  assert.equal(readlinkSync(link), path);
  assert.equal((await createStore(path).read()).items.length, 2);
});
