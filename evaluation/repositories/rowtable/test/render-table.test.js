import assert from "node:assert/strict";
import { test } from "node:test";
import { renderTable, TableError } from "../src/index.js";

const people = [
  { name: "Ada", age: 36 },
  { name: "Lin", age: 41, city: "Oslo" },
];

test("a box has lines around its cells", () => {
  assert.equal(
    renderTable([{ a: 1 }]),
    ["┌───┐", "│ a │", "├───┤", "│ 1 │", "└───┘", ""].join("\n"),
  );
});

test("plain columns are two blanks apart", () => {
  assert.equal(renderTable(people, { format: "plain" }), "name  age  city\nAda   36\nLin   41   Oslo\n");
});

test("columns are chosen", () => {
  assert.equal(renderTable(people, { format: "plain", columns: ["age", "name"] }), "age  name\n36   Ada\n41   Lin\n");
});

test("a header is left out", () => {
  assert.equal(renderTable(people, { format: "plain", header: false, columns: ["name"] }), "Ada\nLin\n");
});

test("an unknown column is an error", () => {
  assert.throws(() => renderTable(people, { columns: ["shoe"] }), TableError);
});

test("no rows, no table", () => {
  assert.equal(renderTable([]), "");
});
