#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { listText, withBought, withItem, withoutBought } from "./list.mjs";

const FILE = "shopping.json";
const [command, ...words] = process.argv.slice(2);
const given = words.join(" ");

try {
  const items = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : [];
  if (command === "add") keep(withItem(items, given));
  else if (command === "done") keep(withBought(items, Number(given)));
  else if (command === "clear") keep(withoutBought(items));
  else if (command === "list") console.log(listText(items));
  else throw new RangeError("Expected add, done, clear or list.");
} catch (error) {
  console.error(`shopping-list: ${error.message}`);
  process.exitCode = 1;
}

function keep(items) {
  writeFileSync(FILE, `${JSON.stringify(items)}\n`);
}
