import fc from "fast-check";
import { expect, it } from "vitest";
import { LATEST_STAMP, readStamped, stampDigits, stampedText } from "../../src/adapters/stamped-text.ts";

const time = fc.integer({ min: 0, max: LATEST_STAMP - 1 });

it("a stamped text is read as it was written, whatever the value, also none", () => {
  fc.assert(
    fc.property(time, time, fc.option(fc.string({ unit: "binary" }), { nil: undefined }), (stamp, expires, value) => {
      expect(readStamped(stampedText({ stamp, expires, value }))).toEqual({ stamp, expires, value });
    }),
  );
});

it("stamps as text are in the order of the stamps", () => {
  fc.assert(fc.property(time, time, (a, b) => a < b === stampDigits(a) < stampDigits(b)));
});

it("a change of any character makes it unreadable", () => {
  const text = stampedText({ stamp: 123, expires: 456, value: "value" });
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (place, character) => {
      fc.pre(character !== text[place]);
      expect(readStamped(text.slice(0, place) + character + text.slice(place + 1))).toBeUndefined();
    }),
  );
});
