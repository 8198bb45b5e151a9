const assert = require("node:assert/strict");
const { test } = require("node:test");
const { convert, format, kindOf } = require("../units.js");

test("units are converted", () => {
  assert.equal(format(convert(1, "mi", "km")), "1.60934");
  assert.equal(format(convert(-40, "C", "F")), "-40");
  assert.deepEqual(Object.keys(kindOf("g")), ["kg", "g", "lb", "oz"]);
});
