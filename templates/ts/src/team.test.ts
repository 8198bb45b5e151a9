import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "troupe/testing";
import { newTeam } from "./team.js";

test("the editor gets the draft, and the run ends with a title and a text", async () => {
  const model = scriptedModel(["A long draft about rain.", JSON.stringify({ title: "Rain", text: "A draft about rain." })]);
  const { status, output } = await newTeam(model).run("rain").result;

  assert.equal(status, "finished");
  assert.deepEqual(output?.instructContent, { title: "Rain", text: "A draft about rain." });
  assert.match(JSON.stringify(model.calls[1]?.messages), /A long draft about rain\./);
});
