/*
 * Nothing around it: observe, think and act as three awaited functions and a list for a mailbox. What no runtime can be faster than.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { planOf } from "./plan.mjs";
import { act as recordedAct } from "./recorded-act.mjs";

function frozen(value) {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

async function observe(box) {
  return box.splice(0);
}

async function think(news) {
  return news.length > 0;
}

async function act(news, n) {
  const count = news[0] + 1;
  return count > n ? undefined : count;
}

export const cases = {
  async hop(n) {
    const boxes = [[0], []];
    let turn = 0;
    let hops = 0;
    for (;;) {
      const news = await observe(boxes[turn]);
      if (!(await think(news))) return { done: hops };
      const said = await act(news, n);
      if (said === undefined) return { done: hops };
      hops += 1;
      turn = 1 - turn;
      boxes[turn].push(said);
    }
  },

  /** A copy by way of JSON, frozen, and a list for a mailbox. */
  "hop-payload"(n) {
    const boxes = [[{ hops: 0, plan: planOf(30) }], []];
    let turn = 0;
    for (;;) {
      const { hops, plan } = boxes[turn].pop();
      if (hops >= n) return { done: hops };
      turn = 1 - turn;
      boxes[turn].push(frozen(JSON.parse(JSON.stringify({ hops: hops + 1, plan }))));
    }
  },

  async fanout(n) {
    const boxes = Array.from({ length: n }, () => []);
    const from = performance.now();
    for (const box of boxes) box.push(0);
    let acted = 0;
    for (const box of boxes) {
      const news = await observe(box);
      if (await think(news)) acted += (await act(news, Infinity)) > 0 ? 1 : 0;
    }
    return { done: acted, ms: performance.now() - from };
  },

  /** A table from causes to mailboxes. */
  publish(n) {
    const watchers = new Map();
    for (let place = 0; place < n; place += 1) watchers.set(`deaf${place}`, [[]]);
    const box = [];
    watchers.set("say", [box]);
    const times = 10_000;
    const from = performance.now();
    for (let k = 0; k < times; k += 1) for (const one of watchers.get("say") ?? []) one.push({ id: `user#${k}`, content: "go" });
    return { done: box.length, ms: performance.now() - from };
  },

  /** An insert and a commit of what Troupe records of a hop, by the same library and with the same guarantee. */
  async durable(n) {
    const { default: Database } = await import("libsql");
    const folder = mkdtempSync(join(tmpdir(), "bench-bare-"));
    const path = join(folder, "runs.db");
    const db = new Database(path);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = FULL");
    db.exec("CREATE TABLE events (seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
    const insert = db.prepare("INSERT INTO events (seq, body) VALUES (?, ?)");
    const from = performance.now();
    for (let k = 0; k < n; k += 1) insert.run(k, JSON.stringify(recordedAct(k)));
    const ms = performance.now() - from;
    db.close();
    const bytes = statSync(path).size;
    rmSync(folder, { recursive: true });
    return { done: n, ms, bytes };
  },

  async parallel(n) {
    const wait = () => new Promise((resolve) => setTimeout(resolve, 200, "said"));
    const said = await Promise.all(Array.from({ length: n }, wait));
    return { done: said.length };
  },
};
